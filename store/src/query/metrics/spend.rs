//! Tokens and money.

use agent_core::PicoUsd;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::scope::{Facts, Group, Scope};
use crate::projection::sum_of_tokens;
use crate::{Store, StoreError};

/// One call a row.
const CALLS: Facts =
    Facts { table: "cost.model_calls", time: "f.started_at", model: Some("f.model"), with_subagents: true };

/// Their sums by quarters of an hour: far fewer rows, and the same answer where the scope begins and ends with one.
const QUARTERS: Facts =
    Facts { table: "cost.usage", time: "f.quarter", model: Some("f.model"), with_subagents: true };

const QUARTER_MICROS: i64 = 15 * 60 * 1_000_000;

/// What calls of models used and cost. A response is one call however many pieces it came in, and a sub-agent's
/// calls are its own: nothing is counted twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spend {
    /// The words of the groups asked for, in order; absent where the source does not tell.
    pub groups: Vec<Option<String>>,
    /// Sessions.
    pub sessions: u64,
    /// Calls that were answered.
    pub calls: u64,
    /// Calls that failed.
    pub failed_calls: u64,
    /// Tokens of input that came from no cache and went into none.
    pub uncached_input_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m_tokens: u64,
    /// Tokens written to the cache for one hour.
    pub cache_write_1h_tokens: u64,
    /// Tokens of output.
    pub output_tokens: u64,
    /// The same with each figure that is not whole raised to what the visible text shows.
    pub estimated_output_tokens: u64,
    /// Of the output, reasoning.
    pub reasoning_tokens: u64,
    /// Calls whose figures are not the provider's last word.
    pub untrusted_calls: u64,
    /// What the calls cost by the price table, as far as they have a price.
    pub cost_usd: PicoUsd,
    /// The part of it that rests on figures which are not the provider's last word.
    pub untrusted_cost_usd: PicoUsd,
    /// Calls without a price.
    pub unpriced_calls: u64,
    /// Calls of which a part has no price.
    pub partly_unpriced_calls: u64,
    /// What the agents say that it cost; absent where none says so.
    pub reported_cost_usd: Option<PicoUsd>,
    /// Calls of which an agent says what they cost.
    pub reported_calls: u64,
    /// What those calls cost by the price table.
    pub cost_of_reported_usd: PicoUsd,
}

impl Spend {
    /// Returns all tokens of input.
    pub fn input_tokens(&self) -> u64 {
        self.uncached_input_tokens
            + self.cache_read_tokens
            + self.cache_write_5m_tokens
            + self.cache_write_1h_tokens
    }

    /// Returns how whole the sum of money is; nothing where there is no call.
    pub fn cost_status(&self) -> Option<CostStatus> {
        CostStatus::of(self.calls, self.unpriced_calls, self.partly_unpriced_calls)
    }

    /// Returns the share of the input that was read from the cache; nothing where there was no input.
    pub fn cache_hit_ratio(&self) -> Option<f64> {
        let input = self.input_tokens();
        (input > 0).then(|| self.cache_read_tokens as f64 / input as f64)
    }

    /// Returns the sum of rows, without groups; sessions are not added, for one may stand in several rows.
    pub fn total(rows: &[Self]) -> Self {
        let mut total = Self::default();
        for row in rows {
            total.add(row);
        }
        total
    }

    /// Adds all figures but the sessions.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.calls, other.calls),
            (&mut self.failed_calls, other.failed_calls),
            (&mut self.uncached_input_tokens, other.uncached_input_tokens),
            (&mut self.cache_read_tokens, other.cache_read_tokens),
            (&mut self.cache_write_5m_tokens, other.cache_write_5m_tokens),
            (&mut self.cache_write_1h_tokens, other.cache_write_1h_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.estimated_output_tokens, other.estimated_output_tokens),
            (&mut self.reasoning_tokens, other.reasoning_tokens),
            (&mut self.untrusted_calls, other.untrusted_calls),
            (&mut self.unpriced_calls, other.unpriced_calls),
            (&mut self.partly_unpriced_calls, other.partly_unpriced_calls),
            (&mut self.reported_calls, other.reported_calls),
        ] {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in [
            (&mut self.cost_usd, other.cost_usd),
            (&mut self.untrusted_cost_usd, other.untrusted_cost_usd),
            (&mut self.cost_of_reported_usd, other.cost_of_reported_usd),
        ] {
            sum.0 = sum.0.saturating_add(more.0);
        }
        if let Some(more) = other.reported_cost_usd {
            let before = self.reported_cost_usd.unwrap_or_default();
            self.reported_cost_usd = Some(PicoUsd(before.0.saturating_add(more.0)));
        }
    }
}

