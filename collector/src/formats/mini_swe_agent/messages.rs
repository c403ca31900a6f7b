//! What one message of the conversation means.

use agent_core::{
    Block, Body, ChunkKind, ContextCompacted, ErrorInfo, Json, ModelResponded, Origin, ToolCalled, ToolEnded,
    ToolStatus, UserInterrupted, UserMessaged,
};
use serde_json::value::RawValue;

use super::super::chat::{Call, ToolCall, arguments, text_of, usage_of};
use super::super::emit::{Emit, call_id, dollars, object_of, said, unix_seconds};
use super::super::misfit;
use super::wire::{Action, Extra, Item, Message, Response};

/// The one tool that the agent has.
const TOOL: &str = "bash";

/// The index of the last message that can be the task: a system message may stand before it.
const TASK_INDEX: u64 = 1;

/// What the agent writes for an action that it did not run because one before it ended the round.
const NOT_EXECUTED: &str = "action was not executed";

pub(super) fn map(message: &Message, emit: &mut Emit<'_>) {
    let extra = message.extra.as_ref();
    let time = extra.and_then(|extra| extra.timestamp.as_deref()).or(message.timestamp.as_deref());
    emit.at(unix_seconds(time));
    if message.r#type.as_deref() == Some("function_call_output") {
        return result(message.call_id.clone(), message.output.as_deref(), extra, emit);
    }
    if message.object.as_deref() == Some("response") {
        return whole_response(message, emit);
    }
    match message.role.as_deref() {
        Some("system") => system(message, emit),
        Some("assistant") => assistant(message, emit),
        Some("tool") => result(message.tool_call_id.clone(), message.content.as_deref(), extra, emit),
        Some("user") => user(message, emit),
        // It repeats the exit status and the submission of `info`.
        Some("exit") => emit.keep("mini_swe_agent.exit"),
        _ => emit.keep("mini_swe_agent.message"),
    }
}

fn system(message: &Message, emit: &mut Emit<'_>) {
    let content = message.content.as_deref().map(Json::copy);
    emit.context(ChunkKind::System, None, Some("system"), content);
}

fn assistant(message: &Message, emit: &mut Emit<'_>) {
    let text = text_of(message.content.as_deref());
    let response = message.extra.as_ref().and_then(|extra| extra.response.as_ref());
    let mut answer = response.map(|response| answer_of(response, emit)).unwrap_or_default();
    answer.reported_cost_usd = message.extra.as_ref().and_then(|extra| dollars(extra.cost.as_deref()));
    if let Some(reasoning) = said(message.reasoning_content.clone()) {
        answer.content.push(Block::Reasoning { text: reasoning, hidden: false });
    }
    let calls = calls_of(message, &text, emit.index);
    if !text.is_empty() {
        answer.content.push(Block::Text { text });
    }
    emit.respond(answer, calls);
}

/// Returns the calls of a message: as tool calls, as parsed actions, or (1.x) as the one block of commands.
fn calls_of(message: &Message, text: &str, index: u64) -> Vec<Call> {
    if let Some(calls) = message.tool_calls.as_ref().filter(|calls| !calls.is_empty()) {
        let call = |(nth, call): (usize, &ToolCall)| call.call(|| call_id(index, nth), || TOOL.to_owned());
        return calls.iter().enumerate().map(call).collect();
    }
    if let Some(actions) = message.extra.as_ref().and_then(|extra| extra.actions.as_ref()) {
        return actions.iter().enumerate().map(|(nth, action)| action_call(action, index, nth)).collect();
    }
    let command = |command| Call::in_text(call_id(index, 0), TOOL.to_owned(), Some(command_of(command)));
    only_action(text).map(command).into_iter().collect()
}

/// Returns the call that an action is; one without an id was found in the text.
fn action_call(action: &Action, index: u64, nth: usize) -> Call {
    let (name, input) = (TOOL.to_owned(), action.command.as_deref().map(command_of));
    match said(action.tool_call_id.clone()) {
        None => Call::in_text(call_id(index, nth), name, input),
        native_id @ Some(_) => {
            let call_id = native_id.clone().unwrap_or_default();
            Call { native_id, call: ToolCalled { call_id, name, input, ..ToolCalled::default() } }
        }
    }
}

fn command_of(command: &str) -> Json {
    object_of("command", command)
}

