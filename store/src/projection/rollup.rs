//! Sums over the calls of models, a row a session, quarter of an hour and model: what dashboards read.
//!
//! The quarters are those of UTC; every zone's days begin at one of them. The sums are made of the rows of the
//! calls, in the transaction that writes these, so that they cannot differ from them.

use duckdb::Connection;
use rustc_hash::FxHashMap;

use super::columns::Table;
use super::tables::{ModelCallRow, UsageRow};

const QUARTER_MICROS: i64 = 15 * 60 * 1_000_000;

/// From which quarter on a session's sums are to be made again; all of them where a call has no time.
type Since = Option<i64>;

/// The sums that changed rows make stale.
#[derive(Default)]
pub(super) struct Stale(FxHashMap<u32, Since>);

impl Stale {
    /// Notes the calls that are about to be written.
    pub(super) fn note(&mut self, calls: &[ModelCallRow]) {
        for call in calls {
            let quarter = call.started_at.map(|at| at.micros().div_euclid(QUARTER_MICROS) * QUARTER_MICROS);
            let since = self.0.entry(call.session_key).or_insert(quarter);
            *since = since.zip(quarter).map(|(a, b)| a.min(b));
        }
    }

    /// Makes the sums again, and is empty then. The calls must have been written.
    pub(super) fn settle(&mut self, connection: &Connection) -> duckdb::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut stale: Vec<(u32, Since)> = self.0.drain().collect();
        stale.sort_unstable();
        let values = stale.iter().map(|(key, since)| match since {
            Some(micros) => format!("({key}::UINTEGER, make_timestamp({micros}))"),
            None => format!("({key}::UINTEGER, NULL::TIMESTAMP)"),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        connection.execute_batch(&format!(
            "DELETE FROM {usage} u USING (VALUES {values}) AS stale(key, since)
                WHERE u.session_key = stale.key AND (since IS NULL OR u.quarter >= since);
            INSERT INTO {usage} BY NAME SELECT {SUMS}
                FROM {calls} c JOIN (VALUES {values}) AS stale(key, since) ON c.session_key = stale.key
                WHERE since IS NULL OR c.started_at >= since
                GROUP BY c.session_key, quarter, c.model ORDER BY c.session_key, quarter, c.model",
            usage = UsageRow::full_name(),
            calls = ModelCallRow::full_name(),
        ))
    }
}

/// A sum of tokens in SQL. Absurd figures of a source stop at the largest number, as they do everywhere.
macro_rules! sum_of_tokens {
    ($column:literal) => {
        concat!("least(coalesce(sum(", $column, "), 0), 18446744073709551615)::UBIGINT")
    };
}
pub(crate) use sum_of_tokens;

/// A sum of money in SQL, which stops at the largest number. It must not be NULL: `greatest` passes over that.
macro_rules! sum_of_money {
    ($($sum:literal),+) => {
        concat!("least(greatest(", $($sum),+, ", -9223372036854775807), 9223372036854775807)::BIGINT")
    };
}

/// The columns of [`UsageRow`], of rows of calls.
const SUMS: &str = concat!(
    "c.session_key AS session_key, time_bucket(INTERVAL 15 MINUTES, c.started_at) AS quarter, c.model AS model,
    count(*) FILTER (NOT c.failed)::UBIGINT AS calls, count(*) FILTER (c.failed)::UBIGINT AS failed_calls, ",
    sum_of_tokens!("c.uncached_input_tokens"),
    " AS uncached_input_tokens, ",
    sum_of_tokens!("c.cache_read_tokens"),
    " AS cache_read_tokens, ",
    sum_of_tokens!("c.cache_write_5m_tokens"),
    " AS cache_write_5m_tokens, ",
    sum_of_tokens!("c.cache_write_1h_tokens"),
    " AS cache_write_1h_tokens, ",
    sum_of_tokens!("c.output_tokens"),
    " AS output_tokens, ",
    sum_of_tokens!("c.estimated_output_tokens"),
    " AS estimated_output_tokens, ",
    sum_of_tokens!("c.reasoning_tokens"),
    " AS reasoning_tokens,
    count(*) FILTER (NOT c.failed AND c.usage_quality <> 'final')::UBIGINT AS untrusted_calls, ",
    sum_of_money!("coalesce(sum(c.cost_picousd), 0)"),
    " AS cost_picousd, ",
    sum_of_money!("coalesce(sum(c.cost_picousd) FILTER (c.usage_quality <> 'final'), 0)"),
    " AS untrusted_cost_picousd,
    count(*) FILTER (c.cost_status = 'unpriced')::UBIGINT AS unpriced_calls,
    count(*) FILTER (c.cost_status = 'partly_unpriced')::UBIGINT AS partly_unpriced_calls,
    CASE WHEN count(c.reported_cost_picousd) > 0 THEN ",
    sum_of_money!("sum(c.reported_cost_picousd)"),
    " END AS reported_cost_picousd, count(c.reported_cost_picousd)::UBIGINT AS reported_calls, ",
    sum_of_money!("coalesce(sum(c.cost_picousd) FILTER (c.reported_cost_picousd IS NOT NULL), 0)"),
    " AS cost_of_reported_picousd",
);
