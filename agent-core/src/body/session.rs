//! Sessions, runs and turns: how they begin and end.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::status::words;
use crate::{EndReason, PicoUsd, Status, Usage};

payload! {
    /// Who works, on what, for whom. It may come again with more; the latest word on a field counts.
    SessionStarted {
        /// The agent's name, such as `claude-code`.
        agent: Option<String>,
        /// The agent's version.
        agent_version: Option<String>,
        /// Who asked.
        user: Option<String>,
        /// The project, a short name.
        project: Option<String>,
        /// A title for lists.
        title: Option<String>,
        /// The working folder.
        cwd: Option<String>,
        /// The branch of the working folder.
        git_branch: Option<String>,
        /// The permission mode at the start.
        permission_mode: Option<String>,
        /// Free labels.
        tags: Vec<String>,
        /// The session that this one came from.
        parent: Option<ParentLink>,
        /// The money that it may spend.
        budget_usd: Option<PicoUsd>,
    }
}

/// Ties a session to the one it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParentLink {
    /// The parent's session.
    pub session: String,
    /// How the two hang together.
    pub kind: ParentKind,
    /// The tool call in the parent that started this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

words! {
    /// How a session came from its parent.
    ParentKind {
        /// The parent's agent started it to do a part of its work.
        Subagent = "subagent",
        /// It goes on from a point of the parent's history.
        Fork = "fork",
    }
}

payload! {
    /// A better name for the session.
    SessionTitled {
        /// The title.
        title: String,
    }
}

payload! {
    /// A session, run or turn ended.
    Ended {
        /// How.
        status: Option<Status>,
        /// Why.
        end_reason: Option<EndReason>,
        /// How long it took, as its source says, in milliseconds.
        duration_ms: Option<u64>,
        /// The reason in words, or the evidence.
        detail: Option<String>,
        /// What it cost in all, as its source says.
        reported_cost_usd: Option<PicoUsd>,
        /// All its tokens, as its source counted them; for sources that say nothing of single responses.
        usage: Usage,
    }
}

payload! {
    /// A run (task) started.
    RunStarted {
        /// What is asked.
        task: Option<String>,
        /// The money that it may spend.
        budget_usd: Option<PicoUsd>,
    }
}

payload! {
    /// A run went on after a stop.
    RunResumed {
        /// Why.
        reason: Option<String>,
    }
}

payload! {
    /// A round of the model begins, or its settings change: what stands here holds for the responses after it.
    TurnStarted {
        /// The model that will be asked.
        model: Option<String>,
        /// The provider.
        provider: Option<String>,
        /// The working folder.
        cwd: Option<String>,
        /// The permission mode.
        permission_mode: Option<String>,
    }
}
