//! `/sessions/{session}/turns/{turn}`: one turn with its prompt, its response, its tools and its records.

mod came_back;
mod fields;
mod parts;
mod segments;
mod sent;
mod text_diff;
mod tool;
mod usage;

use agent_core::Status;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use store::{
    FullEvent, ModelCallRow, SessionFilter, SessionRow, Store, StoreError, ToolCallRow, TurnRow, TurnsAround,
};

use self::came_back::{CameBack, Item};
use self::sent::{KnownPrompt, Sent};
use self::usage::Usage;
use super::content::Space;
use super::session::WINDOW;
use super::session::header::title;
use super::words::{self, Word};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{duration, whole};
use crate::links;
use crate::markup::one_line;
use crate::times::{Clock, ShownTime};

pub(super) use self::parts::{PartView, name_calls, with_events};
pub(super) use self::sent::FidelityView;
pub(super) use self::text_diff::TextDiff;

/// Sub-agents looked through for those that a call started.
const CHILDREN: u32 = 500;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The attempt whose prompt is shown.
    call: Option<u32>,
    /// The first piece of the response shown, for responses of very many.
    piece: Option<usize>,
}

#[derive(Template)]
#[template(path = "turn.html")]
struct TurnPage {
    frame: Frame,
    session: String,
    session_href: String,
    session_encoded: String,
    status: Word,
    steps: Steps,
    number: u32,
    run: u32,
    run_turn: u32,
    time: ShownTime,
    duration: Option<String>,
    model: Option<String>,
    finish: Option<String>,
    request: Option<String>,
    notes: Vec<&'static str>,
    errors: Vec<ErrorLine>,
    sent: Option<Sent>,
    came_back: CameBack,
    usage: Usage,
    records_href: String,
    diff_href: String,
    is_live: bool,
}

/// Where the other turns are.
#[derive(Debug)]
struct Steps {
    last: String,
    first_href: Option<String>,
    before: Option<String>,
    after: Option<String>,
    last_href: Option<String>,
    error_before: Option<String>,
    error_after: Option<String>,
    request_before: Option<String>,
    request_after: Option<String>,
    up: String,
}

/// An error of the turn, with the place of its call on the page.
#[derive(Debug)]
struct ErrorLine {
    what: String,
    words: String,
    href: String,
}

/// Shows the turn.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((name, turn)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Response, PageError> {
    let clock = state.clock();
    let (call, piece) = (asked.call, asked.piece.unwrap_or(0));
    let answer = state
        .ask(move |store| {
            let session = store.session(&name)?;
            if session.session != name {
                return Ok(Err(links::turn(&session.session, turn)));
            }
            Known::read(store, session, turn, call).map(Ok::<_, String>)
        })
        .await?;
    match answer {
        Ok(known) => Ok(html(&page(known, piece, &clock))?.into_response()),
        Err(address) => Ok(Redirect::to(&address).into_response()),
    }
}

/// What the store says.
struct Known {
    session: SessionRow,
    row: TurnRow,
    events: Vec<FullEvent>,
    tools: Vec<ToolCallRow>,
    calls: Vec<ModelCallRow>,
    prompt: Option<KnownPrompt>,
    children: Vec<SessionRow>,
    around: TurnsAround,
}

impl Known {
    fn read(store: &Store, session: SessionRow, turn: u32, call: Option<u32>) -> Result<Self, StoreError> {
        let key = session.session_key;
        let row = store.turn(key, turn)?;
        let name = session.session.clone();
        // The prompt's queries and the others are about as dear, and know nothing of each other.
        std::thread::scope(|scope| {
            let prompt = scope.spawn(|| KnownPrompt::read(store, &name, key, turn, call));
            let tools = store.tool_calls(key, turn, turn)?;
            Ok(Self {
                row,
                events: store.turn_events(key, turn)?,
                calls: store.model_calls(key, turn, turn)?,
                children: if tools.is_empty() { Vec::new() } else { children(store, &name)? },
                around: store.turns_around(key, turn)?,
                tools,
                prompt: prompt.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
                session,
            })
        })
    }
}

fn children(store: &Store, session: &str) -> Result<Vec<SessionRow>, StoreError> {
    let filter =
        SessionFilter { parent: Some(session.to_owned()), limit: Some(CHILDREN), ..Default::default() };
    Ok(store.sessions(&filter, agent_core::Timestamp::now())?.sessions)
}

fn page(known: Known, piece: usize, clock: &Clock) -> TurnPage {
    let name = known.session.session.clone();
    let mut space = Space::of_page();
    let here = links::turn(&name, known.row.turn);
    let is_running = known.session.status_at(clock.now()) == Status::Running;
    let row = &known.row;
    // The response comes first: what it says matters more than what was sent again.
    let came_back = CameBack::new(&known, piece, clock, &mut space);
    let errors = errors(&came_back);
    TurnPage {
        frame: Frame::new(&format!("Turn {} · {}", row.turn, title(&known.session))),
        session: title(&known.session),
        session_href: links::session(&name),
        steps: steps(&known, &name),
        number: row.turn,
        run: row.run,
        run_turn: row.run_turn,
        time: clock.show(row.started_at),
        duration: row
            .started_at
            .zip(row.ended_at)
            .map(|(start, end)| duration(u64::try_from(end.millis_since(start)).unwrap_or(0))),
        model: row.model.as_deref().map(one_line),
        finish: row.finish_reason.as_deref().map(one_line),
        request: row.user_preview.as_deref().map(one_line).filter(|words| !words.is_empty()),
        notes: notes(row),
        usage: Usage::new(row, &known.calls, clock),
        is_live: is_running && row.turn == known.around.last,
        status: words::turn(row),
        errors,
        came_back,
        sent: known.prompt.map(|prompt| Sent::new(&name, known.row.turn, prompt, &mut space)),
        records_href: format!("{here}/records"),
        diff_href: format!("{here}/diff"),
        session_encoded: links::encode(&name),
    }
}

fn steps(known: &Known, name: &str) -> Steps {
    let (turn, last) = (known.row.turn, known.around.last);
    let to = |turn: u32| links::turn(name, turn);
    Steps {
        last: whole(last.into()),
        first_href: (turn > 1).then(|| to(1)),
        before: (turn > 1).then(|| to(turn - 1)),
        after: (turn < last).then(|| to(turn + 1)),
        last_href: (turn < last).then(|| to(last)),
        error_before: known.around.error_before.map(to),
        error_after: known.around.error_after.map(to),
        request_before: known.around.request_before.map(to),
        request_after: known.around.request_after.map(to),
        up: format!("{}?from={}#t{turn}", links::session(name), (turn - 1) / WINDOW * WINDOW + 1),
    }
}

fn notes(row: &TurnRow) -> Vec<&'static str> {
    let all = [
        (row.compacted, "the context was compacted before this turn"),
        (row.interrupted, "the user interrupted this turn"),
        (!row.responded, "no response is in the source"),
    ];
    all.into_iter().filter_map(|(holds, words)| holds.then_some(words)).collect()
}

fn errors(came_back: &CameBack) -> Vec<ErrorLine> {
    came_back
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Tool(tool) if tool.has_failed => Some(ErrorLine {
                what: format!("{} {}", tool.name, tool.status.text),
                words: tool.error_line.clone(),
                href: format!("#{}", tool.anchor),
            }),
            Item::Failure(failure) => Some(ErrorLine {
                what: "the model call failed".to_owned(),
                words: failure.words.clone(),
                href: "#response".to_owned(),
            }),
            _ => None,
        })
        .take(5)
        .collect()
}
