//! Ways through a session: words, ids, neighbours, children.

use agent_core::Event;
use rustc_hash::{FxHashMap, FxHashSet};

use super::events::Hydrator;
use super::sessions::text;
use super::{FullEvent, TurnKind};
use crate::projection::tables::{EventRow, ToolCallRow, TurnRow};
use crate::{Store, StoreError};

/// The turns that a reader may want to go to from one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnsAround {
    /// The last turn of the session; 0 when there is none.
    pub last: u32,
    /// The nearest one before with a failed call.
    pub error_before: Option<u32>,
    /// The nearest one after with a failed call.
    pub error_after: Option<u32>,
    /// The nearest one before that begins with a request of the user.
    pub request_before: Option<u32>,
    /// The nearest one after that begins with a request of the user.
    pub request_after: Option<u32>,
    /// The nearest one after that calls tools.
    pub tool_after: Option<u32>,
    /// The nearest one after before which the context was compacted.
    pub compaction_after: Option<u32>,
}

/// Calls whose numbers are so near are read at one time.
const NEAR_CALLS: u32 = 200;

impl Store {
    /// Returns the turns whose previews, or those of their tool calls, hold the words; at most `limit`.
    pub fn turns_with_text(&self, session_key: u32, words: &str, limit: u32) -> Result<Vec<u32>, StoreError> {
        let pattern = format!("%{}%", words.replace('!', "!!").replace('%', "!%").replace('_', "!_"));
        let like = |column: &str| format!("{column} ILIKE ?2 ESCAPE '!'");
        let any =
            |columns: &[&str]| columns.iter().map(|column| like(column)).collect::<Vec<_>>().join(" OR ");
        let sql = format!(
            "SELECT DISTINCT turn FROM (
                SELECT turn FROM behavior.turns WHERE session_key = ?1 AND ({})
                UNION ALL SELECT turn FROM behavior.tool_calls WHERE session_key = ?1 AND ({}))
            ORDER BY turn LIMIT {limit}",
            any(&["user_preview", "response_preview", "error_preview"]),
            any(&["name", "input_preview", "output_preview"]),
        );
        let parameters = [duckdb::types::Value::UInt(session_key), text(&pattern)];
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(parameters))?;
            let mut turns = Vec::new();
            while let Some(row) = rows.next()? {
                turns.push(row.get(0)?);
            }
            Ok(turns)
        })
    }

    /// Returns the turns that a reader may want to go to from `turn`.
    pub fn turns_around(&self, session_key: u32, turn: u32) -> Result<TurnsAround, StoreError> {
        let (error, request) = (TurnKind::Error.condition(), TurnKind::Request.condition());
        let (tool, compaction) = (TurnKind::Tool.condition(), TurnKind::Compaction.condition());
        let sql = format!(
            "SELECT max(turn), max(turn) FILTER (turn < ?2 AND {error}), min(turn) FILTER (turn > ?2 AND {error}),
                max(turn) FILTER (turn < ?2 AND {request}), min(turn) FILTER (turn > ?2 AND {request}),
                min(turn) FILTER (turn > ?2 AND {tool}), min(turn) FILTER (turn > ?2 AND {compaction})
            FROM behavior.turns WHERE session_key = ?1"
        );
        self.read(|connection| {
            Ok(connection.prepare_cached(&sql)?.query_row([session_key, turn], |row| {
                Ok(TurnsAround {
                    last: row.get::<_, Option<u32>>(0)?.unwrap_or(0),
                    error_before: row.get(1)?,
                    error_after: row.get(2)?,
                    request_before: row.get(3)?,
                    request_after: row.get(4)?,
                    tool_after: row.get(5)?,
                    compaction_after: row.get(6)?,
                })
            })?)
        })
    }

    /// Returns these turns and their tool calls, in order.
    pub fn turns_numbered(
        &self,
        session_key: u32,
        turns: &[u32],
    ) -> Result<(Vec<TurnRow>, Vec<ToolCallRow>), StoreError> {
        if turns.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let list = turns.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        Ok((
            self.select(&format!("session_key = ? AND turn IN ({list}) ORDER BY turn"), [session_key])?,
            self.select(&format!("session_key = ? AND turn IN ({list}) ORDER BY call"), [session_key])?,
        ))
    }

    /// Returns the events at these places (record, which of its events), in this order.
    pub fn events_at(&self, places: &[(u64, u16)]) -> Result<Vec<Event>, StoreError> {
        let mut hydrator = Hydrator::new(self);
        places.iter().map(|&(position, sub)| hydrator.event(position, sub)).collect()
    }

    /// Returns the tool calls of these numbers, in order, and perhaps some that lie between two of them.
    pub fn tool_calls_numbered(
        &self,
        session_key: u32,
        numbers: &[u32],
    ) -> Result<Vec<ToolCallRow>, StoreError> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        let mut calls = Vec::new();
        // A range is found by the order of the table; a list of numbers would be looked for in all of it.
        for near in numbers.chunk_by(|a, b| b - a <= NEAR_CALLS) {
            let (first, last) = (near[0], near[near.len() - 1]);
            calls.extend(self.select::<ToolCallRow>(
                "session_key = ? AND call BETWEEN ? AND ? ORDER BY call",
                [session_key, first, last],
            )?);
        }
        Ok(calls)
    }

    /// Returns how many children (sub-agents and forks) each of these sessions has; those with none are absent.
    pub fn child_counts(&self, sessions: &[String]) -> Result<FxHashMap<String, u64>, StoreError> {
        if sessions.is_empty() {
            return Ok(FxHashMap::default());
        }
        let marks = vec!["?"; sessions.len()].join(", ");
        let sql = format!(
            "SELECT parent, count(*)::UBIGINT FROM main.sessions WHERE parent IN ({marks}) GROUP BY parent"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(sessions))?;
            let mut counts = FxHashMap::default();
            while let Some(row) = rows.next()? {
                counts.insert(row.get(0)?, row.get(1)?);
            }
            Ok(counts)
        })
    }

    /// Returns which of these sessions are here.
    pub fn known_sessions(&self, sessions: &[String]) -> Result<FxHashSet<String>, StoreError> {
        if sessions.is_empty() {
            return Ok(FxHashSet::default());
        }
        let marks = vec!["?"; sessions.len()].join(", ");
        let sql = format!("SELECT session FROM main.sessions WHERE session IN ({marks})");
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(sessions))?;
            let mut known = FxHashSet::default();
            while let Some(row) = rows.next()? {
                known.insert(row.get(0)?);
            }
            Ok(known)
        })
    }

    /// Returns the event at a place in the session, counted from 0.
    pub fn event_numbered(&self, session_key: u32, n: u32) -> Result<FullEvent, StoreError> {
        let row: Option<EventRow> = self.select("session_key = ? AND n = ?", [session_key, n])?.pop();
        let row = row.ok_or_else(|| StoreError::NotFound { what: "event", name: n.to_string() })?;
        Hydrator::new(self).full(&row)
    }
}
