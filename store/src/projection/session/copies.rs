//! Messages that a source tells twice: once as the model has them, and once for the screen.

use agent_core::{Block, Body, Event};
use serde::{Deserialize, Serialize};

use super::super::batch::Batch;
use super::super::text::hash64;
use super::{Place, Session};

/// The type, in the tables, of an event that only tells again what an earlier one told.
pub(crate) const RETOLD: &str = "message.retold";

/// How many messages wait for their other telling: it comes within a few events, if at all.
const ROOM: usize = 8;

/// A message that was told not long ago, and not yet a second time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    fact: u64,
    /// What its words begin with.
    opening: u64,
    is_request: bool,
    is_copy: bool,
    /// The part of the prompt that it became.
    part: u32,
}

/// What an event tells again.
pub(super) struct Retold {
    /// The part of the prompt that it is to replace: a copy came first, and this is the message itself.
    replaces: Option<u32>,
}

impl Session {
    /// Returns what the event tells again: the same words of the same speaker, once as a copy and once not,
    /// with nothing of the other speaker between. A copy may lack an end (notes of sources); and one of a
    /// request whose words are others is still the copy of the request that has none yet, since what stands
    /// for pictures is no part of it.
    pub(super) fn told_before(&mut self, event: &Event) -> Option<Retold> {
        let (is_request, is_copy) = match &event.body {
            Body::UserMessaged(message) if message.starts_run() => (true, message.is_copy),
            Body::ModelResponded(piece) if !piece.content.is_empty() => (false, piece.is_copy),
            _ => return None,
        };
        let told = &mut self.carry.told;
        told.retain(|earlier| earlier.is_request == is_request);
        let opening = opening_of(&event.body)?;
        let fact = event.fact.as_deref().map(hash64)?;
        let other = |earlier: &Told| earlier.is_copy != is_copy;
        let earlier = told
            .iter()
            .position(|earlier| other(earlier) && earlier.fact == fact)
            .or_else(|| told.iter().position(|earlier| other(earlier) && earlier.opening == opening))
            .or_else(|| told.iter().position(other).filter(|_| is_request && is_copy));
        if let Some(at) = earlier {
            let part = told.remove(at).part;
            return Some(Retold { replaces: (!is_copy).then_some(part) });
        }
        if told.len() == ROOM {
            told.remove(0);
        }
        told.push(Told { fact, opening, is_request, is_copy, part: self.carry.prompt.next_part() });
        None
    }

    /// Puts what tells a message again into the place of its copy, when it is the message itself.
    pub(super) fn retell(
        &mut self,
        event: &Event,
        retold: &Retold,
        turn: u32,
        place: Place,
        batch: &mut Batch,
    ) {
        if let Some(part) = retold.replaces {
            self.replace_part(part, event, turn, place, batch);
        }
    }
}

/// Returns a hash of what the words of a message begin with; nothing for a piece of a response without words.
fn opening_of(body: &Body) -> Option<u64> {
    const CHARS: usize = 48;
    let text = match body {
        Body::UserMessaged(message) => &message.text,
        Body::ModelResponded(piece) => piece.content.iter().find_map(|block| match block {
            Block::Text { text } => Some(text),
            _ => None,
        })?,
        _ => return None,
    };
    let opening: String = text.chars().filter(|char| !char.is_whitespace()).take(CHARS).collect();
    Some(hash64(&opening))
}
