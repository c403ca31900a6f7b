//! Everything that comes in: session files, watched folders, the event API.

pub mod demo;
pub mod document;
mod files;
pub mod formats;
mod gate;
pub mod http;
mod import;
mod lines;
mod places;
pub mod report;
mod stop;
mod watch;

pub use files::{FoundFile, files_below};
pub use gate::{Full, Gate, Limits};
pub use import::{ImportError, Imported, ImportedFile, Importer, Reached};
pub use places::{Place, agent_places};
pub use stop::Stop;
pub use watch::{Noticing, WatchNews, Watcher};

/// Returns the mappers of all formats, for the store.
pub fn mappers() -> store::Mappers {
    store::Mappers::new(formats::all().into_iter().map(|format| format as Box<dyn store::Mapper>).collect())
}
