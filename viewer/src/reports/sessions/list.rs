//! The list of sessions as text: a line each where there is room, else two.

use std::io;

use store::SessionRow;
use unicode_width::UnicodeWidthStr;

use crate::format::{UNKNOWN, duration, known, output_tokens, short};
use crate::pages::{money, words};
use crate::reports::look::{Ink, Paper};
use crate::reports::plain::{cut, printable};
use crate::reports::table::{Column, Table};

/// Columns from which on a session stands on one line.
const WIDE: usize = 170;
/// Columns of a title where lines are not broken.
const TITLE: usize = 60;
/// The shortest beginning of a name.
const MIN_NAME: usize = 8;
/// The same of a sub-agent's own part.
const MIN_CHILD: usize = 4;

pub(super) fn write(rows: &[SessionRow], paper: &mut Paper<'_>) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let is_wide = paper.columns().is_none_or(|columns| columns >= WIDE);
    let (columns, below): (Vec<Told>, Vec<Told>) =
        columns(&paper.clock.zone_name()).into_iter().partition(|told| told.word.is_none() || is_wide);
    let columns: Vec<Told> = columns.into_iter().filter(|told| rows.iter().any(told.has)).collect();
    let names = short_names(rows);
    let mut lines = table(rows, &names, &columns, is_wide, paper).into_iter();
    let heading = lines.next().unwrap_or_default();
    paper.line(&paper.paint(Ink::Quiet, &heading))?;
    for (row, line) in rows.iter().zip(lines) {
        let line = if row.status == "failed" { paper.paint(Ink::Bad, &line) } else { line };
        paper.line(&line)?;
        if !is_wide {
            second_line(row, &below, paper)?;
        }
    }
    Ok(())
}

fn table(
    rows: &[SessionRow],
    names: &[String],
    columns: &[Told],
    is_wide: bool,
    paper: &Paper<'_>,
) -> Vec<String> {
    let mut headings: Vec<Column> = columns.iter().map(|told| told.heading.clone()).collect();
    if is_wide {
        headings.extend(["USER", "AGENT", "PROJECT", "TITLE"].map(Column::words));
    }
    let mut table = Table::new(headings);
    for (row, name) in rows.iter().zip(names) {
        let mut cells: Vec<String> = columns.iter().map(|told| (told.cell)(row, name, paper)).collect();
        if is_wide {
            let facts = [&row.user, &row.agent, &row.project];
            cells.extend(facts.map(|fact| known(fact.as_deref(), printable)));
            cells.push(cut(&title(row), TITLE));
        }
        table.row(cells);
    }
    table.lines()
}

/// A column, and what stands in it.
struct Told {
    heading: Column,
    cell: fn(&SessionRow, &str, &Paper<'_>) -> String,
    /// What a figure is called where it stands in no column of its own.
    word: Option<&'static str>,
    /// Returns whether a session has something there; a column that none has is left out.
    has: fn(&SessionRow) -> bool,
}

fn columns(zone: &str) -> Vec<Told> {
    let told = |heading, cell| Told { heading, cell, word: None, has: |_| true };
    let extra =
        |word, heading, cell, has| Told { heading: Column::figures(heading), cell, word: Some(word), has };
    vec![
        told(Column::words("SESSION"), |_, name, _| name.to_owned()),
        told(Column::words(format!("LAST ({zone})")), |row, _, paper| {
            known(paper.clock.written(row.ended_at, "%a %Y-%m-%d %H:%M"), |time| time)
        }),
        told(Column::words("ENDED"), |row, _, paper| ended(row, paper)),
        told(Column::figures("TURNS"), |row, _, _| row.turns.to_string()),
        told(Column::figures("TOOLS"), |row, _, _| row.tool_calls.to_string()),
        told(Column::figures("ERRORS"), |row, _, _| errors(row).to_string()),
        extra("not run:", "NOT RUN", |row, _, _| not_run(row).to_string(), |row| not_run(row) > 0),
        extra("in", "IN", |row, _, _| known(input(row), short), |row| input(row).is_some()),
        told(Column::figures("OUT"), |row, _, _| output_tokens(row.output_tokens, &row.usage_quality, short)),
        extra("est. out", "EST. OUT", |row, _, _| known(estimate(row), short), |row| estimate(row).is_some()),
        extra(
            "cost",
            "COST",
            |row, _, _| money::of_session(row).words,
            |row| money::of_session(row).words != UNKNOWN,
        ),
    ]
}

/// Returns how many calls of tools failed by themselves, and calls of models.
fn errors(row: &SessionRow) -> u32 {
    row.failed_tool_calls.saturating_sub(not_run(row)) + row.failed_model_calls
}

fn not_run(row: &SessionRow) -> u32 {
    row.rejected_tool_calls + row.cancelled_tool_calls
}

fn input(row: &SessionRow) -> Option<u64> {
    let all = [row.uncached_input_tokens, row.cache_read_tokens, row.cache_write_tokens()];
    all.iter().any(Option::is_some).then(|| all.iter().flatten().sum())
}

fn estimate(row: &SessionRow) -> Option<u64> {
    words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality)
}

