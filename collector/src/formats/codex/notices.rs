//! Everything that is no item: what holds for the session, what the screen was told, and compactions.

use agent_core::{
    Body, ChunkKind, ContextAdded, ContextCompacted, EndReason, Ended, ErrorInfo, Json, LearningNote,
    ModelFailed, SessionTitled, Status, Subagent, TurnStarted, UserInterrupted,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::about;
use super::draft::{Draft, fact};
use super::media::without_base64;
use super::messages;
use super::reports;
use super::tokens;
use super::wire::{Meta, Notice, TurnContext, text_of, value_of, words_of};

/// Maps a `session_meta` of this session. One of another session stands before the parent's history that a
/// fork or a sub-agent repeats, and says nothing of this one.
pub(super) fn session_meta(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let meta: Meta<'_> = serde_json::from_str(payload)?;
    if about::session_of(&meta).is_some_and(|session| session != draft.session()) {
        return Ok(());
    }
    let mut now = about::of_meta(&meta);
    // What only the file's place tells is not taken back.
    now.user = now.user.or_else(|| draft.about().user.clone());
    if now != *draft.about() {
        draft.push_own(Body::SessionStarted(now));
    }
    system_prompt(draft, meta.base_instructions);
    if let Some(tools) = meta.dynamic_tools.filter(|tools| !matches!(tools.get(), "null" | "[]" | "{}")) {
        let mut added = ContextAdded {
            kind: Some(ChunkKind::ToolSchema),
            source: Some("session_meta.dynamic_tools".to_owned()),
            reason: Some("tools of this session besides the built-in ones".to_owned()),
            slot: Some("tools".to_owned()),
            content: Some(Json::copy(tools)),
            ..ContextAdded::default()
        };
        // No rollout holds the schemas of the built-in tools.
        added.other.insert("partial".to_owned(), Value::Bool(true));
        draft.push_own(Body::ContextAdded(added));
    }
    // The older `instructions` are the user's (AGENTS.md), which reach the model as a message of their own.
    if let Some(text) = words_of(meta.instructions) {
        let note = LearningNote {
            key: "user_instructions".to_owned(),
            source: Some("session_meta.instructions".to_owned()),
            text: Some(text),
            ..LearningNote::default()
        };
        draft.push_own(Body::MemoryRecalled(note));
    }
    Ok(())
}

fn system_prompt(draft: &mut Draft<'_>, instructions: Option<&RawValue>) {
    #[derive(Deserialize)]
    struct Instructions<'a> {
        #[serde(borrow)]
        text: Option<&'a RawValue>,
    }
    let nested = value_of::<Instructions<'_>>(instructions).and_then(|nested| nested.text);
    let Some(text) = nested.or(instructions).filter(|raw| words_of(Some(raw)).is_some()) else { return };
    let added = ContextAdded {
        kind: Some(ChunkKind::System),
        source: Some("base_instructions".to_owned()),
        reason: Some("the system prompt of the session".to_owned()),
        slot: Some("system".to_owned()),
        content: Some(Json::copy(text)),
        ..ContextAdded::default()
    };
    draft.push_own(Body::ContextAdded(added));
}

/// Maps a `turn_context`, the only row that names the model.
pub(super) fn turn_context(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let context: TurnContext<'_> = serde_json::from_str(payload)?;
    system_prompt(draft, context.base_instructions);
    let provider = draft.about().other.get(about::PROVIDER).and_then(Value::as_str).map(str::to_owned);
    let started = TurnStarted {
        model: text_of(context.model),
        provider,
        cwd: text_of(context.cwd),
        permission_mode: context.approval_policy.map(|policy| Json::copy(policy).to_display()),
        ..TurnStarted::default()
    };
    let name = [
        context.turn_id.map_or("", RawValue::get),
        context.model.map_or("", RawValue::get),
        context.cwd.map_or("", RawValue::get),
        context.approval_policy.map_or("", RawValue::get),
    ];
    draft.push(fact("turn", &name), Body::TurnStarted(started));
    Ok(())
}