/// Returns the command in the text when it holds exactly one block of commands; the agent refuses any other
/// number.
fn only_action(text: &str) -> Option<&str> {
    let mut found = None;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```") {
        rest = after;
        let Some(body) = block_body(after) else { continue };
        let Some((command, behind)) = body.split_once("\n```") else { break };
        if found.replace(command.trim()).is_some() {
            return None;
        }
        rest = behind;
    }
    found
}

/// Returns what follows the first line of a block of commands, when it is one.
fn block_body(after_fence: &str) -> Option<&str> {
    let after_name = ["mswea_bash_command", "bash"].iter().find_map(|name| after_fence.strip_prefix(name))?;
    let space = after_name.len() - after_name.trim_start().len();
    let line_end = after_name[..space].rfind('\n')?;
    Some(&after_name[line_end + 1..])
}

/// Returns a response's id, model, end and usage; its content comes from the message.
fn answer_of(response: &Response, emit: &mut Emit<'_>) -> ModelResponded {
    let choice = response.choices.as_ref().and_then(|choices| choices.first());
    let finish = choice.and_then(|choice| choice.finish_reason.clone());
    let mut answer = ModelResponded {
        model: said(response.model.clone()),
        response_id: said(response.id.clone()),
        finish_reason: finish.or_else(|| response.status.clone()),
        ..ModelResponded::default()
    };
    take_usage(&mut answer, response.usage.as_deref(), emit);
    answer
}

fn take_usage(answer: &mut ModelResponded, usage: Option<&RawValue>, emit: &mut Emit<'_>) {
    let Some(raw) = usage else { return };
    answer.usage = usage_of(raw, emit.unread());
    answer.usage_raw = serde_json::from_str(raw.get()).ok();
}

/// Maps a message that is a whole response of the responses API.
fn whole_response(message: &Message, emit: &mut Emit<'_>) {
    let mut answer = ModelResponded {
        model: said(message.model.clone()),
        response_id: said(message.id.clone()),
        finish_reason: said(message.status.clone()),
        reported_cost_usd: message.extra.as_ref().and_then(|extra| dollars(extra.cost.as_deref())),
        ..ModelResponded::default()
    };
    take_usage(&mut answer, message.usage.as_deref(), emit);
    let calls = take_items(&mut answer, message.output.as_deref(), emit);
    emit.respond(answer, calls);
}

/// Puts the items of a response of the responses API into `answer` and returns its calls.
fn take_items(answer: &mut ModelResponded, output: Option<&RawValue>, emit: &mut Emit<'_>) -> Vec<Call> {
    let items: Vec<Item> = match serde_json::from_str(output.map_or("[]", RawValue::get)) {
        Ok(items) => items,
        Err(error) => {
            emit.unread().push(store::Unread(format!("output of the response: {}", misfit::words(&error))));
            return Vec::new();
        }
    };
    let mut calls = Vec::new();
    for item in items {
        match item.r#type.as_str() {
            "message" => answer.content.push(Block::Text { text: text_of(item.content.as_deref()) }),
            "reasoning" => {
                let text = text_of(item.summary.as_deref().or(item.content.as_deref()));
                let hidden = text.is_empty();
                answer.content.push(Block::Reasoning { text, hidden });
            }
            "function_call" => {
                let native_id = said(item.call_id);
                let call = ToolCalled {
                    call_id: native_id.clone().unwrap_or_else(|| call_id(emit.index, calls.len())),
                    name: item.name.unwrap_or_else(|| TOOL.to_owned()),
                    input: item.arguments.as_deref().map(arguments),
                    ..ToolCalled::default()
                };
                calls.push(Call { native_id, call });
            }
            // The row stays in reach; a kind of item that is not known is named in its place.
            other => answer.content.push(Block::other(&object_of("type", other))),
        }
    }
    calls
}

