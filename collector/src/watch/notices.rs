//! What the system tells of changes, and of which folders it tells.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::SystemTime;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Noticing, Wake};

/// Takes the system's file events and wakes the watcher with them. Never waits: the system would lose more.
#[derive(Clone)]
pub(super) struct Waker {
    pub(super) wake: SyncSender<Wake>,
    /// Set when events were lost: all files are to be looked at.
    pub(super) missed: Arc<AtomicBool>,
}

impl Waker {
    fn take(&self, event: notify::Result<notify::Event>) {
        let taken = match event {
            Ok(event) if event.need_rescan() => false,
            Ok(event) if event.kind.is_access() => true,
            Ok(event) => self.wake.try_send(Wake::Changed(event.paths)).is_ok(),
            Err(error) => {
                tracing::info!(%error, "the system lost file events");
                false
            }
        };
        if !taken {
            self.missed.store(true, Ordering::Relaxed);
            // When there is no room, the watcher has enough to wake up for.
            let _ = self.wake.try_send(Wake::Changed(Vec::new()));
        }
    }
}

/// Tells one folder from another that takes its place: device, inode, and when it was made, since inodes
/// are given again.
type FolderId = (u64, u64, Option<SystemTime>);

/// The folders that the system tells of.
pub(super) struct Notices {
    notifier: Option<RecommendedWatcher>,
    told: FxHashMap<PathBuf, FolderId>,
    /// Folders of which it was said that they are polled.
    polled: FxHashSet<PathBuf>,
}

impl Notices {
    /// Asks the system for file events, unless all is to be polled.
    pub(super) fn start(noticing: Noticing, waker: Waker, problem: &mut dyn FnMut(String)) -> Self {
        let notifier = match noticing {
            Noticing::Polling => None,
            Noticing::Events => notify::recommended_watcher(move |event| waker.take(event))
                .inspect_err(|error| problem(format!("the system tells of no changes; polling: {error}")))
                .ok(),
        };
        Self { notifier, told: FxHashMap::default(), polled: FxHashSet::default() }
    }

    /// Asks the system to tell of those folders that it does not tell of, or of another in their place.
    pub(super) fn follow(&mut self, folders: &[PathBuf], problem: &mut dyn FnMut(String)) {
        folders.iter().for_each(|folder| self.forget_if_gone(folder));
        let Some(notifier) = &mut self.notifier else { return };
        for folder in folders {
            let Some(id) = id_of(folder).filter(|_| !self.told.contains_key(folder)) else { continue };
            match notifier.watch(folder, RecursiveMode::Recursive) {
                Ok(()) => {
                    self.told.insert(folder.clone(), id);
                }
                Err(error) if self.polled.insert(folder.clone()) => {
                    problem(format!(
                        "the system tells of no changes in {}; polling: {error}",
                        folder.display()
                    ));
                }
                Err(_) => {}
            }
        }
    }

    /// Notes that the system no longer tells of a folder that went, also when another took its place.
    pub(super) fn forget_if_gone(&mut self, folder: &Path) {
        if self.told.get(folder).is_some_and(|id| id_of(folder) != Some(*id)) {
            self.told.remove(folder);
            if let Some(notifier) = &mut self.notifier {
                // The system forgets a folder that was removed by itself.
                let _ = notifier.unwatch(folder);
            }
        }
    }

    /// Returns whether the system tells of all these folders.
    pub(super) fn tell_of_all(&self, folders: &[PathBuf]) -> bool {
        folders.iter().all(|folder| self.told.contains_key(folder))
    }
}

fn id_of(folder: &Path) -> Option<FolderId> {
    let metadata = fs::metadata(folder).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.created().ok()))
}
