//! Events put together by turns: a result that came late stands with its call.

use std::collections::BTreeMap;

use store::{FullEvent, Store, StoreError, TurnRow};

/// Events that wait for late ones of an earlier turn at most; then the earlier turn goes without them.
const MAX_WAITING: usize = 20_000;
/// Rows of turns that are read at a time.
const ROWS: u32 = 500;

/// A turn with its row and its events.
pub(super) type Turn = (u32, Option<TurnRow>, Vec<FullEvent>);

/// Takes events in the order of the session and gives back whole turns in order.
pub(super) struct InOrder<'a> {
    store: &'a Store,
    session_key: u32,
    rows: BTreeMap<u32, TurnRow>,
    /// The last turn whose row was asked for.
    rows_to: u32,
    waiting: BTreeMap<u32, Vec<FullEvent>>,
    count: usize,
}

impl<'a> InOrder<'a> {
    pub(super) const fn new(store: &'a Store, session_key: u32) -> Self {
        Self { store, session_key, rows: BTreeMap::new(), rows_to: 0, waiting: BTreeMap::new(), count: 0 }
    }

    /// Takes the next event; returns the turns that are whole with it.
    pub(super) fn take(&mut self, event: FullEvent) -> Result<Vec<Turn>, StoreError> {
        let (n, turn) = (event.n, event.turn);
        self.waiting.entry(turn).or_default().push(event);
        self.count += 1;
        while turn > self.rows_to {
            let (from, to) = (self.rows_to + 1, self.rows_to + ROWS);
            let rows = self.store.turns(self.session_key, from, to)?;
            self.rows.extend(rows.into_iter().map(|row| (row.turn, row)));
            self.rows_to = to;
        }
        let mut ready = Vec::new();
        while let Some((&first, _)) = self.waiting.first_key_value() {
            // What stands before the first turn has no row; it ends where a turn begins.
            let is_whole = match self.rows.get(&first) {
                Some(row) => row.last_n <= n,
                None => first < turn,
            };
            if !is_whole && self.count <= MAX_WAITING {
                break;
            }
            ready.extend(self.pop());
        }
        Ok(ready)
    }

    /// Returns the turns that were not whole by the last event.
    pub(super) fn rest(mut self) -> Vec<Turn> {
        std::iter::from_fn(|| self.pop()).collect()
    }

    fn pop(&mut self) -> Option<Turn> {
        let (turn, events) = self.waiting.pop_first()?;
        self.count -= events.len();
        Some((turn, self.rows.remove(&turn), events))
    }
}