/// Returns how the session ended, with the reason where that says more.
pub(in crate::reports) fn ended(row: &SessionRow, paper: &Paper<'_>) -> String {
    let status = words::status(row.status_at(paper.clock.now())).text;
    match row.end_reason.as_str() {
        "done" | "failure" | "unknown" => status.to_owned(),
        "needs_user" => "waits for user".to_owned(),
        "user_interrupt" => "interrupted".to_owned(),
        other => format!("{status}, {}", printable(&other.replace('_', " "))),
    }
}

fn title(row: &SessionRow) -> String {
    printable(row.title.as_deref().unwrap_or_default())
}

/// The title, whose session it is, and the figures that have no column.
fn second_line(row: &SessionRow, figures: &[Told], paper: &mut Paper<'_>) -> io::Result<()> {
    let whose = [&row.user, &row.agent, &row.project].into_iter().flatten().map(|fact| printable(fact));
    let figures = figures
        .iter()
        .filter(|told| (told.has)(row))
        .filter_map(|told| Some(format!("{} {}", told.word?, (told.cell)(row, "", paper))));
    let facts = figures.chain(whose).chain(row.duration_ms.map(duration)).collect::<Vec<_>>().join(", ");
    let columns = paper.columns().unwrap_or(WIDE);
    let room = columns.saturating_sub(facts.width() + 6).max(columns / 2);
    let title = cut(&title(row), room);
    let facts = cut(&facts, columns.saturating_sub(title.width() + 6));
    let gap = if title.is_empty() { "" } else { "  " };
    paper.line(&format!("    {title}{gap}{}", paper.paint(Ink::Quiet, &facts)))
}

/// Returns for each session the shortest beginning of its name that no other of them has; of a sub-agent's
/// name, `parent/agent`, the shortest of both parts.
fn short_names(rows: &[SessionRow]) -> Vec<String> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
    let mut tops: Vec<&str> = names.iter().map(|name| top(name)).collect();
    for list in [&mut names, &mut tops] {
        list.sort_unstable();
        list.dedup();
    }
    let short = |row: &SessionRow| {
        let name = row.session.as_str();
        let parent = shortest(top(name), &tops, MIN_NAME);
        let child = shortest(name, &names, top(name).len() + 1 + MIN_CHILD).split_once('/');
        printable(&child.map_or_else(|| parent.to_owned(), |(_, child)| format!("{parent}/{child}")))
    };
    rows.iter().map(short).collect()
}

fn top(name: &str) -> &str {
    name.split_once('/').map_or(name, |(top, _)| top)
}

/// Returns the shortest beginning of a name that its neighbours in a sorted list do not share.
fn shortest<'a>(name: &'a str, sorted: &[&str], at_least: usize) -> &'a str {
    let at = sorted.partition_point(|other| *other < name);
    let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| sorted.get(at));
    let shared = neighbours.map(|other| shared_bytes(name, other)).max().unwrap_or(0);
    &name[..name.ceil_char_boundary((shared + 1).max(at_least).min(name.len()))]
}

fn shared_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let row = |name: &str| SessionRow { session: name.to_owned(), ..Default::default() };
        let rows: Vec<SessionRow> =
            ["0123456789-a", "0123456788-b", "abcdefghijkl", "abcdefghijkl/agent-1", "short"].map(row).into();
        assert_eq!(short_names(&rows), ["0123456789", "0123456788", "abcdefgh", "abcdefgh/agen", "short"]);
    }
}
