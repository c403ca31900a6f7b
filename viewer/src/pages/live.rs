//! `/live`: tells open pages that something changed, so that they fetch what is new.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use serde::Deserialize;
use store::{Change, Position};
use tokio::sync::watch;

use crate::AppState;
use crate::errors::PageError;

/// The shortest time between two notices: a busy session would else keep a browser busy.
const PAUSE: Duration = Duration::from_millis(400);

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// The session followed; all of them when absent.
    session: Option<String>,
}

struct Follower {
    state: AppState,
    changes: watch::Receiver<Change>,
    closing: watch::Receiver<bool>,
    followed: Followed,
}

/// What is followed, as far as the reader has been told of it.
enum Followed {
    /// All sessions; the position that the tables had reached.
    All(Position),
    /// One session: its number, and the position of the last record that changed it.
    One(u32, u64),
}

/// Sends a position whenever something changes, until the reader or the server goes.
pub(crate) async fn follow(
    State(state): State<AppState>,
    Query(asked): Query<Asked>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, PageError> {
    let changes = state.store().changes();
    let followed = match asked.session {
        Some(name) => {
            let row = state.ask(move |store| store.session(&name)).await?;
            Followed::One(row.session_key, row.position)
        }
        None => Followed::All(changes.borrow().position),
    };
    let follower = Follower { closing: state.closing(), state, changes, followed };
    let notices = unfold(follower, |mut follower| async move {
        let position = follower.next().await?;
        let notice = Event::default().event("change").id(position.to_string()).data(position.to_string());
        Some((Ok(notice), follower))
    });
    Ok(Sse::new(notices).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

impl Follower {
    /// Waits for a change of what is followed; nothing when the server ends or the store cannot answer.
    async fn next(&mut self) -> Option<u64> {
        loop {
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                _ = self.closing.wait_for(|closing| *closing) => return None,
            }
            tokio::time::sleep(PAUSE).await;
            let reached = self.changes.borrow_and_update().position;
            if let Some(position) = self.moved_to(reached).await? {
                return Some(position);
            }
        }
    }

    /// Returns the new position when what is followed has changed. A change names the sessions of one commit
    /// only, and commits may have been missed: so the session itself is asked.
    async fn moved_to(&mut self, reached: Position) -> Option<Option<u64>> {
        match &mut self.followed {
            Followed::All(told) => {
                let has_moved = reached > *told;
                *told = reached;
                Some(has_moved.then_some(reached.0))
            }
            Followed::One(key, told) => {
                let key = *key;
                let now = self.state.ask(move |store| store.session_by_key(key)).await.ok()?.position;
                let has_moved = now > *told;
                *told = now;
                Some(has_moved.then_some(now))
            }
        }
    }
}
