//! What each event puts before the model.

use agent_core::{Block, Body, ChunkDefined, ChunkKind, ContextCompacted, Event, Origin, UserMessaged};

use super::super::batch::Batch;
use super::super::prompt::{NewPart, PartPlace, PromptState};
use super::super::tables::PartRow;
use super::super::text::hash64;
use super::{Place, Session};

impl Session {
    /// Puts what the event tells into the place of an earlier part.
    pub(super) fn replace_part(
        &mut self,
        old: u32,
        event: &Event,
        turn: u32,
        place: Place,
        batch: &mut Batch,
    ) {
        let place =
            PartPlace { session_key: self.row.session_key, turn, position: place.position, sub: place.sub };
        let from = batch.parts.len();
        if let Some(part) = part_of(&event.body) {
            self.prompt.replace(&mut self.carry.prompt, old, &part, place, batch);
        }
        self.note_calls(&mut batch.parts[from..]);
    }

    /// Adds what the event puts before the model.
    pub(super) fn add_parts(&mut self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
        let place =
            PartPlace { session_key: self.row.session_key, turn, position: place.position, sub: place.sub };
        let carry = &mut self.carry.prompt;
        let from = batch.parts.len();
        match &event.body {
            Body::ChunkDefined(chunk) => {
                let bytes = chunk_len(chunk);
                self.prompt.define(&chunk.hash, bytes, place, batch);
            }
            Body::PromptAssembled(prompt) => self.prompt.assemble(carry, prompt, place, batch),
            Body::ContextCompacted(ContextCompacted {
                dropped_calls: Some(calls),
                placeholder: Some(placeholder),
                ..
            }) => {
                let bytes = placeholder.get().len() as u64;
                self.prompt.clear_results(carry, calls, bytes, place, batch);
            }
            body => {
                let slot = match body {
                    Body::ContextAdded(added) => added.slot.as_deref(),
                    _ => None,
                };
                let part = part_of(body);
                if let Some(part) = part {
                    self.prompt.add(carry, &part, slot, place, batch);
                    PromptState::kept_behind(carry, event.step.as_deref());
                }
            }
        }
        self.note_calls(&mut batch.parts[from..]);
    }

    /// Notes which calls the parts come from, so that a page finds them by number.
    fn note_calls(&self, parts: &mut [PartRow]) {
        for part in parts {
            let call = part.source.as_deref().and_then(|source| self.call_numbers.get(&hash64(source)));
            part.tool_call = call.copied();
        }
    }
}

fn chunk_len(chunk: &ChunkDefined) -> u64 {
    match (&chunk.text, &chunk.base64) {
        (Some(text), _) => text.len() as u64,
        // Three bytes stand in four characters, less the padding.
        (None, Some(base64)) => {
            let padding = base64.bytes().rev().take_while(|&byte| byte == b'=').count();
            (base64.len() / 4 * 3).saturating_sub(padding) as u64
        }
        (None, None) => 0,
    }
}

/// Returns what an event of a transcript puts before the model.
fn part_of(body: &Body) -> Option<NewPart<'_>> {
    Some(match body {
        Body::UserMessaged(message) => part_of_message(message),
        Body::ModelResponded(piece) if piece.content.iter().any(has_words) => NewPart {
            kind: ChunkKind::History,
            source: None,
            reason: None,
            role: "assistant",
            bytes: piece
                .content
                .iter()
                .filter(|block| !matches!(block, Block::ToolUse { .. }))
                .map(|block| block.text_len() as u64)
                .sum(),
        },
        Body::ToolCalled(call) if call.in_text => return None,
        Body::ToolCalled(call) => NewPart {
            kind: ChunkKind::History,
            source: Some(&call.call_id),
            reason: Some("tool call"),
            role: "assistant",
            bytes: (call.name.len() + call.input.as_ref().map_or(0, |input| input.get().len())) as u64,
        },
        Body::ToolEnded(end) => NewPart {
            kind: ChunkKind::ToolResult,
            source: Some(&end.call_id),
            reason: None,
            role: "user",
            bytes: end.output.as_ref().map_or(0, |output| output.get().len()) as u64,
        },
        Body::ContextAdded(added) => NewPart {
            kind: added.kind.unwrap_or(ChunkKind::State),
            source: added.source.as_deref(),
            reason: added.reason.as_deref(),
            role: "system",
            bytes: added.content.as_ref().map_or(0, |content| content.get().len()) as u64,
        },
        Body::ContextCompacted(compacted) => {
            let replacement = compacted.replacement.as_ref()?;
            NewPart {
                kind: ChunkKind::History,
                source: Some("compaction"),
                reason: Some("stands for the history before it"),
                role: "user",
                bytes: replacement.get().len() as u64,
            }
        }
        _ => return None,
    })
}

/// Returns what a message in the user's place puts before the model.
pub(super) fn part_of_message(message: &UserMessaged) -> NewPart<'_> {
    NewPart {
        kind: message.kind.unwrap_or(match message.origin {
            None | Some(Origin::Human | Origin::Agent | Origin::Command) => ChunkKind::User,
            Some(Origin::CompactSummary) => ChunkKind::History,
            Some(Origin::Injected) => ChunkKind::Insight,
            Some(Origin::CommandOutput) => ChunkKind::State,
        }),
        source: message.source.as_deref().or_else(|| message.origin.map(Origin::as_str)),
        reason: message.reason.as_deref(),
        role: "user",
        bytes: message.text.len() as u64 + message.media.iter().map(media_len).sum::<u64>(),
    }
}

/// Returns whether a piece of a response puts anything before the model: a call stands in an event of its own.
/// Hidden reasoning goes back to the provider too, though nobody else can read it.
fn has_words(block: &Block) -> bool {
    match block {
        Block::ToolUse { .. } => false,
        Block::Reasoning { hidden: true, .. } => true,
        block => block.text_len() > 0,
    }
}

fn media_len(block: &Block) -> u64 {
    match block {
        Block::Media { bytes, .. } => *bytes,
        other => other.text_len() as u64,
    }
}
