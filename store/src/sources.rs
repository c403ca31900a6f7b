//! Sources that were read back from the journal, remembered: a page maps records of the same few again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::{Source, SourceId};

/// Sources remembered; when it is full it is emptied, for to read them again costs little.
const MAX: usize = 256;

/// Sources by their numbers in the journal, which never change, also not in a rebuild.
#[derive(Default)]
pub(crate) struct SourceMemory {
    /// A plain lock: held to look up or put in one pointer, never while the journal is read.
    known: Mutex<FxHashMap<SourceId, Arc<Source>>>,
}

impl SourceMemory {
    /// Returns the source, which `read` fetches where it is not remembered.
    pub(crate) fn get<E>(
        &self,
        id: SourceId,
        read: impl FnOnce() -> Result<Source, E>,
    ) -> Result<Arc<Source>, E> {
        if let Some(source) = self.known().get(&id) {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(read()?);
        let mut known = self.known();
        if known.len() >= MAX {
            known.clear();
        }
        known.insert(id, Arc::clone(&source));
        Ok(source)
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<SourceId, Arc<Source>>> {
        // What a panic leaves behind is whole: one insert is all that ever happens under the lock.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