/// Maps an `event_msg`. Kinds that copy an item, and kinds that nothing here computes with, map to nothing.
pub(super) fn event_msg(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let notice: Notice<'_> = serde_json::from_str(payload)?;
    let kind = text_of(notice.kind).unwrap_or_else(|| "event_msg".to_owned());
    let events_before = draft.event_count();
    match kind.as_str() {
        "token_count" => tokens::token_count(draft, notice.info)?,
        "turn.completed" => tokens::turn_usage(draft, notice.usage)?,
        "token_usage_record" => tokens::usage_record(draft, payload)?,
        "task_complete" | "turn_complete" => task_complete(draft, &notice, payload),
        "turn_aborted" => turn_aborted(draft, &notice, payload),
        "error" | "stream_error" => failed(draft, &notice, payload),
        "thread_rolled_back" => rolled_back(draft, &notice, payload),
        "thread_name_updated" => titled(draft, &notice),
        "collab_agent_spawn_end" | "collab_tool_call" => agent_spawned(draft, &notice),
        "user_message" => messages::user_copied(draft, &notice),
        "agent_message" => {
            messages::answer_copied(draft, &notice);
            memories_cited(draft, &notice);
        }
        "mcp_tool_call_end" | "exec_command_end" | "patch_apply_end" => reports::tool_ended(draft, payload)?,
        _ => {}
    }
    if draft.event_count() == events_before {
        draft.other(&kind, None);
    }
    Ok(())
}

/// Maps a step back of the user: the last requests and all that came of them leave the history.
fn rolled_back(draft: &mut Draft<'_>, notice: &Notice<'_>, payload: &str) {
    let Some(count) = value_of::<u32>(notice.num_turns).filter(|&count| count > 0) else { return };
    let body = ContextCompacted { dropped_requests: Some(count), ..ContextCompacted::default() };
    draft.push(fact("rolled back", &[payload]), Body::ContextCompacted(body));
}

fn task_complete(draft: &mut Draft<'_>, notice: &Notice<'_>, payload: &str) {
    let error = notice.error.map(|error| error_info(Some(error), None, None));
    let ended = Ended {
        status: Some(if error.is_some() { Status::Failed } else { Status::Completed }),
        end_reason: Some(if error.is_some() { EndReason::Failure } else { EndReason::Done }),
        duration_ms: value_of(notice.duration_ms),
        detail: error.and_then(|error| error.message),
        ..Ended::default()
    };
    draft.push(end_name(notice, payload), Body::RunEnded(ended));
}

fn turn_aborted(draft: &mut Draft<'_>, notice: &Notice<'_>, payload: &str) {
    let reason = text_of(notice.reason).unwrap_or_else(|| "interrupted".to_owned());
    let end_reason = match reason.as_str() {
        // A turn is replaced when the user says something new instead of waiting.
        "interrupted" | "replaced" => EndReason::UserInterrupt,
        "budget_limited" => EndReason::Budget,
        _ => EndReason::Stopped,
    };
    if end_reason == EndReason::UserInterrupt {
        let mut interrupted = UserInterrupted::default();
        interrupted.other.insert("reason".to_owned(), Value::String(reason.clone()));
        draft.push(end_name(notice, payload), Body::UserInterrupted(interrupted));
    }
    let ended = Ended {
        status: Some(Status::Cancelled),
        end_reason: Some(end_reason),
        duration_ms: value_of(notice.duration_ms),
        detail: Some(reason),
        ..Ended::default()
    };
    draft.push(end_name(notice, payload), Body::RunEnded(ended));
}

fn end_name(notice: &Notice<'_>, payload: &str) -> String {
    fact("end", &[notice.turn_id.map_or(payload, RawValue::get)])
}

fn failed(draft: &mut Draft<'_>, notice: &Notice<'_>, payload: &str) {
    let error = error_info(notice.error, notice.message, notice.codex_error_info);
    draft.push(fact("error", &[payload]), Body::ModelFailed(ModelFailed { error, ..ModelFailed::default() }));
}

