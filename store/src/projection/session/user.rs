//! What the user does: asks, and breaks the agent off.

use agent_core::{Event, Origin, UserMessaged};

use super::super::text::{hash64, preview};
use super::{Context, LastThing, Session};

impl Session {
    pub(super) fn user_messaged(&mut self, event: &Event, message: &UserMessaged) -> u32 {
        self.carry.response.open = false;
        self.carry.response.awaits_usage = false;
        self.tell_queue(message);
        if message.joins_run {
            return self.joined(message, event.ts);
        }
        if message.starts_run() {
            if message.origin != Some(Origin::Agent) {
                self.follow_branch(event);
            }
            self.start_run(message.shown(), event.ts);
            self.carry.response.place = None;
            if !self.carry.titled && self.row.title.is_none() {
                self.row.title = Some(preview(message.shown())).filter(|title| !title.is_empty());
            }
            self.carry.last_thing = LastThing::Request;
        }
        let turn = self.input_turn();
        self.ensure_turn(event.ts);
        if message.starts_run()
            && let Some(row) = self.turns.get_mut(turn)
            && row.user_preview.is_none()
        {
            row.asked = true;
            row.user_preview = Some(preview(message.shown()));
        }
        turn
    }

    pub(super) fn interrupted(&mut self, context: &mut Context<'_>) -> duckdb::Result<u32> {
        self.row.interrupts += 1;
        self.carry.response.open = false;
        self.carry.last_thing = LastThing::Interrupt;
        // A turn that has only some context yet is not what the user broke off.
        let has_row = self.turns.contains(self.carry.turn.number);
        let turn = if has_row { self.carry.turn.number } else { self.carry.turn.number.saturating_sub(1) };
        if !has_row && turn > 0 {
            self.load_turn(turn, context.database)?;
        }
        if let Some(row) = self.turns.get_mut(turn) {
            row.interrupted = true;
        }
        if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.interrupts += 1;
        }
        Ok(turn)
    }

    /// The user says that the next request, or the one that has no answer yet, asks for the same once more.
    pub(super) fn asked_again(&mut self) {
        if self.carry.run.responded {
            self.carry.run.next_is_retry = true;
        } else if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.retried = true;
        }
    }

    /// Returns whether the run that begins with `task` asks for what the one before asked for.
    pub(super) fn is_retry(&mut self, task: &str) -> bool {
        let words = Some(task.trim()).filter(|words| !words.is_empty()).map(hash64);
        let before = std::mem::replace(&mut self.carry.run.request, words);
        let said = std::mem::take(&mut self.carry.run.next_is_retry);
        said || (words.is_some() && words == before)
    }
}
