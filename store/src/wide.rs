//! Room for questions over many sessions.
//!
//! DuckDB is given little memory, so that a load of files of any size stays small. A question that groups what a
//! year has brought needs more for a moment: while any such runs, DuckDB may take more, and gives it back after.

use std::sync::{Mutex, MutexGuard, PoisonError};

use duckdb::Connection;

/// What DuckDB may hold in memory while such a question runs. The most that was needed for ten million events, the
/// costs of a year by session, was between 64 and 128 MB.
const WIDE_LIMIT: &str = "192MB";

/// How many such questions run.
#[derive(Default)]
pub(crate) struct Wide {
    /// A plain lock: held to count and to set the limit, never while a question runs.
    running: Mutex<u32>,
}

impl Wide {
    /// Gives DuckDB more memory until what is returned is dropped.
    pub(crate) fn more<'a>(
        &'a self,
        connection: &'a Connection,
        usual_limit: &'static str,
    ) -> duckdb::Result<More<'a>> {
        let mut running = self.running();
        if *running == 0 {
            set_limit(connection, WIDE_LIMIT)?;
        }
        *running += 1;
        Ok(More { wide: self, connection, usual_limit })
    }

    fn running(&self) -> MutexGuard<'_, u32> {
        // A count is whole whatever panics.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to more memory.
pub(crate) struct More<'a> {
    wide: &'a Wide,
    connection: &'a Connection,
    usual_limit: &'static str,
}

impl Drop for More<'_> {
    fn drop(&mut self) {
        let mut running = self.wide.running();
        *running -= 1;
        if *running == 0
            && let Err(error) = set_limit(self.connection, self.usual_limit)
        {
            tracing::warn!(%error, "DuckDB keeps more memory than it should until the next question");
        }
    }
}

fn set_limit(connection: &Connection, limit: &str) -> duckdb::Result<()> {
    connection.execute_batch(&format!("SET memory_limit = '{limit}'"))
}
