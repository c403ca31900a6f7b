//! What a session cost: each call by the price table, and the sums above it.

use agent_core::UsageQuality;
use agent_core::price::{CostStatus, PriceTable, ServiceTier};
use duckdb::Connection;

use super::super::tables::ModelCallRow;
use super::Session;
use super::usage::usage_of_row;

/// The state of a call's price beside those that a [`CostStatus`] has: it failed, and nothing says that it cost.
const NOT_CHARGED: &str = "not_charged";

/// What a call adds to the sums above it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Share {
    cost: Option<i64>,
    unpriced: bool,
    partly_unpriced: bool,
}

impl Share {
    fn of(row: &ModelCallRow) -> Self {
        Self {
            cost: row.cost_picousd,
            unpriced: row.cost_status == CostStatus::Unpriced.as_str(),
            partly_unpriced: row.cost_status == CostStatus::PartlyUnpriced.as_str(),
        }
    }

    fn is_not_whole(self) -> bool {
        self.unpriced || self.partly_unpriced
    }
}

impl Session {
    /// Returns whether a call of a model changed.
    pub(in crate::projection) fn has_calls_to_price(&self) -> bool {
        !self.calls.changed().is_empty()
    }

    /// Prices the calls that changed, and moves the sums by what their costs changed.
    pub(in crate::projection) fn price_calls(
        &mut self,
        prices: &PriceTable,
        database: &Connection,
    ) -> duckdb::Result<()> {
        for (turn, call) in self.calls.changed() {
            let Some(row) = self.calls.get_mut((turn, call)) else { continue };
            let before = Share::of(row);
            price(row, prices);
            let (now, run) = (Share::of(row), row.run);
            if now == before {
                continue;
            }
            let sums = &mut self.row;
            move_money(&mut sums.cost_picousd, before.cost, now.cost);
            move_count(&mut sums.unpriced_calls, before.unpriced, now.unpriced);
            move_count(&mut sums.partly_unpriced_calls, before.partly_unpriced, now.partly_unpriced);
            self.load_turn(turn, database)?;
            if let Some(row) = self.turns.get_mut(turn) {
                move_money(&mut row.cost_picousd, before.cost, now.cost);
                move_count(&mut row.unpriced_calls, before.is_not_whole(), now.is_not_whole());
            }
            self.load_run(run, database)?;
            if let Some(row) = self.runs.get_mut(run) {
                move_money(&mut row.cost_picousd, before.cost, now.cost);
                move_count(&mut row.unpriced_calls, before.is_not_whole(), now.is_not_whole());
            }
        }
        Ok(())
    }

    /// Notes what the session cost by the price table that held before, of which the figure stays on record.
    pub(in crate::projection) fn priced_before(&mut self, cost_picousd: i64, table: &str) {
        self.changed = true;
        self.row.earlier_cost_picousd = Some(cost_picousd);
        self.row.earlier_price_table = Some(table.to_owned());
    }
}

fn price(row: &mut ModelCallRow, prices: &PriceTable) {
    row.price_table = Some(prices.hash().to_owned());
    if row.failed && row.usage_quality == UsageQuality::Missing.as_str() {
        row.cost_status = NOT_CHARGED.to_owned();
        return;
    }
    // A tier that the table has no word for is the usual one, whatever the provider calls it.
    let service = row.service_tier.as_deref().and_then(ServiceTier::from_word);
    let at = row.started_at.or(row.ended_at);
    let cost = prices.cost(row.provider.as_deref(), row.model.as_deref(), &usage_of_row(row), at, service);
    // No single call costs nine million dollars: figures that say so are absurd, and not priced.
    let total = cost.total_usd.map(|total| i64::try_from(total.0));
    match total {
        Some(Err(_)) => {
            row.cost_picousd = None;
            row.cost_status = CostStatus::Unpriced.as_str().to_owned();
            row.unpriced_reason = Some("absurd numbers of tokens".to_owned());
        }
        total => {
            row.cost_picousd = total.and_then(Result::ok);
            row.cost_status = cost.status.as_str().to_owned();
            row.unpriced_reason = cost.reason;
        }
    }
}

fn move_money(sum: &mut Option<i64>, before: Option<i64>, now: Option<i64>) {
    if before.is_none() && now.is_none() {
        return;
    }
    let more = now.unwrap_or(0).saturating_sub(before.unwrap_or(0));
    *sum = Some(sum.unwrap_or(0).saturating_add(more));
}

fn move_count(sum: &mut u32, before: bool, now: bool) {
    *sum = sum.saturating_add(u32::from(now)).saturating_sub(u32::from(before));
}
