//! Notes of memory, skills and scores.

use agent_core::{Body, Event};

use super::super::batch::Batch;
use super::super::tables::{MemoryEventRow, ScoreRow, SkillEventRow};
use super::{Place, Session};

impl Session {
    /// Writes down what the event says of memory, skills and scores.
    pub(super) fn note_learning(&self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
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
        let session_key = self.row.session_key;
        let (family, what) = name.split_once('.').expect("the names of these types have two words");
        let what = what.to_owned();
        let (key, source, position) = (note.key.clone(), note.source.clone(), place.position);
        if family == "memory" {
            batch.memory_events.push(MemoryEventRow {
                session_key,
                turn,
                ts: event.ts,
                what,
                key,
                source,
                position,
            });
        } else {
            batch.skill_events.push(SkillEventRow {
                session_key,
                turn,
                ts: event.ts,
                what,
                skill: key,
                source,
                position,
            });
        }
    }
}
