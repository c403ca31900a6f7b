//! The turns of a session, each in a few lines.

use rustc_hash::FxHashMap;
use store::{ToolCallRow, TurnCounts, TurnRow};

use super::said::told_as_cut;
use super::{Known, WINDOW};
use crate::format::{counted, duration, output_tokens, short, whole};
use crate::links;
use crate::markup::{Markup, Sought, one_line};
use crate::pages::content::{Beginning, Space};
use crate::pages::troubles::Troubles;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// Bytes shown of one text.
const TEXT: usize = 4 << 10;
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
    /// The day, where it is not that of the turn before on the page.
    pub(crate) new_day: Option<String>,
    /// The model, where it is not that of the turn before.
    pub(crate) new_model: Option<String>,
    pub(crate) duration: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) output: String,
    pub(crate) output_title: String,
    /// The words that began a run.
    pub(crate) request: Option<Beginning>,
    pub(crate) run: Option<u32>,
    pub(crate) response: Option<Beginning>,
    pub(crate) calls: Vec<CallView>,
    pub(crate) more_calls: Option<String>,
    pub(crate) error: Option<Beginning>,
    pub(crate) is_error: bool,
    pub(crate) notes: Vec<&'static str>,
}

/// One tool call in a line.
#[derive(Debug)]
pub(crate) struct CallView {
    pub(crate) href: String,
    pub(crate) name: Markup,
    pub(crate) input: Markup,
    pub(crate) status: Word,
    pub(crate) duration: Option<String>,
    /// Since when it has been running.
    pub(crate) since: Option<ShownTime>,
    /// The words of its output, when it did not succeed.
    pub(crate) error: Option<Beginning>,
    /// Whether it failed by itself.
    pub(crate) is_error: bool,
    /// The beginning of its output, when it succeeded and holds the words looked for.
    pub(crate) hit: Option<Beginning>,
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
    pub(super) fn new(session: &str, from: u32, counts: TurnCounts, is_running: bool) -> Self {
        let last_turn = counts.last;
        let to = from.saturating_add(WINDOW - 1).min(last_turn);
        let address = |from: u32| format!("{}?from={from}", links::session(session));
        let latest = last_turn.saturating_sub(WINDOW - 1).max(1);
        let shown = if last_turn <= WINDOW && from == 1 {
            counted(last_turn.into(), "turn", "turns")
        } else {
            format!("turns {from} to {to} of {} shown", whole(last_turn.into()))
        };
        Self {
            words: match words::unanswered_turns(counts.unanswered, is_running) {
                Some(unanswered) => format!("{shown}, {unanswered}"),
                None => shown,
            },
            first: (from > 1).then(|| address(1)),
            before: (from > 1).then(|| address(from.saturating_sub(WINDOW).max(1))),
            after: (to < last_turn).then(|| address(to + 1)),
            last: (to < last_turn).then(|| address(latest)),
            is_last: to >= last_turn,
        }
    }
}

/// What the page's texts are shown with: the room that is left, and the words looked for.
struct Pen<'a> {
    known: &'a Known,
    clock: &'a Clock,
    sought: Option<Sought>,
    /// What is added to the addresses of turns.
    query: String,
    space: Space,
    room: usize,
}

impl Pen<'_> {
    fn text(&mut self, text: &str) -> Option<Beginning> {
        let beginning = self.space.beginning(text, TEXT, self.sought.as_ref());
        (beginning.shown.len() > 0).then_some(beginning)
    }

    fn line(&mut self, text: &str) -> Markup {
        self.space.line(&one_line(text), self.sought.as_ref())
    }

    /// Returns whether the call holds the words looked for.
    fn is_hit(&self, call: &ToolCallRow) -> bool {
        let texts = [Some(&call.name), Some(&call.input_preview), call.output_preview.as_ref()];
        self.sought.as_ref().is_some_and(|sought| texts.into_iter().flatten().any(|text| sought.is_in(text)))
    }
}

/// Returns whether a call failed by itself.
pub(super) fn has_failed(call: &ToolCallRow) -> bool {
    call.status.as_deref() == Some("failed")
}

/// Returns whether a call was refused or broken off.
pub(super) fn was_stopped(call: &ToolCallRow) -> bool {
    matches!(call.status.as_deref(), Some("rejected" | "cancelled"))
}

