//! How many turns a session has, which its row tells only as far as they were answered.

use crate::{Store, StoreError};

/// The turns of a session, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCounts {
    /// The last turn that has a row; 0 when there is none.
    pub last: u32,
    /// The last turn in which a model responded; 0 when there is none.
    pub last_responded: u32,
    /// Turns in which no model responded.
    pub unanswered: u32,
}

impl Store {
    /// Returns how many turns a session has, and how many of them have no response.
    pub fn turn_counts(&self, session_key: u32) -> Result<TurnCounts, StoreError> {
        let sql = "SELECT coalesce(max(turn), 0), coalesce(max(turn) FILTER (responded), 0),
                count(*) FILTER (NOT responded)::UINTEGER
            FROM behavior.turns WHERE session_key = ?";
        self.read(|connection| {
            Ok(connection.prepare_cached(sql)?.query_row([session_key], |row| {
                Ok(TurnCounts { last: row.get(0)?, last_responded: row.get(1)?, unanswered: row.get(2)? })
            })?)
        })
    }
}