/// Whether a sum of money is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostStatus {
    /// Every call has a price.
    Priced,
    /// Some calls have none, or a part of one has none: the sum is a lower bound.
    PartlyUnpriced,
    /// No call has a price.
    Unpriced,
}

impl CostStatus {
    /// Returns the word used in JSON and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Priced => "priced",
            Self::PartlyUnpriced => "partly_unpriced",
            Self::Unpriced => "unpriced",
        }
    }

    /// Returns how whole the sum over `calls` is, of which so many have no price, or none for a part; nothing
    /// where there is no call.
    pub const fn of(calls: u64, unpriced: u64, partly: u64) -> Option<Self> {
        match (calls, unpriced, partly) {
            (0, ..) => None,
            (_, 0, 0) => Some(Self::Priced),
            (calls, unpriced, _) if unpriced >= calls => Some(Self::Unpriced),
            _ => Some(Self::PartlyUnpriced),
        }
    }
}

/// A model that has no price, or of which a part has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnpricedModel {
    /// The model; absent where the source names none.
    pub model: Option<String>,
    /// Why.
    pub reason: String,
    /// Its calls without a whole price.
    pub calls: u64,
    /// Their tokens of input and output.
    pub tokens: u64,
}

/// Sums of calls, in the order of the fields of [`Spend`].
const OF_CALLS: &str = concat!(
    "count(*) FILTER (NOT f.failed)::UBIGINT, count(*) FILTER (f.failed)::UBIGINT, ",
    sum_of_tokens!("f.uncached_input_tokens"),
    ", ",
    sum_of_tokens!("f.cache_read_tokens"),
    ", ",
    sum_of_tokens!("f.cache_write_5m_tokens"),
    ", ",
    sum_of_tokens!("f.cache_write_1h_tokens"),
    ", ",
    sum_of_tokens!("f.output_tokens"),
    ", ",
    sum_of_tokens!("f.estimated_output_tokens"),
    ", ",
    sum_of_tokens!("f.reasoning_tokens"),
    ", ",
    "count(*) FILTER (NOT f.failed AND f.usage_quality <> 'final')::UBIGINT,
    coalesce(sum(f.cost_picousd), 0)::HUGEINT,
    coalesce(sum(f.cost_picousd) FILTER (f.usage_quality <> 'final'), 0)::HUGEINT,
    count(*) FILTER (f.cost_status = 'unpriced')::UBIGINT,
    count(*) FILTER (f.cost_status = 'partly_unpriced')::UBIGINT,
    sum(f.reported_cost_picousd)::HUGEINT, count(f.reported_cost_picousd)::UBIGINT,
    coalesce(sum(f.cost_picousd) FILTER (f.reported_cost_picousd IS NOT NULL), 0)::HUGEINT",
);

/// The same of their sums.
const OF_QUARTERS: &str = concat!(
    "coalesce(sum(f.calls), 0)::UBIGINT, coalesce(sum(f.failed_calls), 0)::UBIGINT, ",
    sum_of_tokens!("f.uncached_input_tokens"),
    ", ",
    sum_of_tokens!("f.cache_read_tokens"),
    ", ",
    sum_of_tokens!("f.cache_write_5m_tokens"),
    ", ",
    sum_of_tokens!("f.cache_write_1h_tokens"),
    ", ",
    sum_of_tokens!("f.output_tokens"),
    ", ",
    sum_of_tokens!("f.estimated_output_tokens"),
    ", ",
    sum_of_tokens!("f.reasoning_tokens"),
    ", ",
    "coalesce(sum(f.untrusted_calls), 0)::UBIGINT,
    coalesce(sum(f.cost_picousd), 0)::HUGEINT, coalesce(sum(f.untrusted_cost_picousd), 0)::HUGEINT,
    coalesce(sum(f.unpriced_calls), 0)::UBIGINT, coalesce(sum(f.partly_unpriced_calls), 0)::UBIGINT,
    sum(f.reported_cost_picousd)::HUGEINT, coalesce(sum(f.reported_calls), 0)::UBIGINT,
    coalesce(sum(f.cost_of_reported_picousd), 0)::HUGEINT",
);

