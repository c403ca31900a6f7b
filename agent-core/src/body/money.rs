//! What people decide about money: ceilings, and the price table that figures rest on.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::PicoUsd;
use crate::status::words;

words! {
    /// What a ceiling holds for.
    BudgetPeriod {
        /// All that is spent in a calendar month.
        Month = "month",
        /// What one task may cost.
        Task = "task",
    }
}

words! {
    /// Whose money a ceiling is about.
    BudgetScope {
        /// Everybody's.
        All = "all",
        /// One user's.
        User = "user",
        /// One agent's.
        Agent = "agent",
        /// One project's.
        Project = "project",
        /// One model's.
        Model = "model",
    }
}

payload! {
    /// Somebody set a ceiling, or took one away. The last one of its period, scope and name holds.
    BudgetSet {
        /// What it holds for; absent means a month.
        period: Option<BudgetPeriod>,
        /// Whose money; absent means all.
        scope: Option<BudgetScope>,
        /// Which user, agent, project or model.
        name: Option<String>,
        /// The ceiling; absent takes it away.
        budget_usd: Option<PicoUsd>,
        /// Who set it.
        by: Option<String>,
        /// Why.
        why: Option<String>,
    }
}

/// What a session cost before it was priced by another table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCost {
    /// The session.
    pub session: String,
    /// The figure.
    pub cost_usd: PicoUsd,
    /// The hash of the table that it rests on.
    pub table: String,
}

payload! {
    /// Somebody had what was recorded priced by another table. The figures before stay on record here.
    PriceApplied {
        /// The hash of the new table.
        table: String,
        /// Sessions whose figure changed.
        earlier: Vec<EarlierCost>,
        /// Who asked for it.
        by: Option<String>,
    }
}
