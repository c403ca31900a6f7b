//! `/quality`: how tasks end, how long they take, and what the user makes of them.

use axum::extract::{Query, State};
use axum::response::Response;
use store::Store;
use store::metrics::{Group, Targets, TaskFigures};

use super::sheet::{Row, Sheet, count, mean, share, time, words};
use super::{Parts, Tile, answer};
use crate::AppState;
use crate::charts::Lines;
use crate::errors::PageError;
use crate::format::{UNKNOWN, duration, known, percent, whole};
use crate::markup::one_line;
use crate::pages::scope::{AskedScope, Chosen};
use crate::times::Clock;

const HEADINGS: [&str; 9] = [
    "",
    "tasks",
    "success",
    "mean time",
    "p95 time",
    "mean turns",
    "asked again",
    "broken off",
    "edits kept",
];

/// Shows the page.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<AskedScope>,
) -> Result<Response, PageError> {
    answer(state, asked, ("Quality", "/quality"), read).await
}

fn read(store: &Store, chosen: &Chosen, clock: &Clock) -> Result<Parts, PageError> {
    let (scope, zone, targets) = (&chosen.scope, clock.zone(), Targets::default());
    let all = store.tasks(scope, &[], zone)?.pop().unwrap_or_default();
    let mut by_day = store.tasks(scope, &[Group::Day], zone)?;
    by_day.sort_by(|a, b| a.groups.cmp(&b.groups));
    let endings = store.endings(scope)?;
    let success = by_day.iter().filter_map(|row| Some((row.groups[0].clone()?, row.success_ratio())));
    let success: Vec<_> = success.collect();
    let line =
        Lines::new("Share of tasks that were completed", &success, targets.success_ratio, chosen.csv("day"));
    let mut sheets = Vec::new();
    for (key, title, group) in [
        ("agent", "By agent", Group::Agent),
        ("model", "By model", Group::Model),
        ("user", "By user", Group::User),
        ("project", "By project", Group::Project),
        ("version", "By version of the agent", Group::Version),
    ] {
        let rows = store.tasks(scope, &[group], zone)?;
        let rows = rows.iter().map(|row| {
            let name = row.groups[0].as_deref();
            // The list of sessions has no filter for versions.
            let href = name.filter(|_| key != "version").map(|name| chosen.sessions(&[(key, Some(name))]));
            figures(row, known(name, one_line), href)
        });
        sheets.push(Sheet::new(key, title, &HEADINGS, rows.collect(), chosen.csv(key)));
    }
    let ended = endings.into_iter().map(|ending| Row {
        name: one_line(&ending.status.replace('_', " ")),
        href: Some(chosen.sessions(&[("status", Some(&ending.status))])),
        cells: vec![words(one_line(&ending.end_reason.replace('_', " "))), count(ending.runs)],
    });
    sheets.insert(
        0,
        Sheet::new(
            "endings",
            "How tasks ended",
            &["", "why", "tasks"],
            ended.collect(),
            chosen.csv("endings"),
        ),
    );
    let days = by_day.iter().map(|row| {
        let day = row.groups[0].as_deref();
        figures(
            row,
            known(day, str::to_owned),
            day.map(|day| chosen.sessions(&[("from", Some(day)), ("to", Some(day))])),
        )
    });
    sheets.push(Sheet::new("day", "By day", &HEADINGS, days.collect(), chosen.csv("day")));
    Ok(Parts {
        tiles: tiles(&all, &targets),
        lines: if success.is_empty() { Vec::new() } else { vec![line] },
        sheets,
        words: "A task is what a user asked for; what sub-agents do is a part of it. Success is counted among the tasks of which it is known how they ended. Asked again: the user said so, went back to an earlier place, or repeated the words. Edits kept: changes of files that were done and left as the agent made them.",
    })
}

fn figures(row: &TaskFigures, name: String, href: Option<String>) -> Row {
    Row {
        name,
        href,
        cells: vec![
            count(row.runs),
            share(row.success_ratio()),
            time(row.mean_duration_ms.map(|ms| ms as u64)),
            time(row.p95_duration_ms),
            mean(row.mean_turns),
            share(row.retry_ratio()),
            count(row.interrupted),
            share(row.kept_ratio()),
        ],
    }
}

fn tiles(all: &TaskFigures, targets: &Targets) -> Vec<Tile> {
    let tile = |name, value, detail, is_over| Tile { name, value, detail, is_over };
    let over = |figure: Option<f64>, bad: fn(f64, f64) -> bool, target: f64| {
        figure.is_some_and(|figure| bad(figure, target))
    };
    let (above, below) = (|a: f64, b: f64| a > b, |a: f64, b: f64| a < b);
    vec![
        tile("tasks", whole(all.runs), format!("{} with a known end", whole(all.judged())), false),
        tile(
            "completed",
            known(all.success_ratio(), percent),
            format!("target: more than {}", percent(targets.success_ratio)),
            over(all.success_ratio(), below, targets.success_ratio),
        ),
        tile(
            "mean time",
            known(all.mean_duration_ms, |ms| duration(ms as u64)),
            format!("target: less than {}", duration(targets.duration_ms as u64)),
            over(all.mean_duration_ms, above, targets.duration_ms),
        ),
        tile(
            "mean turns",
            all.mean_turns.map_or_else(|| UNKNOWN.to_owned(), |turns| format!("{turns:.1}")),
            format!("target: fewer than {}", targets.turns),
            over(all.mean_turns, above, targets.turns),
        ),
        tile(
            "asked again",
            known(all.retry_ratio(), percent),
            format!("target: less than {}", percent(targets.retry_ratio)),
            over(all.retry_ratio(), above, targets.retry_ratio),
        ),
        tile("broken off", whole(all.interrupted), "by the user".to_owned(), false),
        tile("edits kept", known(all.kept_ratio(), percent), format!("of {}", whole(all.edits)), false),
    ]
}
