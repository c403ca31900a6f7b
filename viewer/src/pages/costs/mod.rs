//! `/costs`: what is spent, on what, and how far the sums can be trusted.

mod ceiling;
mod figures;
mod sheet;

pub(crate) use ceiling::set_ceiling;

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};

use self::ceiling::MonthView;
use self::figures::Known;
use super::money::{self, Shown};
use super::scope::{AskedScope, Chosen, ScopeBar};
use super::{Frame, html};
use crate::AppState;
use crate::charts::{Bars, Heat, Lines, Ranked};
use crate::csv;
use crate::errors::PageError;
use crate::format::{counted, known, percent, short, whole};
use crate::markup::one_line;
use crate::times::Clock;

/// What the bars of a day can be made of.
pub(super) const PARTS: [(&str, store::metrics::Group); 4] = [
    ("model", store::metrics::Group::Model),
    ("project", store::metrics::Group::Project),
    ("agent", store::metrics::Group::Agent),
    ("user", store::metrics::Group::User),
];

#[derive(Template)]
#[template(path = "costs.html")]
struct CostsPage {
    frame: Frame,
    bar: ScopeBar,
    total: Shown,
    tiles: Vec<Tile>,
    month: MonthView,
    parts: Vec<(&'static str, String, bool)>,
    by_day: Option<Bars>,
    tokens: Option<Bars>,
    cache: Option<Lines>,
    ranked: Ranked,
    sessions: Ranked,
    hours: Heat,
    unpriced: Vec<[String; 4]>,
    trust: Option<String>,
    table: String,
    is_empty: bool,
}

/// A figure with its words.
#[derive(Debug)]
struct Tile {
    name: &'static str,
    value: String,
    detail: String,
    is_over: bool,
}

/// Shows the page, or the figures of one chart as CSV.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<AskedScope>,
) -> Result<Response, PageError> {
    let clock = state.clock();
    let (chart, by) = (asked.csv.clone(), asked.by.clone());
    let chosen = Chosen::read("/costs", asked, &clock).map_err(PageError::Misunderstood)?;
    let part = PARTS.iter().find(|(name, _)| Some(*name) == by.as_deref()).unwrap_or(&PARTS[0]);
    let (of, zone, month) = (chosen.scope.clone(), clock.zone().clone(), clock.month_start());
    let group = part.1;
    let known = state.ask(move |store| Known::read(store, &of, group, &zone, month)).await?;
    match chart {
        Some(chart) => match sheet::rows(&chart, &known, part.0) {
            Some(rows) => Ok(csv::file(&format!("costs-{chart}"), &rows)),
            None => Err(PageError::NotFound { what: "chart", name: chart }),
        },
        None => Ok(html(&page(&known, &chosen, part.0, &clock))?.into_response()),
    }
}

fn page(known: &Known, chosen: &Chosen, part: &'static str, clock: &Clock) -> CostsPage {
    let days = known.days(chosen, clock);
    CostsPage {
        frame: Frame::new("Cost"),
        bar: chosen.bar(clock),
        total: money::of_spend(&known.total),
        tiles: tiles(known),
        month: MonthView::new(known, clock),
        parts: PARTS.iter().map(|(name, _)| (*name, chosen.with("by", Some(name)), *name == part)).collect(),
        by_day: known.cost_by_day(&days, chosen),
        tokens: known.tokens_by_day(&days, chosen),
        cache: known.cache_by_day(&days, chosen),
        ranked: known.ranked(chosen, part),
        sessions: known.dearest(chosen),
        hours: known.by_hour(chosen),
        unpriced: known
            .unpriced
            .iter()
            .map(|model| {
                let name = model.model.as_deref().map_or_else(|| "(no name)".to_owned(), one_line);
                [name, whole(model.calls), short(model.tokens), one_line(&model.reason)]
            })
            .collect(),
        trust: (known.total.untrusted_calls > 0).then(|| {
            format!(
                "{} of {} have tokens that are not the provider's last word: {} of the sum rests on them.",
                whole(known.total.untrusted_calls),
                counted(known.total.calls, "call", "calls"),
                crate::format::money(known.total.untrusted_cost_usd)
            )
        }),
        table: known.table.clone(),
        is_empty: known.total.calls + known.total.failed_calls == 0,
    }
}

fn tiles(known: &Known) -> Vec<Tile> {
    let total = &known.total;
    let tile = |name, value, detail| Tile { name, value, detail, is_over: false };
    let target = known.targets.cache_hit_ratio;
    let hit = total.cache_hit_ratio();
    let spent = money::of_spend(total);
    let per_task = (known.tasks > 0).then(|| {
        let mut mean = total.clone();
        mean.cost_usd.0 /= i128::from(known.tasks);
        money::of_spend(&mean).words
    });
    vec![
        tile("spent in the period", spent.words, spent.title),
        tile("as the agents report it", known_money(total.reported_cost_usd), difference(known)),
        tile(
            "for a task",
            known_or_dash(per_task),
            format!("{} with their sub-agents", counted(known.tasks, "task", "tasks")),
        ),
        Tile {
            is_over: hit.is_some_and(|ratio| ratio < target),
            ..tile(
                "read from the cache",
                known_or_dash(hit.map(percent)),
                format!("target: more than {}", percent(target)),
            )
        },
        tile("input", short(total.input_tokens()), "tokens, cached or not".to_owned()),
        tile(
            "output",
            short(total.output_tokens),
            format!("of which reasoning {}", short(total.reasoning_tokens)),
        ),
        tile("calls of models", whole(total.calls), format!("and {} that failed", whole(total.failed_calls))),
        tile("sessions", whole(known.sessions), "sub-agents counted too".to_owned()),
    ]
}

fn known_or_dash(words: Option<String>) -> String {
    known(words, |words| words)
}

fn known_money(cost: Option<agent_core::PicoUsd>) -> String {
    known(cost, crate::format::money)
}

/// Says how the agents' own figures differ from the table's for the same calls.
fn difference(known: &Known) -> String {
    let total = &known.total;
    match total.reported_cost_usd {
        None => "no agent reports what calls cost".to_owned(),
        Some(reported) => format!(
            "{} at list prices for the same {}: {}",
            crate::format::money(total.cost_of_reported_usd),
            counted(total.reported_calls, "call", "calls"),
            match total.cost_of_reported_usd.0 - reported.0 {
                0 => "equal".to_owned(),
                more => format!("a difference of {}", crate::format::money(agent_core::PicoUsd(more))),
            }
        ),
    }
}
