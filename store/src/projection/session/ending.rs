//! How runs and sessions stand: what the source says, else what their last event tells.

use agent_core::{EndReason, Ended, Status};
use serde::{Deserialize, Serialize};

use super::Session;

/// What happened last, by which an end is judged when the source does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LastThing {
    /// Nothing that tells.
    #[default]
    Nothing,
    /// A request that has no response.
    Request,
    /// The model spoke.
    Response {
        /// And asked for tools, whose results are not all in.
        calls_tools: bool,
    },
    /// A tool's result came, and no response to it.
    ToolResult,
    /// The user broke it off.
    Interrupt,
    /// A call of the model failed.
    Failure,
}

impl LastThing {
    fn verdict(self) -> (Status, EndReason) {
        match self {
            Self::Response { calls_tools: false } => (Status::Completed, EndReason::Done),
            Self::Interrupt => (Status::Cancelled, EndReason::UserInterrupt),
            Self::Failure => (Status::Failed, EndReason::Failure),
            // Asked and never answered: the process died, or the file was taken while it ran.
            Self::Nothing | Self::Request | Self::Response { calls_tools: true } | Self::ToolResult => {
                (Status::Unknown, EndReason::Unknown)
            }
        }
    }
}

impl Session {
    pub(super) fn session_ended(&mut self, ended: &Ended) {
        self.carry.ended = Some(self.said_or_judged(ended));
        if let Some(cost) = ended.reported_cost_usd
            && !self.carry.costs_by_call
        {
            self.row.reported_cost_picousd = i64::try_from(cost.0).ok();
        }
        self.take_totals(ended.usage);
    }

    pub(super) fn run_ended(&mut self, ended: &Ended) {
        self.carry.run.ended = Some(self.said_or_judged(ended));
    }

    /// Returns what the source says of the end, and where it does not tell, what the last event tells.
    fn said_or_judged(&self, ended: &Ended) -> (String, String) {
        let (status, reason) = self.carry.last_thing.verdict();
        let status = ended.status.filter(|&said| said != Status::Unknown).unwrap_or(status);
        let reason = ended.end_reason.filter(|&said| said != EndReason::Unknown).unwrap_or(reason);
        (status.as_str().to_owned(), reason.as_str().to_owned())
    }

    /// Gives the current run its verdict as far as it can be judged: its own end, else the session's.
    pub(super) fn settle_run(&mut self) {
        let said = self.carry.run.ended.as_ref().or(self.carry.ended.as_ref());
        let (status, reason) = said.cloned().unwrap_or_else(|| self.judged());
        if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.status = status;
            run.end_reason = reason;
        }
    }

    /// Gives session and run their verdicts as far as they can be judged.
    pub(super) fn settle_status(&mut self) {
        self.settle_run();
        let said = self.carry.ended.as_ref().or(self.carry.run.ended.as_ref());
        (self.row.status, self.row.end_reason) = said.cloned().unwrap_or_else(|| self.judged());
    }

    fn judged(&self) -> (String, String) {
        let (status, reason) = self.carry.last_thing.verdict();
        (status.as_str().to_owned(), reason.as_str().to_owned())
    }
}
