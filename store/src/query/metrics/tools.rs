//! Tools: calls, how they end, how long they take.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::scope::{Facts, Group, Scope};
use crate::{Store, StoreError};

const CALLS: Facts =
    Facts { table: "behavior.tool_calls", time: "f.started_at", model: None, with_subagents: true };

/// Figures of one tool's calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolFigures {
    /// The tool; absent in sums over all.
    pub tool: Option<String>,
    /// The words of the groups asked for, in order; absent where the source does not tell.
    pub groups: Vec<Option<String>>,
    /// Calls.
    pub calls: u64,
    /// Sessions.
    pub sessions: u64,
    /// Calls that did what was asked.
    pub succeeded: u64,
    /// Calls that ran and failed.
    pub failed: u64,
    /// Calls that were refused before they ran.
    pub rejected: u64,
    /// Calls that were broken off.
    pub cancelled: u64,
    /// Failed calls whose time was up.
    pub timed_out: u64,
    /// Half of the calls took at most so long, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95 of 100 calls took at most so long, in milliseconds.
    pub p95_ms: Option<u64>,
    /// 99 of 100 calls took at most so long, in milliseconds.
    pub p99_ms: Option<u64>,
    /// Bytes that the results brought into the context.
    pub output_bytes: u64,
}

impl ToolFigures {
    /// Returns the share of calls that did what was asked, among those that ran and whose end is known.
    pub fn success_ratio(&self) -> Option<f64> {
        let ran = self.succeeded + self.failed;
        (ran > 0).then(|| self.succeeded as f64 / ran as f64)
    }
}

/// Calls that failed with the same words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolErrors {
    /// The tool.
    pub tool: String,
    /// The words without what differs.
    pub signature: String,
    /// How many calls.
    pub calls: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// The last session in which it failed so.
    pub last_session: String,
    /// The turn there.
    pub last_turn: u32,
}

// DuckDB computes an expression that stands there three times once, and three different quantiles one by one.
const SUMS: &str = "count(*)::UBIGINT, count(DISTINCT f.session_key)::UBIGINT,
    count(*) FILTER (f.status = 'succeeded')::UBIGINT, count(*) FILTER (f.status = 'failed')::UBIGINT,
    count(*) FILTER (f.status = 'rejected')::UBIGINT, count(*) FILTER (f.status = 'cancelled')::UBIGINT,
    count(*) FILTER (f.timed_out)::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[1]::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[2]::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95, 0.99])[3]::UBIGINT, coalesce(sum(f.output_bytes), 0)::UBIGINT";

impl Store {
    /// Returns the figures of each tool in the scope, also by further groups, those called most first.
    pub fn tools(
        &self,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
    ) -> Result<Vec<ToolFigures>, StoreError> {
        self.tool_figures(scope, groups, zone, true)
    }

    /// Returns the figures of all tools together in the scope, by groups.
    pub fn all_tools(
        &self,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
    ) -> Result<Vec<ToolFigures>, StoreError> {
        self.tool_figures(scope, groups, zone, false)
    }

    fn tool_figures(
        &self,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
        by_tool: bool,
    ) -> Result<Vec<ToolFigures>, StoreError> {
        let mut question = scope.ask(CALLS, groups, zone);
        if by_tool {
            question.groups.insert(0, "f.name".to_owned());
        }
        let (first, count) = (usize::from(by_tool), question.groups.len());
        let sql = question.sql(SUMS, " ORDER BY count(*) DESC");
        self.rows(&sql, question.parameters, |row| {
            let at = |place: usize| row.get::<_, u64>(count + place);
            Ok(ToolFigures {
                tool: if by_tool { row.get(0)? } else { None },
                groups: (first..count).map(|place| row.get(place)).collect::<Result<_, _>>()?,
                calls: at(0)?,
                sessions: at(1)?,
                succeeded: at(2)?,
                failed: at(3)?,
                rejected: at(4)?,
                cancelled: at(5)?,
                timed_out: at(6)?,
                p50_ms: row.get(count + 7)?,
                p95_ms: row.get(count + 8)?,
                p99_ms: row.get(count + 9)?,
                output_bytes: at(10)?,
            })
        })
    }

    /// Returns the failures of tools in the scope, equal ones together, the most common first.
    pub fn tool_errors(&self, scope: &Scope, limit: u32) -> Result<Vec<ToolErrors>, StoreError> {
        // Not grouped by sessions, but each answer names one.
        let question = scope.ask(CALLS, &[Group::Session], &TimeZone::UTC);
        let sql = format!(
            "SELECT f.name, f.error_signature, count(*)::UBIGINT, count(DISTINCT f.session_key)::UBIGINT,
                arg_max(s.session, (coalesce(epoch_us(f.started_at), 0), f.position)),
                arg_max(f.turn, (coalesce(epoch_us(f.started_at), 0), f.position))
            FROM {} AND f.status = 'failed' AND f.error_signature IS NOT NULL
            GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT {limit}",
            question.from
        );
        self.rows(&sql, question.parameters, |row| {
            Ok(ToolErrors {
                tool: row.get(0)?,
                signature: row.get(1)?,
                calls: row.get(2)?,
                sessions: row.get(3)?,
                last_session: row.get(4)?,
                last_turn: row.get(5)?,
            })
        })
    }
}
