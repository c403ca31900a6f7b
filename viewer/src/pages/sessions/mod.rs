//! `/sessions`: the list of sessions, newest first, with its filter.

mod filter;
mod line;

use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rustc_hash::{FxHashMap, FxHashSet};
use store::{ListPlace, SessionFilter, SessionList, SessionRow, Store, StoreError};

use self::filter::{Asked, Form};
use self::line::{Around, SessionLine};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{counted, whole};
use crate::times::Clock;

/// Sessions on one page.
const PAGE: u32 = 50;

#[derive(Template)]
#[template(path = "sessions.html")]
struct SessionsPage {
    frame: Frame,
    form: Form,
    /// Why the filter is not understood.
    problem: Option<String>,
    lines: Vec<SessionLine>,
    /// Such as `3 sessions`.
    count: String,
    parent: Option<String>,
    restricts: bool,
    /// Whether there is no session at all.
    is_new: bool,
    first: Option<String>,
    next: Option<String>,
    zone: String,
}

/// Shows the list.
pub(crate) async fn show(
    State(state): State<AppState>,
    Query(asked): Query<Asked>,
) -> Result<Response, PageError> {
    let clock = state.clock();
    let asked = asked.cleaned();
    let (filter, problem) = match asked.filter(&clock) {
        Ok(filter) => (SessionFilter { limit: Some(PAGE), ..filter }, None),
        Err(problem) => (SessionFilter { limit: Some(0), ..Default::default() }, Some(problem)),
    };
    let at = clock.clone();
    let known = state.ask(move |store| Known::read(store, &filter, &at)).await?;
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok((status, html(&page(asked, problem, known, &clock))?).into_response())
}

/// What the store says.
struct Known {
    list: SessionList,
    count: u64,
    total: u64,
    lines: Vec<SessionLine>,
    choices: filter::Choices,
    restricts: bool,
}

impl Known {
    fn read(store: &Store, filter: &SessionFilter, clock: &Clock) -> Result<Self, StoreError> {
        let list = store.sessions(filter, clock.now())?;
        let neighbours = Neighbours::read(store, &list.sessions)?;
        let words = filter.text.as_deref();
        let lines = list
            .sessions
            .iter()
            .map(|row| SessionLine::new(row, neighbours.around(row), words, clock))
            .collect();
        let all = SessionFilter { top_only: filter.top_only, ..Default::default() };
        let count = store.session_count(filter, clock.now())?;
        let total = if filter.restricts() { store.session_count(&all, clock.now())? } else { count };
        Ok(Self {
            count,
            total,
            choices: filter::Choices::read(store)?,
            restricts: filter.restricts(),
            lines,
            list,
        })
    }
}

/// What is told of the listed sessions by rows other than their own.
struct Neighbours {
    children: FxHashMap<String, u64>,
    parents: FxHashSet<String>,
}

impl Neighbours {
    fn read(store: &Store, rows: &[SessionRow]) -> Result<Self, StoreError> {
        let names: Vec<String> = rows.iter().map(|row| row.session.clone()).collect();
        let parents: Vec<String> = rows.iter().filter_map(|row| row.parent.clone()).collect();
        Ok(Self { children: store.child_counts(&names)?, parents: store.known_sessions(&parents)? })
    }

    fn around(&self, row: &SessionRow) -> Around {
        Around {
            children: self.children.get(&row.session).copied().unwrap_or(0),
            unanswered: row.unanswered_turns,
            is_orphan: row.parent.as_ref().is_some_and(|parent| !self.parents.contains(parent)),
        }
    }
}

fn page(asked: Asked, problem: Option<String>, known: Known, clock: &Clock) -> SessionsPage {
    let count = if known.restricts {
        format!("{} of {} fit", whole(known.count), counted(known.total, "session", "sessions"))
    } else {
        counted(known.count, "session", "sessions")
    };
    SessionsPage {
        frame: Frame::new("Sessions"),
        problem,
        count,
        parent: asked.parent.clone(),
        restricts: known.restricts,
        is_new: known.total == 0,
        first: asked.after.is_some().then(|| asked.address(None)),
        next: known.list.next.map(|place| asked.address(Some(place_word(place)))),
        form: Form::new(asked, known.choices),
        lines: known.lines,
        zone: clock.zone_name(),
    }
}

fn place_word(place: ListPlace) -> String {
    format!("{}.{}", place.ended_at_micros, place.session_key)
}
