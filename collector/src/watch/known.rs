//! What is known of the files below the watched folders: as they were last read, or why they cannot be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::FoundFile;

/// A file as it was when it was last read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    modified: SystemTime,
    is_session: bool,
}

/// The files, and the troubles with them.
#[derive(Default)]
pub(super) struct Known {
    seen: FxHashMap<PathBuf, Seen>,
    /// What cannot be read, why, and in which look at all files that was found last.
    troubles: BTreeMap<PathBuf, (String, u64)>,
    look: u64,
}

impl Known {
    /// Returns whether the file is not as it was when it was last read. One that could not be read never is:
    /// what was in the way may go without a trace at the file.
    pub(super) fn has_changed(&self, file: &FoundFile) -> bool {
        self.seen
            .get(&file.path)
            .is_none_or(|seen| seen.bytes != file.bytes || seen.modified != file.modified)
    }

    /// Notes that the file was read as it was found.
    pub(super) fn read(&mut self, file: &FoundFile, is_session: bool) {
        let seen = Seen { bytes: file.bytes, modified: file.modified, is_session };
        self.seen.insert(file.path.clone(), seen);
        self.troubles.remove(&file.path);
    }

    /// Notes that a file or folder cannot be read; returns whether that is news.
    pub(super) fn trouble(&mut self, path: &Path, reason: &str) -> bool {
        self.seen.remove(path);
        let before = self.troubles.insert(path.to_owned(), (reason.to_owned(), self.look));
        before.is_none_or(|(before, _)| before != reason)
    }

    /// Forgets how the file was: it may have changed since.
    pub(super) fn forget(&mut self, path: &Path) {
        self.seen.remove(path);
    }

    /// Begins a look at all files.
    pub(super) fn begin_look(&mut self) {
        self.look += 1;
    }

    /// Ends a look at all files, which found these: what is known of others is of no more use.
    pub(super) fn end_look(&mut self, found: &FxHashSet<PathBuf>) {
        self.seen.retain(|path, _| found.contains(path));
        self.troubles.retain(|_, (_, look)| *look == self.look);
    }

    /// Returns how many session files were read.
    pub(super) fn sessions(&self) -> u64 {
        self.seen.values().filter(|seen| seen.is_session).count() as u64
    }

    /// Returns what cannot be read, and why.
    pub(super) fn troubles(&self) -> BTreeMap<PathBuf, String> {
        self.troubles.iter().map(|(path, (reason, _))| (path.clone(), reason.clone())).collect()
    }
}
