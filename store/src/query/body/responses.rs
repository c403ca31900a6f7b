//! OpenAI's Responses API: a flat list of items, of which messages, reasoning, calls and results are kinds.

use agent_core::Json;
use rustc_hash::FxHashSet;
use serde_json::json;

use super::piece::{Piece, Role};
use super::{Shape, Written, joined, picture};

#[derive(Default)]
pub(super) struct Responses {
    has_items: bool,
    /// The calls of tools that take plain text and no JSON; their results are of a kind of their own.
    plain_calls: FxHashSet<String>,
}

impl Shape for Responses {
    fn system(&mut self, content: &Json) -> Written {
        Written { framing: ",\"instructions\":".to_owned(), text: content.get().to_owned() }
    }

    fn tools(&mut self, schemas: &Json) -> Option<Written> {
        Some(Written { framing: ",\"tools\":".to_owned(), text: schemas.get().to_owned() })
    }

    fn part(&mut self, role: Role, pieces: &[Piece]) -> Written {
        let framing = if self.has_items { "," } else { ",\"input\":[" };
        self.has_items = true;
        Written { framing: framing.to_owned(), text: joined(&self.items(role, pieces)) }
    }

    fn end(&self) -> &'static str {
        if self.has_items { "]}" } else { ",\"input\":[]}" }
    }
}

impl Responses {
    /// Returns the items: words that follow each other are one message.
    fn items(&mut self, role: Role, pieces: &[Piece]) -> Vec<Json> {
        let mut items = Vec::new();
        for run in pieces.chunk_by(|a, b| is_content(a) && is_content(b)) {
            items.push(match &run[0] {
                Piece::Reasoning { text, .. } => Json::of(
                    &json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}),
                ),
                Piece::Call { id, name, input } => self.call(id, name, input.as_ref()),
                Piece::Result { id, output, .. } => self.result(id, output.as_ref()),
                Piece::Other(value) => value.clone(),
                Piece::Text(_) | Piece::Media { .. } => message(role, run),
            });
        }
        items
    }

    fn call(&mut self, id: &str, name: &str, input: Option<&Json>) -> Json {
        match input.and_then(Json::as_text) {
            Some(text) => {
                self.plain_calls.insert(id.to_owned());
                Json::of(&json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": text}))
            }
            None => {
                let arguments = input.map_or("{}", Json::get);
                Json::of(
                    &json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}),
                )
            }
        }
    }

    fn result(&self, id: &str, output: Option<&Json>) -> Json {
        let is_plain = self.plain_calls.contains(id);
        Json::of(&Output {
            r#type: if is_plain { "custom_tool_call_output" } else { "function_call_output" },
            call_id: id,
            output: output.cloned().unwrap_or_else(|| Json::string("")),
        })
    }
}

#[derive(serde::Serialize)]
struct Output<'a> {
    r#type: &'static str,
    call_id: &'a str,
    output: Json,
}

fn is_content(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(_) | Piece::Media { .. })
}

fn message(role: Role, pieces: &[Piece]) -> Json {
    let (role, kind) = match role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System => ("developer", "input_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    let content: Vec<Json> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Text(text) => Some(Json::of(&json!({"type": kind, "text": text}))),
            Piece::Media { media_type, bytes } => Some(picture(media_type, *bytes)),
            _ => None,
        })
        .collect();
    Json::of(&Message { r#type: "message", role, content })
}

#[derive(serde::Serialize)]
struct Message {
    r#type: &'static str,
    role: &'static str,
    content: Vec<Json>,
}
