//! How foreign records become events: the collector implements it, the projection uses it.

use std::fmt;

use agent_core::{Event, SessionStarted};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Names a source within one journal; given in the order in which sources were opened, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// What the collector knows of a place that records come from, before it reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The format, which names the mapper: `claude-code`, `codex`, ...
    pub format: String,
    /// The place: a file's absolute path.
    pub path: String,
    /// The session that its rows belong to unless they say otherwise.
    pub session: String,
    /// What the place and its first rows say of the session.
    pub about: SessionStarted,
    /// The BLAKE3 hash of its first row, in hex: a place with another first row is another source.
    pub first_row: String,
    /// Whether it is one document, written anew when it grows, and no file of lines.
    pub is_document: bool,
}

/// One record of a source, as it came.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The line number from 1, or the place in the document's order of records.
    pub number: u64,
    /// The bytes, without the line break.
    pub bytes: &'a [u8],
}

/// A part of a row that could not be read: what and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(pub String);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a row means.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The events in order. A row that means nothing here still gives one, of a type of its own
    /// (`claude_code.progress`), so that it stays in reach.
    pub events: Vec<Event>,
    /// What could not be read of it.
    pub unread: Vec<Unread>,
}

impl Mapped {
    /// Empties it for the next row, keeping its memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.unread.clear();
    }
}

/// The API in whose shape an agent sends its prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApiShape {
    /// Anthropic's Messages.
    #[default]
    Messages,
    /// OpenAI's Chat Completions.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
}

/// Turns the rows of one format into events.
///
/// The result depends on the source and the row alone: a row can be mapped again at any time, in any order,
/// and gives the same events. What depends on the rows before it (turns, runs, sums) is the projection's.
pub trait Mapper: Send + Sync {
    /// Returns the format's name.
    fn format(&self) -> &'static str;

    /// Returns the version of the mapping; it grows whenever an equal row may give other events.
    fn version(&self) -> u32;

    /// Returns the shape in which a prompt of this format's agents is rebuilt.
    fn api_shape(&self) -> ApiShape {
        ApiShape::default()
    }

    /// Appends to `out` what `row` means.
    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped);
}

/// The mappers by format.
#[derive(Default)]
pub struct Mappers(FxHashMap<&'static str, Box<dyn Mapper>>);

impl Mappers {
    /// Returns the set of the given mappers; of two with one format the later counts.
    pub fn new(mappers: Vec<Box<dyn Mapper>>) -> Self {
        Self(mappers.into_iter().map(|mapper| (mapper.format(), mapper)).collect())
    }

    /// Names the formats and the versions of their mapping: when it changes, the tables are made again.
    pub fn versions(&self) -> String {
        let mut versions: Vec<_> =
            self.0.values().map(|mapper| format!("{}={}", mapper.format(), mapper.version())).collect();
        versions.sort();
        versions.join(" ")
    }

    /// Returns the mapper of `format`.
    pub fn get(&self, format: &str) -> Option<&dyn Mapper> {
        self.0.get(format).map(AsRef::as_ref)
    }
}
