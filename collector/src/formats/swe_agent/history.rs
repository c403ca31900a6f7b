//! What one message of the history means.

use agent_core::{Block, Body, ChunkKind, Json, ModelResponded, Origin, ToolEnded, ToolStatus, UserMessaged};

use super::super::chat::{Call, ToolCall, text_of};
use super::super::emit::{Emit, call_id, object_of};
use super::reading::Reading;
use super::wire::Message;

pub(super) fn map(message: &Message, reading: Reading, emit: &mut Emit<'_>) {
    let index = emit.index;
    let content = || message.content.as_deref().map(Json::copy);
    if message.is_demo == Some(true) {
        return emit.context(ChunkKind::Insight, Some("demonstration"), None, content());
    }
    match message.role.as_deref() {
        Some("system") => emit.context(ChunkKind::System, None, Some("system"), content()),
        Some("user") if reading.is_task(index) => {
            let text = text_of(message.content.as_deref());
            let task = UserMessaged { origin: Some(Origin::Human), text, ..UserMessaged::default() };
            emit.push(None, Body::UserMessaged(task));
        }
        Some("assistant") if reading.history_tells && is_exit(message) => emit.keep("swe_agent.exit"),
        Some("assistant") if reading.history_tells => respond(message, emit),
        Some("user" | "tool") if reading.history_tells => result(message, index, emit),
        // The steps tell the same.
        _ => emit.keep("swe_agent.history"),
    }
}

/// Says whether no model answered, and the runtime noted that the agent ended.
fn is_exit(message: &Message) -> bool {
    message.action.as_deref().is_some_and(|action| action.starts_with("exit_"))
}

fn respond(message: &Message, emit: &mut Emit<'_>) {
    let text = text_of(message.content.as_deref());
    let calls = match message.tool_calls.as_deref() {
        Some(calls @ [_, ..]) => {
            let named = |(nth, call): (usize, &ToolCall)| {
                let first_word = || first_word(message.action.as_deref());
                call.call(|| call_id(emit.index, nth), first_word)
            };
            calls.iter().enumerate().map(named).collect()
        }
        _ => action_call(message.action.as_deref(), call_id(emit.index, 0)).into_iter().collect(),
    };
    emit.respond(answer([], text), calls);
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
        let ended = ToolEnded { in_text: true, ..ended(call_id(index.saturating_sub(1), 0)) };
        return emit.push(None, Body::ToolEnded(ended));
    }
    for native_id in native_ids {
        emit.push(Some(native_id.clone()), Body::ToolEnded(ended(native_id)));
    }
}

/// Returns a response. No file tells its usage or its id.
pub(super) fn answer<'a>(reasoning: impl IntoIterator<Item = &'a str>, text: String) -> ModelResponded {
    let mut content: Vec<Block> = reasoning
        .into_iter()
        .map(|text| Block::Reasoning { text: text.to_owned(), hidden: text.is_empty() })
        .collect();
    if !text.is_empty() {
        content.push(Block::Text { text });
    }
    ModelResponded { content, ..ModelResponded::default() }
}

/// Returns the call that the action in an answer's text is.
pub(super) fn action_call(action: Option<&str>, id: String) -> Option<Call> {
    let action = action.filter(|action| !action.trim().is_empty())?;
    Some(Call::in_text(id, first_word(Some(action)), Some(object_of("action", action))))
}

/// Returns the first word of an action, which is the command's name.
pub(super) fn first_word(action: Option<&str>) -> String {
    action.and_then(|action| action.split_whitespace().next()).unwrap_or_default().to_owned()
}
