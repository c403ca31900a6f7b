//! Prompts, put together again.

use agent_core::{Block, Body, ChunkKind, Event, Fidelity, Json, LeftOut};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::events::Hydrator;
use crate::projection::ranges::Ranges;
use crate::projection::tables::{ModelCallRow, PartRow, PromptRow};
use crate::{Store, StoreError};

pub use crate::projection::tables::PartRow as PromptPartRow;

/// A prompt: its bytes are the chunks one after the other.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// How near it is to what the model saw.
    pub fidelity: Fidelity,
    /// What the source lacks of it.
    pub missing: Vec<String>,
    /// BLAKE3 of the bytes given here, in hex.
    pub body_hash: String,
    /// Set when the bytes are not what was recorded: an error to be shown.
    pub damaged: Option<String>,
    /// The chunks in order.
    pub chunks: Vec<PromptChunk>,
    /// What was left out of it, and why.
    pub left_out: Vec<LeftOut>,
}

/// A piece of a prompt.
#[derive(Clone, Debug)]
pub struct PromptChunk {
    /// What it is.
    pub kind: ChunkKind,
    /// Where it comes from.
    pub source: Option<String>,
    /// Why it is in front of the model.
    pub reason: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its size in tokens.
    pub tokens: Option<u64>,
    /// How the tokens were counted.
    pub tokens_basis: Option<String>,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
}

impl Prompt {
    /// Returns the bytes of the whole body.
    pub fn body(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
    }
}

impl Store {
    /// Returns the parts of a call's prompt in order, without their bytes.
    pub fn prompt_parts(&self, session_key: u32, turn: u32, call: u32) -> Result<Vec<PartRow>, StoreError> {
        let prompt = self.prompt_row(session_key, turn, call)?;
        self.parts_of(session_key, &prompt)
    }

    /// Returns the prompt of a call with all its bytes, verified where they were recorded.
    pub fn prompt(&self, session_key: u32, turn: u32, call: u32) -> Result<Prompt, StoreError> {
        let row = self.prompt_row(session_key, turn, call)?;
        let parts = self.parts_of(session_key, &row)?;
        match &row.body_hash {
            Some(hash) => self.recorded(&row, hash, &parts),
            None => self.rebuilt(session_key, turn, call, &parts),
        }
    }

    /// Returns the event that brought a part into the context.
    pub fn part_event(&self, session_key: u32, part: u32) -> Result<(PartRow, Event), StoreError> {
        let row: Option<PartRow> = self.select("session_key = ? AND part = ?", [session_key, part])?.pop();
        let row = row.ok_or_else(|| StoreError::NotFound { what: "part", name: part.to_string() })?;
        let event = self.event_at(row.position, row.sub)?;
        Ok((row, event))
    }

    fn prompt_row(&self, session_key: u32, turn: u32, call: u32) -> Result<PromptRow, StoreError> {
        self.select("session_key = ? AND turn = ? AND call = ?", [session_key, turn, call])?.pop().ok_or_else(
            || StoreError::NotFound { what: "prompt of turn", name: format!("{turn}, call {call}") },
        )
    }

    fn parts_of(&self, session_key: u32, prompt: &PromptRow) -> Result<Vec<PartRow>, StoreError> {
        let ranges = Ranges::from_text(&prompt.parts).ok_or_else(|| StoreError::Unreadable {
            position: 0,
            reason: format!("the part list {:?} of turn {} is damaged", prompt.parts, prompt.turn),
        })?;
        let (Some(low), Some(high)) = (ranges.iter().min(), ranges.iter().max()) else {
            return Ok(Vec::new());
        };
        let rows: Vec<PartRow> =
            self.select("session_key = ? AND part BETWEEN ? AND ? ORDER BY part", [session_key, low, high])?;
        let by_number =
            |part: u32| rows.binary_search_by_key(&part, |row| row.part).ok().map(|at| rows[at].clone());
        ranges
            .iter()
            .map(|part| {
                by_number(part).ok_or_else(|| StoreError::NotFound { what: "part", name: part.to_string() })
            })
            .collect()
    }

