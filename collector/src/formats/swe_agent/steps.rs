//! What one step of the trajectory means.

use agent_core::{Body, Json, ToolEnded, ToolStatus};

use super::super::emit::Emit;
use super::history::respond;
use super::reading::Reading;
use super::wire::Step;

pub(super) fn map(step: &Step, reading: Reading, emit: &mut Emit<'_>) {
    // Without this a file whose steps come after all would be told twice.
    if reading.history_only {
        return emit.keep("swe_agent.step");
    }
    if is_exit(step) {
        return emit.keep("swe_agent.exit");
    }
    let thinking = step.thinking_blocks.as_deref().unwrap_or(&[]);
    let reasoning: Vec<&str> = thinking.iter().map(|block| block.thinking.as_deref().unwrap_or("")).collect();
    // The thought is a part of the response; alone it stands only where the response was not kept.
    let response = step.response.as_deref().filter(|response| !response.is_empty());
    let text = response.or(step.thought.as_deref()).unwrap_or("");
    let action = step.action.as_deref();
    let Some(call_id) = respond(&reasoning, text, action, step.tool_calls.as_deref(), emit) else { return };
    let ended = ToolEnded {
        call_id,
        // No file tells whether a command did what it should.
        status: Some(ToolStatus::Unknown),
        output: step.observation.as_deref().map(Json::copy),
        duration_ms: step.execution_time.and_then(milliseconds),
        ..ToolEnded::default()
    };
    emit.push(None, Body::ToolEnded(ended));
}

/// Says whether the step only notes that the agent ended: no model answered then, and what stands as its
/// action (`exit_cost`, `exit_context`, ...) is the runtime's.
fn is_exit(step: &Step) -> bool {
    let no_response = step.response.as_deref().unwrap_or("").is_empty();
    let action = step.action.as_deref().unwrap_or("");
    no_response && (action.is_empty() || action.starts_with("exit_"))
}

fn milliseconds(seconds: f64) -> Option<u64> {
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).round() as u64)
}
