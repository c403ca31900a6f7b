//! Ceilings that people set, and changes of the price table that were applied.

use agent_core::{BudgetPeriod, BudgetScope, PicoUsd, Timestamp};
use serde::Serialize;

use crate::projection::tables::{BudgetRow, RepricingRow};
use crate::{Store, StoreError};

/// A ceiling that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// What it holds for.
    pub period: BudgetPeriod,
    /// Whose money.
    pub scope: BudgetScope,
    /// Which user, agent, project or model; empty for all.
    pub name: String,
    /// The ceiling.
    pub ceiling_usd: PicoUsd,
    /// When it was set.
    pub set_at: Option<Timestamp>,
    /// Who set it.
    pub set_by: Option<String>,
    /// Why.
    pub why: Option<String>,
}

/// A change of the price table that was applied to what had been priced by another.
pub type Repricing = RepricingRow;

impl Store {
    /// Returns the ceilings that hold now: the last one of each period, scope and name, unless it was taken away.
    pub fn budgets(&self) -> Result<Vec<Budget>, StoreError> {
        let latest = "position = (SELECT max(b.position) FROM cost.budgets b
                WHERE b.period = budgets.period AND b.scope = budgets.scope AND b.name = budgets.name)
            ORDER BY period, scope, name";
        let rows: Vec<BudgetRow> = self.select(latest, [])?;
        Ok(rows.into_iter().filter_map(budget).collect())
    }

    /// Returns all ceilings that were ever set or taken away, in order.
    pub fn budget_history(&self) -> Result<Vec<BudgetRow>, StoreError> {
        self.select("true ORDER BY position", [])
    }

    /// Returns the changes of the price table that were applied, in order.
    pub fn repricings(&self) -> Result<Vec<Repricing>, StoreError> {
        self.select("true ORDER BY position", [])
    }
}

/// Returns nothing for a ceiling that was taken away.
fn budget(row: BudgetRow) -> Option<Budget> {
    Some(Budget {
        period: BudgetPeriod::from_word(&row.period)?,
        scope: BudgetScope::from_word(&row.scope)?,
        name: row.name,
        ceiling_usd: PicoUsd(row.ceiling_picousd?.into()),
        set_at: row.ts,
        set_by: row.set_by,
        why: row.why,
    })
}
