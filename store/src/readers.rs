//! The readers' connections to DuckDB.
//!
//! Statements are prepared anew for each query, never kept: DuckDB plans by the statistics that a table has
//! when a statement is prepared (it packs short strings into integers, and leaves out filters that hold for
//! all rows), and a plan that is run again after rows were added gives garbage or nothing.

use std::sync::{Condvar, Mutex};

use duckdb::Connection;

use crate::{ProjectionError, StoreError};

/// Queries that run at one time; more wait for their turn.
const READERS: usize = 4;

/// A fixed number of connections, each used by one query at a time.
pub(crate) struct Readers {
    /// A plain lock: held to take or give back a connection, never across a query or an await.
    idle: Mutex<Vec<Connection>>,
    given_back: Condvar,
}

impl Readers {
    pub(crate) fn new(
        connect: impl Fn() -> Result<Connection, ProjectionError>,
    ) -> Result<Self, ProjectionError> {
        let connections: Vec<_> = (0..READERS).map(|_| connect()).collect::<Result<_, _>>()?;
        Ok(Self { idle: Mutex::new(connections), given_back: Condvar::new() })
    }

    /// Runs `query` on a connection, waiting for one when all are in use.
    pub(crate) fn with<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lent = Lent { readers: self, connection: Some(self.take()) };
        query(lent.connection.as_ref().expect("it is given back at the drop only"))
    }

    fn take(&self) -> Connection {
        let mut idle = self.idle.lock().expect("no holder of this lock panics");
        loop {
            match idle.pop() {
                Some(connection) => return connection,
                None => idle = self.given_back.wait(idle).expect("no holder of this lock panics"),
            }
        }
    }
}

/// A connection that comes back also when the query panics.
struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers.idle.lock().expect("no holder of this lock panics").push(connection);
            self.readers.given_back.notify_one();
        }
    }
}
