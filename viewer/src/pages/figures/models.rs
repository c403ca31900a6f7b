//! `/models`: how fast models answer, how often they fail, what they use.

use axum::extract::{Query, State};
use axum::response::Response;
use store::Store;
use store::metrics::{CostStatus, Group};

use super::sheet::{Row, Sheet, cost, count, share, time};
use super::{Parts, answer};
use crate::AppState;
use crate::errors::PageError;
use crate::format::known;
use crate::markup::one_line;
use crate::pages::scope::{AskedScope, Chosen};
use crate::times::Clock;

/// Shows the page.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<AskedScope>,
) -> Result<Response, PageError> {
    answer(state, asked, ("Models", "/models"), read).await
}

fn read(store: &Store, chosen: &Chosen, clock: &Clock) -> Result<Parts, PageError> {
    let (scope, zone) = (&chosen.scope, clock.zone());
    let link = |name: Option<&str>| name.map(|name| chosen.sessions(&[("model", Some(name))]));
    let speed = store.models(scope, &[Group::Model], zone)?.into_iter().map(|row| {
        let name = row.groups[0].as_deref();
        Row {
            name: known(name, one_line),
            href: link(name),
            cells: vec![
                count(row.calls),
                count(row.failed),
                count(row.cut_off),
                count(row.refused),
                time(row.p50_first_token_ms),
                time(row.p95_first_token_ms),
                time(row.p50_ms),
                time(row.p95_ms),
                time(row.p99_ms),
            ],
        }
    });
    let headings = [
        "",
        "calls",
        "failed",
        "cut off",
        "refused",
        "p50 first token",
        "p95 first token",
        "p50",
        "p95",
        "p99",
    ];
    let speed = Sheet::new("speed", "How they answer", &headings, speed.collect(), chosen.csv("speed"));
    let used = store.spend(scope, &[Group::Model], zone)?.into_iter().map(|row| {
        let name = row.groups[0].as_deref();
        let is_priced = row.cost_status().is_some_and(|status| status != CostStatus::Unpriced);
        Row {
            name: known(name, one_line),
            href: link(name),
            cells: vec![
                count(row.calls),
                count(row.uncached_input_tokens),
                count(row.cache_read_tokens),
                count(row.cache_write_5m_tokens + row.cache_write_1h_tokens),
                count(row.output_tokens),
                share(row.cache_hit_ratio()),
                cost(is_priced.then_some(row.cost_usd)),
                count(row.unpriced_calls + row.partly_unpriced_calls),
            ],
        }
    });
    let headings = [
        "",
        "calls",
        "input",
        "cache read",
        "cache write",
        "output",
        "cache hit",
        "cost",
        "calls without a whole price",
    ];
    let used = Sheet::new("used", "What they use", &headings, used.collect(), chosen.csv("used"));
    Ok(Parts {
        tiles: Vec::new(),
        lines: Vec::new(),
        sheets: vec![speed, used],
        words: "Times are those that the source reports; where it reports none, there is a dash. A model without a price is in no sum of money: the page Cost says why.",
    })
}
