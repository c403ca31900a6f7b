//! Where events belong: turns and runs.

use agent_core::{Event, Timestamp};

use super::super::tables::{RunRow, TurnRow};
use super::super::text::preview;
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
    /// Returns the turn whose prompt an input belongs to: the one that the event names, else the current one
    /// until a model has responded in it.
    pub(super) fn input_turn(&mut self) -> u32 {
        if self.carry.turn.number == 0 || (self.carry.turn.responded && !self.in_native_turn) {
            self.open_turn();
        }
        self.carry.turn.number
    }

    /// Notes that the model is about to be asked again and returns the turn.
    pub(super) fn next_call_begins(&mut self) -> u32 {
        self.carry.response.open = false;
        self.input_turn()
    }

    fn open_turn(&mut self) {
        self.carry.turn.number += 1;
        self.carry.turn.responded = false;
        self.carry.turn.first_event = None;
        self.carry.turn.native = None;
        self.carry.turn.call = 0;
    }

    /// A source that numbers its turns itself is followed.
    pub(super) fn follow_native_turn(&mut self, event: &Event) {
        self.in_native_turn = event.turn.is_some();
        let Some(native) = &event.turn else { return };
        if self.carry.turn.native.as_ref() == Some(native) {
            return;
        }
        if self.carry.turn.number == 0 || self.carry.turn.native.is_some() || self.carry.turn.responded {
            self.open_turn();
        }
        self.carry.response.open = false;
        if let Some(row) = self.turns.get_mut(self.carry.turn.number) {
            row.native = Some(native.clone());
        }
        self.carry.turn.native = Some(native.clone());
        // The request may have come before the turn had its name.
        if let Some(row) = self.turns.get_mut(self.carry.turn.number) {
            row.native = Some(native.clone());
        }
    }

    /// Makes the current turn's row when there is none yet.
    pub(super) fn ensure_turn(&mut self, ts: Option<Timestamp>) {
        let turn = self.carry.turn.number;
        if self.turns.contains(turn) {
            return;
        }
        if self.carry.run.number == 0 {
            self.start_run("", ts);
        }
        self.carry.run.turns += 1;
        self.row.unanswered_turns += 1;
        let first_n = self.carry.turn.first_event.unwrap_or(self.carry.next_event);
        self.turns.insert_new(
            turn,
            TurnRow {
                session_key: self.row.session_key,
                turn,
                run: self.carry.run.number,
                run_turn: self.carry.run.turns,
                native: self.carry.turn.native.clone(),
                started_at: ts,
                ended_at: ts,
                first_n,
                last_n: first_n,
                tools: "[]".to_owned(),
                compacted: std::mem::take(&mut self.carry.turn.compacted),
                usage_quality: "missing".to_owned(),
                ..Default::default()
            },
        );
    }

    /// Starts a run, unless the one that is open has had neither a response nor an end: then this is more of
    /// its request.
    pub(super) fn start_run(&mut self, task: &str, ts: Option<Timestamp>) {
        if self.carry.run.number > 0 && !self.carry.run.responded && self.carry.run.ended.is_none() {
            if let Some(run) = self.runs.get_mut(self.carry.run.number)
                && run.task_preview.is_empty()
            {
                run.task_preview = preview(task);
            }
            return;
        }
        self.settle_run();
        self.carry.run.number += 1;
        self.carry.run.turns = 0;
        self.carry.run.responded = false;
        self.carry.ended = None;
        self.carry.run.ended = None;
        self.carry.last_thing = LastThing::Request;
        self.row.runs += 1;
        let first_turn = self.first_turn_of_run();
        let retried = self.is_retry(task);
        self.runs.insert_new(
            self.carry.run.number,
            RunRow {
                session_key: self.row.session_key,
                run: self.carry.run.number,
                first_turn,
                last_turn: first_turn,
                task_preview: preview(task),
                started_at: ts,
                ended_at: ts,
                retried,
                status: "unknown".to_owned(),
                end_reason: "unknown".to_owned(),
                ..Default::default()
            },
        );
    }

    /// Returns the turn that the run which now begins starts with. What came in since the last response is
    /// of its first prompt, and so is the turn that it opened.
    fn first_turn_of_run(&mut self) -> u32 {
        if self.carry.turn.responded || self.carry.turn.number == 0 {
            return self.carry.turn.number + 1;
        }
        if let Some(row) = self.turns.get_mut(self.carry.turn.number) {
            row.run = self.carry.run.number;
            row.run_turn = 1;
            self.carry.run.turns = 1;
        }
        self.carry.turn.number
    }
}
