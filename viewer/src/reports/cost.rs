//! `dashcam cost`.

use std::io::Write;

use agent_core::PicoUsd;
use serde::Serialize;
use serde_json::{Map, Value};
use store::Store;
use store::metrics::{CostStatus, Group, Scope, Spend, UnpricedModel};

use super::look::{Ink, Paper};
use super::plain::printable;
use super::table::{Column, Table};
use super::{Notes, ReportError, Style, json_line};
use crate::format::{UNKNOWN, known, money, output_tokens, percent, short};
use crate::typed_time::read_zone;

/// A group for scripts; absent means unknown.
#[derive(Serialize)]
struct CostLine {
    /// The group's word under the name of what it is grouped by.
    #[serde(flatten)]
    group: Map<String, Value>,
    sessions: u64,
    model_calls: u64,
    failed_model_calls: u64,
    uncached_input_tokens: u64,
    cache_read_tokens: u64,
    cache_write_5m_tokens: u64,
    cache_write_1h_tokens: u64,
    output_tokens: u64,
    estimated_output_tokens: u64,
    reasoning_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<PicoUsd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_status: Option<CostStatus>,
    unpriced_calls: u64,
    partly_unpriced_calls: u64,
    /// Calls whose tokens are not the provider's last word, and the part of the money that rests on them.
    untrusted_calls: u64,
    untrusted_cost_usd: PicoUsd,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_cost_usd: Option<PicoUsd>,
}

pub(super) fn write(
    store: &Store,
    scope: &Scope,
    by: Option<Group>,
    zone: &str,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let zone = read_zone(zone)?;
    let groups: Vec<Group> = by.into_iter().collect();
    let mut rows = store.spend(scope, &groups, &zone)?;
    if matches!(by, Some(Group::Day | Group::Hour | Group::Weekday)) {
        rows.sort_by_key(in_order);
    }
    let unpriced = store.unpriced_models(scope)?;
    match style {
        Style::Json => {
            for row in &rows {
                json_line(out, &line(row, by))?;
            }
        }
        Style::Text(look) => write_table(&rows, by, &mut Paper::new(look, out)?)?,
    }
    let mut notes = Notes::default();
    if rows.iter().all(|row| row.calls + row.failed_calls == 0) {
        notes.lines.push("no call of a model fits".to_owned());
    }
    notes.lines.extend(unpriced.iter().map(unpriced_words));
    let total = Spend::total(&rows);
    if total.untrusted_calls > 0 {
        notes.lines.push(format!(
            "{} of {} calls have figures that are not the provider's last word: {} rests on them",
            total.untrusted_calls,
            total.calls,
            money(total.untrusted_cost_usd)
        ));
    }
    Ok(notes)
}

/// Hours and weekdays are numbers, days are as long as each other.
fn in_order(row: &Spend) -> (Option<u32>, Option<String>) {
    let word = row.groups.first().cloned().flatten();
    (word.as_deref().and_then(|word| word.parse().ok()), word)
}

fn unpriced_words(model: &UnpricedModel) -> String {
    let name = model.model.as_deref().map_or_else(|| "a model without a name".to_owned(), printable);
    format!(
        "unpriced: {name}, {} calls, {} tokens: {}",
        model.calls,
        short(model.tokens),
        printable(&model.reason)
    )
}

/// Returns the name of what figures are grouped by, as in `--by`.
pub(super) fn group_name(group: Group) -> String {
    match serde_json::to_value(group) {
        Ok(Value::String(name)) => name,
        _ => unreachable!("a group is written as a word"),
    }
}

/// Returns the words of the groups under the names of what they are grouped by.
pub(super) fn named_groups(by: Option<Group>, words: &[Option<String>]) -> Map<String, Value> {
    by.iter()
        .zip(words)
        .filter_map(|(group, word)| Some((group_name(*group), Value::String(word.clone()?))))
        .collect()
}

fn line(row: &Spend, by: Option<Group>) -> CostLine {
    let status = row.cost_status();
    CostLine {
        group: named_groups(by, &row.groups),
        sessions: row.sessions,
        model_calls: row.calls,
        failed_model_calls: row.failed_calls,
        uncached_input_tokens: row.uncached_input_tokens,
        cache_read_tokens: row.cache_read_tokens,
        cache_write_5m_tokens: row.cache_write_5m_tokens,
        cache_write_1h_tokens: row.cache_write_1h_tokens,
        output_tokens: row.output_tokens,
        estimated_output_tokens: row.estimated_output_tokens,
        reasoning_tokens: row.reasoning_tokens,
        cache_hit_ratio: row.cache_hit_ratio(),
        cost_usd: priced(row),
        cost_status: status,
        unpriced_calls: row.unpriced_calls,
        partly_unpriced_calls: row.partly_unpriced_calls,
        untrusted_calls: row.untrusted_calls,
        untrusted_cost_usd: row.untrusted_cost_usd,
        reported_cost_usd: row.reported_cost_usd,
    }
}

/// Returns the sum of money, unless no call has a price: that is unknown, and not 0.
fn priced(row: &Spend) -> Option<PicoUsd> {
    row.cost_status().filter(|&status| status != CostStatus::Unpriced).map(|_| row.cost_usd)
}

fn write_table(rows: &[Spend], by: Option<Group>, paper: &mut Paper<'_>) -> Result<(), ReportError> {
    let mut headings: Vec<Column> =
        by.iter().map(|group| Column::words(group_name(*group).to_uppercase())).collect();
    headings.extend(
        ["COST", "REPORTED", "CALLS", "IN", "CACHE READ", "CACHE WRITE", "OUT", "CACHE HIT"]
            .map(Column::figures),
    );
    let mut table = Table::new(headings);
    for row in rows {
        table.row(cells(row, by.is_some().then(|| row.groups[0].as_deref())));
    }
    if by.is_some() && rows.len() > 1 {
        table.row(cells(&Spend::total(rows), Some(Some("TOTAL"))));
    }
    for (at, line) in table.lines().iter().enumerate() {
        let line = if at == 0 { paper.paint(Ink::Quiet, line) } else { line.clone() };
        paper.line(&line)?;
    }
    Ok(())
}

fn cells(row: &Spend, group: Option<Option<&str>>) -> Vec<String> {
    let quality = if row.untrusted_calls > 0 { "partial" } else { "final" };
    let mut cells: Vec<String> = group.map(|word| known(word, printable)).into_iter().collect();
    cells.extend([
        cost_words(row),
        known(row.reported_cost_usd, money),
        row.calls.to_string(),
        short(row.uncached_input_tokens),
        short(row.cache_read_tokens),
        short(row.cache_write_5m_tokens + row.cache_write_1h_tokens),
        output_tokens(Some(row.output_tokens), quality, short),
        known(row.cache_hit_ratio(), percent),
    ]);
    cells
}

/// A sum that is not whole is a lower bound.
fn cost_words(row: &Spend) -> String {
    match row.cost_status() {
        None => UNKNOWN.to_owned(),
        Some(CostStatus::Priced) => money(row.cost_usd),
        Some(CostStatus::PartlyUnpriced) => format!("≥ {}", money(row.cost_usd)),
        Some(CostStatus::Unpriced) => "unpriced".to_owned(),
    }
}
