//! What the screen was told of the ends of tool calls: for tools of other servers the only place that says
//! whether they worked, for commands the exit code after all of their run.

use agent_core::{Body, ToolReported, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::draft::{Draft, fact};
use super::messages;
use super::outputs::{self, Outcome};
use super::wire::{text_of, value_of, words_of};

/// A notice of any of these kinds.
#[derive(Deserialize)]
struct End<'a> {
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
    #[serde(borrow)]
    exit_code: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    duration: Option<&'a RawValue>,
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
    #[serde(borrow)]
    stderr: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Option<&'a RawValue>,
}

/// Maps an `mcp_tool_call_end`, `exec_command_end` or `patch_apply_end`. One that does not tell how the call
/// ended maps to nothing.
pub(super) fn tool_ended(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let end: End<'_> = serde_json::from_str(payload)?;
    let Some(call_id) = words_of(end.call_id) else { return Ok(()) };
    let outcome = outcome(&end);
    if outcome.status.is_none() {
        return Ok(());
    }
    let report = ToolReported {
        call_id,
        status: outcome.status,
        error: outcome.error,
        exit_code: outcome.exit_code,
        duration_ms: millis(end.duration),
        ..ToolReported::default()
    };
    draft.push(fact("report", &[&report.call_id]), Body::ToolReported(report));
    Ok(())
}

fn outcome(end: &End<'_>) -> Outcome {
    let printed = [end.stderr, end.aggregated_output, end.stdout].map(text_of);
    let printed: Vec<&str> = printed.iter().flatten().map(String::as_str).collect();
    if text_of(end.status).as_deref() == Some("declined") {
        let refused = outputs::failed(&printed, "declined");
        return Outcome { status: Some(ToolStatus::Rejected), ..refused };
    }
    if let Some(result) = end.result {
        return of_result(result);
    }
    if let Some(exit_code) = value_of(end.exit_code) {
        return outputs::exited(exit_code, &printed);
    }
    match value_of::<bool>(end.success) {
        Some(true) => succeeded(),
        Some(false) => outputs::failed(&printed, "the tool says that it failed"),
        None => Outcome::default(),
    }
}

/// Reads the result of another server's tool: `{"Ok": {"content": [..], "isError": true}}`, or `{"Err": ".."}`
/// where the server could not be asked.
fn of_result(result: &RawValue) -> Outcome {
    #[derive(Deserialize)]
    struct Either<'a> {
        #[serde(rename = "Ok", borrow)]
        ok: Option<&'a RawValue>,
        #[serde(rename = "Err", borrow)]
        err: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Given<'a> {
        #[serde(borrow)]
        content: Option<&'a RawValue>,
        #[serde(rename = "isError", alias = "is_error")]
        is_error: Option<bool>,
    }
    let either = value_of::<Either<'_>>(Some(result));
    let Some(Either { ok, err }) = either else { return Outcome::default() };
    if let Some(err) = err {
        let text = text_of(Some(err)).unwrap_or_else(|| err.get().to_owned());
        return match outputs::of_words(&text) {
            refused @ Outcome { status: Some(ToolStatus::Rejected | ToolStatus::Cancelled), .. } => refused,
            _ => outputs::failed(&[&text], "the server could not be asked"),
        };
    }
    match value_of::<Given<'_>>(ok) {
        Some(Given { is_error: Some(true), content }) => {
            let texts = content.map(|content| messages::texts(Some(content))).unwrap_or_default();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            outputs::failed(&texts, "the tool says that it failed")
        }
        Some(_) => succeeded(),
        None => Outcome::default(),
    }
}

fn succeeded() -> Outcome {
    Outcome { status: Some(ToolStatus::Succeeded), ..Outcome::default() }
}

/// Reads `{"secs": 1, "nanos": 500000000}`.
fn millis(duration: Option<&RawValue>) -> Option<u64> {
    #[derive(Deserialize)]
    struct Duration {
        secs: u64,
        nanos: u64,
    }
    let Duration { secs, nanos } = value_of(duration)?;
    secs.checked_mul(1000)?.checked_add(nanos / 1_000_000)
}
