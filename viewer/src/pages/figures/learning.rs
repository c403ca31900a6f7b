//! `/learning`: memories and skills, what is new, what is used again, what never is.

use axum::extract::{Query, State};
use axum::response::Response;
use store::Store;
use store::metrics::LearningKind;

use super::sheet::{Row, Sheet, count, words};
use super::{Parts, Tile, answer};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{known, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::scope::{AskedScope, Chosen};
use crate::times::Clock;

/// Failing turns that are listed.
const FAILURES: u32 = 200;

/// Shows the page.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<AskedScope>,
) -> Result<Response, PageError> {
    answer(state, asked, ("Learning", "/learning"), read).await
}

fn read(store: &Store, chosen: &Chosen, clock: &Clock) -> Result<Parts, PageError> {
    let scope = &chosen.scope;
    let (mut tiles, mut sheets) = (Vec::new(), Vec::new());
    for (kind, key, title, growth_key, growth_title) in [
        (LearningKind::Memory, "memories", "Memories", "memory-growth", "New memories by day"),
        (LearningKind::Skill, "skills", "Skills", "skill-growth", "New skills by day"),
    ] {
        let all = store.learned(kind, scope)?;
        let used: u64 = all.iter().map(|row| row.used).sum();
        let never = all.iter().filter(|row| row.used == 0).count() as u64;
        tiles.push(Tile {
            name: title,
            value: whole(all.len() as u64),
            detail: format!("used {} times, {} of them never", whole(used), whole(never)),
            is_over: false,
        });
        let rows = all.iter().map(|row| Row {
            name: known(row.key.as_deref(), one_line),
            href: None,
            cells: vec![
                count(row.used),
                count(row.tasks),
                count(row.failed_tasks),
                count(row.listed),
                count(row.written),
                count(row.rejected),
                count(row.write_rejected),
                count(row.sessions),
            ],
        });
        let headings = [
            "",
            "used",
            "tasks",
            "failed tasks",
            "offered",
            "written",
            "rejected",
            "write refused",
            "sessions",
        ];
        sheets.push(Sheet::new(key, title, &headings, rows.collect(), chosen.csv(key)));
        let mut sum = 0;
        let growth = store.first_seen(kind, scope, clock.zone())?.into_iter().map(|(day, new)| {
            sum += new;
            Row { name: day, href: None, cells: vec![count(new), count(sum)] }
        });
        let mut growth: Vec<Row> = growth.collect();
        growth.reverse();
        sheets.push(Sheet::new(
            growth_key,
            growth_title,
            &["", "new", "all so far"],
            growth,
            chosen.csv(growth_key),
        ));
    }
    let unused = store.unused_skills(scope)?.into_iter().map(|skill| Row {
        name: one_line(&skill.skill),
        href: None,
        cells: vec![count(skill.sessions)],
    });
    sheets.push(Sheet::new(
        "unused",
        "Skills that were offered and never used",
        &["", "sessions"],
        unused.collect(),
        chosen.csv("unused"),
    ));
    let failures = store.recalled_in_failures(scope, FAILURES)?.into_iter().map(|failure| Row {
        name: one_line(&failure.key),
        href: Some(links::turn(&failure.session, failure.turn)),
        cells: vec![
            words(format!("{}, turn {}", one_line(&failure.session), failure.turn)),
            words(known(failure.error.as_deref(), one_line)),
        ],
    });
    sheets.push(Sheet::new(
        "failures",
        "Memories in turns where something failed",
        &["", "turn", "what failed"],
        failures.collect(),
        chosen.csv("failures"),
    ));
    Ok(Parts {
        tiles,
        lines: Vec::new(),
        sheets,
        words: "Growth should level off: what is learned is to be used again. The days of growth are of all that is recorded up to the end of the period.",
    })
}
