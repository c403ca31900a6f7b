//! Answers for scripts and terminals: what the command line prints, and the local API gives.

mod diff;
mod doctor;
mod local;
mod prompt;
mod sessions;
mod show;
mod table;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use store::{SessionFilter, Store, StoreError};

pub use local::{AskRequest, read_answer, router};

/// A question that a subcommand asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// The sessions that a filter lets through.
    Sessions {
        /// The filter.
        filter: Box<SessionFilter>,
    },
    /// The events of a session or of one turn.
    Show {
        /// The session's name or a unique beginning of it.
        session: String,
        /// The turn.
        turn: Option<u32>,
    },
    /// The prompt of a turn.
    Prompt {
        /// The session's name or a unique beginning of it.
        session: String,
        /// The turn.
        turn: u32,
        /// The call in it.
        call: u32,
    },
    /// What changed in the prompt from one turn to another.
    Diff {
        /// The session's name or a unique beginning of it.
        session: String,
        /// The later turn.
        turn: u32,
        /// The earlier one; the one before when absent.
        against: Option<u32>,
    },
    /// How the data folder is.
    Doctor {
        /// Whether every commit of the journal is to be verified.
        verify: bool,
    },
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// JSON Lines, whose names are fixed: absent means unknown.
    Json,
    /// For a person at a terminal.
    Text,
}

/// What goes beside the data: notes for the person, and whether something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// Sentences for standard error.
    pub lines: Vec<String>,
    /// Whether the answer shows a fault, so that the exit code tells of it.
    pub faulty: bool,
}

/// Says why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody reads the answer any more, or the place it goes to is full.
    #[error("cannot write the answer: {0}")]
    Write(#[from] io::Error),
}

/// Writes the answer to `out`. Blocks; not for async threads.
pub fn answer(
    store: &Store,
    question: &Question,
    style: Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    match question {
        Question::Sessions { filter } => sessions::write(store, filter, style, out),
        Question::Show { session, turn } => show::write(store, session, *turn, style, out),
        Question::Prompt { session, turn, call } => prompt::write(store, session, *turn, *call, style, out),
        Question::Diff { session, turn, against } => diff::write(store, session, *turn, *against, style, out),
        Question::Doctor { verify } => doctor::write(store, *verify, style, out),
    }
}

/// Writes one line of JSON.
fn json_line<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
