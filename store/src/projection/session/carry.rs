//! The small part of a session's state, kept as JSON in its row.

use agent_core::Usage;
use serde::{Deserialize, Serialize};

use super::super::prompt::PromptCarry;
use super::copies::Told;
use super::ending::LastThing;
use super::learning::Learned;
use super::queue::Queued;
use super::usage::Report;

/// What must be known of a session to go on with it, besides its rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::projection) struct Carry {
    pub(super) next_event: u32,
    pub(super) next_tool_call: u32,
    /// Events with a number of their recorder that came in, those of ancestors included.
    pub(super) numbered: u64,
    pub(super) turn: CurrentTurn,
    pub(super) run: CurrentRun,
    pub(super) response: LastResponse,
    /// Whether costs were reported with calls; then a total of the session adds nothing.
    pub(super) costs_by_call: bool,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) last_thing: LastThing,
    pub(super) quality_counts: [u32; 5],
    pub(super) titled: bool,
    pub(super) titled_by_user: bool,
    /// Whether the first message has been seen, by which copies of the beginning are found.
    pub(super) rooted: bool,
    /// Whether the events of the ancestors are still being replayed at the start.
    pub(super) replaying: bool,
    pub(super) last_step: Option<u64>,
    /// The requests that came from the ancestors: the step that each follows, and its record. To ask
    /// otherwise in the place of one is to follow the same step.
    pub(super) inherited_requests: Vec<(u64, u64)>,
    /// What the source says of the session's end.
    pub(super) ended: Option<(String, String)>,
    /// The sub-agent's session of which this one is a copy: its parent was copied, and it with it.
    pub(super) copy_of: Option<String>,
    /// The last messages that were told once, of which another telling may come.
    pub(super) told: Vec<Told>,
    /// The report of tokens that came last, while nothing came since that it could not be of.
    pub(super) last_report: Option<Report>,
    /// The messages that wait while the agent works.
    pub(super) queue: Vec<Queued>,
    /// Those that left the queue for the model, and stand in no prompt yet.
    pub(super) waiting: Vec<Queued>,
    /// The words of those that were delivered in this run, hashed: some sources say them once more.
    pub(super) delivered: Vec<u64>,
    /// What is to be learned by calls that have not ended.
    pub(super) asked: Vec<Learned>,
    pub(super) prompt: PromptCarry,
}

/// The turn that is open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CurrentTurn {
    /// Its number, from 1; 0 before the first one.
    pub(super) number: u32,
    pub(super) responded: bool,
    pub(super) native: Option<String>,
    /// Its first event, while it has no row yet.
    pub(super) first_event: Option<u32>,
    /// The last call in it.
    pub(super) call: u32,
    /// Whether the context was compacted before it, while it has no row yet.
    pub(super) compacted: bool,
}

/// The run that is open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CurrentRun {
    /// Its number, from 1; 0 before the first one.
    pub(super) number: u32,
    pub(super) turns: u32,
    pub(super) responded: bool,
    /// The request, hashed.
    pub(super) request: Option<u64>,
    /// Whether the user said that the next run asks for the same once more, or went back for it.
    pub(super) next_is_retry: bool,
    /// What the source says of its end.
    pub(super) ended: Option<(String, String)>,
}

/// The response that was heard of last in the current run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LastResponse {
    /// Its turn and call.
    pub(super) place: Option<(u32, u32)>,
    /// Whether pieces without a response id still belong to it.
    pub(super) open: bool,
    /// Whether it has no usage yet and nothing came since that begins another.
    pub(super) awaits_usage: bool,
    /// The session's tokens as they were told last.
    pub(super) so_far: Option<Usage>,
}
