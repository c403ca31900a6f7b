//! OpenAI's Responses API: a flat list of items, of which messages, reasoning, calls and results are kinds.

use agent_core::Json;
use rustc_hash::FxHashSet;
use serde_json::json;

use super::piece::{Native, Piece, Role};
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
                Piece::Call { id, name, input, native } => self.call(id, name, input.as_ref(), native),
                Piece::Result { id, output, native, .. } => self.result(id, output.as_ref(), native),
                Piece::Other(value) => value.clone(),
                Piece::Text(_) | Piece::Media { .. } => message(role, run),
            });
        }
        items
    }

    fn call(&mut self, id: &str, name: &str, input: Option<&Json>, native: &Native) -> Json {
        let text = input.and_then(Json::as_text);
        let guessed = if text.is_some() { "custom_tool_call" } else { "function_call" };
        let kind = native.item.as_deref().unwrap_or(guessed);
        let arguments = input.map_or("{}", Json::get);
        match kind {
            "function_call" => {
                let (name, namespace) = bare_name(name, native);
                let arguments = text.as_deref().unwrap_or(arguments);
                let mut call = json!({"type": kind, "call_id": id, "name": name, "arguments": arguments});
                if let Some(namespace) = namespace {
                    call["namespace"] = namespace.into();
                }
                Json::of(&call)
            }
            "custom_tool_call" => {
                self.plain_calls.insert(id.to_owned());
                let input = text.as_deref().unwrap_or(arguments);
                Json::of(&json!({"type": kind, "call_id": id, "name": name, "input": input}))
            }
            kind => native_call(kind, id, input),
        }
    }

    fn result(&self, id: &str, output: Option<&Json>, native: &Native) -> Json {
        let is_plain = self.plain_calls.contains(id);
        let guessed = if is_plain { "custom_tool_call_output" } else { "function_call_output" };
        let kind = native.item.as_deref().unwrap_or(guessed);
        let content = output.cloned().unwrap_or_else(|| Json::string(""));
        let field = if kind == "tool_search_output" { "tools" } else { "output" };
        let id = Json::string(id);
        object(&format!(
            "{{\"type\":{},\"call_id\":{},\"{field}\":{}}}",
            Json::string(kind).get(),
            id.get(),
            content.get()
        ))
    }
}

/// Returns the name without what stands before it, and that.
fn bare_name<'a>(name: &'a str, native: &'a Native) -> (&'a str, Option<&'a str>) {
    let namespace = native.namespace.as_deref();
    let bare = namespace.and_then(|namespace| name.strip_prefix(namespace)?.strip_prefix('.'));
    bare.map_or((name, None), |bare| (bare, namespace))
}

/// Writes a call of a tool that the API has built in: its input stands in a field that depends on the tool.
fn native_call(kind: &str, id: &str, input: Option<&Json>) -> Json {
    let (id_field, input_field) = match kind {
        "web_search_call" => ("id", "action"),
        "image_generation_call" => ("id", "revised_prompt"),
        "local_shell_call" => ("call_id", "action"),
        _ => ("call_id", "arguments"),
    };
    let input = input.map_or_else(String::new, |input| format!(",\"{input_field}\":{}", input.get()));
    object(&format!(
        "{{\"type\":{},\"{id_field}\":{}{input}}}",
        Json::string(kind).get(),
        Json::string(id).get()
    ))
}

/// Reads what was put together from JSON values.
fn object(text: &str) -> Json {
    Json::parse(text.to_owned()).expect("its parts are JSON")
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
