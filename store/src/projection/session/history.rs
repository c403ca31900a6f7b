//! What leaves the history that the model is sent.

use agent_core::{ContextCompacted, Event, KeptHistory};

use super::super::prompt::{Kept, KeptPlace};
use super::super::text::hash64;
use super::Session;

impl Session {
    /// When a request follows an earlier step than the last one, the history is cut back to it, and what is asked
    /// there is asked once more.
    pub(super) fn follow_branch(&mut self, event: &Event) {
        let Some(after) = event.after.as_deref().map(hash64) else { return };
        if self.carry.last_step == Some(after) {
            return;
        }
        let inherited = self.carry.inherited_requests.iter().find(|(step, _)| *step == after);
        let before_inherited = inherited.map(|(_, position)| position.saturating_sub(1));
        if let Some(position) = self.steps.get(&after).copied().or(before_inherited) {
            self.prompt.rewind(&mut self.carry.prompt, position);
            self.carry.run.next_is_retry = true;
        }
    }

    pub(super) fn compacted(&mut self, event: &Event, compacted: &ContextCompacted) -> u32 {
        self.make_room(event, compacted);
        if !compacted.is_full() && compacted.dropped_calls.is_none() {
            // Words that were taken back end no turn.
            return self.carry.turn.number;
        }
        self.row.compactions += u32::from(compacted.is_full());
        self.carry.response.open = false;
        self.carry.response.awaits_usage = false;
        let turn = self.input_turn();
        match self.turns.get_mut(turn) {
            Some(row) => row.compacted = true,
            None => self.carry.turn.compacted = true,
        }
        turn
    }

    pub(super) fn make_room(&mut self, event: &Event, compacted: &ContextCompacted) {
        let takes_calls = compacted.dropped_calls.is_some() && compacted.placeholder.is_none();
        if compacted.is_full() || takes_calls {
            let kept = compacted.kept.as_ref().map(|kept| self.kept(event, kept));
            self.prompt.compact(&mut self.carry.prompt, compacted.dropped_calls.as_deref(), kept);
        }
        if let Some(count) = compacted.dropped_requests {
            self.prompt.drop_requests(&mut self.carry.prompt, count);
        }
        for step in compacted.dropped_steps.iter().flatten() {
            if let Some(&position) = self.steps.get(&hash64(step)) {
                self.prompt.take_back(&mut self.carry.prompt, position);
            }
        }
    }

    /// Returns where the steps stand that a compaction keeps, as far as they are known.
    fn kept(&self, event: &Event, kept: &KeptHistory) -> Kept {
        let position = |step: &String| self.steps.get(&hash64(step)).copied();
        let span = kept.span.as_ref().and_then(|(first, last)| position(first).zip(position(last)));
        let place = match &kept.behind {
            Some(step) if Some(step) == event.step.as_ref() => KeptPlace::Here,
            Some(step) => KeptPlace::Behind(hash64(step)),
            None => KeptPlace::Last,
        };
        Kept { positions: kept.steps.iter().filter_map(position).collect(), span, place }
    }
}
