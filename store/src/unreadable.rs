//! Files that whoever follows them cannot read for now. Known while the process runs, not kept on disk: at
//! the next start they are tried again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use crate::Store;

/// Paths and why each cannot be read.
#[derive(Default)]
pub(crate) struct Unreadable {
    /// A plain lock: held to move or copy a few words, never across I/O or an await.
    files: Mutex<BTreeMap<PathBuf, String>>,
}

impl Store {
    /// Replaces what is known of files and folders that cannot be read for now: path and reason.
    pub fn set_unreadable(&self, files: BTreeMap<PathBuf, String>) {
        *self.unreadable_files().files.lock().expect("no holder of this lock panics") = files;
    }

    /// Returns the followed files and folders that cannot be read for now, and why.
    pub fn unreadable(&self) -> BTreeMap<PathBuf, String> {
        self.unreadable_files().files.lock().expect("no holder of this lock panics").clone()
    }
}