    fn recorded(&self, row: &PromptRow, expected: &str, parts: &[PartRow]) -> Result<Prompt, StoreError> {
        let mut hydrator = Hydrator::new(self);
        let mut chunks = Vec::with_capacity(parts.len());
        let mut missing = Vec::new();
        let mut body = blake3::Hasher::new();
        for part in parts {
            let bytes = match chunk_bytes(&mut hydrator, part)? {
                Some(bytes) => bytes,
                None => {
                    missing.push(format!("chunk {}", part.hash.as_deref().unwrap_or("without a hash")));
                    Vec::new()
                }
            };
            body.update(&bytes);
            chunks.push(chunk_of(part, bytes));
        }
        let body_hash = body.finalize().to_hex().to_string();
        let damaged = (body_hash != expected)
            .then(|| format!("the bytes hash to {body_hash}, but {expected} was recorded"));
        let left_out = row
            .left_out
            .as_deref()
            .map_or_else(Vec::new, |text| serde_json::from_str(text).unwrap_or_default());
        let fidelity = if damaged.is_none() { Fidelity::Exact } else { Fidelity::Partial };
        Ok(Prompt { fidelity, missing, body_hash, damaged, chunks, left_out })
    }

    fn rebuilt(
        &self,
        session_key: u32,
        turn: u32,
        call: u32,
        parts: &[PartRow],
    ) -> Result<Prompt, StoreError> {
        let calls: Vec<ModelCallRow> =
            self.select("session_key = ? AND turn = ? AND call = ?", [session_key, turn, call])?;
        let model = calls.first().and_then(|call| call.model.clone());
        let mut hydrator = Hydrator::new(self);
        let mut writer = BodyWriter::new(model.as_deref());
        for part in parts {
            let event = hydrator.event(part.position, part.sub)?;
            writer.add(part, &event);
        }
        Ok(writer.finish())
    }
}

fn chunk_bytes(hydrator: &mut Hydrator<'_>, part: &PartRow) -> Result<Option<Vec<u8>>, StoreError> {
    if part.position == 0 {
        return Ok(None);
    }
    let Body::ChunkDefined(chunk) = hydrator.event(part.position, part.sub)?.body else { return Ok(None) };
    Ok(match (chunk.text, chunk.base64) {
        (Some(text), _) => Some(text.into_bytes()),
        (None, Some(encoded)) => STANDARD.decode(encoded).ok(),
        (None, None) => None,
    })
}

fn chunk_of(part: &PartRow, bytes: Vec<u8>) -> PromptChunk {
    PromptChunk {
        kind: ChunkKind::from_word(&part.kind).unwrap_or(ChunkKind::State),
        source: part.source.clone(),
        reason: part.reason.clone(),
        hash: blake3::hash(&bytes).to_hex().to_string(),
        tokens: part.tokens,
        tokens_basis: part.tokens_basis.clone(),
        bytes,
    }
}

/// Writes a request body from the parts of a transcript, in the shape of the Messages API: what stands
/// between the parts is framing.
struct BodyWriter {
    chunks: Vec<PromptChunk>,
    stage: Stage,
    has_system: bool,
    has_tools: bool,
    hidden_reasoning: usize,
    media: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Front,
    /// Inside the content list of a message of this role.
    Message(&'static str),
}

impl BodyWriter {
    fn new(model: Option<&str>) -> Self {
        let mut writer = Self {
            chunks: Vec::new(),
            stage: Stage::Front,
            has_system: false,
            has_tools: false,
            hidden_reasoning: 0,
            media: 0,
        };
        let model = model.map_or(Value::Null, |model| Value::String(model.to_owned()));
        writer.frame(&format!("{{\"model\":{model}"));
        writer
    }

