//! Results of tools.

use std::borrow::Cow;

use agent_core::{Body, ErrorInfo, Json, Status, Subagent, ToolEnded, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::wire::{AgentResultWire, BlockWire, RowWire, ToolUseResultWire, millis, read};
use super::super::{Writer, copy, learning};
use super::INTERRUPTED_TOOL;

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>, block: &BlockWire<'_>) {
    let call_id = block
        .tool_use_id
        .clone()
        .or_else(|| wire.source_tool_use_id.clone())
        .unwrap_or_else(|| writer.name_of("result"));
    // The runtime's view is an object for most tools that went well, and text for those that failed.
    let beside = wire.tool_use_result.filter(|raw| raw.get().starts_with('{'));
    let runtime: ToolUseResultWire = read(beside).unwrap_or_default();
    let output = block.content.or(wire.tool_use_result);
    let words = output.map(RawValue::get).unwrap_or_default();
    let beginning = beginning(words);
    let status = status(wire, block, &runtime, &beginning);
    let is_failure = status != ToolStatus::Succeeded;
    let output = copy(output);
    let error =
        is_failure.then(|| ErrorInfo { message: output.as_ref().map(first_words), ..Default::default() });
    let told_ms = runtime.duration_ms.or(runtime.total_duration_ms).and_then(millis);
    let counted_ms = runtime.duration_seconds.and_then(|seconds| millis(seconds * 1000.0));
    learning::of_reminder_in(writer, words, output.as_ref(), &call_id);
    writer.push(
        Some(call_id.clone()),
        Body::ToolEnded(ToolEnded {
            exit_code: runtime.exit_code.or_else(|| exit_code(words).filter(|_| is_failure)),
            call_id: call_id.clone(),
            status: Some(status),
            output,
            error,
            duration_ms: told_ms.or(counted_ms),
            ..Default::default()
        }),
    );
    if status == ToolStatus::Succeeded {
        learning::of_outcome(writer, beside, &beginning, &call_id);
    }
    subagent_ended(writer, beside, call_id);
}

/// Returns the words that a result begins with, its first block's where it is a list. What the runtime says in
/// a result stands there; further on the same words are quoted by what the tool gave back.
fn beginning(words: &str) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct TextWire {
        text: Option<String>,
    }
    if let Some(text) = words.strip_prefix('"') {
        return Cow::Borrowed(text);
    }
    let blocks: Vec<TextWire> = serde_json::from_str(words).unwrap_or_default();
    Cow::Owned(blocks.into_iter().find_map(|block| block.text).unwrap_or_default())
}

fn status(wire: &RowWire<'_>, block: &BlockWire<'_>, runtime: &ToolUseResultWire, words: &str) -> ToolStatus {
    if block.is_error != Some(true) {
        let was_broken_off = runtime.interrupted == Some(true);
        return if was_broken_off { ToolStatus::Cancelled } else { ToolStatus::Succeeded };
    }
    let refused = wire.tool_denial_kind.is_some()
        || words.starts_with("The user doesn't want to proceed with this tool use")
        || words.starts_with("The user doesn't want to take this action right now");
    if refused {
        return ToolStatus::Rejected;
    }
    // Of calls that run side by side, those still running are broken off when one fails.
    if words.starts_with(INTERRUPTED_TOOL) || words.starts_with("<tool_use_error>Sibling tool call errored") {
        return ToolStatus::Cancelled;
    }
    ToolStatus::Failed
}

/// Failed commands begin with their exit code.
fn exit_code(words: &str) -> Option<i64> {
    let rest = words.strip_prefix("\"Exit code ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The result of a call that started a sub-agent names the sub-agent's session.
fn subagent_ended(writer: &mut Writer<'_>, beside: Option<&RawValue>, call_id: String) {
    if !beside.is_some_and(|raw| raw.get().contains("\"agentId\"")) {
        return;
    }
    let Some(AgentResultWire { agent_id: Some(agent), status }) = read(beside) else { return };
    // An agent in the background has only been started.
    if status.as_deref() != Some("completed") {
        return;
    }
    // All sub-agents hang on the main session, those of sub-agents too.
    let parent = writer.session().split('/').next().unwrap_or_default();
    let session = format!("{parent}/{agent}");
    writer.push_beside(Body::SubagentEnded(Subagent {
        session: Some(session),
        call_id: Some(call_id),
        status: Some(Status::Completed),
        ..Default::default()
    }));
}

/// The longest message of an error; the whole stands in the output.
const ERROR_BYTES: usize = 500;

fn first_words(output: &Json) -> String {
    // Twice as much: what is asked for may come out a few bytes short, where it breaks in the middle of an escape.
    let mut words = output.beginning(2 * ERROR_BYTES);
    words.truncate(words.floor_char_boundary(ERROR_BYTES));
    words
}
