//! `dashcam sessions`.

use std::io::Write;

use agent_core::{PicoUsd, Timestamp};
use serde::Serialize;
use store::metrics::CostStatus;
use store::{SessionFilter, SessionRow, Store};

use super::look::Paper;
use super::{Notes, ReportError, Style, find, json_line};
use crate::pages::money;

mod list;

pub(super) use list::ended;

/// A session for scripts; absent means unknown.
#[derive(Serialize)]
struct SessionLine<'a> {
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    models: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    status: &'static str,
    end_reason: &'a str,
    turns: u32,
    model_calls: u32,
    tool_calls: u32,
    /// All that did not succeed: the two below are among them.
    failed_tool_calls: u32,
    rejected_tool_calls: u32,
    cancelled_tool_calls: u32,
    failed_model_calls: u32,
    interrupts: u32,
    compactions: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncached_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
    usage_quality: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_cost_usd: Option<PicoUsd>,
    /// At list prices; a lower bound unless `priced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<PicoUsd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_status: Option<CostStatus>,
    /// The share of the input that was read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit_ratio: Option<f64>,
    events: EventCounts,
}

#[derive(Serialize)]
struct EventCounts {
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<u64>,
    received: u64,
    stored: u64,
    duplicate: u64,
    refused: u64,
}

pub(super) fn write(
    store: &Store,
    filter: &SessionFilter,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let now = Timestamp::now();
    let filter = named_rightly(store, filter)?;
    let list = store.sessions(&filter, now)?;
    match style {
        Style::Json => {
            for row in &list.sessions {
                json_line(out, &line(row, now))?;
            }
        }
        Style::Text(look) => list::write(&list.sessions, &mut Paper::new(look, out)?)?,
    }
    let mut notes = Notes::default();
    if list.next.is_some() {
        notes.lines.push(format!(
            "{} sessions shown, there are more: raise --limit or narrow down",
            list.sessions.len()
        ));
    }
    if list.sessions.is_empty() {
        let words = if filter.restricts() { "no session fits" } else { "there are no sessions yet" };
        notes.lines.push(words.to_owned());
    }
    Ok(notes)
}

/// Returns the filter with the parent's whole name.
fn named_rightly(store: &Store, filter: &SessionFilter) -> Result<SessionFilter, ReportError> {
    let mut filter = filter.clone();
    if let Some(parent) = &filter.parent {
        filter.parent = Some(find::session(store, parent)?.session);
    }
    Ok(filter)
}

fn line(row: &SessionRow, now: Timestamp) -> SessionLine<'_> {
    SessionLine {
        session: &row.session,
        source: row.source.as_deref(),
        parent: row.parent.as_deref(),
        user: row.user.as_deref(),
        agent: row.agent.as_deref(),
        models: serde_json::from_str(&row.models).unwrap_or_default(),
        project: row.project.as_deref(),
        title: row.title.as_deref(),
        started_at: row.started_at,
        ended_at: row.ended_at,
        duration_ms: row.duration_ms,
        status: row.status_at(now).as_str(),
        end_reason: &row.end_reason,
        turns: row.turns,
        model_calls: row.model_calls,
        tool_calls: row.tool_calls,
        failed_tool_calls: row.failed_tool_calls,
        rejected_tool_calls: row.rejected_tool_calls,
        cancelled_tool_calls: row.cancelled_tool_calls,
        failed_model_calls: row.failed_model_calls,
        interrupts: row.interrupts,
        compactions: row.compactions,
        uncached_input_tokens: row.uncached_input_tokens,
        cache_read_tokens: row.cache_read_tokens,
        cache_write_tokens: row.cache_write_tokens(),
        output_tokens: row.output_tokens,
        estimated_output_tokens: row.estimated_output_tokens.filter(|_| row.usage_quality != "final"),
        reasoning_tokens: row.reasoning_tokens,
        usage_quality: &row.usage_quality,
        reported_cost_usd: row.reported_cost_picousd.map(|pico| PicoUsd(i128::from(pico))),
        cost_usd: row.cost_picousd.map(|pico| PicoUsd(i128::from(pico))),
        cost_status: money::session_status(row),
        cache_hit_ratio: row.cache_hit_ratio(),
        events: EventCounts {
            emitted: row.events_emitted,
            received: row.events_received,
            stored: row.events_stored,
            duplicate: row.events_duplicate,
            refused: row.events_refused,
        },
    }
}
