//! The turns of a session, each in a few lines.

use rustc_hash::FxHashMap;
use store::{ToolCallRow, TurnRow};

use super::{Known, WINDOW};
use crate::format::{counted, duration, short, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// Tool calls shown in one turn.
const CALLS: usize = 8;
/// Tool calls shown in one turn of a page that has many.
const CALLS_OF_MANY: usize = 2;
/// From how many calls on a page has many.
const MANY_CALLS: usize = 120;

/// One turn in a few lines.
#[derive(Debug)]
pub(crate) struct TurnView {
    pub(crate) number: u32,
    pub(crate) href: String,
    pub(crate) time: ShownTime,
    /// The model, where it is not that of the turn before.
    pub(crate) new_model: Option<String>,
    pub(crate) duration: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) output: Option<String>,
    /// The words that began a run.
    pub(crate) request: Option<String>,
    pub(crate) run: Option<u32>,
    pub(crate) response: Option<String>,
    pub(crate) calls: Vec<CallView>,
    pub(crate) more_calls: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) notes: Vec<&'static str>,
}

/// One tool call in a line.
#[derive(Debug)]
pub(crate) struct CallView {
    pub(crate) href: String,
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) status: Word,
    pub(crate) duration: Option<String>,
    pub(crate) error: Option<String>,
}

/// Where the other turns are.
#[derive(Debug)]
pub(crate) struct Windows {
    pub(crate) words: String,
    pub(crate) first: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) is_last: bool,
}

impl Windows {
    pub(super) fn new(session: &str, from: u32, last_turn: u32) -> Self {
        let to = from.saturating_add(WINDOW - 1).min(last_turn);
        let address = |from: u32| format!("{}?from={from}", links::session(session));
        let latest = last_turn.saturating_sub(WINDOW - 1).max(1);
        Self {
            words: if last_turn <= WINDOW && from == 1 {
                counted(last_turn.into(), "turn", "turns")
            } else {
                format!("turns {from} to {to} of {} shown", whole(last_turn.into()))
            },
            first: (from > 1).then(|| address(1)),
            before: (from > 1).then(|| address(from.saturating_sub(WINDOW).max(1))),
            after: (to < last_turn).then(|| address(to + 1)),
            last: (to < last_turn).then(|| address(latest)),
            is_last: to >= last_turn,
        }
    }
}

/// Returns whether a call ended badly.
pub(super) fn has_failed(call: &ToolCallRow) -> bool {
    matches!(call.status.as_deref(), Some("failed" | "rejected" | "cancelled"))
}

/// Returns the turns that are shown.
pub(super) fn turns(known: &Known, clock: &Clock) -> Vec<TurnView> {
    let mut calls: FxHashMap<u32, Vec<&ToolCallRow>> = FxHashMap::default();
    for call in &known.calls {
        calls.entry(call.turn).or_default().push(call);
    }
    let room = if known.calls.len() > MANY_CALLS { CALLS_OF_MANY } else { CALLS };
    let runs: FxHashMap<u32, u32> = known.runs.iter().map(|run| (run.first_turn, run.run)).collect();
    let mut model = None;
    known
        .turns
        .iter()
        .map(|row| {
            let of_turn = calls.get(&row.turn).map_or(&[][..], Vec::as_slice);
            let mut view =
                turn(&known.session.session, row, of_turn, room, runs.get(&row.turn).copied(), clock);
            view.new_model =
                row.model.as_deref().filter(|now| model.is_some_and(|before| before != *now)).map(one_line);
            model = row.model.as_deref().or(model);
            view
        })
        .collect()
}

