//! The rows as they stand in the file.
//!
//! Codex promises no stability: nearly every field is taken as raw JSON and looked into where it is used, so
//! that a field of a new shape costs that field and not the row.

use agent_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A row: the envelope of its payload, or the fields by which a flat row is known.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(rename = "type", borrow)]
    pub kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
    /// The kind of the flat generation's rows that are no items.
    #[serde(borrow)]
    pub record_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub role: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// Returns the row's time; nothing when there is none that can be read.
    pub fn time(&self) -> Option<Timestamp> {
        text_of(self.timestamp.or(self.created_at))?.parse().ok()
    }

    /// Returns whether this is the first row of the flat generation.
    pub fn is_flat_header(&self) -> bool {
        self.kind.is_none() && self.payload.is_none() && self.id.is_some() && self.timestamp.is_some()
    }
}

/// What a session says of itself.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Meta<'a> {
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    pub cli_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub model_provider: Option<&'a RawValue>,
    #[serde(borrow)]
    pub source: Option<&'a RawValue>,
    #[serde(borrow)]
    pub forked_from_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub parent_thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub git: Option<&'a RawValue>,
    #[serde(borrow)]
    pub base_instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub dynamic_tools: Option<&'a RawValue>,
}

/// What holds for the model calls after it.
#[derive(Deserialize)]
pub(super) struct TurnContext<'a> {
    #[serde(borrow)]
    pub turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    pub approval_policy: Option<&'a RawValue>,
    #[serde(borrow)]
    pub base_instructions: Option<&'a RawValue>,
}

/// One item of the conversation with the model, of any kind.
#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub role: Option<&'a RawValue>,
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub encrypted_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub namespace: Option<&'a RawValue>,
    #[serde(borrow)]
    pub function: Option<&'a RawValue>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub action: Option<&'a RawValue>,
    #[serde(borrow)]
    pub status: Option<&'a RawValue>,
    #[serde(borrow)]
    pub output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub revised_prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    pub phase: Option<&'a RawValue>,
    #[serde(borrow)]
    pub author: Option<&'a RawValue>,
    #[serde(borrow)]
    pub recipient: Option<&'a RawValue>,
}

/// One thing that the agent told its screen.
#[derive(Deserialize)]
pub(super) struct Notice<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub codex_error_info: Option<&'a RawValue>,
    #[serde(borrow)]
    pub reason: Option<&'a RawValue>,
    pub duration_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    pub info: Option<&'a RawValue>,
    #[serde(borrow)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub num_turns: Option<&'a RawValue>,
    #[serde(borrow)]
    pub thread_name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub memory_citation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub phase: Option<&'a RawValue>,
    #[serde(borrow)]
    pub images: Option<&'a RawValue>,
    #[serde(borrow)]
    pub call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub new_thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub new_agent_nickname: Option<&'a RawValue>,
    #[serde(borrow)]
    pub new_agent_role: Option<&'a RawValue>,
}

/// Returns the content of a JSON string; nothing when the value is absent or no string.
pub(super) fn text_of(raw: Option<&RawValue>) -> Option<String> {
    let json = raw?.get();
    if json.starts_with('"') { serde_json::from_str(json).ok() } else { None }
}

/// Returns the content of a JSON string that says something.
pub(super) fn words_of(raw: Option<&RawValue>) -> Option<String> {
    text_of(raw).filter(|text| !text.trim().is_empty())
}

/// Returns a JSON value read as `T`; nothing when it is absent or of another shape.
pub(super) fn value_of<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}
