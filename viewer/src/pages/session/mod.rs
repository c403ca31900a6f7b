//! `/sessions/{session}`: a session as a transcript, with its outline and its first error.

pub(super) mod header;
mod minimap;
mod outline;
mod said;
mod transcript;

pub(super) use self::said::told_as_cut;
pub(super) use self::transcript::prompt_tokens;

use agent_core::Status;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use store::{
    RunRow, SessionFilter, SessionRow, Store, StoreError, ToolCallRow, TurnCounts, TurnRow, UnreadPiece,
};

use self::header::Header;
use self::minimap::Minimap;
use self::outline::Outline;
use self::said::Said;
use self::transcript::{TurnView, Windows};
use super::{Frame, filled, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{counted, whole};
use crate::links;
use crate::markup::one_line;

/// Turns on one page.
pub(super) const WINDOW: u32 = 50;
/// Bars of the minimap.
const BARS: u32 = 400;
/// Turns that are looked through for the words of a search.
const HITS: u32 = 10_000;
/// Sub-agents named in the header.
const CHILDREN: u32 = 30;
/// Unread pieces named in the header.
const UNREAD: u32 = 20;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The first turn shown, or `last`.
    from: Option<String>,
    /// Words to look for.
    q: Option<String>,
    /// A tool call to go to.
    call: Option<String>,
    /// A response or a turn's native key to go to.
    step: Option<String>,
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    frame: Frame,
    header: Header,
    minimap: Option<Minimap>,
    outline: Outline,
    turns: Vec<TurnView>,
    windows: Windows,
    empty: Option<Empty>,
    search: Option<Search>,
    search_text: String,
    is_live: bool,
}

/// What was looked for in the session.
struct Search {
    words: String,
    found: String,
    all: String,
}

/// What stands where there are no turns.
struct Empty {
    heading: &'static str,
    words: &'static str,
    /// Where its beginning is to be read: address and words.
    elsewhere: Option<(String, String)>,
}

impl Empty {
    /// Returns nothing for a session with turns.
    fn new(known: &Known) -> Option<Self> {
        if known.counts.last > 0 {
            return None;
        }
        if known.session.parent_kind.as_deref() != Some("fork") {
            return Some(Self {
                heading: "No turns yet",
                words: "Nothing that a model said is in what was read of this session.",
                elsewhere: None,
            });
        }
        let parent = known.parent.as_ref();
        Some(Self {
            heading: "Nothing of its own yet",
            words: "All that was read of this fork it shares with the session that it came from.",
            elsewhere: parent.map(|parent| match known.session.parent_turn {
                Some(turn) => (
                    links::turn(&parent.session, turn),
                    format!("Turn {turn} of {}, where it leaves", header::title(parent)),
                ),
                None => (links::session(&parent.session), header::title(parent)),
            }),
        })
    }
}

/// Shows the session, or leads to where it really is.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, PageError> {
    let words = filled(asked.q);
    let sought = asked.call.or(asked.step);
    let (query, asked_from) = (words.clone(), asked.from);
    let answer = state
        .ask(move |store| {
            let session = store.session(&name)?;
            if let Some(sought) = sought {
                return jump(store, &session, &sought).map(Answer::GoTo);
            }
            if session.session != name {
                return Ok(Answer::GoTo(links::session(&session.session)));
            }
            Known::read(store, session, asked_from.as_deref(), query.as_deref())
                .map(|known| Answer::Show(Box::new(known)))
        })
        .await?;
    match answer {
        Answer::GoTo(address) => Ok(Redirect::to(&address).into_response()),
        Answer::Show(known) => Ok(html(&page(*known, words, &state))?.into_response()),
    }
}

enum Answer {
    GoTo(String),
    Show(Box<Known>),
}

/// Returns the address of the turn that a call, response or key belongs to.
pub(super) fn jump(store: &Store, session: &SessionRow, sought: &str) -> Result<String, PageError> {
    let turn = store.turn_of(session.session_key, sought)?;
    let turn = turn.ok_or_else(|| PageError::NotFound { what: "call or step", name: sought.to_owned() })?;
    Ok(format!("{}#call-{}", links::turn(&session.session, turn), links::encode(sought)))
}

/// What the store says.
pub(super) struct Known {
    pub(super) session: SessionRow,
    pub(super) is_running: bool,
    pub(super) counts: TurnCounts,
    pub(super) from: u32,
    pub(super) turns: Vec<TurnRow>,
    pub(super) calls: Vec<ToolCallRow>,
    /// What was said in these turns.
    said: Said,
    pub(super) runs: Vec<RunRow>,
    pub(super) bars: Vec<store::MinimapBucket>,
    pub(super) first_error: Option<(TurnRow, Option<ToolCallRow>)>,
    /// The session it came from, when that is here.
    pub(super) parent: Option<SessionRow>,
    pub(super) children: Vec<SessionRow>,
    pub(super) children_count: u64,
    pub(super) unread: Vec<UnreadPiece>,
    pub(super) sources: Vec<store::SourceRow>,
    /// Turns that hold the words looked for, when words were looked for.
    pub(super) found: Option<Vec<u32>>,
}

