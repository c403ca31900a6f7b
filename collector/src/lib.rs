//! Everything that comes in: session files, watched folders, the event API.

pub mod document;
pub mod formats;
