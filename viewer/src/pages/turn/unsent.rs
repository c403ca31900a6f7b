//! The prompt panel of a turn whose prompt is not known: what would have been sent, or why nothing is known.

use agent_core::{Body, Event};

use super::anchor;
use super::known::Known;
use crate::format::bytes;
use crate::links;
use crate::markup::one_line;
use crate::pages::content::{Content, Room, Space};
use crate::pages::event_text::text_of;

/// Pieces shown.
const PIECES: usize = 12;

/// What is known instead of a prompt.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) words: &'static str,
    /// The prompt that this one would have continued: its turn and where it is.
    pub(crate) before: Option<(u32, String)>,
    pub(crate) pieces: Vec<Waiting>,
    pub(crate) cut: Option<String>,
}

/// Something that would have stood in the prompt.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) anchor: String,
    pub(crate) label: &'static str,
    pub(crate) source: String,
    pub(crate) size: String,
    pub(crate) content: Content,
}

impl Unsent {
    pub(super) fn new(known: &Known, space: &mut Space) -> Self {
        let name = &known.session.session;
        let waiting: Vec<_> = known.events.iter().filter(|full| label(&full.event.body).is_some()).collect();
        let count = waiting.len();
        Self {
            words: words(known, count),
            before: known.prompt_before.map(|turn| (turn, links::turn(name, turn))),
            pieces: waiting
                .into_iter()
                .take(PIECES)
                .map(|full| piece(&full.event, links::event_text(name, full.n), space))
                .collect(),
            cut: (count > PIECES).then(|| format!("{PIECES} of {count} pieces shown; the records have all")),
        }
    }
}

fn words(known: &Known, count: usize) -> &'static str {
    match (known.row.responded, count) {
        (true, _) => "The model answered, but the source holds nothing of what it was sent.",
        (false, 0) => "No request for this turn is in the source, and nothing that would have stood in one.",
        (false, _) => {
            "No request for this turn is in the source. It would have continued the prompt before with what came in since:"
        }
    }
}

fn label(body: &Body) -> Option<&'static str> {
    match body {
        Body::UserMessaged(_) => Some("user"),
        Body::ContextAdded(_) => Some("context"),
        Body::ContextCompacted(_) => Some("compaction"),
        _ => None,
    }
}

fn piece(event: &Event, whole: String, space: &mut Space) -> Waiting {
    let text = text_of(&event.body);
    let source = match &event.body {
        Body::ContextAdded(added) => added.source.as_deref(),
        _ => None,
    };
    Waiting {
        anchor: anchor::block(&event.id, 0),
        label: label(&event.body).unwrap_or_default(),
        source: one_line(source.unwrap_or(&text[..text.floor_char_boundary(160)])),
        size: bytes(text.len() as u64),
        content: space.content(&text, whole, Room::Narrow),
    }
}