/// Maps a `user` message: the task, a result (1.x and text models), or a word of the runtime.
fn user(message: &Message, emit: &mut Emit<'_>) {
    let extra = message.extra.as_ref();
    let text = text_of(message.content.as_deref());
    if let Some(response) = extra.and_then(|extra| extra.response.as_ref()) {
        refused_response(response, extra, emit);
        return said_by(Origin::Injected, text, emit);
    }
    if extra.is_some_and(|extra| extra.actions.is_some()) {
        said_by(Origin::Command, text, emit);
        let calls = calls_of(message, "", emit.index);
        return emit.called(calls);
    }
    if let Some(interrupt) = extra.and_then(|extra| extra.interrupt_type.as_deref()) {
        return interrupted(interrupt, text, emit);
    }
    let is_result = extra.is_some_and(|extra| extra.returncode.is_some() || extra.raw_output)
        || text.trim_start().starts_with("<returncode>");
    if !is_result && emit.index <= TASK_INDEX {
        return said_by(Origin::Human, text, emit);
    }
    // What 1.x says to a response without exactly one action. Its other messages answer the command before
    // them: a result, a time-out, or what the command submitted.
    if !is_result && text.contains("EXACTLY ONE action") {
        return said_by(Origin::Injected, text, emit);
    }
    result(None, message.content.as_deref(), extra, emit);
}

/// Maps the response that the agent could not read and kept only beside its complaint: it was paid for, but
/// the model is not shown it again.
fn refused_response(response: &Response, extra: Option<&Extra>, emit: &mut Emit<'_>) {
    let step = emit.index.to_string();
    emit.name_step(step.clone());
    let mut answer = answer_of(response, emit);
    answer.reported_cost_usd = extra.and_then(|extra| dollars(extra.cost.as_deref()));
    take_items(&mut answer, response.output.as_deref(), emit);
    let choice = response.choices.as_ref().and_then(|choices| choices.first());
    let content = choice.and_then(|choice| choice.message.as_ref()?.content.as_deref());
    if let Some(text) = said(Some(text_of(content))) {
        answer.content.push(Block::Text { text });
    }
    emit.respond(answer, Vec::new());
    let taken_back = ContextCompacted { dropped_steps: Some(vec![step]), ..ContextCompacted::default() };
    emit.push(None, Body::ContextCompacted(taken_back));
}

fn interrupted(interrupt: &str, text: String, emit: &mut Emit<'_>) {
    if interrupt == "UserInterruption" {
        emit.push(None, Body::UserInterrupted(UserInterrupted::default()));
    }
    // A comment on what goes on does not begin a new task, and a complaint of the runtime does not either.
    let origin = if interrupt == "UserNewTask" { Origin::Human } else { Origin::Injected };
    said_by(origin, text, emit);
}

fn said_by(origin: Origin, text: String, emit: &mut Emit<'_>) {
    let message = UserMessaged { origin: Some(origin), text, ..UserMessaged::default() };
    emit.push(None, Body::UserMessaged(message));
}

/// Maps a result. One without a call id answers the one action of the message before it.
fn result(native_id: Option<String>, content: Option<&RawValue>, extra: Option<&Extra>, emit: &mut Emit<'_>) {
    let native_id = said(native_id);
    let before = emit.index.saturating_sub(1);
    let call_id = native_id.clone().unwrap_or_else(|| call_id(before, 0));
    let exit_code = extra.and_then(|extra| extra.returncode).or_else(|| code_in(&text_of(content)));
    let exception = extra.and_then(|extra| said(extra.exception_info.clone()));
    let timed_out = extra.is_none() && text_of(content).contains("timed out and has been killed");
    let status = match (&exception, exit_code) {
        (Some(exception), _) if exception == NOT_EXECUTED => ToolStatus::Rejected,
        (Some(_), _) => ToolStatus::Failed,
        (None, Some(0)) => ToolStatus::Succeeded,
        (None, Some(_)) => ToolStatus::Failed,
        (None, None) if timed_out => ToolStatus::Failed,
        (None, None) => ToolStatus::Unknown,
    };
    let error = exception.map(|message| ErrorInfo { message: Some(message), ..ErrorInfo::default() });
    let ended = ToolEnded {
        call_id,
        status: Some(status),
        output: content.map(Json::copy),
        error,
        exit_code,
        in_text: native_id.is_none(),
        ..ToolEnded::default()
    };
    emit.push(native_id, Body::ToolEnded(ended));
}

/// Returns the exit code that the text of a result begins with.
fn code_in(text: &str) -> Option<i64> {
    let (code, _) = text.trim_start().strip_prefix("<returncode>")?.split_once("</returncode>")?;
    code.trim().parse().ok()
}
