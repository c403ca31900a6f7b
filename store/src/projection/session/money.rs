//! What a session cost.

use super::Session;

impl Session {
    /// Notes what the session cost by the price table that held before, of which the figure stays on record.
    pub(in crate::projection) fn priced_before(&mut self, cost_picousd: i64, table: &str) {
        self.changed = true;
        self.row.earlier_cost_picousd = Some(cost_picousd);
        self.row.earlier_price_table = Some(table.to_owned());
    }
}
