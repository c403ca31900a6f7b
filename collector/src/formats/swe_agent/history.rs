//! What one message of the history means.

use agent_core::{
    Block, Body, ChunkKind, ContextAdded, Json, ModelResponded, Origin, ToolCalled, ToolEnded, ToolStatus,
    UsageQuality, UserMessaged,
};

use super::super::chat::{ToolCall, text_of};
use super::super::emit::{Emit, call_id, object_of, said};
use super::reading::Reading;
use super::wire::Message;

pub(super) fn map(message: &Message, reading: Reading, emit: &mut Emit<'_>) {
    let index = emit.index;
    if message.is_demo == Some(true) {
        return context(ChunkKind::Insight, Some("demonstration"), None, message, emit);
    }
    match message.role.as_deref() {
        Some("system") => context(ChunkKind::System, None, Some("system"), message, emit),
        Some("user") if reading.is_task(index) => {
            let text = text_of(message.content.as_deref());
            let task = UserMessaged { origin: Some(Origin::Human), text, ..UserMessaged::default() };
            emit.push(None, Body::UserMessaged(task));
        }
        Some("assistant") if reading.history_only => {
            let text = text_of(message.content.as_deref());
            respond(&[], &text, message.action.as_deref(), message.tool_calls.as_deref(), emit);
        }
        Some("user" | "tool") if reading.history_only => result(message, index, emit),
        // The steps tell the same.
        _ => emit.keep("swe_agent.history"),
    }
}

fn context(
    kind: ChunkKind,
    reason: Option<&str>,
    slot: Option<&str>,
    message: &Message,
    emit: &mut Emit<'_>,
) {
    let context = ContextAdded {
        kind: Some(kind),
        reason: reason.map(str::to_owned),
        slot: slot.map(str::to_owned),
        content: message.content.as_deref().map(Json::copy),
        ..ContextAdded::default()
    };
    emit.push(None, Body::ContextAdded(context));
}

/// Maps a result. It names its calls, or answers the action of the message before it.
fn result(message: &Message, index: u64, emit: &mut Emit<'_>) {
    let native_ids = message.tool_call_ids.clone().unwrap_or_default();
    let output = message.content.as_deref().map(Json::copy);
    let ended = |call_id: String| ToolEnded {
        call_id,
        status: Some(ToolStatus::Unknown),
        output: output.clone(),
        ..ToolEnded::default()
    };
    if native_ids.is_empty() {
        return emit.push(None, Body::ToolEnded(ended(call_id(index.saturating_sub(1), 0))));
    }
    for native_id in native_ids {
        emit.push(Some(native_id.clone()), Body::ToolEnded(ended(native_id)));
    }
}

/// Adds a response and its calls, and returns the id of its first call. No file tells usage or id.
pub(super) fn respond(
    reasoning: &[&str],
    text: &str,
    action: Option<&str>,
    tool_calls: Option<&[ToolCall]>,
    emit: &mut Emit<'_>,
) -> Option<String> {
    let calls = calls_of(action, tool_calls, emit.index);
    let mut content: Vec<Block> = reasoning
        .iter()
        .map(|text| Block::Reasoning { text: (*text).to_owned(), hidden: text.is_empty() })
        .collect();
    if !text.is_empty() {
        content.push(Block::Text { text: text.to_owned() });
    }
    content.extend(
        calls
            .iter()
            .map(|(_, call)| Block::ToolUse { call_id: call.call_id.clone(), name: call.name.clone() }),
    );
    let answer = ModelResponded {
        content,
        usage_quality: Some(UsageQuality::Missing),
        last_piece: true,
        ..ModelResponded::default()
    };
    emit.push(None, Body::ModelResponded(answer));
    let first = calls.first().map(|(_, call)| call.call_id.clone());
    for (native_id, call) in calls {
        emit.push(native_id, Body::ToolCalled(call));
    }
    first
}

/// Returns the calls, each with its native id where it has one: the tool calls, else the action, whose first
/// word is the command's name.
fn calls_of(
    action: Option<&str>,
    tool_calls: Option<&[ToolCall]>,
    index: u64,
) -> Vec<(Option<String>, ToolCalled)> {
    let action = action.unwrap_or("");
    let first_word = || action.split_whitespace().next().unwrap_or_default().to_owned();
    let tool_calls = tool_calls.unwrap_or(&[]);
    if tool_calls.is_empty() {
        if action.trim().is_empty() {
            return Vec::new();
        }
        let call = ToolCalled {
            call_id: call_id(index, 0),
            name: first_word(),
            input: Some(object_of("action", action)),
            ..ToolCalled::default()
        };
        return vec![(None, call)];
    }
    let called = |(nth, call): (usize, &ToolCall)| {
        let native_id = said(call.id.clone());
        let function = call.function.as_ref();
        let called = ToolCalled {
            call_id: native_id.clone().unwrap_or_else(|| call_id(index, nth)),
            name: function.and_then(|function| function.name.clone()).unwrap_or_else(first_word),
            input: function.and_then(|function| function.input()),
            ..ToolCalled::default()
        };
        (native_id, called)
    };
    tool_calls.iter().enumerate().map(called).collect()
}
