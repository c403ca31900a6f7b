//! What came back: the response in its order, with each tool call and its result in its place.

use agent_core::{Block, Body, ModelFailed, ModelResponded, ToolCalled, ToolEnded};
use rustc_hash::FxHashMap;
use store::{FullEvent, SessionRow, ToolCallRow};

use super::anchor;
use super::known::Known;
use super::tool::ToolView;
use crate::format::{counted, duration};
use crate::links;
use crate::markup::one_line;
use crate::pages::content::{Content, Room, Space};
use crate::pages::event_text::{media_words, text_of};
use crate::times::Clock;

/// Pieces of a response on one page.
const PIECES: usize = 30;
/// Other events on one page.
const OTHERS: usize = 30;

/// What came back.
#[derive(Debug)]
pub(crate) struct CameBack {
    pub(crate) items: Vec<Item>,
    pub(crate) cut: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) others: Vec<OtherEvent>,
    pub(crate) others_cut: Option<String>,
}

/// One piece of it.
#[derive(Debug)]
pub(crate) enum Item {
    /// Words for the reader, with the name of the place.
    Text(String, Content),
    /// Reasoning in words, with the name of the place.
    Reasoning(String, Content),
    /// Reasoning that the provider keeps to itself.
    Hidden,
    /// A picture or file.
    Media(String),
    /// A tool call with its result.
    Tool(Box<ToolView>),
    /// A failed call of the model.
    Failure(Failure),
}

/// A failed call of the model.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: String,
    pub(crate) words: String,
    pub(crate) detail: String,
    pub(crate) href: String,
}

/// An event that is neither of the prompt nor of the response.
#[derive(Debug)]
pub(crate) struct OtherEvent {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) href: String,
}

/// A piece before it is made ready, so that only the pieces of the page cost something.
enum Piece<'a> {
    Block(&'a FullEvent, usize, &'a Block),
    Call(&'a str),
    Failure(u32, &'a ModelFailed),
}

#[derive(Default)]
struct Sorted<'a> {
    pieces: Vec<Piece<'a>>,
    calls: FxHashMap<&'a str, (u32, &'a ToolCalled)>,
    ends: FxHashMap<&'a str, (u32, &'a ToolEnded)>,
    others: Vec<&'a FullEvent>,
}

impl<'a> Sorted<'a> {
    fn new(events: &'a [FullEvent]) -> Self {
        let mut sorted = Self::default();
        for full in events {
            sorted.take(full);
        }
        sorted
    }

    fn take(&mut self, full: &'a FullEvent) {
        match &full.event.body {
            Body::ModelResponded(piece) => self.response(full, piece),
            Body::ModelFailed(failed) => self.pieces.push(Piece::Failure(full.n, failed)),
            Body::ToolCalled(call) => {
                self.calls.entry(&call.call_id).or_insert((full.n, call));
                self.place(&call.call_id);
            }
            Body::ToolEnded(end) => {
                self.ends.entry(&end.call_id).or_insert((full.n, end));
                self.place(&end.call_id);
            }
            // These are the prompt, which is shown by its parts.
            Body::UserMessaged(_)
            | Body::ContextAdded(_)
            | Body::ChunkDefined(_)
            | Body::PromptAssembled(_)
            | Body::TurnStarted(_)
            | Body::ModelRequested(_) => {}
            _ => self.others.push(full),
        }
    }

    fn response(&mut self, full: &'a FullEvent, piece: &'a ModelResponded) {
        for (at, block) in piece.content.iter().enumerate() {
            match block {
                Block::ToolUse { call_id, .. } => self.place(call_id),
                // Some sources write a line break where a response has no words.
                Block::Text { text } if text.trim().is_empty() => {}
                block => self.pieces.push(Piece::Block(full, at, block)),
            }
        }
    }

    /// A call stands where the response asks for it, once.
    fn place(&mut self, call_id: &'a str) {
        let is_placed =
            self.pieces.iter().any(|piece| matches!(piece, Piece::Call(placed) if *placed == call_id));
        if !is_placed {
            self.pieces.push(Piece::Call(call_id));
        }
    }
}

