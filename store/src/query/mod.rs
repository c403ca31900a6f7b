//! Questions to the store, each answered by plain rows. All of them block; not for async threads.

mod body;
mod conditions;
mod counts;
mod events;
mod filter;
pub mod metrics;
mod orphans;
mod parts;
mod prompts;
mod search;
mod sessions;
mod sources;
mod summary;
mod turns;
mod words;

pub use counts::TurnCounts;
pub use events::{FullEvent, RawRecord};
pub use filter::{ListPlace, SessionFilter};
pub(crate) use orphans::Orphans;
pub use prompts::{Prompt, PromptChunk, PromptPartRow};
pub use search::TurnsAround;
pub use sessions::{FilterColumn, RUNNING_WITHIN_MS, SessionList};
pub use sources::{Loss, SourceReport, StoreReport, UnreadPiece};
pub use summary::{KindSum, PromptDifference, PromptSummary};
pub use turns::{MinimapBucket, TurnKind};
