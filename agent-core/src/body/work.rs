//! What work leaves behind: memory, skills, artifacts, sub-agents, judgements.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::Status;

payload! {
    /// Something of memory or skills.
    LearningNote {
        /// The memory's key (a path) or the skill's name.
        key: String,
        /// Where it comes from: `nested_memory`, `Skill tool`, ...
        source: Option<String>,
        /// The tool call by which it happened.
        call_id: Option<String>,
        /// The content, where the source has it.
        text: Option<String>,
        /// How it went.
        outcome: Option<String>,
        /// Whether the call has only been asked for: it holds once that has succeeded.
        when_done: bool,
    }
}

payload! {
    /// A step produced something.
    ArtifactProduced {
        /// What: `file`, `pull_request`, `patch`, ...
        kind: Option<String>,
        /// Its place: a path or address.
        uri: Option<String>,
        /// The tool call that made it.
        call_id: Option<String>,
        /// The content, where it is small.
        text: Option<String>,
    }
}

payload! {
    /// A sub-agent began or ended.
    Subagent {
        /// Its session.
        session: Option<String>,
        /// The tool call that started it.
        call_id: Option<String>,
        /// Its name or type.
        name: Option<String>,
        /// How it ended.
        status: Option<Status>,
    }
}

payload! {
    /// Somebody or something judged.
    ScoreRecorded {
        /// What was judged.
        name: String,
        /// The figure.
        value: Option<f64>,
        /// In words.
        label: Option<String>,
        /// Who judged.
        by: Option<String>,
    }
}

payload! {
    /// A payload that nothing here computes with: its fields are all in `other`.
    Note {
        /// A sentence for the reader.
        detail: Option<String>,
    }
}
