//! What one step of the trajectory means.

use agent_core::{Body, Json, ToolEnded, ToolStatus};
use serde_json::value::RawValue;

use super::super::chat::Call;
use super::super::emit::{Emit, call_id};
use super::history::{action_call, answer, first_word};
use super::reading::Reading;
use super::sent::Sent;
use super::wire::{Message, Step};

pub(super) fn map(step: &Step, reading: Reading, emit: &mut Emit<'_>) {
    if reading.history_tells {
        return last_result(step, reading, emit);
    }
    if is_exit(step) {
        return emit.keep("swe_agent.exit");
    }
    emit.name_step(emit.index.to_string());
    let sent = Sent::of(step);
    if let Some(sent) = &sent {
        sent.tell_before(emit);
    }
    let thinking = step.thinking_blocks.as_deref().unwrap_or(&[]);
    let reasoning = thinking.iter().map(|block| block.thinking.as_deref().unwrap_or(""));
    // The thought is a part of the response; alone it stands only where the response was not kept.
    let response = step.response.as_deref().filter(|response| !response.is_empty());
    let text = response.or(step.thought.as_deref()).unwrap_or("");
    let own = sent.as_ref().and_then(Sent::own);
    let call = call_of(step, own.map(|(answer, _)| answer), id_of(step, sent.as_ref(), emit.index));
    let ended = call.as_ref().map(|call| ended(step, call, own.and_then(|(_, result)| result)));
    emit.respond(answer(reasoning, text.to_owned()), call.into_iter().collect());
    if let Some(ended) = ended {
        emit.push(None, Body::ToolEnded(ended));
    }
    if let Some(sent) = &sent {
        sent.tell_after(emit);
    }
}

/// Maps a step whose answer the history tells. It tells the result too, but for the last one: the agent ends
/// before that is sent. (Where the call came beside the text, it has an id that the step does not hold.)
fn last_result(step: &Step, reading: Reading, emit: &mut Emit<'_>) {
    let submits = step.action.as_deref().is_some_and(|action| action.starts_with("submit"));
    let is_last = submits && step.response != step.thought;
    let Some(task) = reading.task_index.filter(|_| is_last) else { return emit.keep("swe_agent.step") };
    // After the task answers and results take turns.
    let id = call_id(task + 1 + 2 * emit.index, 0);
    let Some(call) = action_call(step.action.as_deref(), id) else { return emit.keep("swe_agent.step") };
    emit.push(None, Body::ToolEnded(ended(step, &call, None)));
}

/// Returns the id of the step's call: by the place of its answer in the history, where that is known, so that
/// later steps can name it. The providers' own ids are no help: in replays several calls have one.
fn id_of(step: &Step, sent: Option<&Sent<'_>>, index: u64) -> String {
    match sent {
        // An answer that never came into the history has no place there.
        _ if step.was_refused() => format!("refused.{index}"),
        Some(sent) => call_id(sent.place(), 0),
        None => call_id(index, 0),
    }
}

/// Returns the one call of a step; `own` is its answer as it came into the history.
fn call_of(step: &Step, own: Option<&Message>, id: String) -> Option<Call> {
    let action = step.action.as_deref();
    let first_word = || first_word(action);
    if let Some([call, ..]) = own.and_then(|own| own.tool_calls.as_deref()) {
        let mut call = call.call(String::new, first_word);
        call.call.call_id = id;
        return Some(call);
    }
    if let Some([call, ..]) = step.tool_calls.as_deref() {
        return Some(call.call(|| id, first_word));
    }
    let mut call = action_call(action, id)?;
    // Where the answer is all thought the call came beside it, and only its text was kept.
    if step.response == step.thought {
        call.call.in_text = false;
    }
    Some(call)
}

/// Returns the result of a step's call: as the model was sent it where the step holds that (`sent`), else as
/// the command gave it.
fn ended(step: &Step, call: &Call, sent: Option<&Message>) -> ToolEnded {
    let content = sent.and_then(|sent| sent.content.as_deref()).or(step.observation.as_deref());
    let mut ended = ToolEnded {
        call_id: call.call.call_id.clone(),
        // No file tells whether a command did what it should.
        status: Some(ToolStatus::Unknown),
        output: content.map(Json::copy),
        duration_ms: step.execution_time.and_then(milliseconds),
        in_text: call.call.in_text,
        ..ToolEnded::default()
    };
    if step.was_refused() {
        (ended.status, ended.output, ended.duration_ms) = (Some(ToolStatus::Rejected), None, None);
    }
    ended
}

impl Step {
    /// Says whether the agent refused the answer (it could not read it, the command is forbidden, the shell
    /// cannot parse it) and asked again: then nothing ran.
    fn was_refused(&self) -> bool {
        let is_empty = |value: &RawValue| matches!(value.get(), "\"\"" | "{}" | "null" | "\"{}\"");
        self.execution_time == Some(0.0)
            && self.observation.as_deref().is_none_or(is_empty)
            && self.state.as_deref().is_none_or(is_empty)
    }
}

/// Says whether the step only notes that the agent ended: no model answered then, and what stands as its
/// action (`exit_cost`, `exit_context`, ...) or its response (from 1.1 on) is the runtime's.
fn is_exit(step: &Step) -> bool {
    let response = step.response.as_deref().unwrap_or("");
    let no_response = ["Exit due to ", "Exiting due to "].iter().any(|words| response.starts_with(words));
    let action = step.action.as_deref().unwrap_or("");
    (response.is_empty() || no_response) && (action.is_empty() || action.starts_with("exit_"))
}

fn milliseconds(seconds: f64) -> Option<u64> {
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).round() as u64)
}
