//! `/sessions/{session}/turns/{turn}/diff`: what changed in the prompt since an earlier turn.

use agent_core::Event;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use store::{PromptDifference, PromptPartRow, SessionRow, Store};

use super::content::{Room, Space};
use super::event_text::text_of;
use super::session::header::title;
use super::turn::{PartView, Previews, TextDiff, describe, with_events};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{counted, whole};
use crate::kept::Keeper;
use crate::links;

/// Changes on one page.
const CHANGES: usize = 60;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The turn to compare with; the one before it that has a prompt when absent.
    against: Option<u32>,
    /// How many changes stand on the pages before.
    from: Option<usize>,
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
    window: Option<Window>,
    /// Where all parts are, when there are more changes than can be listed.
    all_parts: Option<String>,
}

/// Which of the changes stand on this page, where there are too many for one.
struct Window {
    words: String,
    before: Option<String>,
    after: Option<String>,
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

/// A change, with what stands in its parts: where both are there, the new one took the place of the old one.
struct Change<T> {
    new: Option<T>,
    old: Option<T>,
}

type Loaded = (PromptPartRow, Option<Event>);

/// What the store says.
struct Known {
    session: SessionRow,
    against: Option<KnownAgainst>,
}

struct KnownAgainst {
    turn: u32,
    difference: PromptDifference,
    changes: Vec<Change<Loaded>>,
    previews: Previews,
    /// All changes of which rows are known, here and on other pages.
    count: usize,
    /// Whether there are more changes than rows are given of.
    is_cut: bool,
}

/// Shows the difference.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((session, turn)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
    keeper: Keeper,
) -> Result<Response, PageError> {
    let from = asked.from.unwrap_or(0);
    let (version, known) = state
        .ask(move |store| {
            let session = store.session(&session)?;
            let version = keeper.version(&[session.session_key.into(), session.position]);
            let known = match version.is_held() {
                true => None,
                false => Some(Known::read(store, session, turn, asked.against, from)?),
            };
            Ok::<_, PageError>((version, known))
        })
        .await?;
    match known {
        Some(known) => Ok(version.mark(html(&page(known, turn, from))?.into_response())),
        None => Ok(version.unchanged()),
    }
}

impl Known {
    fn read(
        store: &Store,
        session: SessionRow,
        turn: u32,
        against: Option<u32>,
        from: usize,
    ) -> Result<Self, PageError> {
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
        let mut difference = store.prompt_difference(key, earlier, later)?;
        let rows = (difference.added.len(), difference.removed.len());
        let is_cut = rows != (difference.added_count as usize, difference.removed_count as usize);
        // What stands between the parts is no part.
        for (rows, count) in [
            (&mut difference.added, &mut difference.added_count),
            (&mut difference.removed, &mut difference.removed_count),
        ] {
            let all = rows.len();
            rows.retain(|row| row.kind != "framing");
            *count -= u32::try_from(all - rows.len()).unwrap_or(0);
        }
        let all = pair(std::mem::take(&mut difference.added), std::mem::take(&mut difference.removed));
        let count = all.len();
        let window: Vec<_> = all.into_iter().skip(from).take(CHANGES).collect();
        let (changes, previews) = load(store, key, window)?;
        let against = KnownAgainst { turn: earlier.0, difference, changes, previews, count, is_cut };
        Ok(Self { session, against: Some(against) })
    }
}

/// Pairs what took the place of something with it: a part of the same kind and source. These come first.
fn pair(added: Vec<PromptPartRow>, mut removed: Vec<PromptPartRow>) -> Vec<Change<PromptPartRow>> {
    let mut changed = Vec::new();
    let mut new = Vec::new();
    for row in added {
        match take_replaced(&row, &mut removed) {
            Some(old) => changed.push(Change { new: Some(row), old: Some(old) }),
            None => new.push(Change { new: Some(row), old: None }),
        }
    }
    let old = removed.into_iter().map(|row| Change { new: None, old: Some(row) });
    changed.into_iter().chain(new).chain(old).collect()
}

