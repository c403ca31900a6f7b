//! What was asked for by name or number, or words that help to name it rightly.

use agent_core::Timestamp;
use store::{SessionFilter, SessionRow, Store, StoreError};

use super::ReportError;
use super::plain::{cut, printable};

/// Sessions named in an answer that there is no such session.
const CANDIDATES: usize = 5;
/// Sessions that are looked through for them.
const LOOKED_THROUGH: u32 = 1000;
/// Columns of a title in such an answer.
const TITLE: usize = 50;

/// Finds a session by its name or a unique beginning of it. Of a sub-agent's name, `parent/agent`, both
/// parts can be shortened.
pub(super) fn session(store: &Store, name: &str) -> Result<SessionRow, ReportError> {
    match store.session(name) {
        Err(StoreError::NotFound { .. }) => {
            let child = name.split_once('/').map(|(parent, child)| child_of(store, parent, child));
            match child {
                Some(Ok(row)) => Ok(row),
                Some(Err(error @ StoreError::Ambiguous { .. })) => Err(ambiguous(store, name, error)),
                _ => Err(not_found(store, name)),
            }
        }
        Err(error @ StoreError::Ambiguous { .. }) => Err(ambiguous(store, name, error)),
        other => Ok(other?),
    }
}

fn child_of(store: &Store, parent: &str, child: &str) -> Result<SessionRow, StoreError> {
    let parent = store.session(parent)?.session;
    store.session(&format!("{parent}/{child}"))
}

/// Checks that the session has the turn.
pub(super) fn turn(store: &Store, session: &SessionRow, turn: u32) -> Result<(), ReportError> {
    match store.turn(session.session_key, turn) {
        Ok(_) => Ok(()),
        Err(StoreError::NotFound { .. }) => Err(ReportError::NoTurn {
            session: printable(&session.session),
            turn,
            last: store.last_turn(session.session_key)?,
        }),
        Err(error) => Err(error.into()),
    }
}

fn not_found(store: &Store, name: &str) -> ReportError {
    let filter = |text| SessionFilter { text, limit: Some(LOOKED_THROUGH), ..SessionFilter::default() };
    let list = |filter| match store.sessions(&filter, Timestamp::now()) {
        Ok(list) => list.sessions,
        Err(error) => {
            tracing::warn!(%error, "sessions of similar names could not be looked for");
            Vec::new()
        }
    };
    let mut words = "these have it in their words";
    let mut found = if name.is_empty() { Vec::new() } else { list(filter(Some(name.to_owned()))) };
    if found.is_empty() {
        words = "the newest are";
        found = list(filter(None));
    }
    let others = if found.is_empty() { String::new() } else { format!("; {words}{}", listed(&found)) };
    ReportError::NoSession { name: printable(name), others }
}

/// Adds to the error what can be chosen from.
fn ambiguous(store: &Store, name: &str, error: StoreError) -> ReportError {
    let StoreError::Ambiguous { count, .. } = error else { return error.into() };
    match store.sessions_beginning(name, CANDIDATES + 1) {
        Ok(found) if !found.is_empty() => {
            ReportError::Ambiguous { name: printable(name), count, some: listed(&found) }
        }
        Ok(_) => error.into(),
        Err(error) => error.into(),
    }
}

/// Returns the first of the sessions, a line each.
fn listed(rows: &[SessionRow]) -> String {
    let line = |row: &SessionRow| {
        let title = cut(&printable(row.title.as_deref().unwrap_or_default()), TITLE);
        let last = row.ended_at.map(|ts| ts.to_string()).unwrap_or_default();
        let last = last.get(..16).unwrap_or_default().replace('T', " ");
        format!("\n  {}  {last}  {title}", printable(&row.session)).trim_end().to_owned()
    };
    let mut lines: String = rows.iter().take(CANDIDATES).map(line).collect();
    if rows.len() > CANDIDATES {
        lines.push_str("\n  ...");
    }
    lines
}
