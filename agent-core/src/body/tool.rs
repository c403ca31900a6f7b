//! Calls of tools.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ErrorInfo, is_default};
use crate::{Json, ToolStatus};

payload! {
    /// The model asked for a tool.
    ToolCalled {
        /// The call's id, as the source names it.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them.
        input: Option<Json>,
        /// The logical action, which stays the same over attempts.
        action_id: Option<String>,
        /// The hash of what is intended.
        intent_hash: Option<String>,
        /// The risk, `L0` (reads) to `L3` (cannot be undone or goes outside).
        risk: Option<String>,
        /// Whether it stands only in the text of the response: in a prompt no call is sent beside that.
        in_text: bool,
    }
}

payload! {
    /// A tool began to run.
    ToolAttempted {
        /// The call.
        call_id: String,
        /// This attempt.
        attempt_id: Option<String>,
        /// Who runs it.
        executor: Option<String>,
    }
}

payload! {
    /// A tool call ended: exactly one a call.
    ToolEnded {
        /// The call.
        call_id: String,
        /// How it ended; unknown when absent.
        status: Option<ToolStatus>,
        /// What it gave back to the model: a JSON string for plain text.
        output: Option<Json>,
        /// What went wrong.
        error: Option<ErrorInfo>,
        /// The exit code of the process.
        exit_code: Option<i64>,
        /// How long it ran, in milliseconds.
        duration_ms: Option<u64>,
        /// What it left in the world, as a hash.
        effect_fingerprint: Option<String>,
        /// What it produced.
        artifacts: Vec<String>,
        /// The name of the tool, where the source says it again.
        name: Option<String>,
        /// Whether the model is sent it as a message of the user, since its call stands in a text.
        in_text: bool,
    }
}

payload! {
    /// What a source tells of how a tool call ended beside its result, before or after it: what the tool gave
    /// back stands in `tool.ended` alone.
    ToolReported {
        /// The call.
        call_id: String,
        /// How it ended.
        status: Option<ToolStatus>,
        /// What went wrong.
        error: Option<ErrorInfo>,
        /// The exit code of the process.
        exit_code: Option<i64>,
        /// How long it ran, in milliseconds.
        duration_ms: Option<u64>,
    }
}
