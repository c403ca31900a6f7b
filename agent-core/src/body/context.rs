//! What stands in the model's context besides messages, and how it is made smaller.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::{ChunkKind, Json};

payload! {
    /// Something stands in the model's context from here on: what a transcript tells of the prompt besides
    /// messages, responses and results.
    ContextAdded {
        /// What it is; state when absent.
        kind: Option<ChunkKind>,
        /// Where it comes from.
        source: Option<String>,
        /// Why it is there.
        reason: Option<String>,
        /// A place that holds one value: what stood in it before leaves the context. The places `system`
        /// and `tools` stand before all messages.
        slot: Option<String>,
        /// The part as it stands in the request, or as near as the source has it.
        content: Option<Json>,
    }
}

payload! {
    /// The context was made smaller.
    ContextCompacted {
        /// Who asked for it: `auto` or `manual`.
        trigger: Option<String>,
        /// Tokens before.
        tokens_before: Option<u64>,
        /// Tokens after.
        tokens_after: Option<u64>,
        /// When given, only the results of these calls were blanked.
        dropped_calls: Option<Vec<String>>,
        /// What stands in the place of each blanked result; where it is absent, the results are gone whole.
        placeholder: Option<Json>,
        /// When given, only what these steps put into the context is gone: something better took its place,
        /// or it was taken back.
        dropped_steps: Option<Vec<String>>,
        /// When given, only the last so many requests (of a person or a parent agent) are gone, and all that
        /// came after the first of them: the conversation was taken back to before it.
        dropped_requests: Option<u32>,
        /// The history that stands in its place, where the source has it.
        replacement: Option<Json>,
        /// What of the history before stays as it was.
        kept: Option<KeptHistory>,
        /// Whether the blanked results are messages of the user, since their calls stand in texts.
        in_text: bool,
    }
}

/// What of the history before a compaction stays: what some steps put into the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptHistory {
    /// The steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The first and the last one, where the source names only these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(String, String)>,
    /// The step that it stands behind: the compaction itself, or the summary that comes after it. Behind all
    /// that comes before the next call of the model when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

impl ContextCompacted {
    /// Returns whether all history before is gone, and not only what is named.
    pub fn is_full(&self) -> bool {
        self.dropped_calls.is_none() && self.dropped_steps.is_none() && self.dropped_requests.is_none()
    }
}
