//! The one gate of all bulk intake: files, watched folders and the event API pass it alike.

use std::path::PathBuf;
use std::time::Duration;

use store::{Position, Store, StoreError};

use crate::Stop;

/// How long a wait for the tables goes on before the wish to stop is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What bulk intake must leave free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Records that the tables may be behind the journal.
    pub max_lag_records: u64,
    /// Free bytes on the disk of the data folder: the reserve of control and guard messages, and the room
    /// in which the tables take in what the journal has.
    pub min_free_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_lag_records: 2_000_000, min_free_bytes: 256 << 20 }
    }
}

/// Says why nothing more is taken in for now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The tables are far behind.
    #[error("the tables are {lag_records} records behind, {max} are the most; it goes on when they catch up")]
    Behind {
        /// How far.
        lag_records: u64,
        /// The limit.
        max: u64,
    },
    /// The disk is nearly full.
    #[error(
        "the disk of the data folder {folder} has {free_bytes} bytes free, {min} are the least; \
         make room there, or give --data DIR on another disk"
    )]
    Disk {
        /// The data folder.
        folder: PathBuf,
        /// What is free.
        free_bytes: u64,
        /// The limit.
        min: u64,
    },
}

/// Says why whoever waited at the gate does not pass.
#[derive(Debug)]
pub(crate) enum Held {
    /// It was told to stop.
    Stopped,
    /// The disk is nearly full: that does not pass by waiting a moment.
    Full(Full),
    /// The tables are not kept up.
    Store(StoreError),
}

/// Lets bulk intake pass while there is room for it.
#[derive(Clone)]
pub struct Gate {
    store: Store,
    limits: Limits,
}

impl Gate {
    /// Returns the gate of a store.
    pub fn new(store: Store, limits: Limits) -> Self {
        Self { store, limits }
    }

    /// Returns the store behind the gate.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns at once whether bulk intake may pass.
    pub fn check(&self) -> Result<(), Full> {
        // A file system that does not tell its free space is not refused for it: the write itself will fail.
        if let Some(free_bytes) = self.store.free_bytes()
            && free_bytes < self.limits.min_free_bytes
        {
            let folder = self.store.folder().to_owned();
            return Err(Full::Disk { folder, free_bytes, min: self.limits.min_free_bytes });
        }
        let (lag_records, max) = (self.store.lag(), self.limits.max_lag_records);
        if lag_records > max { Err(Full::Behind { lag_records, max }) } else { Ok(()) }
    }

    /// Waits until bulk intake may pass: the tables catch up by themselves, a full disk does not empty itself.
    pub(crate) fn wait(&self, stop: &Stop) -> Result<(), Held> {
        match self.check() {
            Ok(()) => Ok(()),
            Err(full @ Full::Disk { .. }) => Err(Held::Full(full)),
            Err(Full::Behind { max, .. }) => {
                let last = self.store.journal().last().0;
                self.wait_until_projected(Position(last.saturating_sub(max)), stop)
            }
        }
    }

    /// Waits until the tables hold everything up to `position`.
    pub(crate) fn wait_until_projected(&self, position: Position, stop: &Stop) -> Result<(), Held> {
        while !self.store.wait_until_projected_for(position, LOOK_EVERY).map_err(Held::Store)? {
            if stop.is_told() {
                return Err(Held::Stopped);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
