//! The rows as Claude Code writes them; only what is needed is read.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

type Raw<'a> = Option<&'a RawValue>;

/// One row.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RowWire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) subtype: Option<String>,
    pub(super) uuid: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) parent_uuid: Option<String>,
    pub(super) logical_parent_uuid: Option<String>,
    pub(super) timestamp: Option<String>,
    pub(super) agent_id: Option<String>,
    #[serde(default)]
    pub(super) is_sidechain: Option<bool>,
    pub(super) is_meta: Option<bool>,
    pub(super) is_compact_summary: Option<bool>,
    pub(super) is_api_error_message: Option<bool>,
    pub(super) api_error_status: Option<u16>,
    pub(super) request_id: Option<String>,
    #[serde(borrow)]
    pub(super) origin: Raw<'a>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
    #[serde(borrow)]
    pub(super) tool_use_result: Raw<'a>,
    pub(super) tool_denial_kind: Option<String>,
    #[serde(borrow)]
    pub(super) attachment: Raw<'a>,
    #[serde(borrow)]
    pub(super) data: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) compact_metadata: Raw<'a>,
    #[serde(borrow)]
    pub(super) microcompact_metadata: Raw<'a>,
    pub(super) retry_attempt: Option<f64>,
    pub(super) retry_in_ms: Option<f64>,
    #[serde(rename = "parentToolUseID")]
    pub(super) parent_tool_use_id: Option<String>,
    #[serde(rename = "sourceToolUseID")]
    pub(super) source_tool_use_id: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) leaf_uuid: Option<String>,
    pub(super) custom_title: Option<String>,
    pub(super) ai_title: Option<String>,
    pub(super) pr_url: Option<String>,
    pub(super) api_refusal_explanation: Option<String>,
    /// The model that refused.
    pub(super) original_model: Option<String>,
    /// The rows whose words this row says again, and longer.
    #[serde(borrow)]
    pub(super) supersedes_uuids: Raw<'a>,
    /// The rows that were taken back with the refusal.
    #[serde(borrow)]
    pub(super) retracted_message_uuids: Raw<'a>,
    /// What was done to the queue of messages.
    pub(super) operation: Option<String>,
    /// Why.
    #[serde(borrow)]
    pub(super) reason: Raw<'a>,
    /// The delivery of a message from the queue.
    pub(super) command_uuid: Option<String>,
}

/// The message in an assistant or user row.
#[derive(Deserialize)]
pub(super) struct MessageWire<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    pub(super) stop_reason: Option<String>,
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
}

/// A content block; which fields it has depends on its type.
#[derive(Default, Deserialize)]
pub(super) struct BlockWire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) input: Raw<'a>,
    pub(super) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    pub(super) source: Raw<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct UsageWire {
    pub(super) input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_creation: Option<CacheCreationWire>,
    pub(super) output_tokens: Option<u64>,
    pub(super) output_tokens_details: Option<OutputDetailsWire>,
    /// `standard`, `batch` or `priority`.
    pub(super) service_tier: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct CacheCreationWire {
    pub(super) ephemeral_5m_input_tokens: Option<u64>,
    pub(super) ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct OutputDetailsWire {
    pub(super) thinking_tokens: Option<u64>,
}

/// What the runtime says of a tool's result, beside the result itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolUseResultWire {
    pub(super) interrupted: Option<bool>,
    pub(super) duration_ms: Option<f64>,
    pub(super) total_duration_ms: Option<f64>,
    pub(super) duration_seconds: Option<f64>,
    pub(super) exit_code: Option<i64>,
}

/// What the runtime says, beside its result, of a call that succeeded on a file or a skill.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutcomeWire {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// The file that was written.
    pub(super) file_path: Option<String>,
    pub(super) structured_patch: Option<IgnoredAny>,
    pub(super) old_string: Option<IgnoredAny>,
    /// The file that was read.
    pub(super) file: Option<FileWire>,
    pub(super) success: Option<bool>,
    /// The skill.
    pub(super) command_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileWire {
    pub(super) file_path: Option<String>,
}

/// What the result of a sub-agent's call says of the sub-agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentResultWire {
    pub(super) agent_id: Option<String>,
    pub(super) status: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct OriginWire {
    pub(super) kind: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompactWire {
    pub(super) trigger: Option<String>,
    pub(super) pre_tokens: Option<u64>,
    pub(super) post_tokens: Option<u64>,
    pub(super) tokens_saved: Option<u64>,
    pub(super) compacted_tool_ids: Option<Vec<String>>,
    #[serde(rename = "clearedAttachmentUUIDs")]
    pub(super) cleared_attachments: Option<Vec<String>>,
    pub(super) preserved_messages: Option<PreservedWire>,
    pub(super) preserved_segment: Option<SegmentWire>,
}

/// The rows that stay in the context, and the one that they stand behind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PreservedWire {
    pub(super) anchor_uuid: Option<String>,
    /// Those that are messages.
    pub(super) uuids: Option<Vec<String>>,
    /// All, attachments too.
    pub(super) all_uuids: Option<Vec<String>>,
}

/// The same by the first and the last row, as older versions have it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SegmentWire {
    pub(super) anchor_uuid: Option<String>,
    pub(super) head_uuid: Option<String>,
    pub(super) tail_uuid: Option<String>,
}

/// The payload of a progress row.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressWire<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
    pub(super) agent_id: Option<String>,
}

/// An error, in the shapes of several versions.
#[derive(Default, Deserialize)]
pub(super) struct ErrorWire<'a> {
    pub(super) message: Option<String>,
    pub(super) status: Option<u16>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
}

/// Reads a raw value as `T`; nothing when it has another shape.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Returns the whole milliseconds of a figure that is written as a number of any kind.
pub(super) fn millis(figure: f64) -> Option<u64> {
    (figure.is_finite() && (0.0..1e15).contains(&figure)).then_some(figure.round() as u64)
}