/// Takes the part that `row` stands for now: one of the same kind and source.
fn take_replaced(row: &PromptPartRow, removed: &mut Vec<PromptPartRow>) -> Option<PromptPartRow> {
    row.source.as_ref()?;
    let at = removed.iter().position(|old| old.kind == row.kind && old.source == row.source)?;
    Some(removed.remove(at))
}

/// Reads what stands in the parts.
fn load(
    store: &Store,
    key: u32,
    window: Vec<Change<PromptPartRow>>,
) -> Result<(Vec<Change<Loaded>>, Previews), PageError> {
    let sides: Vec<(bool, bool)> =
        window.iter().map(|change| (change.new.is_some(), change.old.is_some())).collect();
    let mut rows: Vec<PromptPartRow> =
        window.into_iter().flat_map(|change| [change.new, change.old]).flatten().collect();
    let previews = describe(store, key, &mut [&mut rows])?;
    let mut loaded = with_events(store, rows)?.into_iter();
    let changes = sides
        .into_iter()
        .map(|(has_new, has_old)| {
            let new = has_new.then(|| loaded.next()).flatten();
            Change { new, old: has_old.then(|| loaded.next()).flatten() }
        })
        .collect();
    Ok((changes, previews))
}

fn page(known: Known, turn: u32, from: usize) -> DiffPage {
    let name = known.session.session.clone();
    DiffPage {
        frame: Frame::new(&format!("What changed before turn {turn}")),
        session: title(&known.session),
        session_href: links::session(&name),
        turn,
        turn_href: links::turn(&name, turn),
        against: known.against.map(|known| against(&name, turn, known, from)),
    }
}

fn against(name: &str, turn: u32, known: KnownAgainst, from: usize) -> Against {
    let KnownAgainst { turn: earlier, difference, changes, previews, count, is_cut } = known;
    let mut space = Space::of_page();
    let (mut changed, mut added, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for change in changes {
        match (change.new, change.old) {
            (Some((row, event)), Some((_, old))) => {
                let mut diff = TextDiff::new(&words_of(old.as_ref()), &words_of(event.as_ref()));
                diff.bound(&mut space);
                changed.push(Changed { part: PartView::new(name, &row, row.turn == turn, &previews), diff });
            }
            (Some(new), None) => {
                added.push(with_content(name, &new, new.0.turn == turn, &previews, &mut space));
            }
            (None, Some(old)) => removed.push(with_content(name, &old, false, &previews, &mut space)),
            (None, None) => {}
        }
    }
    let parts = |count: u32| counted(count.into(), "part", "parts");
    let here = links::turn(name, turn);
    Against {
        turn: earlier,
        href: links::turn(name, earlier),
        unchanged: format!("{} unchanged", parts(difference.unchanged)),
        cache: cache_words(&difference),
        changed,
        added,
        added_words: parts(difference.added_count),
        removed,
        removed_words: parts(difference.removed_count),
        window: window(&format!("{here}/diff?against={earlier}"), from, count),
        all_parts: is_cut.then(|| format!("{here}/prompt")),
    }
}

fn window(here: &str, from: usize, count: usize) -> Option<Window> {
    let to = (from + CHANGES).min(count);
    let link = |from: usize| format!("{here}&from={from}");
    (from > 0 || to < count).then(|| Window {
        words: format!(
            "changes {} to {} of {}",
            whole((from + 1).min(to) as u64),
            whole(to as u64),
            whole(count as u64)
        ),
        before: (from > 0).then(|| link(from.saturating_sub(CHANGES))),
        after: (to < count).then(|| link(to)),
    })
}

fn words_of(event: Option<&Event>) -> String {
    event.map(|event| text_of(&event.body)).unwrap_or_default()
}

fn with_content(
    name: &str,
    (row, event): &Loaded,
    is_new: bool,
    previews: &Previews,
    space: &mut Space,
) -> PartView {
    let mut view = PartView::new(name, row, is_new, previews);
    let text = |event: &Event| text_of(&event.body);
    view.content = event.as_ref().map(|event| space.content(&text(event), view.href.clone(), Room::Narrow));
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
