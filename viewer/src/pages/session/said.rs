//! What was said in the turns of a page, whole: the tables hold only the beginning of each text.

use agent_core::{Block, Body, Event};
use rustc_hash::FxHashMap;
use store::{FullEvent, Store, StoreError, ToolCallRow, TurnRow};

use super::transcript::{has_failed, was_stopped};
use crate::pages::event_text::output_text;

/// Results of calls that are read back for one page.
const ENDS: usize = 120;
/// Of these, in one turn.
const ENDS_OF_TURN: usize = 8;

/// The texts of the turns of a page.
#[derive(Debug, Default)]
pub(super) struct Said {
    turns: FxHashMap<u32, OfTurn>,
    /// By the numbers of the calls.
    ends: FxHashMap<u32, String>,
}

#[derive(Debug, Default)]
struct OfTurn {
    requests: Vec<String>,
    responses: Vec<String>,
    /// Words of failed calls of the model.
    failures: Vec<String>,
}

impl Said {
    pub(super) fn read(
        store: &Store,
        key: u32,
        turns: &[TurnRow],
        calls: &[ToolCallRow],
    ) -> Result<Self, StoreError> {
        let numbers: Vec<u32> = turns.iter().map(|row| row.turn).collect();
        let mut said = Self::default();
        for full in store.words_of_turns(key, &numbers)? {
            said.take(full);
        }
        let ends = ends(calls);
        let places: Vec<(u64, u16)> = ends.iter().map(|&(_, place)| place).collect();
        for ((call, _), event) in ends.iter().zip(store.events_at(&places)?) {
            said.ends.extend(words_of_end(&event).map(|words| (*call, words)));
        }
        Ok(said)
    }

    fn take(&mut self, full: FullEvent) {
        let of_turn = self.turns.entry(full.turn).or_default();
        match full.event.body {
            Body::UserMessaged(message) if message.is_request() => {
                of_turn.requests.push(message.shown().to_owned())
            }
            Body::ModelResponded(piece) => {
                of_turn.responses.extend(piece.content.into_iter().filter_map(|block| match block {
                    Block::Text { text } if !text.trim().is_empty() => Some(text.trim().to_owned()),
                    _ => None,
                }));
            }
            Body::ModelFailed(failed) => of_turn.failures.extend(failed.error.message.or(failed.error.kind)),
            _ => {}
        }
    }

    /// Returns what was asked before the turn.
    pub(super) fn request(&self, row: &TurnRow) -> Option<String> {
        let preview = row.user_preview.as_deref()?;
        let texts = self.turns.get(&row.turn).map_or(&[][..], |of_turn| &of_turn.requests);
        Some(if texts.is_empty() { told_as_cut(preview) } else { texts.join("\n") })
    }

    /// Returns what the model said in the turn.
    pub(super) fn response(&self, row: &TurnRow) -> Option<String> {
        match self.turns.get(&row.turn) {
            Some(of_turn) if !of_turn.responses.is_empty() => Some(of_turn.responses.join("\n\n")),
            _ => row.response_preview.as_deref().map(told_as_cut),
        }
    }

    /// Returns the words of the first thing that went wrong in the turn.
    pub(super) fn error(&self, row: &TurnRow) -> Option<String> {
        let preview = row.error_preview.as_deref()?;
        let failures = self.turns.get(&row.turn).map_or(&[][..], |of_turn| &of_turn.failures);
        let whole = failures.iter().find(|words| words.trim_start().starts_with(preview));
        Some(whole.cloned().unwrap_or_else(|| told_as_cut(preview)))
    }

    /// Returns what a call gave back that did not succeed.
    pub(super) fn end(&self, call: &ToolCallRow) -> Option<String> {
        let preview = call.output_preview.as_deref()?;
        Some(self.ends.get(&call.call).cloned().unwrap_or_else(|| told_as_cut(preview)))
    }
}

/// From this size on a preview may have lost its end.
const FULL_PREVIEW: usize = 250;

/// Returns a preview with a sign where it may have been cut.
pub(crate) fn told_as_cut(preview: &str) -> String {
    if preview.len() < FULL_PREVIEW { preview.to_owned() } else { format!("{preview} […]") }
}

/// Returns the numbers and the places of the results whose words are shown.
fn ends(calls: &[ToolCallRow]) -> Vec<(u32, (u64, u16))> {
    let mut in_turn: FxHashMap<u32, usize> = FxHashMap::default();
    let failed = calls.iter().filter(|call| has_failed(call));
    failed
        .chain(calls.iter().filter(|call| was_stopped(call)))
        .filter_map(|call| Some((call, (call.end_position?, call.end_sub?))))
        .filter(|(call, _)| {
            let count = in_turn.entry(call.turn).or_default();
            *count += 1;
            *count <= ENDS_OF_TURN
        })
        .take(ENDS)
        .map(|(call, place)| (call.call, place))
        .collect()
}

fn words_of_end(event: &Event) -> Option<String> {
    let Body::ToolEnded(end) = &event.body else { return None };
    let message = end.error.as_ref().and_then(|error| error.message.clone());
    message.or_else(|| end.output.as_ref().map(output_text)).filter(|words| !words.trim().is_empty())
}
