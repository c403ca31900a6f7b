//! Recorded prompts.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::PromptChange;

payload! {
    /// The bytes of a chunk, written once per file.
    ChunkDefined {
        /// BLAKE3 of the bytes, in hex.
        hash: String,
        /// The bytes when they are UTF-8.
        text: Option<String>,
        /// The bytes in base64 when they are not.
        base64: Option<String>,
    }
}

payload! {
    /// A prompt was put together; `changes` gives its chunk list.
    PromptAssembled {
        /// BLAKE3 of the whole body, in hex.
        body_hash: String,
        /// The chunk list as a change to the one of the prompt assembled before it in this session.
        changes: Vec<PromptChange>,
        /// What was left out of it, and why.
        left_out: Vec<LeftOut>,
    }
}

/// Something that was not put into a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What it was.
    pub source: String,
    /// Why it was left out: trimmed, compacted, over budget.
    pub reason: String,
    /// Its size in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}
