//! Money as pages show it: by the price table, with a sign where the sum is not whole, and beside what the agent says.

use agent_core::PicoUsd;
use store::metrics::{CostStatus, Spend};
use store::{ModelCallRow, SessionRow};

use crate::format::{UNKNOWN, dollars, money};

/// A sum of money, and what is to be known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Such as `$1.20`, `≥ $1.20`, `unpriced`, or a dash.
    pub(crate) words: String,
    /// Where it comes from.
    pub(crate) title: String,
}

/// What is said of every sum that the price table gives.
const AT_LIST_PRICES: &str = "tokens at list prices; who pays a flat plan is billed otherwise";

/// Returns what a session cost.
pub(crate) fn of_session(row: &SessionRow) -> Shown {
    let status = session_status(row);
    let Some(status) = status else { return reported_only(row.reported_cost_picousd) };
    shown(status, PicoUsd(row.cost_picousd.unwrap_or(0).into()), row.reported_cost_picousd)
}

/// Returns how whole a session's cost is; nothing where it has no call of a model that could have one.
pub(crate) fn session_status(row: &SessionRow) -> Option<CostStatus> {
    CostStatus::of(row.model_calls.into(), row.unpriced_calls.into(), row.partly_unpriced_calls.into())
}

/// Returns what calls of models cost.
pub(crate) fn of_spend(row: &Spend) -> Shown {
    let reported = row.reported_cost_usd.and_then(|cost| i64::try_from(cost.0).ok());
    row.cost_status().map_or_else(|| reported_only(reported), |status| shown(status, row.cost_usd, reported))
}

/// Returns what one call cost.
pub(crate) fn of_call(row: &ModelCallRow) -> Shown {
    let status = match row.cost_status.as_str() {
        "priced" => CostStatus::Priced,
        "partly_unpriced" => CostStatus::PartlyUnpriced,
        "unpriced" => CostStatus::Unpriced,
        _ => return reported_only(row.reported_cost_picousd),
    };
    let mut shown = shown(status, PicoUsd(row.cost_picousd.unwrap_or(0).into()), row.reported_cost_picousd);
    if let Some(reason) = &row.unpriced_reason {
        shown.title = format!("{}: {reason}", shown.title);
    }
    shown
}

fn shown(status: CostStatus, cost: PicoUsd, reported: Option<i64>) -> Shown {
    let beside = reported.map_or_else(String::new, |cost| format!("; the agent says {}", dollars(cost)));
    match (status, reported) {
        (CostStatus::Priced, _) => Shown { words: money(cost), title: format!("{AT_LIST_PRICES}{beside}") },
        (CostStatus::PartlyUnpriced, _) => Shown {
            words: format!("≥ {}", money(cost)),
            title: format!("some calls have no price; {AT_LIST_PRICES}{beside}"),
        },
        (CostStatus::Unpriced, Some(reported)) => {
            Shown { words: dollars(reported), title: "as the agent reported it; unpriced here".to_owned() }
        }
        (CostStatus::Unpriced, None) => {
            Shown { words: "unpriced".to_owned(), title: "the price table has no price for it".to_owned() }
        }
    }
}

fn reported_only(reported: Option<i64>) -> Shown {
    match reported {
        Some(cost) => Shown { words: dollars(cost), title: "as the agent reported it".to_owned() },
        None => Shown { words: UNKNOWN.to_owned(), title: "no call of a model with tokens".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_price_is_never_0() {
        let row = |calls, unpriced, partly, cost, reported| SessionRow {
            model_calls: calls,
            unpriced_calls: unpriced,
            partly_unpriced_calls: partly,
            cost_picousd: cost,
            reported_cost_picousd: reported,
            ..SessionRow::default()
        };
        let dollar = 1_000_000_000_000;
        for (row, words) in [
            (row(0, 0, 0, None, None), "—"),
            (row(2, 0, 0, Some(dollar), Some(2 * dollar)), "$1.00"),
            (row(2, 1, 0, Some(dollar), None), "≥ $1.00"),
            (row(2, 0, 1, Some(dollar), None), "≥ $1.00"),
            (row(2, 2, 0, None, None), "unpriced"),
            (row(2, 2, 0, None, Some(dollar)), "$1.00"),
        ] {
            assert_eq!(of_session(&row).words, words);
        }
    }
}
