//! Words within one session, and the children of sessions.

use rustc_hash::FxHashMap;

use super::FullEvent;
use super::events::Hydrator;
use super::sessions::text;
use crate::projection::tables::EventRow;
use crate::{Position, Store, StoreError};

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
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(sessions))?;
            let mut counts = FxHashMap::default();
            while let Some(row) = rows.next()? {
                counts.insert(row.get(0)?, row.get(1)?);
            }
            Ok(counts)
        })
    }

    /// Returns the event at a place in the session, counted from 0.
    pub fn event_numbered(&self, session_key: u32, n: u32) -> Result<FullEvent, StoreError> {
        let row: Option<EventRow> = self.select("session_key = ? AND n = ?", [session_key, n])?.pop();
        let row = row.ok_or_else(|| StoreError::NotFound { what: "event", name: n.to_string() })?;
        let event = Hydrator::new(self).event(row.position, row.sub)?;
        Ok(FullEvent { n: row.n, turn: row.turn, position: Position(row.position), event })
    }
}
