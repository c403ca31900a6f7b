//! Writing down what people decide, as events: the journal is the truth for these as well.

use agent_core::{Body, Event, EventId, Timestamp};

use crate::{Committed, Record, RecordKind, SourceId, Store, StoreError};

/// The session named by events that are of the whole installation, since every event names one. There is no such
/// session: nothing of it stands in a list.
const WHOLE_INSTALLATION: &str = "dashcam";

impl Store {
    /// Writes down a decision as of now, and returns when it is safe and in the tables. Blocks; not for async
    /// threads.
    pub fn decide(&self, decision: Body) -> Result<Committed, StoreError> {
        let event = Event::new(EventId::new_v7(), WHOLE_INSTALLATION, decision).at(Some(Timestamp::now()));
        let bytes = event.to_json().into_bytes();
        let record = Record { kind: RecordKind::Event, source: SourceId(0), number: 0, read_to: 0, bytes };
        let committed = self.append(vec![record])?;
        self.wait_until_projected(committed.last)?;
        Ok(committed)
    }
}