fn turn(
    session: &str,
    row: &TurnRow,
    calls: &[&ToolCallRow],
    room: usize,
    run: Option<u32>,
    clock: &Clock,
) -> TurnView {
    let href = links::turn(session, row.turn);
    let chosen = choose(calls, room);
    let left = calls.len() - chosen.len();
    let failed_call = chosen.iter().any(|call| has_failed(call));
    TurnView {
        number: row.turn,
        time: clock.show(row.started_at),
        new_model: None,
        duration: row
            .started_at
            .zip(row.ended_at)
            .map(|(start, end)| duration(u64::try_from(end.millis_since(start)).unwrap_or(0))),
        prompt: prompt_tokens(row).map(short),
        output: row.output_tokens.map(short),
        request: row.user_preview.as_deref().map(one_line).filter(|words| !words.is_empty()),
        run,
        response: row.response_preview.as_deref().map(one_line).filter(|words| !words.is_empty()),
        calls: chosen.into_iter().map(|call| call_view(&href, call)).collect(),
        more_calls: (left > 0).then(|| format!("{} more", counted(left as u64, "tool call", "tool calls"))),
        // A failed call shows its own words.
        error: row.error_preview.as_deref().map(one_line).filter(|_| !failed_call),
        is_error: row.failed_tool_calls + row.failed_model_calls > 0,
        notes: notes(row),
        href,
    }
}

/// Returns the first calls, and those that failed before any other.
fn choose<'a>(calls: &[&'a ToolCallRow], room: usize) -> Vec<&'a ToolCallRow> {
    if calls.len() <= room {
        return calls.to_vec();
    }
    let mut chosen: Vec<&ToolCallRow> =
        calls.iter().copied().filter(|call| has_failed(call)).take(room).collect();
    let others = calls.iter().copied().filter(|call| !has_failed(call)).take(room - chosen.len());
    chosen.extend(others);
    chosen.sort_by_key(|call| call.call);
    chosen
}

fn call_view(turn: &str, call: &ToolCallRow) -> CallView {
    CallView {
        href: format!("{turn}#call-{}", links::encode(&call.call_id)),
        name: one_line(&call.name),
        input: one_line(&call.input_preview),
        status: words::tool_status(call.status.as_deref()),
        duration: call.duration_ms.map(duration),
        error: call.output_preview.as_deref().filter(|_| has_failed(call)).map(one_line),
    }
}

/// Returns the size of the prompt; nothing when the source gives no figure.
pub(crate) fn prompt_tokens(row: &TurnRow) -> Option<u64> {
    let all = [row.uncached_input_tokens, row.cache_read_tokens, row.cache_write_tokens];
    all.iter().any(Option::is_some).then(|| all.iter().flatten().sum())
}

fn notes(row: &TurnRow) -> Vec<&'static str> {
    let all = [
        (row.compacted, "context compacted before"),
        (row.interrupted, "interrupted by the user"),
        (!row.responded, "no response"),
    ];
    all.into_iter().filter_map(|(holds, words)| holds.then_some(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u32, status: &str) -> ToolCallRow {
        ToolCallRow { call: number, status: Some(status.to_owned()), ..Default::default() }
    }

    #[test]
    fn failed_calls_are_never_left_out_for_others() {
        let calls = [call(1, "succeeded"), call(2, "succeeded"), call(3, "succeeded"), call(4, "failed")];
        let rows: Vec<&ToolCallRow> = calls.iter().collect();
        let numbers: Vec<u32> = choose(&rows, 2).iter().map(|call| call.call).collect();
        assert_eq!(numbers, [1, 4]);
    }

    #[test]
    fn the_windows_cover_all_turns() {
        let windows = Windows::new("s", 51, 120);
        assert_eq!(windows.words, "turns 51 to 100 of 120 shown");
        assert_eq!(windows.before.as_deref(), Some("/sessions/s?from=1"));
        assert_eq!(windows.after.as_deref(), Some("/sessions/s?from=101"));
        assert_eq!(windows.last.as_deref(), Some("/sessions/s?from=71"));
        assert!(Windows::new("s", 71, 120).is_last);
        assert_eq!(Windows::new("s", 1, 3).words, "3 turns");
    }
}
