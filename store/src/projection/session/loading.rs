//! Reading a session back from the tables, and the rows of it that an event needs.

use duckdb::Connection;

use super::super::ProjectionError;
use super::super::columns::Table;
use super::super::prompt::{PartMark, recorded_identity};
use super::super::tables::*;
use super::super::text::hash64;
use super::Session;

impl Session {
    /// Loads a session as an earlier batch left it.
    pub(in crate::projection) fn load(
        database: &Connection,
        row: SessionRow,
    ) -> Result<Self, ProjectionError> {
        let carry = serde_json::from_str(&row.carry)
            .map_err(|cause| ProjectionError::Carry { session: row.session.clone(), cause })?;
        let mut session = Self::with_row(row, carry, true);
        load_sets(&mut session, database)?;
        Ok(session)
    }

    /// Has the row of `run` in memory, when the database has it.
    pub(super) fn load_run(&mut self, run: u32, database: &Connection) -> duckdb::Result<()> {
        if self.written && !self.runs.contains(run) {
            let key = self.row.session_key;
            for row in select::<RunRow>(database, "session_key = ? AND run = ?", [key, run])? {
                self.runs.insert_loaded(run, row);
            }
        }
        Ok(())
    }

    /// Has the row of `turn` in memory, when the database has it.
    pub(super) fn load_turn(&mut self, turn: u32, database: &Connection) -> duckdb::Result<()> {
        if self.written && !self.turns.contains(turn) {
            let key = self.row.session_key;
            for row in select::<TurnRow>(database, "session_key = ? AND turn = ?", [key, turn])? {
                self.turns.insert_loaded(turn, row);
            }
        }
        Ok(())
    }

    /// Has the row of a model's call in memory, when the database has it.
    pub(super) fn load_call(&mut self, turn: u32, call: u32, database: &Connection) -> duckdb::Result<()> {
        if self.written && !self.calls.contains((turn, call)) {
            let key = self.row.session_key;
            let condition = "session_key = ? AND turn = ? AND call = ?";
            for row in select::<ModelCallRow>(database, condition, [key, turn, call])? {
                self.calls.insert_loaded((turn, call), row);
            }
        }
        Ok(())
    }

    /// Has the row of a tool's call in memory, when the database has it.
    pub(super) fn load_tool(&mut self, call: u32, database: &Connection) -> duckdb::Result<()> {
        if self.written && !self.tools.contains(call) {
            let key = self.row.session_key;
            for row in select::<ToolCallRow>(database, "session_key = ? AND call = ?", [key, call])? {
                self.tools.insert_loaded(call, row);
            }
        }
        Ok(())
    }
}

/// Reads back from the tables what is not in the session's carry.
fn load_sets(session: &mut Session, database: &Connection) -> duckdb::Result<()> {
    let key = session.row.session_key;
    load_events(session, key, database)?;
    load_calls(session, key, database)?;
    load_parts(session, key, database)?;
    load_current(session, database)
}

fn load_events(session: &mut Session, key: u32, database: &Connection) -> duckdb::Result<()> {
    let sql = "SELECT id, rev, fact, turn, step, position FROM main.events WHERE session_key = ? ORDER BY n";
    let mut statement = database.prepare(sql)?;
    let mut rows = statement.query([key])?;
    while let Some(row) = rows.next()? {
        session.remember(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        if let Some(step) = row.get::<_, Option<u64>>(4)? {
            session.steps.insert(step, row.get(5)?);
        }
    }
    Ok(())
}

fn load_calls(session: &mut Session, key: u32, database: &Connection) -> duckdb::Result<()> {
    let sql = "SELECT response, turn, call FROM cost.model_calls WHERE session_key = ?";
    let mut statement = database.prepare(sql)?;
    let mut rows = statement.query([key])?;
    while let Some(row) = rows.next()? {
        session.responses.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
    }
    let sql = "SELECT call_id, call FROM behavior.tool_calls WHERE session_key = ? ORDER BY call";
    let mut statement = database.prepare(sql)?;
    let mut rows = statement.query([key])?;
    while let Some(row) = rows.next()? {
        session.call_numbers.insert(hash64(&row.get::<_, String>(0)?), row.get(1)?);
    }
    Ok(())
}

fn load_parts(session: &mut Session, key: u32, database: &Connection) -> duckdb::Result<()> {
    let mut parts = database.prepare(
        "SELECT position, kind, source, hash, reason, part FROM main.prompt_parts WHERE session_key = ? ORDER BY part",
    )?;
    let mut rows = parts.query([key])?;
    while let Some(row) = rows.next()? {
        let (position, kind): (u64, String) = (row.get(0)?, row.get(1)?);
        let (source, hash): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
        let part: u32 = row.get(5)?;
        match (&source, &hash) {
            (source, Some(hash)) => {
                let reason: Option<String> = row.get(4)?;
                let identity = recorded_identity(hash, &kind, source.as_deref(), reason.as_deref());
                session.prompt.recorded.insert(identity, part);
            }
            (Some(call_id), None) if kind == "tool_result" => {
                session.prompt.results.insert(hash64(call_id), part);
            }
            _ => {}
        }
        session.prompt.parts.push(PartMark { position, is_request: kind == "user" && hash.is_none() });
    }
    let mut chunks = database.prepare(
        "SELECT hash, position, sub, bytes FROM main.chunks WHERE session_key = ? ORDER BY position, sub",
    )?;
    let mut rows = chunks.query([key])?;
    while let Some(row) = rows.next()? {
        let hash: String = row.get(0)?;
        session.prompt.chunks.insert(hash64(&hash), (row.get(1)?, row.get(2)?, row.get(3)?));
    }
    Ok(())
}

/// Loads the rows that the next events are likely to change.
fn load_current(session: &mut Session, database: &Connection) -> duckdb::Result<()> {
    let key = session.row.session_key;
    let (turn, run) = (session.carry.turn.number, session.carry.run.number);
    session.load_run(run, database)?;
    session.load_turn(turn, database)?;
    for row in select::<ModelCallRow>(database, "session_key = ? AND turn = ?", [key, turn])? {
        session.calls.insert_loaded((turn, row.call), row);
    }
    for row in select::<ToolCallRow>(database, "session_key = ? AND status IS NULL", [key])? {
        session.tools.insert_loaded(row.call, row);
    }
    Ok(())
}

/// Returns the rows of `T` for which `condition` holds.
pub(in crate::projection) fn select<T: Table>(
    database: &Connection,
    condition: &str,
    parameters: impl duckdb::Params,
) -> duckdb::Result<Vec<T>> {
    let sql = format!("SELECT {} FROM {} WHERE {condition}", T::COLUMNS, T::full_name());
    let mut statement = database.prepare(&sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(T::read(row, 0)?);
    }
    Ok(found)
}