    fn add(&mut self, part: &PartRow, event: &Event) {
        if let Body::ContextAdded(added) = &event.body
            && let (Some(slot @ ("system" | "tools")), Some(content)) =
                (added.slot.as_deref(), &added.content)
            && self.stage == Stage::Front
        {
            self.frame(&format!(",\"{slot}\":"));
            self.push(part, content.get());
            self.has_system |= slot == "system";
            self.has_tools |= slot == "tools";
            return;
        }
        let blocks = self.blocks(&event.body);
        if blocks.is_empty() {
            return;
        }
        let role = if part.role == "assistant" { "assistant" } else { "user" };
        match self.stage {
            Stage::Front => self.frame(&format!(",\"messages\":[{{\"role\":\"{role}\",\"content\":[")),
            Stage::Message(open) if open == role => self.frame(","),
            Stage::Message(_) => self.frame(&format!("]}},{{\"role\":\"{role}\",\"content\":[")),
        }
        self.stage = Stage::Message(role);
        let text: Vec<String> = blocks.iter().map(|block| block.get().to_owned()).collect();
        self.push(part, &text.join(","));
    }

    /// Returns what the event puts into a message, as content blocks.
    fn blocks(&mut self, body: &Body) -> Vec<Json> {
        match body {
            Body::UserMessaged(message) => {
                let text = (!message.text.is_empty())
                    .then(|| Json::of(&json!({"type": "text", "text": message.text})));
                let media: Vec<Json> = message.media.iter().filter_map(|block| self.block(block)).collect();
                text.into_iter().chain(media).collect()
            }
            Body::ModelResponded(piece) => {
                piece.content.iter().filter_map(|block| self.block(block)).collect()
            }
            Body::ToolCalled(call) => {
                let input = call.input.as_ref().map_or("{}", Json::get);
                let text = format!(
                    "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{input}}}",
                    Json::string(&call.call_id).get(),
                    Json::string(&call.name).get()
                );
                Json::parse(text).into_iter().collect()
            }
            Body::ToolEnded(end) => {
                let content = end.output.as_ref().map_or("null", Json::get);
                let is_error = end.status.is_some_and(|status| status != agent_core::ToolStatus::Succeeded);
                let text = format!(
                    "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{content}{}}}",
                    Json::string(&end.call_id).get(),
                    if is_error { ",\"is_error\":true" } else { "" }
                );
                Json::parse(text).into_iter().collect()
            }
            Body::ContextAdded(added) => added.content.iter().map(as_block).collect(),
            Body::ContextCompacted(compacted) => compacted.replacement.iter().map(as_block).collect(),
            _ => Vec::new(),
        }
    }

    fn block(&mut self, block: &Block) -> Option<Json> {
        match block {
            Block::Text { text } => Some(Json::of(&json!({"type": "text", "text": text}))),
            Block::Reasoning { text, hidden } => {
                self.hidden_reasoning += usize::from(*hidden);
                (!text.is_empty()).then(|| Json::of(&json!({"type": "thinking", "thinking": text})))
            }
            Block::ToolUse { .. } => None,
            Block::Media { media_type, bytes } => {
                self.media += 1;
                Some(Json::of(&json!({"type": "image", "media_type": media_type, "bytes": bytes})))
            }
            Block::Other { value } => Json::parse(value.to_json()).ok(),
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

    fn push(&mut self, part: &PartRow, text: &str) {
        self.chunks.push(chunk_of(part, text.as_bytes().to_vec()));
    }

    fn finish(mut self) -> Prompt {
        match self.stage {
            Stage::Front => self.frame(",\"messages\":[]}"),
            Stage::Message(_) => self.frame("]}]}"),
        }
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
}

/// Text becomes a text block; what is a structure already stands as it is.
fn as_block(content: &Json) -> Json {
    match content.as_text() {
        Some(text) => Json::of(&json!({"type": "text", "text": text})),
        None => content.clone(),
    }
}
