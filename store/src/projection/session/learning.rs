//! Notes of memory, skills and scores.

use agent_core::{Body, Event, Timestamp, ToolEnded, ToolStatus};
use serde::{Deserialize, Serialize};

use super::super::batch::Batch;
use super::super::tables::{MemoryEventRow, ScoreRow, SkillEventRow};
use super::super::text::hash64;
use super::{Place, Session};

/// A note of memory or a skill.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Learned {
    /// The call that it waits for, hashed.
    call: Option<u64>,
    is_memory: bool,
    what: String,
    key: String,
    source: Option<String>,
    ts: Option<Timestamp>,
    turn: u32,
    position: u64,
}

impl Session {
    /// Writes down what the event says of memory, skills and scores.
    pub(super) fn note_learning(&mut self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
        let name = event.body.name();
        let note = match &event.body {
            Body::MemoryWritten(n)
            | Body::MemoryRecalled(n)
            | Body::MemoryRejected(n)
            | Body::MemoryEvicted(n) => n,
            Body::SkillListed(n)
            | Body::SkillMatched(n)
            | Body::SkillRejected(n)
            | Body::SkillCreated(n)
            | Body::SkillUpdated(n)
            | Body::SkillDeprecated(n)
            | Body::SkillWriteRejected(n) => n,
            Body::ScoreRecorded(score) => {
                batch.scores.push(ScoreRow {
                    session_key: self.row.session_key,
                    turn,
                    ts: event.ts,
                    name: score.name.clone(),
                    label: score.label.clone(),
                    position: place.position,
                });
                return;
            }
            _ => return,
        };
        let (family, what) = name.split_once('.').expect("the names of these types have two words");
        let learned = Learned {
            call: note.call_id.as_deref().map(hash64),
            is_memory: family == "memory",
            what: what.to_owned(),
            key: note.key.clone(),
            source: note.source.clone(),
            ts: event.ts,
            turn,
            position: place.position,
        };
        match note.when_done {
            true => self.carry.asked.push(learned),
            false => self.learned(learned, batch),
        }
    }

    /// Writes down what was to be learned by a call that has now ended, when it succeeded.
    pub(super) fn settle_asked(&mut self, end: &ToolEnded, batch: &mut Batch) {
        if self.carry.asked.is_empty() {
            return;
        }
        let call = Some(hash64(&end.call_id));
        let asked = std::mem::take(&mut self.carry.asked);
        let (ended, waiting) = asked.into_iter().partition(|learned| learned.call == call);
        self.carry.asked = waiting;
        if end.status == Some(ToolStatus::Succeeded) {
            Vec::into_iter(ended).for_each(|learned| self.learned(learned, batch));
        }
    }

    fn learned(&self, learned: Learned, batch: &mut Batch) {
        let session_key = self.row.session_key;
        let Learned { is_memory, what, key, source, ts, turn, position, .. } = learned;
        if is_memory {
            batch.memory_events.push(MemoryEventRow { session_key, turn, ts, what, key, source, position });
        } else {
            let skill = key;
            batch.skill_events.push(SkillEventRow { session_key, turn, ts, what, skill, source, position });
        }
    }
}
