//! A request body from the parts of a transcript, in the shape of the API that the agent speaks.
//!
//! What stands between the parts is framing, a chunk like the others: all chunks one after the other are the
//! body.

mod chat;
mod messages;
mod piece;
mod responses;
#[cfg(test)]
mod tests;

use agent_core::{Body, ChunkKind, Event, Fidelity, Json};
use serde_json::{Value, json};

use super::prompts::{Prompt, PromptChunk, chunk_of};
use crate::ApiShape;
use crate::projection::tables::PartRow;
use chat::Chat;
use messages::Messages;
use piece::{Piece, Role, cleared, pieces_of};
use responses::Responses;

/// The text of a part, and what stands between the part before it and this one.
struct Written {
    framing: String,
    text: String,
}

/// One API's way of writing a request.
trait Shape {
    /// Writes the system prompt.
    fn system(&mut self, content: &Json) -> Written;

    /// Writes the tool schemas; nothing when an empty list is not sent.
    fn tools(&mut self, schemas: &Json) -> Option<Written>;

    /// Writes a part of the conversation; `pieces` is not empty.
    fn part(&mut self, role: Role, pieces: &[Piece]) -> Written;

    /// Returns whether the list of messages is begun, beside which no schemas can be written any more.
    fn has_messages(&self) -> bool {
        false
    }

    /// Returns what closes the body.
    fn end(&self) -> &'static str;
}

impl ApiShape {
    /// Brings the parts that stand before all messages into the order of the API's body.
    pub(super) fn order(self, parts: &mut [PartRow]) {
        if self != Self::ChatCompletions {
            return;
        }
        // The system prompt is the first message there, and the schemas stand outside of the messages.
        let is = |part: &PartRow, kind: ChunkKind| part.kind == kind.as_str();
        let front = parts
            .iter()
            .take_while(|part| is(part, ChunkKind::System) || is(part, ChunkKind::ToolSchema))
            .count();
        parts[..front].sort_by_key(|part| !is(part, ChunkKind::ToolSchema));
    }

    fn writer(self) -> Box<dyn Shape> {
        match self {
            Self::Messages => Box::new(Messages::default()),
            Self::ChatCompletions => Box::new(Chat::default()),
            Self::Responses => Box::new(Responses::default()),
        }
    }
}

/// Writes a body part by part, and notes what it lacks.
pub(super) struct BodyWriter {
    shape: Box<dyn Shape>,
    chunks: Vec<PromptChunk>,
    /// Whether a message was written: what comes in then stands among the messages.
    in_messages: bool,
    has_system: bool,
    has_tools: bool,
    hidden_reasoning: usize,
    media: usize,
}

impl BodyWriter {
    pub(super) fn new(shape: ApiShape, model: Option<&str>) -> Self {
        let mut writer = Self {
            shape: shape.writer(),
            chunks: Vec::new(),
            in_messages: false,
            has_system: false,
            has_tools: false,
            hidden_reasoning: 0,
            media: 0,
        };
        let model = model.map_or(Value::Null, |model| Value::String(model.to_owned()));
        writer.frame(&format!("{{\"model\":{model}"));
        writer
    }

    /// Adds a part, which `event` brought in.
    pub(super) fn add(&mut self, part: &PartRow, event: &Event) {
        match &event.body {
            Body::ContextAdded(added) if !self.in_messages => match (added.slot.as_deref(), &added.content) {
                (Some("system"), Some(content)) => {
                    self.has_system = true;
                    let written = self.shape.system(content);
                    self.push(part, &written);
                }
                (Some("tools"), Some(schemas)) if !self.shape.has_messages() => {
                    // What the source itself calls a part of the schemas is not all that was sent.
                    self.has_tools = added.other.get("partial") != Some(&Value::Bool(true));
                    if let Some(written) = self.shape.tools(schemas) {
                        self.push(part, &written);
                    }
                }
                _ => self.add_message(part, &event.body),
            },
            body => self.add_message(part, body),
        }
    }

    fn add_message(&mut self, part: &PartRow, body: &Body) {
        let (role, pieces) = match body {
            Body::ContextCompacted(compacted) if part.kind == ChunkKind::ToolResult.as_str() => {
                cleared(part, compacted)
            }
            body => pieces_of(body),
        };
        for piece in &pieces {
            self.hidden_reasoning += usize::from(matches!(piece, Piece::Reasoning { hidden: true, .. }));
            self.media += usize::from(matches!(piece, Piece::Media { .. }));
        }
        // Reasoning that is hidden has no words to send.
        let pieces: Vec<Piece> = pieces.into_iter().filter(|piece| !piece.is_wordless()).collect();
        if !pieces.is_empty() {
            self.in_messages = true;
            let written = self.shape.part(role, &pieces);
            self.push(part, &written);
        }
    }

    fn frame(&mut self, text: &str) {
        self.chunks.push(PromptChunk {
            kind: ChunkKind::Framing,
            source: None,
            reason: None,
            bytes: text.as_bytes().to_vec(),
            tokens: None,
            tokens_basis: None,
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        });
    }

    fn push(&mut self, part: &PartRow, written: &Written) {
        self.frame(&written.framing);
        self.chunks.push(chunk_of(part, written.text.as_bytes().to_vec()));
    }

    /// Closes the body and says how near it is to what was sent.
    pub(super) fn finish(mut self) -> Prompt {
        self.frame(self.shape.end());
        let missing = self.missing();
        let mut body = blake3::Hasher::new();
        self.chunks.iter().for_each(|chunk| {
            body.update(&chunk.bytes);
        });
        Prompt {
            fidelity: if missing.is_empty() { Fidelity::Rebuilt } else { Fidelity::Partial },
            missing,
            body_hash: body.finalize().to_hex().to_string(),
            damaged: None,
            chunks: self.chunks,
            left_out: Vec::new(),
        }
    }

    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if !self.has_system {
            missing.push("the system prompt".to_owned());
        }
        if !self.has_tools {
            missing.push("the tool schemas".to_owned());
        }
        if self.hidden_reasoning > 0 {
            missing.push(format!("{} pieces of reasoning that the provider hides", self.hidden_reasoning));
        }
        if self.media > 0 {
            missing.push(format!("the bytes of {} pictures or files", self.media));
        }
        missing
    }
}

/// What stands for a picture whose bytes are not kept.
fn picture(media_type: &str, bytes: u64) -> Json {
    Json::of(&json!({"type": "image", "media_type": media_type, "bytes": bytes}))
}

/// Returns the values with commas between them.
fn joined(values: &[Json]) -> String {
    values.iter().map(Json::get).collect::<Vec<_>>().join(",")
}