/// Reads an error of either shape: `{message, codex_error_info}` or `{error: {kind, message}}`.
fn error_info(nested: Option<&RawValue>, message: Option<&RawValue>, info: Option<&RawValue>) -> ErrorInfo {
    #[derive(Default, Deserialize)]
    struct Nested<'a> {
        #[serde(borrow)]
        kind: Option<&'a RawValue>,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        codex_error_info: Option<&'a RawValue>,
    }
    let inner = value_of::<Nested<'_>>(nested).unwrap_or_default();
    let (kind, http_status) = error_kind(info.or(inner.codex_error_info));
    ErrorInfo {
        kind: kind.or_else(|| text_of(inner.kind)),
        message: text_of(message).or_else(|| text_of(inner.message)).or_else(|| text_of(nested)),
        http_status,
        ..ErrorInfo::default()
    }
}

/// Reads a word such as `usage_limit_exceeded`, or `{"http_connection_failed": {"http_status_code": 502}}`.
fn error_kind(info: Option<&RawValue>) -> (Option<String>, Option<u16>) {
    match value_of::<Value>(info) {
        Some(Value::String(word)) => (Some(word), None),
        Some(Value::Object(fields)) => match fields.into_iter().next() {
            Some((word, details)) => {
                let status = details.get("http_status_code").and_then(Value::as_u64);
                (Some(word), status.and_then(|status| status.try_into().ok()))
            }
            None => (None, None),
        },
        _ => (None, None),
    }
}

fn titled(draft: &mut Draft<'_>, notice: &Notice<'_>) {
    if let Some(title) = words_of(notice.thread_name) {
        let name = fact("title", &[&title]);
        draft.push(name, Body::SessionTitled(SessionTitled { title, ..SessionTitled::default() }));
    }
}

fn agent_spawned(draft: &mut Draft<'_>, notice: &Notice<'_>) {
    let Some(session) = text_of(notice.new_thread_id) else { return };
    let name = fact("agent", &[&session]);
    let agent = Subagent {
        session: Some(session),
        call_id: text_of(notice.call_id),
        name: text_of(notice.new_agent_nickname).or_else(|| text_of(notice.new_agent_role)),
        ..Subagent::default()
    };
    draft.push(name, Body::SubagentStarted(agent));
}

/// Maps the memories that an answer names as its sources; the answer itself is an item.
fn memories_cited(draft: &mut Draft<'_>, notice: &Notice<'_>) {
    #[derive(Deserialize)]
    struct Citation<'a> {
        #[serde(borrow)]
        entries: Vec<Entry<'a>>,
    }
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow)]
        path: Option<&'a RawValue>,
        #[serde(borrow)]
        note: Option<&'a RawValue>,
    }
    let Some(citation) = value_of::<Citation<'_>>(notice.memory_citation) else { return };
    for entry in &citation.entries {
        let Some(key) = text_of(entry.path) else { continue };
        let text = text_of(entry.note);
        let name = fact("citation", &[&key, text.as_deref().unwrap_or("")]);
        let source = Some("memory_citation".to_owned());
        draft.push(name, Body::MemoryRecalled(LearningNote { key, source, text, ..LearningNote::default() }));
    }
}

/// Maps a `compacted` row: all history before it is replaced.
pub(super) fn compacted(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    #[derive(Deserialize)]
    struct Compacted<'a> {
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        replacement_history: Option<&'a RawValue>,
    }
    let compacted: Compacted<'_> = serde_json::from_str(payload)?;
    let message = compacted.message.filter(|message| words_of(Some(message)).is_some());
    let replacement = compacted.replacement_history.or(message).map(without_base64);
    let body = ContextCompacted { replacement, ..ContextCompacted::default() };
    draft.push(fact("compacted", &[payload]), Body::ContextCompacted(body));
    Ok(())
}
