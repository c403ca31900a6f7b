//! Models: how fast they answer, and how often they fail.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::scope::{Facts, Group, Scope};
use crate::{Store, StoreError};

const CALLS: Facts =
    Facts { table: "cost.model_calls", time: "f.started_at", model: Some("f.model"), with_subagents: true };

/// How fast calls of models were answered, and how they ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelFigures {
    /// The words of the groups asked for, in order; absent where the source does not tell.
    pub groups: Vec<Option<String>>,
    /// Calls, failed ones included.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Answers that were cut at their longest.
    pub cut_off: u64,
    /// Answers that the model refused to give.
    pub refused: u64,
    /// Calls of which the time to the first token is known.
    pub first_token_known: u64,
    /// Half of them waited at most so long for the first token, in milliseconds.
    pub p50_first_token_ms: Option<u64>,
    /// 95 of 100 of them waited at most so long, in milliseconds.
    pub p95_first_token_ms: Option<u64>,
    /// Calls of which the duration is known.
    pub duration_known: u64,
    /// Half of them took at most so long, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95 of 100 of them took at most so long, in milliseconds.
    pub p95_ms: Option<u64>,
    /// 99 of 100 of them took at most so long, in milliseconds.
    pub p99_ms: Option<u64>,
}

const SUMS: &str = "count(*)::UBIGINT, count(*) FILTER (f.failed)::UBIGINT,
    count(*) FILTER (f.finish_reason IN ('max_tokens', 'length', 'max_output_tokens'))::UBIGINT,
    count(*) FILTER (f.finish_reason IN ('refusal', 'content_filter'))::UBIGINT,
    count(f.time_to_first_token_ms)::UBIGINT,
    quantile_disc(f.time_to_first_token_ms, [0.5, 0.95])[1]::UBIGINT,
    quantile_disc(f.time_to_first_token_ms, [0.5, 0.95])[2]::UBIGINT,
    count(f.duration_ms)::UBIGINT, quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[1]::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[2]::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[3]::UBIGINT";

impl Store {
    /// Returns how fast the calls of models in the scope were answered, a row a group, those called most first.
    pub fn models(
        &self,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
    ) -> Result<Vec<ModelFigures>, StoreError> {
        let question = scope.ask(CALLS, groups, zone);
        let sql = question.sql(SUMS, " ORDER BY count(*) DESC");
        let count = groups.len();
        self.rows(&sql, question.parameters, |row| {
            let at = |place: usize| row.get::<_, u64>(count + place);
            Ok(ModelFigures {
                groups: (0..count).map(|place| row.get(place)).collect::<Result<_, _>>()?,
                calls: at(0)?,
                failed: at(1)?,
                cut_off: at(2)?,
                refused: at(3)?,
                first_token_known: at(4)?,
                p50_first_token_ms: row.get(count + 5)?,
                p95_first_token_ms: row.get(count + 6)?,
                duration_known: at(7)?,
                p50_ms: row.get(count + 8)?,
                p95_ms: row.get(count + 9)?,
                p99_ms: row.get(count + 10)?,
            })
        })
    }
}
