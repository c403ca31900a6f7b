//! What people decide for the whole installation: ceilings, and the price table that holds. No session owns it.

use agent_core::{Body, BudgetPeriod, BudgetScope, BudgetSet, Event, PriceApplied};

use super::tables::{BudgetRow, RepricingRow};
use super::{Place, Projection, ProjectionError};

/// Returns whether the event is of the whole installation.
pub(super) fn is_decision(body: &Body) -> bool {
    matches!(body, Body::BudgetSet(_) | Body::PriceApplied(_) | Body::PriceImported(_))
}

impl Projection {
    /// Takes in an event for which [`is_decision`] holds.
    pub(super) fn decide(&mut self, event: &Event, place: Place) -> Result<(), ProjectionError> {
        match &event.body {
            Body::BudgetSet(budget) => self.batch.budgets.push(budget_row(event, budget, place)),
            Body::PriceApplied(applied) => self.prices_applied(event, applied, place)?,
            // That prices were taken in is on record in the journal; the prices themselves are files.
            _ => {}
        }
        Ok(())
    }

    /// Writes the earlier figures beside those of today. The event may name sessions in part only: there may be
    /// several of one change.
    fn prices_applied(
        &mut self,
        event: &Event,
        applied: &PriceApplied,
        place: Place,
    ) -> Result<(), ProjectionError> {
        let mut before: i64 = 0;
        for earlier in &applied.earlier {
            let cost = i64::try_from(earlier.cost_usd.0).unwrap_or(i64::MAX);
            before = before.saturating_add(cost);
            let key = self.session_named(&earlier.session)?;
            self.touched.insert(key);
            self.session(key)?.priced_before(cost, &earlier.table);
        }
        self.batch.repricings.push(RepricingRow {
            ts: event.ts,
            table_before: applied.earlier.first().map(|earlier| earlier.table.clone()).unwrap_or_default(),
            table_after: applied.table.clone(),
            sessions: applied.earlier.len() as u64,
            cost_before_picousd: before,
            position: place.position,
        });
        Ok(())
    }
}

fn budget_row(event: &Event, budget: &BudgetSet, place: Place) -> BudgetRow {
    let scope = budget.scope.unwrap_or(BudgetScope::All);
    BudgetRow {
        ts: event.ts,
        period: budget.period.unwrap_or(BudgetPeriod::Month).as_str().to_owned(),
        scope: scope.as_str().to_owned(),
        name: budget.name.clone().filter(|_| scope != BudgetScope::All).unwrap_or_default(),
        ceiling_picousd: budget.budget_usd.and_then(|ceiling| i64::try_from(ceiling.0).ok()),
        set_by: budget.by.clone(),
        why: budget.why.clone(),
        position: place.position,
    }
}
