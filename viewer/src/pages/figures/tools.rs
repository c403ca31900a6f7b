//! `/tools`: calls of tools, how they end, how long they take, and with which words they fail.

use axum::extract::{Query, State};
use axum::response::Response;
use store::Store;
use store::metrics::Group;

use super::sheet::{Row, Sheet, count, share, time, words};
use super::{Parts, Tile, answer};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{bytes, known, percent, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::scope::{AskedScope, Chosen};
use crate::times::Clock;

/// Failures with different words that are listed.
const ERRORS: u32 = 200;

/// Shows the page.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<AskedScope>,
) -> Result<Response, PageError> {
    answer(state, asked, ("Tools", "/tools"), read).await
}

fn read(store: &Store, chosen: &Chosen, clock: &Clock) -> Result<Parts, PageError> {
    let (scope, zone) = (&chosen.scope, clock.zone());
    let all = store.all_tools(scope, &[], zone)?.pop().unwrap_or_default();
    let tools = store.tools(scope, &[], zone)?.into_iter().map(|row| {
        let name = row.tool.as_deref();
        Row {
            name: known(name, one_line),
            href: name.map(|name| chosen.sessions(&[("tool", Some(name))])),
            cells: vec![
                count(row.calls),
                share(row.success_ratio()),
                count(row.failed),
                count(row.timed_out),
                count(row.rejected),
                count(row.cancelled),
                time(row.p50_ms),
                time(row.p95_ms),
                time(row.p99_ms),
                words(bytes(row.output_bytes)),
            ],
        }
    });
    let headings = [
        "",
        "calls",
        "success",
        "failed",
        "timed out",
        "rejected",
        "cancelled",
        "p50",
        "p95",
        "p99",
        "output",
    ];
    let tools = Sheet::new("tools", "By tool", &headings, tools.collect(), chosen.csv("tools"));
    let errors = store.tool_errors(scope, ERRORS)?.into_iter().map(|error| Row {
        name: format!("{}: {}", one_line(&error.tool), one_line(&error.signature)),
        href: Some(links::turn(&error.last_session, error.last_turn)),
        cells: vec![count(error.calls), count(error.sessions)],
    });
    let errors = Sheet::new(
        "errors",
        "How they fail",
        &["", "calls", "sessions"],
        errors.collect(),
        chosen.csv("errors"),
    );
    let by_model = store.all_tools(scope, &[Group::Model], zone)?.into_iter().map(|row| Row {
        name: known(row.groups[0].as_deref(), one_line),
        href: row.groups[0].as_deref().map(|model| chosen.sessions(&[("model", Some(model))])),
        cells: vec![count(row.calls), share(row.success_ratio()), count(row.failed), count(row.rejected)],
    });
    let by_model = Sheet::new(
        "model",
        "By the model that called",
        &["", "calls", "success", "failed", "rejected"],
        by_model.collect(),
        chosen.csv("model"),
    );
    let tile = |name, value, detail| Tile { name, value, detail, is_over: false };
    Ok(Parts {
        tiles: vec![
            tile("calls", whole(all.calls), "of all tools".to_owned()),
            tile("success", known(all.success_ratio(), percent), "among those that ran".to_owned()),
            tile("failed", whole(all.failed), format!("{} because the time was up", whole(all.timed_out))),
            tile("not run", whole(all.rejected + all.cancelled), format!("{} rejected", whole(all.rejected))),
        ],
        lines: Vec::new(),
        sheets: vec![tools, errors, by_model],
        words: "A failure leads to the last turn in which it happened. Numbers, names and places are left out of its words, so that equal failures stand together.",
    })
}
