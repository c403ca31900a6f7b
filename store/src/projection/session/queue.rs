//! Messages that come in while the agent works: they wait in a queue, and most come before the model in the
//! run that goes on.

use agent_core::{Event, QueueExit, Timestamp, Unqueued, UserMessaged};
use serde::{Deserialize, Serialize};

use super::super::batch::Batch;
use super::super::prompt::{OwnedPart, PartPlace};
use super::super::text::{hash64, preview};
use super::parts::part_of_message;
use super::{Place, Session};

/// The type, in the tables, of an event by which a message came in that had waited.
pub(crate) const DELIVERED: &str = "user.messaged";

/// A message in the queue, or on its way from there to the next call of the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queued {
    position: u64,
    sub: u16,
    /// Its words, hashed, by which it is known again.
    words: u64,
    shown: String,
    is_request: bool,
    part: OwnedPart,
    /// Whether a message of its own has said it.
    told: bool,
    /// The turn that it came into, once it has left the queue.
    turn: u32,
}

impl Queued {
    fn new(message: &UserMessaged, place: Place) -> Self {
        Self {
            position: place.position,
            sub: place.sub,
            words: words_of(message),
            shown: preview(message.shown()),
            is_request: message.is_request(),
            part: part_of_message(message).into(),
            told: false,
            turn: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.part.bytes == 0
    }
}

fn words_of(message: &UserMessaged) -> u64 {
    hash64(message.text.trim())
}

impl Session {
    /// Has a message wait.
    pub(super) fn queued(&mut self, message: &UserMessaged, place: Place) {
        self.carry.queue.push(Queued::new(message, place));
    }

    /// Takes in that a message left the queue, and returns the turn. Where it was delivered, that is what the
    /// event stands for from here on.
    pub(super) fn unqueued(&mut self, event: &Event, unqueued: &Unqueued, place: Place) -> u32 {
        let Some(mut message) = self.leave_queue(unqueued, place) else { return self.carry.turn.number };
        let turn = self.input_turn();
        self.ensure_turn(event.ts);
        if message.is_request {
            self.note_request(turn, &message.shown);
        }
        self.brought_in = Some(Place { position: message.position, sub: message.sub });
        message.turn = turn;
        self.carry.delivered.push(message.words);
        self.carry.waiting.push(message);
        turn
    }

    /// Takes a message from an ancestor's queue, whose prompt goes on in the child.
    pub(super) fn take_over_unqueued(&mut self, unqueued: &Unqueued, place: Place) {
        if let Some(mut message) = self.leave_queue(unqueued, place) {
            message.turn = 1;
            self.carry.delivered.push(message.words);
            self.carry.waiting.push(message);
        }
    }

    /// Returns the message that left the queue, when it came before the model and nothing else says so.
    fn leave_queue(&mut self, unqueued: &Unqueued, place: Place) -> Option<Queued> {
        if unqueued.all {
            self.carry.queue.clear();
            return None;
        }
        let at = match &unqueued.message {
            Some(message) => {
                let words = words_of(message);
                self.carry.queue.iter().position(|queued| queued.words == words)
            }
            None => (!self.carry.queue.is_empty()).then_some(0),
        };
        let queued = at.map(|at| self.carry.queue.remove(at));
        if unqueued.how != Some(QueueExit::Delivered) {
            return None;
        }
        let message = queued.or_else(|| Some(Queued::new(unqueued.message.as_ref()?, place)))?;
        // A delivery with an id is written down where it went, which may be another agent.
        let is_anothers = unqueued.delivery.is_some() && !message.is_request;
        (!message.told && !message.is_empty() && !is_anothers).then_some(message)
    }

    /// Returns whether the message has come in from the queue before.
    pub(super) fn was_delivered(&mut self, message: &UserMessaged) -> bool {
        if !message.joins_run || self.carry.delivered.is_empty() {
            return false;
        }
        let words = words_of(message);
        let at = self.carry.delivered.iter().position(|delivered| *delivered == words);
        at.map(|at| self.carry.delivered.remove(at)).is_some()
    }

    /// Notes that a message of its own says what waits in the queue.
    pub(super) fn tell_queue(&mut self, message: &UserMessaged) {
        if message.starts_run() {
            self.carry.delivered.clear();
        }
        if self.carry.queue.is_empty() {
            return;
        }
        let words = words_of(message);
        if let Some(queued) = self.carry.queue.iter_mut().find(|queued| !queued.told && queued.words == words)
        {
            queued.told = true;
        }
    }

    /// Puts the messages that were delivered before the model: behind the results of the calls that were open
    /// when they came.
    pub(super) fn settle_waiting(&mut self, batch: &mut Batch) {
        for message in std::mem::take(&mut self.carry.waiting) {
            let place = PartPlace {
                session_key: self.row.session_key,
                turn: message.turn,
                position: message.position,
                sub: message.sub,
            };
            self.prompt.add(&mut self.carry.prompt, &message.part.as_part(), None, place, batch);
        }
    }

    /// Takes in a message that came in while the agent worked.
    pub(super) fn joined(&mut self, message: &UserMessaged, ts: Option<Timestamp>) -> u32 {
        let turn = self.input_turn();
        self.ensure_turn(ts);
        if message.is_request() {
            self.note_request(turn, message.shown());
        }
        turn
    }

    /// Keeps the words of a request with its turn, by which it is found.
    fn note_request(&mut self, turn: u32, shown: &str) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        row.asked = true;
        row.user_preview = Some(match row.user_preview.take() {
            Some(before) => preview(&format!("{before}\n{shown}")),
            None => preview(shown),
        });
    }
}
