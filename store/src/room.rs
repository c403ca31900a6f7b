//! What must be known before more is taken in: how much room there is, and whether the tables keep up.

use std::time::Duration;

use crate::{Position, Store, StoreError};

impl Store {
    /// Returns the free bytes on the disk of the data folder, where the file system tells.
    pub fn free_bytes(&self) -> Option<u64> {
        fs4::available_space(self.folder()).ok()
    }

    /// Waits at most so long until the tables hold everything up to `position`; returns whether they do.
    /// Blocks; not for async threads.
    pub fn wait_until_projected_for(&self, position: Position, time: Duration) -> Result<bool, StoreError> {
        self.worker().wait_for_at_most(position, time).map_err(StoreError::Stopped)
    }
}
