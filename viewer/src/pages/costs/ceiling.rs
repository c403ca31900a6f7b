//! The month against its ceiling, and the form that sets one.

use agent_core::{Body, BudgetPeriod, BudgetScope, BudgetSet, PicoUsd};
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use store::metrics::Budget;

use super::figures::Known;
use crate::AppState;
use crate::errors::PageError;
use crate::format::{money, percent};
use crate::markup::one_line;
use crate::pages::filled;
use crate::pages::money::of_spend;
use crate::times::Clock;

/// This month in words.
#[derive(Debug)]
pub(super) struct MonthView {
    pub(super) spent: String,
    pub(super) forecast: String,
    /// The ceiling, with how much of it is spent.
    pub(super) ceiling: Option<String>,
    pub(super) is_over: bool,
    /// What is said of it.
    pub(super) words: String,
    /// All ceilings: what for, how much, who set it.
    pub(super) others: Vec<[String; 3]>,
}

impl MonthView {
    pub(super) fn new(known: &Known, clock: &Clock) -> Self {
        let spent = known.month.cost_usd;
        let (day, days) = clock.day_of_month().unwrap_or((1, 30));
        // What today has still to bring is not known: the days that are over and today count as whole ones.
        let forecast = PicoUsd(spent.0 / i128::from(day.max(1)) * i128::from(days));
        let of_all = known
            .budgets
            .iter()
            .find(|budget| budget.period == BudgetPeriod::Month && budget.scope == BudgetScope::All);
        let share = of_all.map(|budget| spent.0 as f64 / budget.ceiling_usd.0 as f64);
        let is_over = of_all.is_some_and(|budget| forecast.0 > budget.ceiling_usd.0);
        Self {
            spent: if known.month.calls == 0 { "Nothing".to_owned() } else { of_spend(&known.month).words },
            forecast: money(forecast),
            ceiling: of_all.zip(share).map(|(budget, share)| format!("{} of {}", percent(share), money(budget.ceiling_usd))),
            is_over,
            words: match of_all {
                None => "No ceiling is set for the month: set one, so that a bill cannot grow without somebody being told.".to_owned(),
                Some(_) if share.is_some_and(|share| share >= 1.0) => "The ceiling is reached.".to_owned(),
                Some(_) if is_over => "At this rate the month ends above its ceiling.".to_owned(),
                Some(_) => "At this rate the month ends below its ceiling.".to_owned(),
            },
            others: known.budgets.iter().map(|budget| line(budget, clock)).collect(),
        }
    }
}

fn line(budget: &Budget, clock: &Clock) -> [String; 3] {
    let whose = match budget.scope {
        BudgetScope::All => "everybody".to_owned(),
        scope => format!("{} {}", scope.as_str(), one_line(&budget.name)),
    };
    let by = budget.set_by.as_deref().map_or_else(String::new, |by| format!("by {}, ", one_line(by)));
    let why = budget.why.as_deref().map_or_else(String::new, |why| format!(": {}", one_line(why)));
    [
        format!("a {} of {whose}", budget.period.as_str()),
        money(budget.ceiling_usd),
        format!("set {by}{}{why}", clock.show(budget.set_at).relative),
    ]
}

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct Given {
    usd: String,
    period: String,
    scope: String,
    name: Option<String>,
    why: Option<String>,
}

/// Sets a ceiling, or takes it away where no number is given. Who has the token may; the middleware lets no other site's
/// form in.
pub(crate) async fn set_ceiling(
    State(state): State<AppState>,
    given: Result<Form<Given>, FormRejection>,
) -> Result<Response, PageError> {
    let Ok(Form(given)) = given else {
        return Err(PageError::Misunderstood("this is not what the form for a ceiling sends".to_owned()));
    };
    let budget = budget(given)?;
    state.ask(move |store| store.decide(Body::BudgetSet(budget))).await?;
    Ok(Redirect::to("/costs#month").into_response())
}

fn budget(given: Given) -> Result<BudgetSet, PageError> {
    let wrong = |words: String| PageError::Misunderstood(words);
    let usd = given.usd.trim().trim_start_matches('$');
    let budget_usd = match usd {
        "" => None,
        usd => Some(PicoUsd::from_decimal(usd).filter(|ceiling| ceiling.0 > 0).ok_or_else(|| {
            wrong(format!("{usd:?} is no number of dollars above 0, such as 200 or 12.50"))
        })?),
    };
    let scope = BudgetScope::from_word(&given.scope)
        .ok_or_else(|| wrong(format!("{:?} is nobody's money", given.scope)))?;
    let name = filled(given.name);
    if scope != BudgetScope::All && name.is_none() {
        return Err(wrong(format!("say which {} the ceiling is for", scope.as_str())));
    }
    Ok(BudgetSet {
        period: Some(
            BudgetPeriod::from_word(&given.period)
                .ok_or_else(|| wrong(format!("{:?} is no period of a ceiling", given.period)))?,
        ),
        scope: Some(scope),
        name,
        budget_usd,
        by: Some("somebody with the token, on the page".to_owned()),
        why: filled(given.why),
        ..BudgetSet::default()
    })
}
