//! A session, or one turn, as a transcript for a person at a terminal.

mod call;
mod events;
mod heading;
mod input;
mod order;
mod quiet;
mod turn;

use store::{FullEvent, SessionRow, Store, TurnRow};

use self::order::InOrder;
use self::turn::TurnWriter;
use super::excerpt::Room;
use super::look::Paper;
use super::{Notes, ReportError};

/// How much of what is shown.
#[derive(Clone, Copy, Debug)]
struct Depth {
    /// Whether texts are shown whole.
    whole: bool,
    /// Whether events that keep the books are shown.
    all: bool,
    /// Whether the session has times.
    timed: bool,
    /// Whether what has no result may still get one.
    running: bool,
}

impl Depth {
    /// Returns the room of a text that gets so many lines of its beginning and end where not all is shown.
    const fn room(self, first: usize, last: usize) -> Room {
        if self.whole { Room::Whole } else { Room::Lines(first, last) }
    }
}

pub(super) fn write(
    store: &Store,
    session: &SessionRow,
    turn: Option<u32>,
    all: bool,
    paper: &mut Paper<'_>,
) -> Result<Notes, ReportError> {
    let depth = Depth {
        whole: turn.is_some(),
        all,
        timed: session.started_at.is_some(),
        running: session.status_at(paper.clock.now()) == agent_core::Status::Running,
    };
    heading::of_session(session, turn.is_some(), paper)?;
    let mut writer = TurnWriter::new(session, depth);
    match turn {
        Some(turn) => {
            let row = store.turn(session.session_key, turn)?;
            writer.write(turn, Some(&row), &store.turn_events(session.session_key, turn)?, paper)?;
        }
        None => write_all(store, session, &mut writer, paper)?,
    }
    let hidden = writer.hidden();
    let mut notes = Notes::default();
    notes.lines.extend(match hidden {
        0 => None,
        1 => Some("1 event that keeps the books is not shown; --all shows it".to_owned()),
        hidden => Some(format!("{hidden} events that keep the books are not shown; --all shows them")),
    });
    Ok(notes)
}

fn write_all(
    store: &Store,
    session: &SessionRow,
    writer: &mut TurnWriter,
    paper: &mut Paper<'_>,
) -> Result<(), ReportError> {
    let mut order = InOrder::new(store, session.session_key);
    let mut write = |(turn, row, events): (u32, Option<TurnRow>, Vec<FullEvent>)| {
        writer.write(turn, row.as_ref(), &events, paper)
    };
    store.for_each_event::<ReportError>(session.session_key, None, |full| {
        for ready in order.take(full)? {
            write(ready)?;
        }
        Ok(())
    })?;
    order.rest().into_iter().try_for_each(write)
}
