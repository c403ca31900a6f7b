//! Rows that are still being worked on.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::batch::Batch;
use super::columns::Table;

/// A row in memory, and whether an older form of it is in the database.
#[derive(Debug)]
struct Kept<T> {
    row: T,
    written: bool,
    changed: bool,
}

/// The rows of one table and one session that changed since the last batch, or may soon change.
#[derive(Debug)]
pub(super) struct KeptRows<K, T>(FxHashMap<K, Kept<T>>);

impl<K, T> Default for KeptRows<K, T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<K: Hash + Eq + Copy + Ord, T: Table + Clone> KeptRows<K, T> {
    /// Adds a row that the database does not have.
    pub(super) fn insert_new(&mut self, key: K, row: T) {
        self.0.insert(key, Kept { row, written: false, changed: true });
    }

    /// Adds a row as the database has it.
    pub(super) fn insert_loaded(&mut self, key: K, row: T) {
        self.0.insert(key, Kept { row, written: true, changed: false });
    }

    pub(super) fn contains(&self, key: K) -> bool {
        self.0.contains_key(&key)
    }

    /// Returns the row to be read.
    pub(super) fn get(&self, key: K) -> Option<&T> {
        self.0.get(&key).map(|kept| &kept.row)
    }

    /// Returns the row to be changed.
    pub(super) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let kept = self.0.get_mut(&key)?;
        kept.changed = true;
        Some(&mut kept.row)
    }

    /// Returns the keys of the rows that changed, in order.
    pub(super) fn changed(&self) -> Vec<K> {
        let mut keys: Vec<K> = self.0.iter().filter(|(_, kept)| kept.changed).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    /// Puts all changed rows into the batch and forgets those for which `keep` does not hold.
    ///
    /// `condition` names the row's older form in the database.
    pub(super) fn flush(
        &mut self,
        batch: &mut Batch,
        into: fn(&mut Batch) -> &mut Vec<T>,
        condition: impl Fn(&T) -> String,
        keep: impl Fn(&K, &T) -> bool,
    ) {
        let mut changed: Vec<_> = self.0.iter_mut().filter(|(_, kept)| kept.changed).collect();
        // In order, so that neighbours stand together in the table and equal input gives equal files.
        changed.sort_by_key(|(key, _)| **key);
        for (_, kept) in changed {
            if kept.written {
                batch.delete::<T>(&condition(&kept.row));
            }
            into(batch).push(kept.row.clone());
            kept.written = true;
            kept.changed = false;
        }
        self.0.retain(|key, kept| keep(key, &kept.row));
    }
}
