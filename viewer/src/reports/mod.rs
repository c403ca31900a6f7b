//! Answers for scripts and terminals: what the command line prints, and the local API gives.

mod cost;
mod diff;
mod doctor;
mod excerpt;
mod find;
mod local;
mod look;
mod metrics;
mod money;
mod plain;
mod prompt;
mod rebuild;
mod sessions;
mod show;
mod table;
mod transcript;

use std::io::{self, Write};

use agent_core::BudgetSet;
use agent_core::price::OwnPriceError;
use serde::{Deserialize, Serialize};
use store::metrics::{Group, Scope};
use store::{SessionFilter, Store, StoreError};

use crate::typed_time::TimeError;

pub use local::{AskRequest, read_answer, router};
pub use look::Look;
pub use metrics::MetricClass;
pub use money::PricesAsked;
pub use rebuild::Rebuilt;

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
        /// Whether the text shows the events that keep the books, too. JSON always has all events.
        all: bool,
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
    /// What calls of models used and cost.
    Cost {
        /// Of what.
        scope: Box<Scope>,
        /// By what; one sum where absent.
        by: Option<Group>,
        /// The zone of the days, as `TypedTimes::zone_text` gives it.
        zone: String,
    },
    /// How agents do.
    Metrics {
        /// Of what.
        scope: Box<Scope>,
        /// By what; one row where absent.
        by: Option<Group>,
        /// Which figures.
        class: MetricClass,
        /// The zone of the days, as `TypedTimes::zone_text` gives it.
        zone: String,
    },
    /// Prices, and what is done with them.
    Prices {
        /// What.
        what: PricesAsked,
    },
    /// The ceilings; sets one first where one is given.
    Budgets {
        /// What is to be set.
        set: Option<BudgetSet>,
    },
    /// Have the tables made again while the old ones answer.
    Rebuild,
    /// How the data folder is.
    Doctor {
        /// Whether every commit of the journal is to be verified.
        verify: bool,
    },
}

/// How an answer is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// JSON Lines, whose names are fixed: absent means unknown.
    Json,
    /// For a person at a terminal.
    Text(Look),
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
    /// Own prices cannot be used.
    #[error(transparent)]
    Prices(#[from] OwnPriceError),
    /// No session has this name.
    #[error("no session {name}{others}")]
    NoSession {
        /// What was given.
        name: String,
        /// Sessions that may have been meant, as the end of the sentence.
        others: String,
    },
    /// The beginning of a name fits more than one session.
    #[error("{name} fits {count} sessions; give more of the name:{some}")]
    Ambiguous {
        /// What was given.
        name: String,
        /// How many it fits.
        count: usize,
        /// A few of them, a line each.
        some: String,
    },
    /// The session has no such turn.
    #[error("no turn {turn} in {session}, {}", range(*.last))]
    NoTurn {
        /// The session.
        session: String,
        /// What was given.
        turn: u32,
        /// Its last turn.
        last: u32,
    },
    /// The turn has no such call of a model.
    #[error("no call {call} in turn {turn}: {}", calls(.known))]
    NoCall {
        /// The turn.
        turn: u32,
        /// What was given.
        call: u32,
        /// Those that it has.
        known: Vec<u32>,
    },
    /// The zone of the times is not known here.
    #[error(transparent)]
    Zone(#[from] TimeError),
    /// Nobody reads the answer any more, or the place it goes to is full.
    #[error("cannot write the answer")]
    Write(#[from] io::Error),
}

fn range(last: u32) -> String {
    match last {
        0 => "which has no turns".to_owned(),
        1 => "which has turn 1 only".to_owned(),
        last => format!("which has turns 1 to {last}"),
    }
}

fn calls(known: &[u32]) -> String {
    match known {
        [] => "no prompt of it is known".to_owned(),
        [only] => format!("its only call of a model is {only}"),
        [first, .., last] => format!("its calls of a model are {first} to {last}"),
    }
}

/// Writes the answer to `out`. Blocks; not for async threads.
pub fn answer(
    store: &Store,
    question: &Question,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    match question {
        Question::Sessions { filter } => sessions::write(store, filter, style, out),
        Question::Show { session, turn, all } => show::write(store, session, *turn, *all, style, out),
        Question::Prompt { session, turn, call } => prompt::write(store, session, *turn, *call, style, out),
        Question::Diff { session, turn, against } => diff::write(store, session, *turn, *against, style, out),
        Question::Cost { scope, by, zone } => cost::write(store, scope, *by, zone, style, out),
        Question::Metrics { scope, by, class, zone } => {
            metrics::write(store, scope, *by, *class, zone, style, out)
        }
        Question::Prices { what } => money::prices(store, what, style, out),
        Question::Budgets { set } => money::budgets(store, set.as_ref(), style, out),
        Question::Rebuild => rebuild::write(store, style, out),
        Question::Doctor { verify } => doctor::write(store, *verify, style, out),
    }
}

/// Writes one line of JSON.
fn json_line<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
