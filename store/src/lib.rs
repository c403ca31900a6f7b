//! Where everything is kept: the journal, which is the truth, and what is projected from it.

mod decide;
mod journal;
mod live;
mod mapper;
mod prices;
mod projection;
mod query;
mod readers;
mod rebuild;
mod redact;
mod room;
pub mod secret;
mod sources;
mod store;
mod telling;
mod unreadable;
mod wide;

pub use journal::{Committed, Journal, JournalError, JournalWriter, Opened, Position, Record, RecordKind};
pub use live::{SourceCursor, record_hash};
pub use mapper::{ApiShape, Mapped, Mapper, Mappers, Row, Source, SourceId, Unread};
pub use prices::Repriced;
pub use projection::tables::{ModelCallRow, RunRow, SessionRow, SourceRow, ToolCallRow, TurnRow};
pub use projection::{ProjectionError, event_identity};
pub use query::*;
pub use rebuild::Progress;
pub use redact::{KeepAll, Redact};
pub use store::{Change, Store, StoreError};
pub use telling::TELLING_FIELDS;