/// Returns the turns that are shown.
pub(super) fn turns(known: &Known, words: Option<&str>, clock: &Clock) -> Vec<TurnView> {
    let mut calls: FxHashMap<u32, Vec<&ToolCallRow>> = FxHashMap::default();
    for call in &known.calls {
        calls.entry(call.turn).or_default().push(call);
    }
    let mut pen = Pen {
        known,
        clock,
        sought: words.and_then(Sought::new),
        query: links::with_query("", &[("q", words)]),
        space: Space::of_transcript(),
        room: if known.calls.len() > MANY_CALLS { CALLS_OF_MANY } else { CALLS },
    };
    let runs: FxHashMap<u32, u32> = known.runs.iter().map(|run| (run.first_turn, run.run)).collect();
    let mut model = None;
    let mut day = None;
    known
        .turns
        .iter()
        .map(|row| {
            let of_turn = calls.get(&row.turn).map_or(&[][..], Vec::as_slice);
            let mut view = turn(&mut pen, row, of_turn);
            view.run = runs.get(&row.turn).copied();
            view.new_model =
                row.model.as_deref().filter(|now| model.is_some_and(|before| before != *now)).map(one_line);
            model = row.model.as_deref().or(model);
            let has_time = row.started_at.is_some();
            view.new_day = Some(view.time.day.clone()).filter(|now| has_time && day.as_ref() != Some(now));
            day = view.new_day.clone().or(day.take());
            view
        })
        .collect()
}

fn turn(pen: &mut Pen<'_>, row: &TurnRow, calls: &[&ToolCallRow]) -> TurnView {
    let (known, clock) = (pen.known, pen.clock);
    let href = format!("{}{}", links::turn(&known.session.session, row.turn), pen.query);
    // After a later answer nothing of this turn is still going on.
    let may_go_on = known.is_running && row.turn >= known.counts.last_responded;
    let chosen = choose(calls, pen.room, |call| pen.is_hit(call));
    let left = calls.len() - chosen.len();
    let is_open = may_go_on && (!row.responded || calls.iter().any(|call| is_open(call)));
    let request = known.said.request(row).and_then(|text| pen.text(&text));
    let response = known.said.response(row).and_then(|text| pen.text(&text));
    // A call shows its own words.
    let is_of_call = chosen.iter().any(|call| shows_words(call) && call.output_preview == row.error_preview);
    let calls: Vec<CallView> = chosen.iter().map(|call| call_view(&href, call, may_go_on, pen)).collect();
    let error = known.said.error(row).filter(|_| !is_of_call).and_then(|text| pen.text(&text));
    TurnView {
        number: row.turn,
        time: clock.show(row.started_at),
        new_day: None,
        new_model: None,
        duration: turn_ms(row).filter(|_| !is_open).map(duration),
        prompt: prompt_tokens(row).map(short),
        output: output(row),
        output_title: words::usage_quality(&row.usage_quality).to_owned(),
        request,
        run: None,
        response,
        error,
        calls,
        more_calls: (left > 0).then(|| format!("{} more", counted(left as u64, "tool call", "tool calls"))),
        is_error: Troubles::of_turn(row).errors > 0,
        notes: notes(row, may_go_on),
        href,
    }
}

/// Returns how long a turn took; nothing when all its events carry one time, which tells nothing.
fn turn_ms(row: &TurnRow) -> Option<u64> {
    let (start, end) = row.started_at.zip(row.ended_at)?;
    u64::try_from(end.millis_since(start)).ok().filter(|&ms| ms > 0)
}

/// Returns the output tokens, with what they really are where the source's figure is too small.
fn output(row: &TurnRow) -> String {
    let reported = output_tokens(row.output_tokens, &row.usage_quality, short);
    match words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality) {
        Some(tokens) => format!("{reported} (est. {})", short(tokens)),
        None => reported,
    }
}

/// Returns the first calls, but those that a search found before any other, then those that failed, and those
/// that were stopped before those that went well.
fn choose<'a>(
    calls: &[&'a ToolCallRow],
    room: usize,
    is_hit: impl Fn(&ToolCallRow) -> bool,
) -> Vec<&'a ToolCallRow> {
    if calls.len() <= room {
        return calls.to_vec();
    }
    let rank = |call: &ToolCallRow| if has_failed(call) { 0 } else { 1 + u8::from(!was_stopped(call)) };
    let mut chosen = calls.to_vec();
    chosen.sort_by_cached_key(|call| (!is_hit(call), rank(call), call.call));
    chosen.truncate(room);
    chosen.sort_by_key(|call| call.call);
    chosen
}

