//! Follows folders: what is written to session files there is brought in as it comes.
//!
//! The system's file events tell at once; a look at all files now and then finds what they miss (network
//! file systems, limits on the number of watches, folders that appear later).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use notify::{RecursiveMode, Watcher as _};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Imported, Importer, files_below};

/// How long a burst of file events is gathered before the files are read.
const GATHER: Duration = Duration::from_millis(60);
/// Between two looks at all files while the system tells of changes.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// The same where the system tells nothing.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// What the watcher tells while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchNews {
    /// A look at all files found so much to read.
    Found {
        /// Files.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// So many bytes were read.
    Read(u64),
    /// All that was there has been read; from here on it follows what is written.
    Following {
        /// Session files.
        sessions: u64,
    },
    /// Something could not be read; it is tried again when it changes.
    Problem(String),
}

/// The running watcher; dropping it ends it after the file in hand.
pub struct Watcher {
    wake: Option<Sender<Wake>>,
    thread: Option<JoinHandle<()>>,
}

enum Wake {
    Changed(Vec<PathBuf>),
    Stop,
}

impl Watcher {
    /// Starts to follow `folders`. `news` is called from the watcher's thread.
    pub fn start(
        importer: Arc<Importer>,
        folders: Vec<PathBuf>,
        news: impl FnMut(WatchNews) + Send + 'static,
    ) -> Self {
        let (wake, woken) = channel();
        let events = wake.clone();
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                let mut following = Following {
                    importer,
                    folders,
                    seen: FxHashMap::default(),
                    told: FxHashSet::default(),
                    news: Box::new(news),
                };
                following.run(&woken, &events);
            })
            .expect("the system gives a thread at the start");
        Self { wake: Some(wake), thread: Some(thread) }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(wake) = self.wake.take() {
            // The thread may have ended already.
            let _ = wake.send(Wake::Stop);
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed by it.
            let _ = thread.join();
        }
    }
}

struct Following {
    importer: Arc<Importer>,
    folders: Vec<PathBuf>,
    seen: FxHashMap<PathBuf, Seen>,
    /// Folders that the system tells of.
    told: FxHashSet<PathBuf>,
    news: Box<dyn FnMut(WatchNews) + Send>,
}

/// A file as it was when it was last read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    modified: SystemTime,
    is_session: bool,
}

impl Following {
    fn run(&mut self, woken: &Receiver<Wake>, events: &Sender<Wake>) {
        let mut notifier = self.notifier(events);
        if self.look_at_all(&mut notifier, woken) {
            return;
        }
        let sessions = self.seen.values().filter(|seen| seen.is_session).count() as u64;
        (self.news)(WatchNews::Following { sessions });
        let mut looked = Instant::now();
        loop {
            let every = if self.told.len() < self.folders.len() { POLL_EVERY } else { LOOK_EVERY };
            match woken.recv_timeout(every.saturating_sub(looked.elapsed())) {
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Changed(paths)) => {
                    let Some(paths) = gather(paths, woken) else { return };
                    for path in paths {
                        self.look_at(&path);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.look_at_all(&mut notifier, woken) {
                        return;
                    }
                    looked = Instant::now();
                }
            }
        }
    }

    fn notifier(&mut self, events: &Sender<Wake>) -> Option<notify::RecommendedWatcher> {
        let events = events.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if let Ok(event) = event
                && !event.kind.is_access()
            {
                // The watcher may be ending.
                let _ = events.send(Wake::Changed(event.paths));
            }
        });
        watcher
            .inspect_err(|error| {
                (self.news)(WatchNews::Problem(format!(
                    "the system tells of no changes, polling instead: {error}"
                )));
            })
            .ok()
    }

    /// Asks the system to tell of folders that it does not tell of yet.
    fn tell_of_folders(&mut self, notifier: &mut Option<notify::RecommendedWatcher>) {
        let Some(notifier) = notifier else { return };
        for folder in &self.folders {
            if !self.told.contains(folder) && folder.exists() {
                match notifier.watch(folder, RecursiveMode::Recursive) {
                    Ok(()) => {
                        self.told.insert(folder.clone());
                    }
                    Err(error) => tracing::info!(folder = %folder.display(), %error, "polling this folder"),
                }
            }
        }
    }

    /// Reads all files that changed. Returns whether it was told to stop meanwhile.
    fn look_at_all(
        &mut self,
        notifier: &mut Option<notify::RecommendedWatcher>,
        woken: &Receiver<Wake>,
    ) -> bool {
        self.tell_of_folders(notifier);
        let mut changed = Vec::new();
        for folder in self.folders.clone() {
            let found = files_below(&folder, &mut |path, error| {
                // A folder that is not there yet is watched for; a file may go while it is looked at.
                if error.kind() != std::io::ErrorKind::NotFound {
                    (self.news)(WatchNews::Problem(format!("cannot read {}: {error}", path.display())));
                }
            });
            changed.extend(
                found.into_iter().filter(|file| self.has_changed(&file.path, file.bytes, file.modified)),
            );
        }
        if changed.is_empty() {
            return false;
        }
        let bytes = changed.iter().map(|file| file.bytes).sum();
        (self.news)(WatchNews::Found { files: changed.len() as u64, bytes });
        for file in changed {
            while let Ok(wake) = woken.try_recv() {
                match wake {
                    Wake::Stop => return true,
                    // What changes while all is looked at is seen by size and time: this look or the next.
                    Wake::Changed(paths) => paths.iter().for_each(|path| {
                        self.seen.remove(path);
                    }),
                }
            }
            self.read(&file.path, file.bytes, file.modified);
        }
        false
    }

    fn has_changed(&self, path: &Path, bytes: u64, modified: SystemTime) -> bool {
        self.seen.get(path).is_none_or(|seen| seen.bytes != bytes || seen.modified != modified)
    }

    /// Reads a file that the system told of, or all files of a folder.
    fn look_at(&mut self, path: &Path) {
        for file in files_below(path, &mut |_, _| {}) {
            if self.has_changed(&file.path, file.bytes, file.modified) {
                self.read(&file.path, file.bytes, file.modified);
            }
        }
    }

    fn read(&mut self, path: &Path, bytes: u64, modified: SystemTime) {
        let news = &mut self.news;
        match self.importer.import(path, &mut |bytes| news(WatchNews::Read(bytes))) {
            Ok(imported) => {
                let is_session = matches!(imported, Imported::Session(_));
                self.seen.insert(path.to_owned(), Seen { bytes, modified, is_session });
            }
            Err(error) => {
                // Not tried again until it changes: a file that cannot be read now would fill the log.
                self.seen.insert(path.to_owned(), Seen { bytes, modified, is_session: false });
                news(WatchNews::Problem(error.to_string()));
            }
        }
    }
}

/// Waits for a burst to end and returns its files, each once; nothing when it is time to stop.
fn gather(first: Vec<PathBuf>, woken: &Receiver<Wake>) -> Option<Vec<PathBuf>> {
    let mut paths: FxHashSet<PathBuf> = first.into_iter().collect();
    let until = Instant::now() + GATHER;
    loop {
        match woken.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Wake::Changed(more)) => paths.extend(more),
            Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    let mut paths: Vec<_> = paths.into_iter().collect();
    paths.sort();
    Some(paths)
}
