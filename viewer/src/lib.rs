//! The pages: a list of sessions, a session as a transcript, a turn with its whole prompt.
//!
//! Pages are made on the server and can be read without scripts; everything they load comes from here.
//! What stands in a session is hostile text: only the module `markup` turns it into markup, and only by escaping.

mod access;
mod assets;
mod charts;
mod csv;
mod errors;
mod format;
mod kept;
mod links;
mod markup;
mod middleware;
mod pages;
pub mod reports;
mod router;
mod serve;
mod state;
mod times;
pub mod typed_time;

pub use router::router;
pub use serve::serve;
pub use state::{AppState, one_time_link};
