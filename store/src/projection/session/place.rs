//! Where events belong: turns and runs, and the sets that a loaded session needs again.

use agent_core::{Event, Timestamp};
use duckdb::Connection;

use super::super::columns::Table;
use super::super::prompt::{PartMark, recorded_identity};
use super::super::tables::*;
use super::super::text::{hash64, preview};
use super::{LastThing, Session};

/// The place of an event's record.
#[derive(Clone, Copy, Debug)]
pub(in crate::projection) struct Place {
    /// The record.
    pub(in crate::projection) position: u64,
    /// Which of the record's events.
    pub(in crate::projection) sub: u16,
}

impl Session {
    /// Returns the turn whose prompt an input belongs to: the current one until a model has responded in it.
    pub(super) fn input_turn(&mut self) -> u32 {
        if self.carry.turn == 0 || self.carry.turn_responded {
            self.open_turn();
        }
        self.carry.turn
    }

    fn open_turn(&mut self) {
        self.carry.turn += 1;
        self.carry.turn_responded = false;
        self.carry.turn_first_event = None;
        self.carry.turn_native = None;
        self.carry.call = 0;
        self.carry.response_open = false;
    }

    /// A source that numbers its turns itself is followed.
    pub(super) fn follow_native_turn(&mut self, event: &Event) {
        let Some(native) = &event.turn else { return };
        if self.carry.turn_native.as_ref() == Some(native) {
            return;
        }
        if self.carry.turn == 0 || self.carry.turn_native.is_some() || self.carry.turn_responded {
            self.open_turn();
        }
        self.carry.turn_native = Some(native.clone());
    }

    /// Makes the current turn's row when there is none yet.
    pub(super) fn ensure_turn(&mut self, ts: Option<Timestamp>) {
        let turn = self.carry.turn;
        if self.turns.contains(turn) {
            return;
        }
        if self.carry.run == 0 {
            self.start_run("", ts);
        }
        self.carry.run_turns += 1;
        let first_n = self.carry.turn_first_event.unwrap_or(self.carry.next_event);
        self.turns.insert_new(
            turn,
            TurnRow {
                session_key: self.row.session_key,
                turn,
                run: self.carry.run,
                run_turn: self.carry.run_turns,
                native: self.carry.turn_native.clone(),
                started_at: ts,
                ended_at: ts,
                first_n,
                last_n: first_n,
                tools: "[]".to_owned(),
                compacted: std::mem::take(&mut self.carry.compacted),
                usage_quality: "missing".to_owned(),
                ..Default::default()
            },
        );
    }

    /// Starts a run, unless the one that is open has had no response yet: then this is more of its request.
    pub(super) fn start_run(&mut self, task: &str, ts: Option<Timestamp>) {
        if self.carry.run > 0 && !self.carry.run_responded {
            if let Some(run) = self.runs.get_mut(self.carry.run)
                && run.task_preview.is_empty()
            {
                run.task_preview = preview(task);
            }
            return;
        }
        self.settle_run();
        self.carry.run += 1;
        self.carry.run_turns = 0;
        self.carry.run_responded = false;
        self.carry.ended = None;
        self.carry.last_thing = LastThing::Request;
        self.row.runs += 1;
        let next_turn = if self.carry.turn_responded || self.carry.turn == 0 { self.carry.turn + 1 } else { self.carry.turn };
        self.runs.insert_new(
            self.carry.run,
            RunRow {
                session_key: self.row.session_key,
                run: self.carry.run,
                first_turn: next_turn,
                last_turn: next_turn,
                task_preview: preview(task),
                started_at: ts,
                ended_at: ts,
                status: "unknown".to_owned(),
                end_reason: "unknown".to_owned(),
                ..Default::default()
            },
        );
    }
}

/// Reads back from the tables what is not in the session's carry.
pub(super) fn load_sets(session: &mut Session, database: &Connection) -> duckdb::Result<()> {
    let key = session.row.session_key;
    let mut events =
        database.prepare_cached("SELECT id, fact, step, position FROM main.events WHERE session_key = ?")?;
    let mut rows = events.query([key])?;
    while let Some(row) = rows.next()? {
        session.ids.insert(row.get(0)?);
        session.facts.extend(row.get::<_, Option<u64>>(1)?);
        if let Some(step) = row.get::<_, Option<u64>>(2)? {
            session.steps.insert(step, row.get(3)?);
        }
    }
    let mut calls =
        database.prepare_cached("SELECT response, turn, call FROM cost.model_calls WHERE session_key = ?")?;
    let mut rows = calls.query([key])?;
    while let Some(row) = rows.next()? {
        session.responses.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
    }
    let mut parts = database.prepare_cached(
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
    let mut chunks =
        database.prepare_cached("SELECT hash, position, sub, bytes FROM main.chunks WHERE session_key = ?")?;
    let mut rows = chunks.query([key])?;
    while let Some(row) = rows.next()? {
        let hash: String = row.get(0)?;
        session.prompt.chunks.insert(hash64(&hash), (row.get(1)?, row.get(2)?, row.get(3)?));
    }
    load_current(session, database)
}

/// Loads the rows that the next events are likely to change.
fn load_current(session: &mut Session, database: &Connection) -> duckdb::Result<()> {
    let key = session.row.session_key;
    let (turn, run) = (session.carry.turn, session.carry.run);
    for row in select::<RunRow>(database, "session_key = ? AND run = ?", [key, run])? {
        session.runs.insert_loaded(run, row);
    }
    session.load_turn(turn, database)?;
    for row in select::<ModelCallRow>(database, "session_key = ? AND turn = ?", [key, turn])? {
        session.calls.insert_loaded((turn, row.call), row);
    }
    for row in select::<ToolCallRow>(database, "session_key = ? AND status IS NULL", [key])? {
        session.tools.insert_loaded(hash64(&row.call_id), row);
    }
    Ok(())
}

impl Session {
    /// Has the row of `turn` in memory, when the database has it.
    pub(super) fn load_turn(&mut self, turn: u32, database: &Connection) -> duckdb::Result<()> {
        if self.written && !self.turns.contains(turn) {
            for row in select::<TurnRow>(database, "session_key = ? AND turn = ?", [self.row.session_key, turn])? {
                self.turns.insert_loaded(turn, row);
            }
        }
        Ok(())
    }
}

/// Returns the rows of `T` for which `condition` holds.
pub(in crate::projection) fn select<T: Table>(
    database: &Connection,
    condition: &str,
    parameters: impl duckdb::Params,
) -> duckdb::Result<Vec<T>> {
    let sql = format!("SELECT {} FROM {} WHERE {condition}", T::COLUMNS, T::full_name());
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(T::read(row, 0)?);
    }
    Ok(found)
}
