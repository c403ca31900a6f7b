//! What stands above a session and above a turn.

use std::io;

use agent_core::Timestamp;
use store::{SessionRow, TurnRow};

use crate::format::{UNKNOWN, counted, duration, output_tokens, short};
use crate::pages::{money, words};
use crate::reports::look::{Ink, Paper};
use crate::reports::plain::{cut, printable};
use crate::reports::sessions::ended;

/// Columns of a title.
const TITLE: usize = 200;

/// Writes what the session is and how it went; of it, for one turn, only the first line.
pub(super) fn of_session(row: &SessionRow, is_brief: bool, paper: &mut Paper<'_>) -> io::Result<()> {
    let title = printable(row.title.as_deref().unwrap_or_default());
    if !title.is_empty() {
        paper.words(0, Some(Ink::Heading), &cut(&title, TITLE))?;
    }
    let zone = paper.clock.zone_name();
    if is_brief {
        return paper.words(0, None, &format!("{}, times in {zone}", row.session));
    }
    paper.words(0, None, &row.session)?;
    paper.words(0, None, &who(row))?;
    paper.words(0, None, &format!("{}: {}", ended(row, paper), when(row, paper, &zone)))?;
    paper.words(0, None, &figures(row))?;
    if let Some(turn) = row.first_error_turn {
        let words = format!("first error in turn {turn}");
        paper.words(0, Some(Ink::Bad), &words)?;
    }
    Ok(())
}

fn who(row: &SessionRow) -> String {
    let agent = row.agent.as_ref().map(|agent| match &row.agent_version {
        Some(version) => format!("{agent} {version}"),
        None => agent.clone(),
    });
    let models = Some(words::names(&row.models).join(", ")).filter(|models| !models.is_empty());
    let named = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name} {value}"));
    let parent = row.parent.as_ref().map(|parent| match row.parent_kind.as_deref() {
        Some("fork") => format!("fork of {parent}"),
        _ => format!("sub-agent of {parent}"),
    });
    let facts = [
        agent,
        models,
        named("user", &row.user),
        named("in", &row.cwd.clone().or_else(|| row.project.clone())),
        named("branch", &row.git_branch),
        parent,
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn when(row: &SessionRow, paper: &Paper<'_>, zone: &str) -> String {
    let second = |ts| paper.clock.written(ts, "%a %Y-%m-%d %H:%M:%S");
    match (second(row.started_at), second(row.ended_at)) {
        (Some(start), Some(end)) => {
            let long = row.duration_ms.map(|ms| format!(" ({})", duration(ms))).unwrap_or_default();
            format!("{start} to {end}{long}, times in {zone}")
        }
        _ => "the source tells no times".to_owned(),
    }
}

fn figures(row: &SessionRow) -> String {
    let not_run = row.rejected_tool_calls + row.cancelled_tool_calls;
    let some = |count: u32, one: &str, many: &str| (count > 0).then(|| counted(count.into(), one, many));
    let output = output_tokens(row.output_tokens, &row.usage_quality, short);
    let estimate = words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality);
    let estimate = estimate.map(|tokens| format!(" (est. {})", short(tokens))).unwrap_or_default();
    [
        Some(counted(row.turns.into(), "turn", "turns")),
        Some(counted(row.tool_calls.into(), "tool call", "tool calls")),
        some(row.failed_tool_calls.saturating_sub(not_run), "FAILED", "FAILED"),
        some(row.rejected_tool_calls, "rejected", "rejected"),
        some(row.cancelled_tool_calls, "cancelled", "cancelled"),
        some(row.failed_model_calls, "model call FAILED", "model calls FAILED"),
        some(row.interrupts, "interrupt", "interrupts"),
        some(row.compactions, "compaction", "compactions"),
        Some(format!("output {output}{estimate} tokens")),
        Some(money::of_session(row).words).filter(|words| words != UNKNOWN),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

/// Writes the line above a turn.
pub(super) fn of_turn(turn: u32, row: Option<&TurnRow>, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.line("")?;
    let name = if turn == 0 { "before the first turn".to_owned() } else { format!("turn {turn}") };
    let facts = row.map(|row| turn_facts(row, paper)).unwrap_or_default();
    let facts: String = facts.iter().map(|fact| format!(" · {fact}")).collect();
    paper.words(0, Some(Ink::Heading), &format!("── {name}{facts}"))
}

fn turn_facts(row: &TurnRow, paper: &Paper<'_>) -> Vec<String> {
    let input = [row.uncached_input_tokens, row.cache_read_tokens, row.cache_write_tokens];
    let input: Option<u64> = input.iter().any(Option::is_some).then(|| input.iter().flatten().sum());
    let estimate = words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality);
    let output = (row.output_tokens.is_some() || estimate.is_some()).then(|| {
        let estimate = estimate.map(|tokens| format!(" (est. {})", short(tokens))).unwrap_or_default();
        format!("out {}{estimate}", output_tokens(row.output_tokens, &row.usage_quality, short))
    });
    [
        paper.clock.written(row.started_at, "%Y-%m-%d %H:%M:%S"),
        row.started_at.zip(row.ended_at).map(|(start, end)| between(start, end)),
        row.model.as_deref().map(|model| without_date(model).to_owned()),
        input.map(|tokens| format!("in {}", short(tokens))),
        output,
        row.compacted.then(|| "compacted before".to_owned()),
        (!row.responded).then(|| "not answered".to_owned()),
        row.interrupted.then(|| "interrupted".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a model's name without the day of its release, which stands in the session's heading.
fn without_date(model: &str) -> &str {
    match model.rsplit_once('-') {
        Some((name, day)) if day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => model,
    }
}

/// Returns the time from `start` to `end`.
pub(super) fn between(start: Timestamp, end: Timestamp) -> String {
    duration(u64::try_from(end.millis_since(start)).unwrap_or(0))
}
