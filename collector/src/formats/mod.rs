//! The session file formats, one file each behind the trait [`Format`].

mod chat;
mod claude;
mod codex;
mod dashcam;
mod emit;
mod mini_swe_agent;
pub(crate) mod misfit;
pub(crate) mod rows;
mod swe_agent;

use std::path::Path;

use agent_core::SessionStarted;
use store::Mapper;

/// How records stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One record a line; the file grows at its end.
    Lines,
    /// One JSON document, written anew when it grows; its records are the header and the elements of its
    /// long arrays.
    Document(&'static DocumentShape),
}

/// Which values of a document are records of their own; see [`crate::document`] for how they are cut and
/// numbered.
#[derive(Debug, PartialEq, Eq)]
pub struct DocumentShape {
    /// The keys of the top-level object whose arrays are cut into one record an element, in the order in
    /// which they are to be mapped. The rest of the object is one record, the first.
    pub arrays: &'static [&'static str],
    /// The keys whose values stand in the first record and come once more, as records of their own, after
    /// all others: what tells of the end is to be mapped at the end.
    pub closing: &'static [&'static str],
}

/// What the beginning of a file and its place say of the session in it.
#[derive(Debug, PartialEq)]
pub struct Described {
    /// The session's name, as its source has it.
    pub session: String,
    /// Agent, user, project, parent and the like, as far as known.
    pub about: SessionStarted,
}

/// A session file format: how to know it, how to cut it into records, and (by [`Mapper`]) what they mean.
pub trait Format: Mapper {
    /// Returns how the file is cut into records, when `head` (the first 256 KiB of the file, or all of it)
    /// is of this format. The file's name is never asked.
    fn sniff(&self, head: &[u8]) -> Option<Layout>;

    /// Says what is known of the session before reading it. `head` is what `sniff` saw.
    fn describe(&self, path: &Path, head: &[u8]) -> Described;
}

/// Returns all formats; of several that would take a file the first counts.
pub fn all() -> Vec<Box<dyn Format>> {
    vec![
        Box::new(dashcam::Dashcam),
        Box::new(claude::ClaudeCode),
        Box::new(codex::Codex),
        Box::new(mini_swe_agent::MiniSweAgent),
        Box::new(swe_agent::SweAgent),
    ]
}
