//! Follows folders: what is written to session files there is brought in as it comes.
//!
//! The system's file events tell at once; a look at all files now and then finds what they miss (network
//! file systems, limits on the number of watches, folders that appear later).

mod known;
mod notices;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::{FoundFile, Full, ImportError, Imported, Importer, Stop, files_below};
use known::Known;
use notices::{Notices, Waker};

/// How long a burst of file events is gathered before the files are read.
const GATHER: Duration = Duration::from_millis(60);
/// Between two looks at all files while the system tells of changes.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// The same where the system tells nothing.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// File events that wait; when there are more, all files are looked at instead.
const WAITING_EVENTS: usize = 4096;

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noticing {
    /// By the system's file events, and by looking where there are none.
    #[default]
    Events,
    /// By looking at all files every two seconds.
    Polling,
}

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
    /// Something could not be read; it is tried again when it changes, and at each look at all files.
    Problem(String),
    /// Nothing more can be stored for now; it is tried again at each look at all files.
    Waits(String),
    /// There is room again.
    GoesOn,
    /// It was ended before all that was there had been read; the next start goes on there.
    Stopped(String),
}

/// The running watcher; dropping it ends it soon, also in the middle of a file.
pub struct Watcher {
    stop: Stop,
    wake: SyncSender<Wake>,
    thread: Option<JoinHandle<()>>,
}

enum Wake {
    /// These may have changed.
    Changed(Vec<PathBuf>),
    /// The wish to stop was told.
    Stop,
}

impl Watcher {
    /// Starts to follow `folders`. `news` is called from the watcher's thread.
    pub fn start(
        importer: Arc<Importer>,
        folders: Vec<PathBuf>,
        noticing: Noticing,
        news: impl FnMut(WatchNews) + Send + 'static,
    ) -> Self {
        let (wake, woken) = sync_channel(WAITING_EVENTS);
        let stop = Stop::default();
        let waker = Waker { wake: wake.clone(), missed: Arc::default() };
        let told = stop.clone();
        let thread = std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                let mut news: Box<dyn FnMut(WatchNews) + Send> = Box::new(news);
                let missed = Arc::clone(&waker.missed);
                let notices = Notices::start(noticing, waker, &mut |words| news(WatchNews::Problem(words)));
                let known = Known::default();
                let (is_loaded, is_held) = (false, false);
                Following { importer, folders, stop: told, notices, missed, known, is_loaded, is_held, news }
                    .run(&woken);
            })
            .expect("the system gives a thread at the start");
        Self { stop, wake, thread: Some(thread) }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.tell();
        // When there is no room the thread is awake, and when it has ended nobody has to be woken.
        let _ = self.wake.try_send(Wake::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed by it.
            let _ = thread.join();
        }
    }
}

struct Following {
    importer: Arc<Importer>,
    folders: Vec<PathBuf>,
    stop: Stop,
    notices: Notices,
    /// Whether file events were lost.
    missed: Arc<AtomicBool>,
    known: Known,
    /// Whether all that was there at the start has been read.
    is_loaded: bool,
    /// Whether nothing could be stored at the last try.
    is_held: bool,
    news: Box<dyn FnMut(WatchNews) + Send>,
}

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was read, or cannot be.
    Done,
    /// It waits, and so do all others: there is no room, or it is time to stop.
    Waits,
}

impl Following {
    fn run(&mut self, woken: &Receiver<Wake>) {
        let mut next_look = Instant::now();
        while !self.stop.is_told() {
            if self.missed.swap(false, Ordering::Relaxed) {
                next_look = Instant::now();
            }
            let left = next_look.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.look_at_all(woken);
                next_look = Instant::now() + self.look_every();
                continue;
            }
            match woken.recv_timeout(left) {
                Ok(Wake::Changed(paths)) => gather(paths, woken).iter().for_each(|path| self.look_at(path)),
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.notices.tell_of_all(&self.folders) {
                next_look = next_look.min(Instant::now() + POLL_EVERY);
            }
        }
    }

    fn look_every(&self) -> Duration {
        if self.notices.tell_of_all(&self.folders) { LOOK_EVERY } else { POLL_EVERY }
    }

