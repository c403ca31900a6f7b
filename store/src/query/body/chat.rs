//! OpenAI's Chat Completions API: a flat list of messages, the calls of a response inside its message.

use agent_core::Json;
use serde_json::{Value, json};

use super::piece::{Piece, Role};
use super::{Shape, Written, joined, picture};

/// How far the list of messages is written.
#[derive(Default)]
pub(super) struct Chat(Stage);

#[derive(Clone, Copy, Default)]
enum Stage {
    #[default]
    Front,
    Between,
    /// In the model's message, before its calls.
    Response,
    /// In the list of the calls of the model's message.
    Calls,
}

impl Chat {
    /// Closes what is open and returns what stands before the next message.
    fn next_message(&mut self, stage: Stage) -> String {
        let framing = match std::mem::replace(&mut self.0, stage) {
            Stage::Front => ",\"messages\":[",
            Stage::Between => ",",
            Stage::Response => "},",
            Stage::Calls => "]},",
        };
        framing.to_owned()
    }

    fn call(&mut self, id: &str, name: &str, input: Option<&Json>) -> Written {
        let framing = match self.0 {
            Stage::Response => ",\"tool_calls\":[".to_owned(),
            Stage::Calls => ",".to_owned(),
            Stage::Front | Stage::Between => {
                self.next_message(Stage::Calls) + "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
            }
        };
        self.0 = Stage::Calls;
        let function = json!({"name": name, "arguments": input.map_or("{}", Json::get)});
        Written { framing, text: json!({"id": id, "type": "function", "function": function}).to_string() }
    }

    fn response(&mut self, pieces: &[Piece]) -> Written {
        let framing = self.next_message(Stage::Response) + "{\"role\":\"assistant\",";
        let (reasoning, words): (Vec<&Piece>, Vec<&Piece>) =
            pieces.iter().partition(|piece| matches!(piece, Piece::Reasoning { .. }));
        let mut text = format!("\"content\":{}", content(&words));
        let reasoning: Vec<&str> = reasoning.into_iter().filter_map(words_of).collect();
        if !reasoning.is_empty() {
            text.push_str(&format!(",\"reasoning_content\":{}", Value::String(reasoning.join("\n"))));
        }
        Written { framing, text }
    }
}

impl Shape for Chat {
    fn system(&mut self, text: &Json) -> Written {
        let framing = self.next_message(Stage::Between);
        Written { framing, text: format!("{{\"role\":\"system\",\"content\":{}}}", text.get()) }
    }

    fn tools(&mut self, schemas: &Json) -> Option<Written> {
        let written = Written { framing: ",\"tools\":".to_owned(), text: schemas.get().to_owned() };
        // The API refuses an empty list.
        (schemas.get() != "[]").then_some(written)
    }

    fn part(&mut self, role: Role, pieces: &[Piece]) -> Written {
        match (role, pieces) {
            (_, [Piece::Call { id, name, input, .. }]) => self.call(id, name, input.as_ref()),
            (_, [Piece::Result { id, output, .. }]) => {
                let framing = self.next_message(Stage::Between);
                let content = output.as_ref().map_or("\"\"", Json::get);
                let id = Json::string(id);
                let text =
                    format!("{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{content}}}", id.get());
                Written { framing, text }
            }
            (Role::Assistant, _) => self.response(pieces),
            _ => {
                let framing = self.next_message(Stage::Between);
                let role = if role == Role::System { "system" } else { "user" };
                let content = content(&pieces.iter().collect::<Vec<_>>());
                Written { framing, text: format!("{{\"role\":\"{role}\",\"content\":{content}}}") }
            }
        }
    }

    /// The system prompt is a message here.
    fn has_messages(&self) -> bool {
        !matches!(self.0, Stage::Front)
    }

    fn end(&self) -> &'static str {
        match self.0 {
            Stage::Front => ",\"messages\":[]}",
            Stage::Between => "]}",
            Stage::Response => "}]}",
            Stage::Calls => "]}]}",
        }
    }
}

/// Returns one text as a string and anything else as a list.
fn content(pieces: &[&Piece]) -> String {
    match pieces {
        [] => "null".to_owned(),
        [Piece::Text(text)] => Json::string(text).get().to_owned(),
        pieces => format!("[{}]", joined(&pieces.iter().map(|piece| item(piece)).collect::<Vec<_>>())),
    }
}

fn item(piece: &Piece) -> Json {
    match piece {
        Piece::Other(value) => value.clone(),
        Piece::Media { media_type, bytes } => picture(media_type, *bytes),
        piece => Json::of(&json!({"type": "text", "text": words_of(piece)})),
    }
}

fn words_of(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text(text) | Piece::Reasoning { text, .. } => Some(text),
        _ => None,
    }
}
