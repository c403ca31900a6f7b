//! `dashcam show`.

use std::io::Write;

use agent_core::Event;
use serde::Serialize;
use store::{FullEvent, Store};

use super::look::Paper;
use super::{Notes, ReportError, Style, find, json_line, transcript};

/// An event for scripts: the event, and its place as the projection gives it.
#[derive(Serialize)]
struct EventLine<'a> {
    /// Its place in the session, from 0.
    n: u32,
    /// Its turn's number in the session; 0 before the first.
    turn_number: u32,
    /// Its record in the journal.
    position: u64,
    #[serde(flatten)]
    event: &'a Event,
}

pub(super) fn write(
    store: &Store,
    session: &str,
    turn: Option<u32>,
    all: bool,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let row = find::session(store, session)?;
    if let Some(turn) = turn {
        find::turn(store, &row, turn)?;
    }
    match style {
        Style::Json => {
            store.for_each_event::<ReportError>(row.session_key, turn, |full| {
                let FullEvent { n, turn, position, ref event } = full;
                Ok(json_line(out, &EventLine { n, turn_number: turn, position: position.0, event })?)
            })?;
            Ok(Notes::default())
        }
        Style::Text(look) => transcript::write(store, &row, turn, all, &mut Paper::new(look, out)?),
    }
}