/// Returns whether quarters of an hour add up to the scope.
fn is_whole_quarters(scope: &Scope) -> bool {
    [scope.from, scope.to].into_iter().flatten().all(|end| end.micros() % QUARTER_MICROS == 0)
}

impl Store {
    /// Returns what the calls of models in the scope used and cost, a row a group, the dearest first.
    pub fn spend(&self, scope: &Scope, groups: &[Group], zone: &TimeZone) -> Result<Vec<Spend>, StoreError> {
        let (facts, figures) =
            if is_whole_quarters(scope) { (QUARTERS, OF_QUARTERS) } else { (CALLS, OF_CALLS) };
        let question = scope.ask(facts, groups, zone);
        // A group that is a session holds one: to count them apart would be half of the work.
        let by_session = groups.contains(&Group::Session);
        let sessions = if by_session { "1" } else { "count(DISTINCT f.session_key)" };
        let sums = format!("{sessions}::UBIGINT, {figures}");
        let sql =
            question.sql(&sums, " ORDER BY sum(f.cost_picousd) DESC NULLS LAST, sum(f.output_tokens) DESC");
        let count = groups.len();
        self.rows(&sql, question.parameters, |row| {
            let at = |place: usize| row.get::<_, u64>(count + place);
            let money = |place: usize| Ok::<_, duckdb::Error>(PicoUsd(row.get::<_, i128>(count + place)?));
            Ok(Spend {
                groups: (0..count).map(|place| row.get(place)).collect::<Result<_, _>>()?,
                sessions: at(0)?,
                calls: at(1)?,
                failed_calls: at(2)?,
                uncached_input_tokens: at(3)?,
                cache_read_tokens: at(4)?,
                cache_write_5m_tokens: at(5)?,
                cache_write_1h_tokens: at(6)?,
                output_tokens: at(7)?,
                estimated_output_tokens: at(8)?,
                reasoning_tokens: at(9)?,
                untrusted_calls: at(10)?,
                cost_usd: money(11)?,
                untrusted_cost_usd: money(12)?,
                unpriced_calls: at(13)?,
                partly_unpriced_calls: at(14)?,
                reported_cost_usd: row.get::<_, Option<i128>>(count + 15)?.map(PicoUsd),
                reported_calls: at(16)?,
                cost_of_reported_usd: money(17)?,
            })
        })
    }

    /// Returns the models in the scope that have no whole price, with the reason, those with most tokens first.
    pub fn unpriced_models(&self, scope: &Scope) -> Result<Vec<UnpricedModel>, StoreError> {
        let question = scope.ask(CALLS, &[], &TimeZone::UTC);
        let sql = format!(
            "SELECT f.model, coalesce(f.unpriced_reason, 'unknown'), count(*)::UBIGINT,
                coalesce(sum(coalesce(f.uncached_input_tokens, 0) + coalesce(f.cache_read_tokens, 0)
                    + coalesce(f.cache_write_5m_tokens, 0) + coalesce(f.cache_write_1h_tokens, 0)
                    + coalesce(f.output_tokens, 0)), 0)::UBIGINT AS tokens
            FROM {} AND f.cost_status IN ('unpriced', 'partly_unpriced')
            GROUP BY 1, 2 ORDER BY tokens DESC, 1, 2",
            question.from
        );
        self.rows(&sql, question.parameters, |row| {
            Ok(UnpricedModel {
                model: row.get(0)?,
                reason: row.get(1)?,
                calls: row.get(2)?,
                tokens: row.get(3)?,
            })
        })
    }
}