impl CameBack {
    pub(super) fn new(known: &Known, from: usize, clock: &Clock, space: &mut Space) -> Self {
        let sorted = Sorted::new(&known.events);
        let name = &known.session.session;
        let rows: FxHashMap<&str, &ToolCallRow> =
            known.tools.iter().map(|row| (row.call_id.as_str(), row)).collect();
        let count = sorted.pieces.len();
        let from = from.min(count.saturating_sub(1));
        let to = (from + PIECES).min(count);
        let items = sorted.pieces[from..to]
            .iter()
            .map(|piece| match piece {
                Piece::Block(full, at, block) => block_item(name, full, *at, block, space),
                Piece::Failure(n, failed) => Item::Failure(failure(name, *n, failed)),
                Piece::Call(id) => {
                    let (call, end) = (sorted.calls.get(id).copied(), sorted.ends.get(id).copied());
                    let child = child_of(&known.children, id);
                    Item::Tool(Box::new(ToolView::new(
                        name,
                        id,
                        call,
                        end,
                        rows.get(id).copied(),
                        child,
                        known.is_growing,
                        clock,
                        space,
                    )))
                }
            })
            .collect();
        let here = links::turn(name, known.row.turn);
        Self {
            items,
            cut: (count > PIECES).then(|| format!("pieces {} to {to} of {count} shown", from + 1)),
            before: (from > 0).then(|| format!("{here}?piece={}#response", from.saturating_sub(PIECES))),
            after: (to < count).then(|| format!("{here}?piece={to}#response")),
            others: sorted.others.iter().take(OTHERS).map(|full| other(name, full)).collect(),
            others_cut: (sorted.others.len() > OTHERS).then(|| {
                format!("{OTHERS} of {} shown", counted(sorted.others.len() as u64, "event", "events"))
            }),
        }
    }
}

fn child_of<'a>(children: &'a [SessionRow], call_id: &str) -> Option<&'a SessionRow> {
    children.iter().find(|child| child.parent_call.as_deref() == Some(call_id))
}

fn block_item(session: &str, full: &FullEvent, at: usize, block: &Block, space: &mut Space) -> Item {
    let whole = links::event_text(session, full.n);
    let anchor = anchor::block(&full.event.id, at);
    match block {
        Block::Text { text } => Item::Text(anchor, space.content(text, whole, Room::Wide)),
        Block::Reasoning { text, .. } if text.trim().is_empty() => Item::Hidden,
        Block::Reasoning { text, .. } => Item::Reasoning(anchor, space.content(text, whole, Room::Wide)),
        Block::Media { .. } => Item::Media(one_line(&media_words(block))),
        Block::Other { value } => Item::Text(anchor, space.content(&value.to_json(), whole, Room::Narrow)),
        // Calls are placed apart; the name is shown if one comes here all the same.
        Block::ToolUse { name, .. } => Item::Media(one_line(name)),
    }
}

fn failure(session: &str, n: u32, failed: &ModelFailed) -> Failure {
    let error = &failed.error;
    let details = [
        error.http_status.map(|status| format!("HTTP {status}")),
        failed.attempt.map(|attempt| format!("attempt {attempt}")),
        failed.retry_in_ms.map(|ms| format!("tried again after {}", duration(ms))),
        error.suggested_action.as_deref().map(one_line),
    ];
    Failure {
        kind: error.kind.as_deref().map_or_else(|| "error".to_owned(), one_line),
        words: error.message.as_deref().map_or_else(|| "the source gives no words".to_owned(), one_line),
        detail: details.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        href: links::event_text(session, n),
    }
}

fn other(session: &str, full: &FullEvent) -> OtherEvent {
    let text = text_of(&full.event.body);
    let words = one_line(&text[..text.floor_char_boundary(240)]);
    OtherEvent {
        name: one_line(full.event.body.name()),
        words: if words == "{}" { String::new() } else { words },
        href: links::event_text(session, full.n),
    }
}
