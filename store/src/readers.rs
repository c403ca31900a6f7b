//! The readers' connections to DuckDB.

use std::sync::{Condvar, Mutex};

use duckdb::Connection;

use crate::{ProjectionError, StoreError};

/// Queries that run at one time; more wait for their turn.
const READERS: usize = 4;
/// Prepared statements kept on each connection.
const PREPARED_STATEMENTS: usize = 64;

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
        for connection in &connections {
            connection.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
        }
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