    /// Reads all files that changed.
    fn look_at_all(&mut self, woken: &Receiver<Wake>) {
        if self.is_held && !matches!(self.importer.gate().check(), Err(Full::Disk { .. })) {
            self.is_held = false;
            (self.news)(WatchNews::GoesOn);
        }
        let news = &mut self.news;
        self.notices.follow(&self.folders, &mut |words| news(WatchNews::Problem(words)));
        self.known.begin_look();
        let found = self.find_all();
        let paths: FxHashSet<PathBuf> = found.iter().map(|file| file.path.clone()).collect();
        let changed: Vec<_> = found.into_iter().filter(|file| self.known.has_changed(file)).collect();
        if !changed.is_empty() {
            let bytes = changed.iter().map(|file| file.bytes).sum();
            (self.news)(WatchNews::Found { files: changed.len() as u64, bytes });
        }
        for (at, file) in changed.iter().enumerate() {
            self.forget_what_changes(woken);
            if self.read(file, changed.len() - at - 1) == Outcome::Waits {
                return;
            }
        }
        self.known.end_look(&paths);
        self.tell_troubles();
        self.all_is_read();
    }

    fn find_all(&mut self) -> Vec<FoundFile> {
        let mut found = Vec::new();
        let mut refused = Vec::new();
        for folder in &self.folders {
            found.extend(files_below(folder, &mut |path, error| {
                // A folder that is not there yet is watched for; a file may go while it is looked at.
                if error.kind() != io::ErrorKind::NotFound {
                    refused.push((path.to_owned(), format!("cannot read {}: {error}", path.display())));
                }
            }));
        }
        refused.iter().for_each(|(path, words)| self.trouble(path, words));
        found
    }

    /// What changes while all is looked at is read by this look, when its turn comes, or else by the next.
    fn forget_what_changes(&mut self, woken: &Receiver<Wake>) {
        while let Ok(Wake::Changed(paths)) = woken.try_recv() {
            paths.iter().for_each(|path| self.known.forget(path));
        }
    }

    fn all_is_read(&mut self) {
        if !std::mem::replace(&mut self.is_loaded, true) {
            (self.news)(WatchNews::Following { sessions: self.known.sessions() });
        }
    }

    /// Reads a file that the system told of, or all files of a folder.
    fn look_at(&mut self, path: &Path) {
        if self.folders.iter().any(|folder| folder == path) {
            self.notices.forget_if_gone(path);
        }
        if self.is_held {
            // The next look at all files takes it in, when there is room.
            return;
        }
        // What cannot be looked at is gone again, or told of by the next look at all files.
        let changed =
            files_below(path, &mut |_, _| {}).into_iter().filter(|file| self.known.has_changed(file));
        for file in changed.collect::<Vec<_>>() {
            if self.read(&file, 0) == Outcome::Waits {
                return;
            }
        }
        self.tell_troubles();
    }

    fn read(&mut self, file: &FoundFile, files_left: usize) -> Outcome {
        let news = &mut self.news;
        let imported =
            self.importer.import_until(&file.path, &self.stop, &mut |bytes| news(WatchNews::Read(bytes)));
        match imported {
            Ok(imported) => self.known.read(file, matches!(imported, Imported::Session(_))),
            // It went while it was looked at.
            Err(ImportError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.is_of_the_file() => self.trouble(&file.path, &error.to_string()),
            Err(error) => {
                self.wait_for_room(&error, files_left);
                return Outcome::Waits;
            }
        }
        Outcome::Done
    }

    fn wait_for_room(&mut self, error: &ImportError, files_left: usize) {
        let words = match files_left {
            0 => error.to_string(),
            _ => format!("{error}; {files_left} more files are left"),
        };
        if matches!(error, ImportError::Stopped { .. }) {
            (self.news)(WatchNews::Stopped(words));
        } else if !std::mem::replace(&mut self.is_held, true) {
            (self.news)(WatchNews::Waits(words));
        }
    }

    fn trouble(&mut self, path: &Path, words: &str) {
        if self.known.trouble(path, words) {
            (self.news)(WatchNews::Problem(words.to_owned()));
        }
    }

    /// Has `doctor` and the pages know what cannot be read.
    fn tell_troubles(&self) {
        self.importer.store().set_unreadable(self.known.troubles());
    }
}

/// Waits for a burst to end and returns its files, each once.
fn gather(first: Vec<PathBuf>, woken: &Receiver<Wake>) -> Vec<PathBuf> {
    let mut paths: FxHashSet<PathBuf> = first.into_iter().collect();
    let until = Instant::now() + GATHER;
    // A wish to stop is seen by whoever asked for the files.
    while let Ok(Wake::Changed(more)) = woken.recv_timeout(until.saturating_duration_since(Instant::now())) {
        paths.extend(more);
    }
    let mut paths: Vec<_> = paths.into_iter().collect();
    paths.sort();
    paths
}
