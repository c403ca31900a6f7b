//! What the words of the store are called on pages.

use agent_core::{EndReason, Status};
use store::TurnRow;

/// A word with the class that gives it its colour and sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: &'static str,
    pub(crate) class: &'static str,
}

const fn word(text: &'static str, class: &'static str) -> Word {
    Word { text, class }
}

/// Returns how a session or run stands.
pub(crate) const fn status(status: Status) -> Word {
    match status {
        Status::Running => word("running", "run"),
        Status::Completed => word("completed", "ok"),
        Status::Failed => word("failed", "bad"),
        Status::Cancelled => word("cancelled", "warn"),
        Status::HandedOff => word("handed off", "warn"),
        Status::Unknown => word("unknown", "dim"),
    }
}

/// Returns why a session or run ended; nothing when nobody knows.
pub(crate) fn end_reason(name: &str) -> Option<&'static str> {
    Some(match EndReason::from_word(name)? {
        EndReason::Done => "done",
        EndReason::NeedsUser => "waits for the user",
        EndReason::UserInterrupt => "interrupted by the user",
        EndReason::Timeout => "timeout",
        EndReason::Budget => "budget used up",
        EndReason::Stopped => "stopped from outside",
        EndReason::Failure => "failure",
        EndReason::Crashed => "crashed",
        EndReason::Unknown => return None,
    })
}

/// Returns how a session ended in a word or two, and what that means: the place is never left blank.
pub(crate) fn ending(status: Status, reason: &str) -> (&'static str, &'static str) {
    match (end_reason(reason), status) {
        (Some(reason), _) => (reason, "how it ended"),
        (None, Status::Running) => ("goes on", "it has not ended, and was heard of within ten minutes"),
        (None, _) => ("not told", "the source does not tell how it ended"),
    }
}

/// Returns how a turn went.
pub(crate) const fn turn(row: &TurnRow) -> Word {
    let failed = row.failed_tool_calls.saturating_sub(row.rejected_tool_calls + row.cancelled_tool_calls);
    if failed + row.failed_model_calls > 0 {
        word("has errors", "bad")
    } else if row.interrupted {
        word("interrupted", "warn")
    } else if row.rejected_tool_calls > 0 {
        word("call rejected", "warn")
    } else if row.cancelled_tool_calls > 0 {
        word("call cancelled", "warn")
    } else if row.responded {
        word("ok", "ok")
    } else {
        word("not answered", "dim")
    }
}

/// Returns what holds of a turn without a response: the model may still be at it, or nothing will come.
pub(crate) const fn unanswered(may_come: bool) -> &'static str {
    if may_come { "not answered yet" } else { "never answered" }
}

/// Returns what holds of the turns without a response, such as `1 not answered yet`; nothing for none. Only
/// the last turn of a running session can still be answered.
pub(crate) fn unanswered_turns(count: u32, is_running: bool) -> Option<String> {
    match (count, is_running) {
        (0, _) => None,
        (count, true) if count > 1 => Some(format!("{count} without an answer")),
        (count, may_come) => Some(format!("{count} {}", unanswered(may_come))),
    }
}

/// Returns how a tool call stands that has no result: it may still be running.
pub(crate) const fn open_tool(may_run: bool) -> Word {
    if may_run { word("running", "run") } else { word("no result in the source", "dim") }
}

/// Returns how a tool call ended; without a word it has not ended, as far as the source tells.
pub(crate) fn tool_status(name: Option<&str>) -> Word {
    match name {
        Some("succeeded") => word("ok", "ok"),
        Some("failed") => word("failed", "bad"),
        Some("cancelled") => word("cancelled", "halted"),
        Some("rejected") => word("rejected", "refused"),
        Some(_) => word("unknown", "dim"),
        None => word("no result", "dim"),
    }
}

/// Returns what the quality of usage figures means.
pub(crate) fn usage_quality(name: &str) -> &'static str {
    match name {
        "final" => "reported by the provider at the end of the response",
        "partial" => "reported while the response was still growing; the output may be too small",
        "placeholder" => "the source is known to write too small figures here, and the visible text shows it",
        "estimated" => "computed from the text, four bytes a token",
        _ => "the source gives none",
    }
}

/// Returns the estimate to be shown beside a figure that is not final; nothing where it tells no more.
pub(crate) fn estimate(reported: Option<u64>, estimated: Option<u64>, quality: &str) -> Option<u64> {
    estimated.filter(|&tokens| quality != "final" && tokens > 0 && reported != Some(tokens))
}

/// Says how output tokens are estimated.
pub(crate) const ESTIMATE: &str =
    "estimated: where the source's figure is not final, four visible characters a token if that is more";

/// Returns what a kind of part is called.
pub(crate) fn part_kind(kind: &str) -> &str {
    match kind {
        "tool_result" => "tool result",
        "tool_schema" => "tool schemas",
        other => other,
    }
}

/// Returns the names in a JSON list.
pub(crate) fn names(list: &str) -> Vec<String> {
    serde_json::from_str(list).unwrap_or_default()
}
