//! Where everything is kept: the journal, which is the truth, and what is projected from it.

mod mapper;

pub use mapper::{Mapped, Mapper, Mappers, Row, Source, SourceId, Unread};