impl Known {
    fn read(
        store: &Store,
        session: SessionRow,
        asked_from: Option<&str>,
        words: Option<&str>,
    ) -> Result<Self, PageError> {
        let key = session.session_key;
        let counts = store.turn_counts(key)?;
        let from = first_turn(asked_from, counts.last)?;
        let found = words.map(|words| store.turns_with_text(key, words, HITS)).transpose()?;
        let (turns, calls) = match &found {
            Some(found) => store.turns_numbered(key, &found[..found.len().min(WINDOW as usize)])?,
            None => {
                let to = from.saturating_add(WINDOW - 1);
                (store.turns(key, from, to)?, store.tool_calls(key, from, to)?)
            }
        };
        let now = agent_core::Timestamp::now();
        let family = children_and_count(store, &session.session, now)?;
        Ok(Self {
            is_running: session.status_at(now) == Status::Running,
            counts,
            from,
            said: Said::read(store, key, &turns, &calls)?,
            turns,
            calls,
            runs: store.runs(key)?,
            bars: store.minimap(key, BARS)?,
            first_error: session
                .first_error_turn
                .map(|turn| first_error(store, key, turn))
                .transpose()?
                .flatten(),
            parent: session.parent.as_deref().map(|name| parent(store, name)).transpose()?.flatten(),
            children_count: family.1,
            children: family.0,
            unread: store.unread_of(&session.session, UNREAD)?,
            sources: store.sources_of(&session.session)?,
            session,
            found,
        })
    }
}

/// Returns the first sub-agents and the number of all; they are counted only where not all are at hand.
fn children_and_count(
    store: &Store,
    session: &str,
    now: agent_core::Timestamp,
) -> Result<(Vec<SessionRow>, u64), StoreError> {
    let filter =
        SessionFilter { parent: Some(session.to_owned()), limit: Some(CHILDREN), ..Default::default() };
    let list = store.sessions(&filter, now)?;
    let count = match list.next {
        None => list.sessions.len() as u64,
        Some(_) => store.session_count(&filter, now)?,
    };
    Ok((list.sessions, count))
}

fn first_turn(asked: Option<&str>, last: u32) -> Result<u32, PageError> {
    let latest = last.saturating_sub(WINDOW - 1).max(1);
    match asked {
        None | Some("") => Ok(1),
        Some("last") => Ok(latest),
        Some(number) => match number.parse::<u32>() {
            Ok(number) => Ok(number.clamp(1, last.max(1))),
            Err(_) => Err(PageError::Misunderstood(format!("{number:?} is no turn number"))),
        },
    }
}

/// Returns the session of exactly this name, when it is here.
fn parent(store: &Store, name: &str) -> Result<Option<SessionRow>, StoreError> {
    match store.session(name) {
        Ok(row) => Ok(Some(row).filter(|row| row.session == name)),
        Err(StoreError::NotFound { .. } | StoreError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn first_error(
    store: &Store,
    key: u32,
    turn: u32,
) -> Result<Option<(TurnRow, Option<ToolCallRow>)>, StoreError> {
    let calls = store.tool_calls(key, turn, turn)?;
    let failed = calls.into_iter().find(transcript::has_failed);
    Ok(store.turns(key, turn, turn)?.pop().map(|row| (row, failed)))
}

fn page(known: Known, words: Option<String>, state: &AppState) -> SessionPage {
    let clock = state.clock();
    let name = known.session.session.clone();
    let header = Header::new(&known, &clock);
    let mut windows = Windows::new(&name, known.from, known.counts, known.is_running);
    let search = words.as_ref().zip(known.found.as_ref()).map(|(words, found)| Search {
        words: one_line(words),
        found: found_words(found.len()),
        all: links::session(&name),
    });
    if let Some(search) = &search {
        windows.words.clone_from(&search.found);
    }
    SessionPage {
        frame: Frame::new(&header.title),
        is_live: known.is_running,
        minimap: Minimap::new(&name, &known.bars, known.counts.last, known.from),
        outline: Outline::new(&known),
        turns: transcript::turns(&known, words.as_deref(), &clock),
        empty: Empty::new(&known).filter(|_| search.is_none()),
        search_text: words.unwrap_or_default(),
        search,
        windows,
        header,
    }
}

/// Returns how many turns a search found, and how many of them are shown.
fn found_words(count: usize) -> String {
    match count {
        0 => "no turn with a hit".to_owned(),
        count if count > WINDOW as usize => {
            format!("{} turns with a hit, the first {WINDOW} shown", whole(count as u64))
        }
        count => format!("{} with a hit", counted(count as u64, "turn", "turns")),
    }
}
