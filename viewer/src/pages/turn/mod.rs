//! `/sessions/{session}/turns/{turn}`: one turn with its prompt, its response, its tools and its records.

mod anchor;
mod came_back;
mod fields;
mod known;
mod parts;
mod segments;
mod sent;
mod steps;
mod text_diff;
mod tool;
mod unsent;
mod usage;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use store::{SessionRow, Store, StoreError, TurnRow};

use self::came_back::{CameBack, Item};
use self::known::{Known, Look};
use self::sent::Sent;
use self::steps::Steps;
use self::unsent::Unsent;
use self::usage::Usage;
use super::content::Space;
use super::session::header::title;
use super::session::told_as_cut;
use super::words::{self, Word};
use super::{Frame, filled, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::duration;
use crate::kept::{Keeper, Version};
use crate::links;
use crate::markup::one_line;
use crate::times::{Clock, ShownTime};

pub(super) use self::parts::{PartView, Previews, describe, with_events};
pub(super) use self::sent::FidelityView;
pub(super) use self::text_diff::TextDiff;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The attempt whose prompt is shown, or the id of a tool call to go to.
    call: Option<String>,
    /// The first piece of the response shown, for responses of very many.
    piece: Option<usize>,
    /// The words of the search that the reader comes from.
    q: Option<String>,
}

#[derive(Template)]
#[template(path = "turn.html")]
struct TurnPage {
    frame: Frame,
    session: String,
    session_href: String,
    session_encoded: String,
    here: String,
    status: Word,
    steps: Steps,
    number: u32,
    run: u32,
    run_turn: u32,
    time: ShownTime,
    span: Option<String>,
    model: Option<String>,
    finish: Option<String>,
    request: Option<String>,
    notes: Vec<&'static str>,
    errors: Vec<ErrorLine>,
    sent: Option<Sent>,
    unsent: Option<Unsent>,
    came_back: CameBack,
    no_answer: &'static str,
    usage: Usage,
    records_href: String,
    is_live: bool,
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
    keeper: Keeper,
) -> Result<Response, PageError> {
    let clock = state.clock();
    let (now, piece) = (clock.now(), asked.piece.unwrap_or(0));
    let call = filled(asked.call);
    let attempt = call.as_deref().map(str::parse).transpose();
    let words = filled(asked.q);
    let answer = state
        .ask(move |store| {
            let session = store.session(&name)?;
            let Ok(attempt) = attempt else {
                return super::session::jump(store, &session, &call.unwrap_or_default()).map(Answer::GoTo);
            };
            if session.session != name {
                return Ok(Answer::GoTo(links::turn(&session.session, turn)));
            }
            let row = turn_row(store, &session, turn)?;
            let look = Look::new(store, session, row, now)?;
            let version = look.version(&keeper);
            if let Some(version) = version.as_ref().filter(|version| version.is_held()) {
                return Ok(Answer::AsBefore(version.unchanged()));
            }
            let known = Known::read(store, look, attempt, words)?;
            Ok::<_, PageError>(Answer::Show(Box::new(known), version))
        })
        .await?;
    match answer {
        Answer::GoTo(address) => Ok(Redirect::to(&address).into_response()),
        Answer::AsBefore(response) => Ok(response),
        Answer::Show(known, version) => {
            let response = html(&page(*known, piece, &clock))?.into_response();
            Ok(match version {
                Some(version) => version.mark(response),
                None => response,
            })
        }
    }
}

/// Returns the turn, or says where the session's turns are when it has none of this number.
pub(super) fn turn_row(store: &Store, session: &SessionRow, turn: u32) -> Result<TurnRow, PageError> {
    match store.turn(session.session_key, turn) {
        Err(StoreError::NotFound { .. }) => {
            let last = store.last_turn(session.session_key)?;
            Err(PageError::NoTurn { turn, last, session: links::session(&session.session) })
        }
        row => Ok(row?),
    }
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    turn: u32,
}

/// `/sessions/{session}/turns?turn=7`: where the field for a turn's number leads without scripts.
pub(crate) async fn go(Path(name): Path<String>, Query(wanted): Query<Wanted>) -> Redirect {
    Redirect::to(&links::turn(&name, wanted.turn))
}

enum Answer {
    GoTo(String),
    AsBefore(Response),
    Show(Box<Known>, Option<Version>),
}

/// The page may not show what depends on the time of day: browsers keep it.
fn page(known: Known, piece: usize, clock: &Clock) -> TurnPage {
    let name = known.session.session.clone();
    let mut space = Space::of_page();
    let here = links::turn(&name, known.row.turn);
    let row = &known.row;
    // The response comes first: what it says matters more than what was sent again.
    let came_back = CameBack::new(&known, piece, clock, &mut space);
    let errors = errors(&came_back);
    let unsent = known.prompt.is_none().then(|| Unsent::new(&known, &mut space));
    TurnPage {
        frame: Frame::new(&format!("Turn {} · {}", row.turn, title(&known.session))),
        session: title(&known.session),
        session_href: links::session(&name),
        steps: Steps::new(&known.session, row.turn, &known.around, known.found.as_ref()),
        number: row.turn,
        run: row.run,
        run_turn: row.run_turn,
        time: clock.show(row.started_at),
        span: row
            .started_at
            .zip(row.ended_at)
            .map(|(start, end)| duration(u64::try_from(end.millis_since(start)).unwrap_or(0))),
        model: row.model.as_deref().map(one_line),
        finish: row.finish_reason.as_deref().map(one_line),
        request: row
            .user_preview
            .as_deref()
            .map(|words| one_line(&told_as_cut(words)))
            .filter(|words| !words.is_empty()),
        notes: notes(row),
        no_answer: no_answer(row, known.is_growing),
        usage: Usage::new(row, &known.calls, clock),
        is_live: known.is_growing,
        status: words::turn(row),
        errors,
        came_back,
        unsent,
        sent: known.prompt.map(|prompt| Sent::new(&name, &known.row, &known.calls, prompt, &mut space)),
        records_href: format!("{here}/records"),
        session_encoded: links::encode(&name),
        here,
    }
}

fn notes(row: &TurnRow) -> Vec<&'static str> {
    let all = [
        (row.compacted, "the context was compacted before this turn"),
        (row.interrupted, "the user interrupted this turn"),
    ];
    all.into_iter().filter_map(|(holds, words)| holds.then_some(words)).collect()
}

/// Returns why nothing came back, as far as anybody can tell.
const fn no_answer(row: &TurnRow, is_growing: bool) -> &'static str {
    if row.responded {
        "The model answered without words and without a tool call."
    } else if is_growing {
        "Nothing yet: the session is running."
    } else if row.failed_model_calls > 0 {
        "This turn was not answered: the call of the model failed."
    } else if row.interrupted {
        "This turn was not answered: the user broke it off first."
    } else {
        "This turn was not answered, as far as the source tells: it ends here, or goes on with another request."
    }
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