/// Returns whether a call has no result.
fn is_open(call: &ToolCallRow) -> bool {
    call.end_position.is_none() && call.status.is_none()
}

/// Returns whether the words of a call's result are shown.
fn shows_words(call: &ToolCallRow) -> bool {
    has_failed(call) || was_stopped(call)
}

fn call_view(turn: &str, call: &ToolCallRow, may_run: bool, pen: &mut Pen<'_>) -> CallView {
    let is_running = may_run && is_open(call);
    let clock = pen.clock;
    let end = pen.known.said.end(call).filter(|_| shows_words(call));
    let output = call.output_preview.as_deref().filter(|_| end.is_none());
    let hit = output.filter(|text| pen.sought.as_ref().is_some_and(|sought| sought.is_in(text)));
    CallView {
        href: format!("{turn}#call-{}", links::encode(&call.call_id)),
        name: pen.line(&call.name),
        input: pen.line(&told_as_cut(&call.input_preview)),
        status: if is_open(call) {
            words::open_tool(may_run)
        } else {
            words::tool_status(call.status.as_deref())
        },
        duration: call.duration_ms.map(duration),
        since: call.started_at.filter(|_| is_running).map(|start| clock.show(Some(start))),
        error: end.and_then(|words| pen.text(&words)),
        hit: hit.and_then(|words| pen.text(&told_as_cut(words))),
        is_error: has_failed(call),
    }
}

/// Returns the size of the prompt; nothing when the source gives no figure.
pub(crate) fn prompt_tokens(row: &TurnRow) -> Option<u64> {
    let all = [row.uncached_input_tokens, row.cache_read_tokens, row.cache_write_tokens];
    all.iter().any(Option::is_some).then(|| all.iter().flatten().sum())
}

fn notes(row: &TurnRow, may_come: bool) -> Vec<&'static str> {
    let all = [
        (row.compacted, "context compacted before"),
        (row.interrupted, "interrupted by the user"),
        (!row.responded, words::unanswered(may_come)),
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
        let calls = [
            call(1, "succeeded"),
            call(2, "succeeded"),
            call(3, "cancelled"),
            call(4, "failed"),
            call(5, "rejected"),
        ];
        let rows: Vec<&ToolCallRow> = calls.iter().collect();
        let found = |hit: u32, room| {
            choose(&rows, room, |call| call.call == hit).iter().map(|call| call.call).collect::<Vec<_>>()
        };
        let numbers = |room| found(0, room);
        assert_eq!([numbers(1), numbers(2), numbers(4)], [vec![4], vec![3, 4], vec![1, 3, 4, 5]]);
        assert_eq!(found(2, 2), [2, 4]);
    }

    #[test]
    fn the_windows_cover_all_turns() {
        let counts = |last, unanswered| TurnCounts { last, unanswered, ..Default::default() };
        let windows = Windows::new("s", 51, counts(120, 0), false);
        assert_eq!(windows.words, "turns 51 to 100 of 120 shown");
        assert_eq!(windows.before.as_deref(), Some("/sessions/s?from=1"));
        assert_eq!(windows.after.as_deref(), Some("/sessions/s?from=101"));
        assert_eq!(windows.last.as_deref(), Some("/sessions/s?from=71"));
        assert!(Windows::new("s", 71, counts(120, 0), false).is_last);
        assert_eq!(Windows::new("s", 1, counts(3, 1), false).words, "3 turns, 1 never answered");
        assert_eq!(Windows::new("s", 1, counts(3, 1), true).words, "3 turns, 1 not answered yet");
    }

    #[test]
    fn a_small_figure_stands_beside_its_estimate() {
        let row = |quality: &str, estimated| TurnRow {
            output_tokens: Some(1),
            estimated_output_tokens: estimated,
            usage_quality: quality.to_owned(),
            ..Default::default()
        };
        assert_eq!(output(&row("placeholder", Some(2_100))), "≥ 1 (est. 2.1k)");
        assert_eq!(output(&row("final", Some(2_100))), "1");
        assert_eq!(output(&row("partial", Some(1))), "≥ 1");
    }
}
