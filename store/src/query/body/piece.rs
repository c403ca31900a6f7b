//! What an event puts into a conversation, before it has the shape of an API.

use agent_core::{Block, Body, ContextCompacted, Json, ModelResponded, ToolStatus, UserMessaged};
use serde_json::value::RawValue;

use crate::projection::tables::PartRow;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The agent's own program: context that no person wrote.
    System,
    User,
    Assistant,
    Tool,
}

/// A piece of a message. A call or a result is the only piece of its part.
pub(super) enum Piece {
    Text(String),
    Reasoning {
        text: String,
        hidden: bool,
    },
    Media {
        media_type: String,
        bytes: u64,
    },
    Call {
        id: String,
        name: String,
        input: Option<Json>,
        native: Native,
    },
    Result {
        id: String,
        output: Option<Json>,
        is_error: bool,
        native: Native,
    },
    /// A piece of another kind, as the source wrote it.
    Other(Json),
}

impl Piece {
    /// Whether there is nothing to send of it.
    pub(super) fn is_wordless(&self) -> bool {
        matches!(self, Self::Reasoning { text, .. } if text.is_empty())
    }
}

/// What the source says of a call or result in the words of its API, where it does.
#[derive(Default)]
pub(super) struct Native {
    /// The kind of item, such as `custom_tool_call_output`.
    pub(super) item: Option<String>,
    /// What stands before the tool's name.
    pub(super) namespace: Option<String>,
}

impl Native {
    fn of(other: &serde_json::Map<String, serde_json::Value>) -> Self {
        let word = |key: &str| other.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        Self { item: word("item"), namespace: word("namespace") }
    }
}

/// Returns who speaks, and what.
pub(super) fn pieces_of(body: &Body) -> (Role, Vec<Piece>) {
    match body {
        Body::UserMessaged(message) => (Role::User, of_user(message)),
        Body::ModelResponded(piece) => (Role::Assistant, of_model(piece)),
        Body::ToolCalled(call) => {
            let (id, name) = (call.call_id.clone(), call.name.clone());
            let native = Native::of(&call.other);
            (Role::Assistant, vec![Piece::Call { id, name, input: call.input.clone(), native }])
        }
        // What the provider ran itself is told by the response; a result without content is none of ours.
        Body::ToolEnded(end) if end.output.is_none() && is_within_response(end) => (Role::Tool, Vec::new()),
        Body::ToolEnded(end) if end.in_text => {
            (Role::User, end.output.as_ref().map_or_else(Vec::new, of_content))
        }
        Body::ToolEnded(end) => {
            let is_error = !matches!(end.status, None | Some(ToolStatus::Succeeded | ToolStatus::Unknown));
            let (id, native) = (end.call_id.clone(), Native::of(&end.other));
            (Role::Tool, vec![Piece::Result { id, output: end.output.clone(), is_error, native }])
        }
        Body::ContextAdded(added) => (Role::System, added.content.as_ref().map_or_else(Vec::new, of_content)),
        Body::ContextCompacted(compacted) => {
            (Role::User, compacted.replacement.as_ref().map_or_else(Vec::new, of_content))
        }
        _ => (Role::System, Vec::new()),
    }
}

/// Returns what stands in the place of a cleared result.
pub(super) fn cleared(part: &PartRow, compacted: &ContextCompacted) -> (Role, Vec<Piece>) {
    let placeholder = compacted.placeholder.clone();
    if compacted.in_text {
        return (Role::User, placeholder.as_ref().map_or_else(Vec::new, of_content));
    }
    let id = part.source.clone().unwrap_or_default();
    let native = Native::default();
    (Role::Tool, vec![Piece::Result { id, output: placeholder, is_error: false, native }])
}

fn is_within_response(end: &agent_core::ToolEnded) -> bool {
    end.other.get("within_response") == Some(&serde_json::Value::Bool(true))
}

fn of_user(message: &UserMessaged) -> Vec<Piece> {
    let text = (!message.text.is_empty()).then(|| Piece::Text(message.text.clone()));
    text.into_iter().chain(message.media.iter().filter_map(of_block)).collect()
}

fn of_model(piece: &ModelResponded) -> Vec<Piece> {
    piece.content.iter().filter_map(of_block).collect()
}

fn of_block(block: &Block) -> Option<Piece> {
    Some(match block {
        Block::Text { text } => Piece::Text(text.clone()),
        Block::Reasoning { text, hidden } => Piece::Reasoning { text: text.clone(), hidden: *hidden },
        // The call stands in an event of its own.
        Block::ToolUse { .. } => return None,
        Block::Media { media_type, bytes } => Piece::Media { media_type: media_type.clone(), bytes: *bytes },
        Block::Other { value } => Piece::Other(Json::parse(value.to_json()).ok()?),
    })
}

/// Text is a piece of text, a list is its pieces, and any other structure stands as it is.
fn of_content(content: &Json) -> Vec<Piece> {
    if let Some(text) = content.as_text() {
        return vec![Piece::Text(text)];
    }
    match serde_json::from_str::<Vec<Box<RawValue>>>(content.get()) {
        Ok(values) => values.iter().map(|value| Piece::Other(Json::copy(value))).collect(),
        Err(_) => vec![Piece::Other(content.clone())],
    }
}
