//! The figures of the page's charts as rows: whole numbers, exact dollars, the zone's days.

use store::metrics::{CostStatus, Spend};

use super::figures::Known;

const FIGURES: [&str; 10] = [
    "calls",
    "failed_calls",
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost_usd",
    "cost_status",
    "unpriced_calls",
    "reported_cost_usd",
];

/// Returns the rows of a chart, the headings first; nothing when there is no such chart.
pub(super) fn rows(chart: &str, known: &Known, part: &str) -> Option<Vec<Vec<String>>> {
    let (groups, figures): (&[&str], &[Spend]) = match chart {
        "day" | "tokens" | "cache" => (&["day", part], &known.by_day),
        "parts" => (&[part], &known.by_part),
        "sessions" => (&["session"], &known.by_session),
        "hours" => (&["weekday", "hour"], &known.by_hour),
        _ => return None,
    };
    let headings = groups.iter().chain(&FIGURES).map(|heading| (*heading).to_owned()).collect();
    Some(std::iter::once(headings).chain(figures.iter().map(row)).collect())
}

fn row(row: &Spend) -> Vec<String> {
    let status = row.cost_status();
    let groups = row.groups.iter().map(|word| word.clone().unwrap_or_default());
    let figures = [
        row.calls.to_string(),
        row.failed_calls.to_string(),
        row.uncached_input_tokens.to_string(),
        row.cache_read_tokens.to_string(),
        (row.cache_write_5m_tokens + row.cache_write_1h_tokens).to_string(),
        row.output_tokens.to_string(),
        // What has no price has no figure.
        status
            .filter(|&status| status != CostStatus::Unpriced)
            .map_or_else(String::new, |_| row.cost_usd.to_string()),
        status.map_or_else(String::new, |status| status.as_str().to_owned()),
        row.unpriced_calls.to_string(),
        row.reported_cost_usd.map_or_else(String::new, |cost| cost.to_string()),
    ];
    groups.chain(figures).collect()
}
