//! `/sessions/{session}/turns/{turn}/diff`: what changed in the prompt since an earlier turn.

use agent_core::Event;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use serde::Deserialize;
use store::{PromptDifference, PromptPartRow, SessionRow, Store};

use super::content::{Room, Space};
use super::event_text::text_of;
use super::session::header::title;
use super::turn::{PartView, TextDiff, name_calls, with_events};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{counted, whole};
use crate::links;

/// Parts shown of each side.
const PARTS: usize = 60;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The turn to compare with; the one before it that has a prompt when absent.
    against: Option<u32>,
}

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffPage {
    frame: Frame,
    session: String,
    session_href: String,
    turn: u32,
    turn_href: String,
    against: Option<Against>,
}

/// The turn compared with, and what is different.
struct Against {
    turn: u32,
    href: String,
    unchanged: String,
    cache: CacheWords,
    changed: Vec<Changed>,
    added: Vec<PartView>,
    added_words: String,
    removed: Vec<PartView>,
    removed_words: String,
    cut: Option<String>,
}

/// What the change does to a provider's cache of the beginning.
struct CacheWords {
    is_kept: bool,
    words: String,
}

/// A part that took the place of another of the same kind and source.
struct Changed {
    part: PartView,
    diff: TextDiff,
}

type Loaded = (PromptPartRow, Option<Event>);

/// What the store says.
struct Known {
    session: SessionRow,
    against: Option<(u32, PromptDifference, Vec<Loaded>, Vec<Loaded>)>,
}

/// Shows the difference.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((session, turn)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, PageError> {
    let known = state.ask(move |store| Known::read(store, &session, turn, asked.against)).await?;
    html(&page(known, turn))
}

impl Known {
    fn read(store: &Store, session: &str, turn: u32, against: Option<u32>) -> Result<Self, PageError> {
        let session = store.session(session)?;
        let key = session.session_key;
        let last_call = |turn: u32| -> Result<(u32, u32), PageError> {
            let call = store.prompt_calls(key, turn)?.last().copied();
            let call =
                call.ok_or_else(|| PageError::NotFound { what: "prompt of turn", name: turn.to_string() })?;
            Ok((turn, call))
        };
        let later = last_call(turn)?;
        let earlier = match against {
            Some(against) => Some(last_call(against)?),
            None => store.prompt_before(key, turn)?,
        };
        let Some(earlier) = earlier else { return Ok(Self { session, against: None }) };
        let difference = store.prompt_difference(key, earlier, later)?;
        let added = load(store, key, &difference.added)?;
        let removed = load(store, key, &difference.removed)?;
        Ok(Self { session, against: Some((earlier.0, difference, added, removed)) })
    }
}

/// Reads what stands in the parts that are shown.
fn load(store: &Store, key: u32, parts: &[PromptPartRow]) -> Result<Vec<Loaded>, PageError> {
    let mut shown: Vec<PromptPartRow> =
        parts.iter().filter(|row| row.kind != "framing").take(PARTS).cloned().collect();
    name_calls(store, key, &mut [&mut shown])?;
    Ok(with_events(store, shown)?)
}

fn page(known: Known, turn: u32) -> DiffPage {
    let name = known.session.session.clone();
    DiffPage {
        frame: Frame::new(&format!("What changed before turn {turn}")),
        session: title(&known.session),
        session_href: links::session(&name),
        turn,
        turn_href: links::turn(&name, turn),
        against: known.against.map(|(earlier, difference, added, removed)| {
            against(&name, earlier, &difference, added, removed)
        }),
    }
}

fn against(
    name: &str,
    earlier: u32,
    difference: &PromptDifference,
    added: Vec<Loaded>,
    mut removed: Vec<Loaded>,
) -> Against {
    let mut space = Space::of_page();
    let mut changed = Vec::new();
    let mut plain_added = Vec::new();
    for (row, event) in added {
        match take_replaced(&row, &mut removed) {
            Some((_, old)) => {
                let mut diff = TextDiff::new(&words_of(old.as_ref()), &words_of(event.as_ref()));
                diff.bound(&mut space);
                changed.push(Changed { part: PartView::new(name, &row, true), diff });
            }
            None => plain_added.push(with_content(name, &row, event.as_ref(), true, &mut space)),
        }
    }
    let counts = (difference.added_count, difference.removed_count);
    Against {
        turn: earlier,
        href: links::turn(name, earlier),
        unchanged: format!("{} unchanged", counted(difference.unchanged.into(), "part", "parts")),
        cache: cache_words(difference),
        changed,
        added: plain_added,
        added_words: counted(counts.0.into(), "part", "parts"),
        removed: removed
            .iter()
            .map(|(row, event)| with_content(name, row, event.as_ref(), false, &mut space))
            .collect(),
        removed_words: counted(counts.1.into(), "part", "parts"),
        cut: (counts.0.max(counts.1) as usize > PARTS)
            .then(|| format!("at most {PARTS} parts of each side are shown")),
    }
}

/// Takes the part that `row` stands for now: one of the same kind and source.
fn take_replaced(row: &PromptPartRow, removed: &mut Vec<Loaded>) -> Option<Loaded> {
    row.source.as_ref()?;
    let at = removed.iter().position(|(old, _)| old.kind == row.kind && old.source == row.source)?;
    Some(removed.remove(at))
}

fn words_of(event: Option<&Event>) -> String {
    event.map(|event| text_of(&event.body)).unwrap_or_default()
}

fn with_content(
    name: &str,
    row: &PromptPartRow,
    event: Option<&Event>,
    is_new: bool,
    space: &mut Space,
) -> PartView {
    let mut view = PartView::new(name, row, is_new);
    view.content = event.map(|event| space.content(&text_of(&event.body), view.href.clone(), Room::Narrow));
    view.is_open = true;
    view
}

fn cache_words(difference: &PromptDifference) -> CacheWords {
    let is_kept = difference.same_beginning == difference.earlier_parts;
    let words = if is_kept {
        "The earlier prompt is the beginning of this one: a provider's cache of it stays good.".to_owned()
    } else {
        format!(
            "Only the first {} of the {} earlier parts are the beginning of this prompt: a provider's cache is lost from there on.",
            whole(difference.same_beginning.into()),
            whole(difference.earlier_parts.into())
        )
    };
    CacheWords { is_kept, words }
}
