//! Tasks: how runs end, how long they take, and what the user makes of them.

use agent_core::PicoUsd;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::scope::{Facts, Group, Scope};
use crate::{Store, StoreError};

const RUNS: Facts =
    Facts { table: "behavior.run_ends", time: "f.started_at", model: Some("f.model"), with_subagents: false };

/// Figures of tasks: a task is a run of a session that a user began; runs of sub-agents are parts of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskFigures {
    /// The words of the groups asked for, in order; absent where the source does not tell.
    pub groups: Vec<Option<String>>,
    /// Tasks.
    pub runs: u64,
    /// Sessions.
    pub sessions: u64,
    /// Tasks that ended with their answer given.
    pub completed: u64,
    /// Tasks that ended by an error.
    pub failed: u64,
    /// Tasks that somebody stopped.
    pub cancelled: u64,
    /// Tasks that were given to another agent or a human.
    pub handed_off: u64,
    /// The mean duration, in milliseconds.
    pub mean_duration_ms: Option<f64>,
    /// Half of the tasks took at most so long, in milliseconds.
    pub p50_duration_ms: Option<u64>,
    /// 95 of 100 tasks took at most so long, in milliseconds.
    pub p95_duration_ms: Option<u64>,
    /// The mean number of turns of the tasks that have any.
    pub mean_turns: Option<f64>,
    /// Tasks that ask for the same once more.
    pub retried: u64,
    /// Tasks that the user broke off.
    pub interrupted: u64,
    /// Calls that were to change a file and ended.
    pub edits: u64,
    /// Of these, done and left as the agent made them.
    pub edits_kept: u64,
    /// What the tasks cost by the price table, without their sub-agents.
    pub cost_usd: PicoUsd,
    /// Tasks with a call that has no whole price.
    pub unpriced_runs: u64,
}

impl TaskFigures {
    /// Returns the tasks of which it is known how they ended.
    pub fn judged(&self) -> u64 {
        self.completed + self.failed + self.cancelled + self.handed_off
    }

    /// Returns the share of the tasks that were completed, among those of which it is known how they ended.
    pub fn success_ratio(&self) -> Option<f64> {
        ratio(self.completed, self.judged())
    }

    /// Returns the share of tasks that ask for the same once more.
    pub fn retry_ratio(&self) -> Option<f64> {
        ratio(self.retried, self.runs)
    }

    /// Returns the share of the changes of files that were done and left as they were.
    pub fn kept_ratio(&self) -> Option<f64> {
        ratio(self.edits_kept, self.edits)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Tasks that ended in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endings {
    /// `agent_core::Status`.
    pub status: String,
    /// `agent_core::EndReason`.
    pub end_reason: String,
    /// How many.
    pub runs: u64,
}

const SUMS: &str = "count(*)::UBIGINT, count(DISTINCT f.session_key)::UBIGINT,
    count(*) FILTER (f.status = 'completed')::UBIGINT, count(*) FILTER (f.status = 'failed')::UBIGINT,
    count(*) FILTER (f.status = 'cancelled')::UBIGINT, count(*) FILTER (f.status = 'handed_off')::UBIGINT,
    avg(f.duration_ms)::DOUBLE, quantile_disc(f.duration_ms, [0.5, 0.95])[1]::UBIGINT,
    quantile_disc(f.duration_ms, [0.5, 0.95])[2]::UBIGINT, (avg(f.turns) FILTER (f.turns > 0))::DOUBLE,
    count(*) FILTER (f.retried)::UBIGINT, count(*) FILTER (f.interrupts > 0)::UBIGINT,
    coalesce(sum(f.edits), 0)::UBIGINT, coalesce(sum(f.edits_kept), 0)::UBIGINT,
    coalesce(sum(f.cost_picousd), 0)::HUGEINT, count(*) FILTER (f.unpriced_calls > 0)::UBIGINT";

impl Store {
    /// Returns the figures of the tasks in the scope, a row a group, the groups with most tasks first.
    pub fn tasks(
        &self,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
    ) -> Result<Vec<TaskFigures>, StoreError> {
        let question = scope.ask(RUNS, groups, zone);
        let sql = question.sql(SUMS, " ORDER BY count(*) DESC");
        let count = groups.len();
        self.rows(&sql, question.parameters, |row| {
            let at = |place: usize| row.get::<_, u64>(count + place);
            Ok(TaskFigures {
                groups: (0..count).map(|place| row.get(place)).collect::<Result<_, _>>()?,
                runs: at(0)?,
                sessions: at(1)?,
                completed: at(2)?,
                failed: at(3)?,
                cancelled: at(4)?,
                handed_off: at(5)?,
                mean_duration_ms: row.get(count + 6)?,
                p50_duration_ms: row.get(count + 7)?,
                p95_duration_ms: row.get(count + 8)?,
                mean_turns: row.get(count + 9)?,
                retried: at(10)?,
                interrupted: at(11)?,
                edits: at(12)?,
                edits_kept: at(13)?,
                cost_usd: PicoUsd(row.get::<_, i128>(count + 14)?),
                unpriced_runs: at(15)?,
            })
        })
    }

    /// Returns in which ways the tasks in the scope ended, the most common first.
    pub fn endings(&self, scope: &Scope) -> Result<Vec<Endings>, StoreError> {
        let question = scope.ask(RUNS, &[], &TimeZone::UTC);
        let sql = format!(
            "SELECT f.status, f.end_reason, count(*)::UBIGINT FROM {} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
            question.from
        );
        self.rows(&sql, question.parameters, |row| {
            Ok(Endings { status: row.get(0)?, end_reason: row.get(1)?, runs: row.get(2)? })
        })
    }
}
