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

/// Returns how a turn went.
pub(crate) const fn turn(row: &TurnRow) -> Word {
    if row.failed_tool_calls + row.failed_model_calls > 0 {
        word("has errors", "bad")
    } else if row.interrupted {
        word("interrupted", "warn")
    } else if row.responded {
        word("ok", "ok")
    } else {
        word("no response", "dim")
    }
}

/// Returns how a tool call ended; without a word it has not ended, as far as the source tells.
pub(crate) fn tool_status(name: Option<&str>) -> Word {
    match name {
        Some("succeeded") => word("ok", "ok"),
        Some("failed") => word("failed", "bad"),
        Some("cancelled") => word("cancelled", "warn"),
        Some("rejected") => word("rejected", "warn"),
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
