//! One piece of a model's response.

use serde::{Deserialize, Serialize};

use crate::Json;

/// One piece of a model's response or of a message, in the order of the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words for the reader.
    Text {
        /// The words.
        text: String,
    },
    /// The model's reasoning.
    Reasoning {
        /// The words; empty when the provider hides them.
        text: String,
        /// Whether the provider keeps the reasoning to itself and gave a signature or cipher only.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hidden: bool,
    },
    /// The model asks for a tool; the call itself is a `tool.called` event.
    ToolUse {
        /// The call's id, as the source names it.
        call_id: String,
        /// The tool's name.
        name: String,
    },
    /// A picture or another file.
    Media {
        /// Its media type, such as `image/png`; empty when the source does not tell.
        media_type: String,
        /// Its size in bytes before any text encoding.
        bytes: u64,
    },
    /// Anything else, whole.
    Other {
        /// The piece as the source wrote it.
        value: OtherBlock,
    },
}

/// A piece of a kind that has no word here, kept as the source wrote it.
///
/// Its JSON is kept as text, because a tagged enum reads its content through a buffer that cannot hold
/// raw JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OtherBlock(serde_json::Value);

impl Block {
    /// Returns a piece that has no word here.
    pub fn other(raw: &Json) -> Self {
        Self::Other { value: OtherBlock(raw.to_value()) }
    }

    /// Returns how many bytes of text the piece holds.
    pub fn text_len(&self) -> usize {
        match self {
            Self::Text { text } | Self::Reasoning { text, .. } => text.len(),
            Self::ToolUse { name, .. } => name.len(),
            Self::Media { .. } => 0,
            Self::Other { value } => value.0.to_string().len(),
        }
    }
}

impl OtherBlock {
    /// Returns the piece as JSON text.
    pub fn to_json(&self) -> String {
        self.0.to_string()
    }
}
