//! The exact prompt: an ordered list of chunks whose bytes, one after the other, are the request body.

use serde::{Deserialize, Serialize};

use crate::status::words;

words! {
    /// What a chunk of a prompt is.
    ChunkKind {
        /// The system prompt.
        System = "system",
        /// A remembered file or note.
        Memory = "memory",
        /// A skill's text or listing.
        Skill = "skill",
        /// An earlier message of the user or the model.
        History = "history",
        /// The result of a tool.
        ToolResult = "tool_result",
        /// The schema of a tool.
        ToolSchema = "tool_schema",
        /// The plan.
        Plan = "plan",
        /// The state of the world or of the task.
        State = "state",
        /// Something learned or injected to guide the model.
        Insight = "insight",
        /// What the user asks now.
        User = "user",
        /// Parameters of the request.
        Params = "params",
        /// What stands between the parts.
        Framing = "framing",
    }
}

words! {
    /// How near a prompt is to the bytes that the model saw.
    Fidelity {
        /// The bytes of the request, hash verified.
        Exact = "exact",
        /// Put together from a transcript that holds the parts.
        Rebuilt = "rebuilt",
        /// Put together from a transcript that lacks parts, which are named.
        Partial = "partial",
    }
}

/// One use of a chunk in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkUse {
    /// The BLAKE3 hash of the chunk's bytes, in hex; the bytes stand in a `chunk.defined` event.
    pub hash: String,
    /// What the chunk is.
    pub kind: ChunkKind,
    /// Where it comes from: a file, a memory key, a skill, a tool call, a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it is in front of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its size in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How the tokens were counted: `reported`, `counted` or `estimated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_basis: Option<String>,
}

/// A prompt as a change to the prompt before it: chunks are kept by ranges and new ones are listed.
///
/// Each entry appends to the new list, so that the whole list is the concatenation of the entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptChange {
    /// Chunks `from..to` of the list of the prompt before.
    Keep {
        /// The first kept chunk, from 0.
        from: u32,
        /// The end, exclusive.
        to: u32,
    },
    /// Chunks that were not there.
    Add(Vec<ChunkUse>),
}
