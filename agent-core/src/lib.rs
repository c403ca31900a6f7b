//! The words of an agent's life: sessions, runs, turns, steps, and the events that tell of them.
//!
//! This crate knows nobody else in the workspace and carries no wire format but its own: one event is
//! one JSON object ([`Event`]), a trajectory file is one event a line ([`Recorder`]).

mod block;
mod body;
mod event;
mod id;
mod json;
pub mod price;
mod prompt;
mod recorder;
mod status;
mod time;
mod usage;

pub use block::Block;
pub use body::*;
pub use event::{Event, EventError, SCHEMA_VERSION};
pub use id::EventId;
pub use json::Json;
pub use prompt::{ChunkKind, ChunkUse, Fidelity, PromptChange};
pub use recorder::{PromptPart, Recorder, RecorderError};
pub use status::{EndReason, Status, ToolStatus};
pub use time::{Timestamp, TsQuality};
pub use usage::{PicoUsd, Usage, UsageQuality};
