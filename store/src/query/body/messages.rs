//! Anthropic's Messages API: content blocks in messages of a user and an assistant.

use agent_core::Json;
use serde_json::json;

use super::piece::{Piece, Role};
use super::{Shape, Written, joined, picture};

/// The role of the message whose content list is open.
#[derive(Default)]
pub(super) struct Messages(Option<&'static str>);

impl Shape for Messages {
    fn system(&mut self, content: &Json) -> Written {
        Written { framing: ",\"system\":".to_owned(), text: content.get().to_owned() }
    }

    fn tools(&mut self, schemas: &Json) -> Option<Written> {
        Some(Written { framing: ",\"tools\":".to_owned(), text: schemas.get().to_owned() })
    }

    fn part(&mut self, role: Role, pieces: &[Piece]) -> Written {
        let role = if role == Role::Assistant { "assistant" } else { "user" };
        let framing = match self.0.replace(role) {
            None => format!(",\"messages\":[{{\"role\":\"{role}\",\"content\":["),
            Some(open) if open == role => ",".to_owned(),
            Some(_) => format!("]}},{{\"role\":\"{role}\",\"content\":["),
        };
        Written { framing, text: joined(&pieces.iter().map(block).collect::<Vec<_>>()) }
    }

    fn end(&self) -> &'static str {
        if self.0.is_none() { ",\"messages\":[]}" } else { "]}]}" }
    }
}

fn block(piece: &Piece) -> Json {
    match piece {
        Piece::Text(text) => Json::of(&json!({"type": "text", "text": text})),
        Piece::Reasoning { text, .. } => Json::of(&json!({"type": "thinking", "thinking": text})),
        Piece::Media { media_type, bytes } => picture(media_type, *bytes),
        Piece::Call { id, name, input, .. } => Json::of(&ToolUse {
            r#type: "tool_use",
            id,
            name,
            input: input.clone().unwrap_or_else(|| Json::of(&json!({}))),
        }),
        Piece::Result { id, output, is_error, .. } => Json::of(&ToolResult {
            r#type: "tool_result",
            tool_use_id: id,
            content: output.as_ref(),
            is_error: *is_error,
        }),
        Piece::Other(value) => value.clone(),
    }
}

#[derive(serde::Serialize)]
struct ToolUse<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: Json,
}

#[derive(serde::Serialize)]
struct ToolResult<'a> {
    r#type: &'static str,
    tool_use_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}
