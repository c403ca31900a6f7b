//! The words of a session: what was asked and what was answered, without what tools took and gave.

use super::FullEvent;
use super::events::Hydrator;
use crate::projection::tables::EventRow;
use crate::{Store, StoreError};

/// The events that say something to a reader.
const TYPES: &str = "'user.messaged', 'model.responded', 'model.failed'";

impl Store {
    /// Returns the messages, responses and failed calls of models of these turns, in order.
    pub fn words_of_turns(&self, session_key: u32, turns: &[u32]) -> Result<Vec<FullEvent>, StoreError> {
        let (Some(first), Some(last)) = (turns.iter().min(), turns.iter().max()) else {
            return Ok(Vec::new());
        };
        let list = turns.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        // The range is found by the order of the table, the list among what it leaves.
        let rows: Vec<EventRow> = self.select(
            &format!(
                "session_key = ? AND turn BETWEEN ? AND ? AND turn IN ({list}) AND event_type IN ({TYPES})
                ORDER BY position, sub"
            ),
            [session_key, *first, *last],
        )?;
        let mut hydrator = Hydrator::new(self);
        let mut events: Vec<FullEvent> =
            rows.iter().map(|row| hydrator.full(row)).collect::<Result<_, _>>()?;
        events.sort_by_key(|full| full.n);
        Ok(events)
    }
}
