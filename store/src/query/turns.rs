//! The turns of a session, and the calls in them.

use crate::projection::columns::Table;
use crate::projection::tables::{ModelCallRow, RunRow, ToolCallRow, TurnRow};
use crate::{Store, StoreError};

/// What a jump between turns looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// A tool or model call failed in it; refused and broken off calls are no errors.
    Error,
    /// The user asked before it.
    Request,
    /// It called tools.
    Tool,
    /// The context was compacted before it.
    Compaction,
}

impl TurnKind {
    pub(super) const fn condition(self) -> &'static str {
        match self {
            Self::Error => {
                "(failed_tool_calls > rejected_tool_calls + cancelled_tool_calls OR failed_model_calls > 0)"
            }
            Self::Request => "asked",
            Self::Tool => "tool_calls > 0",
            Self::Compaction => "compacted",
        }
    }
}

/// A few neighbouring turns, drawn as one bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinimapBucket {
    /// The first turn in it.
    pub first_turn: u32,
    /// The last turn in it.
    pub last_turn: u32,
    /// The largest prompt in it, in tokens.
    pub prompt_tokens: Option<u64>,
    /// Tool calls in it.
    pub tool_calls: u64,
    /// Failed calls in it, of tools and models, without refused and broken off ones.
    pub errors: u64,
    /// Of these, the calls of models.
    pub failed_model_calls: u64,
    /// Tool calls in it that were refused before they ran.
    pub rejected_tool_calls: u64,
    /// Tool calls in it that were broken off.
    pub cancelled_tool_calls: u64,
    /// Requests of the user in it.
    pub requests: u64,
    /// Compactions in it.
    pub compactions: u64,
}

impl Store {
    /// Returns the turns `from..=to` of a session.
    pub fn turns(&self, session_key: u32, from: u32, to: u32) -> Result<Vec<TurnRow>, StoreError> {
        self.select("session_key = ? AND turn BETWEEN ? AND ? ORDER BY turn", [session_key, from, to])
    }

    /// Returns one turn.
    pub fn turn(&self, session_key: u32, turn: u32) -> Result<TurnRow, StoreError> {
        self.turns(session_key, turn, turn)?
            .pop()
            .ok_or_else(|| StoreError::NotFound { what: "turn", name: turn.to_string() })
    }

    /// Returns the number of the last turn that has a row; 0 when there is none.
    pub fn last_turn(&self, session_key: u32) -> Result<u32, StoreError> {
        self.read(|connection| {
            let sql = "SELECT coalesce(max(turn), 0) FROM behavior.turns WHERE session_key = ?";
            Ok(connection.prepare_cached(sql)?.query_row([session_key], |row| row.get(0))?)
        })
    }

    /// Returns the tool calls of the turns `from..=to`, in order.
    pub fn tool_calls(&self, session_key: u32, from: u32, to: u32) -> Result<Vec<ToolCallRow>, StoreError> {
        self.select("session_key = ? AND turn BETWEEN ? AND ? ORDER BY call", [session_key, from, to])
    }

    /// Returns the calls of models of the turns `from..=to`, in order.
    pub fn model_calls(&self, session_key: u32, from: u32, to: u32) -> Result<Vec<ModelCallRow>, StoreError> {
        self.select("session_key = ? AND turn BETWEEN ? AND ? ORDER BY turn, call", [session_key, from, to])
    }

    /// Returns the runs of a session.
    pub fn runs(&self, session_key: u32) -> Result<Vec<RunRow>, StoreError> {
        self.select("session_key = ? ORDER BY run", [session_key])
    }

    /// Returns the nearest turn of a kind after `turn` (or before it).
    pub fn near_turn(
        &self,
        session_key: u32,
        turn: u32,
        kind: TurnKind,
        forward: bool,
    ) -> Result<Option<u32>, StoreError> {
        let (nearest, side) = if forward { ("min", ">") } else { ("max", "<") };
        let sql = format!(
            "SELECT {nearest}(turn) FROM behavior.turns WHERE session_key = ? AND turn {side} ? AND {}",
            kind.condition()
        );
        self.read(|connection| {
            Ok(connection.prepare_cached(&sql)?.query_row([session_key, turn], |row| row.get(0))?)
        })
    }

    /// Returns the turn that a tool call, a response or a native key of a turn belongs to.
    pub fn turn_of(&self, session_key: u32, name: &str) -> Result<Option<u32>, StoreError> {
        let sql = "SELECT min(turn) FROM (
                SELECT turn FROM behavior.tool_calls WHERE session_key = ? AND call_id = ?
                UNION ALL SELECT turn FROM cost.model_calls WHERE session_key = ? AND response_id = ?
                UNION ALL SELECT turn FROM behavior.turns WHERE session_key = ? AND native = ?)";
        self.read(|connection| {
            let parameters = duckdb::params![session_key, name, session_key, name, session_key, name];
            Ok(connection.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?)
        })
    }

    /// Returns the whole session in at most `buckets` bars.
    pub fn minimap(&self, session_key: u32, buckets: u32) -> Result<Vec<MinimapBucket>, StoreError> {
        let last = self.last_turn(session_key)?;
        let width = last.div_ceil(buckets.max(1)).max(1);
        let sql = "SELECT min(turn), max(turn),
                max(coalesce(uncached_input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)),
                sum(tool_calls)::UBIGINT, sum(failed_tool_calls - rejected_tool_calls - cancelled_tool_calls + failed_model_calls)::UBIGINT,
                count(*) FILTER (asked)::UBIGINT, count(*) FILTER (compacted)::UBIGINT,
                sum(failed_model_calls)::UBIGINT, sum(rejected_tool_calls)::UBIGINT, sum(cancelled_tool_calls)::UBIGINT
            FROM behavior.turns WHERE session_key = ? GROUP BY (turn - 1) // ? ORDER BY 1";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([session_key, width])?;
            let mut bars = Vec::new();
            while let Some(row) = rows.next()? {
                let tokens: Option<u64> = row.get(2)?;
                bars.push(MinimapBucket {
                    first_turn: row.get(0)?,
                    last_turn: row.get(1)?,
                    prompt_tokens: tokens.filter(|&tokens| tokens > 0),
                    tool_calls: row.get(3)?,
                    errors: row.get(4)?,
                    requests: row.get(5)?,
                    compactions: row.get(6)?,
                    failed_model_calls: row.get(7)?,
                    rejected_tool_calls: row.get(8)?,
                    cancelled_tool_calls: row.get(9)?,
                });
            }
            Ok(bars)
        })
    }

    /// Returns the rows of `T` for which the condition holds.
    pub(super) fn select<T: Table>(
        &self,
        condition: &str,
        parameters: impl duckdb::Params,
    ) -> Result<Vec<T>, StoreError> {
        let sql = format!("SELECT {} FROM {} WHERE {condition}", T::COLUMNS, T::full_name());
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(parameters)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(T::read(row, 0)?);
            }
            Ok(found)
        })
    }

    /// Returns what `read` makes of each row of the answer to a question over many sessions. The words of the question are kept with its plan, so
    /// that what differs from one time to the next belongs into the parameters.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        parameters: Vec<duckdb::types::Value>,
        read: impl Fn(&duckdb::Row<'_>) -> duckdb::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.read_wide(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(parameters))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }
}
