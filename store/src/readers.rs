//! The readers' connections to DuckDB.
//!
//! DuckDB plans by the statistics that a table has when a statement is prepared (it packs short strings into
//! integers, and leaves out filters that hold for all rows): a plan that is kept (that of a statement without
//! parameters) and run again after rows were added gives garbage or nothing. Readers keep their statements, so
//! these two ways of planning are turned off where the file is opened; a test of its own watches over it.

use std::sync::{Condvar, Mutex, MutexGuard};

use duckdb::Connection;

use crate::{ProjectionError, StoreError};

/// Queries that run at one time; more wait for their turn.
const READERS: usize = 4;

/// A fixed number of connections, each used by one query at a time.
pub(crate) struct Readers {
    /// A plain lock: held to take or give back a connection, never across a query or an await.
    idle: Mutex<Idle>,
    given_back: Condvar,
}

/// The connections that no query uses.
struct Idle {
    connections: Vec<Connection>,
    /// Whether none will come any more.
    closed: bool,
}

impl Readers {
    pub(crate) fn new(
        connect: impl Fn() -> Result<Connection, ProjectionError>,
    ) -> Result<Self, ProjectionError> {
        let connections: Vec<_> = (0..READERS).map(|_| connect()).collect::<Result<_, _>>()?;
        Ok(Self { idle: Mutex::new(Idle { connections, closed: false }), given_back: Condvar::new() })
    }

    /// Runs `query` on a connection, waiting for one when all are in use.
    pub(crate) fn with<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lent = Lent { readers: self, connection: Some(self.take()?) };
        query(lent.connection.as_ref().expect("it is given back at the drop only"))
    }

    /// Waits until no query runs, closes all connections and holds up the queries that come.
    pub(crate) fn pause(&self) -> Pause<'_> {
        // It holds all connections before it closes the first one.
        let connections: Vec<_> = (0..READERS).map(|_| self.take()).collect();
        drop(connections);
        Pause { readers: self, resumed: false }
    }

    fn take(&self) -> Result<Connection, StoreError> {
        let mut idle = self.idle();
        loop {
            if idle.closed {
                return Err(StoreError::Stopped("the tables are closed; start Dashcam again".into()));
            }
            match idle.connections.pop() {
                Some(connection) => return Ok(connection),
                None => idle = self.given_back.wait(idle).expect("no holder of this lock panics"),
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().expect("no holder of this lock panics")
    }
}

/// Queries wait until it is resumed; when it is dropped before, there are no tables, and they fail.
pub(crate) struct Pause<'a> {
    readers: &'a Readers,
    resumed: bool,
}

impl Pause<'_> {
    /// Lets the queries go on with new connections.
    pub(crate) fn resume(
        mut self,
        connect: impl Fn() -> Result<Connection, ProjectionError>,
    ) -> Result<(), ProjectionError> {
        self.readers.idle().connections = (0..READERS).map(|_| connect()).collect::<Result<_, _>>()?;
        self.resumed = true;
        Ok(())
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.readers.idle().closed = !self.resumed;
        self.readers.given_back.notify_all();
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
            self.readers.idle().connections.push(connection);
            self.readers.given_back.notify_one();
        }
    }
}
