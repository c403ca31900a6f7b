//! The one handle to a data folder: append, wait, query.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use duckdb::Connection;
use tokio::sync::{oneshot, watch};

use crate::live::LiveState;
use crate::projection::{MEMORY_LIMIT, Projection, SESSIONS_IN_MEMORY, Worker, damage_mark, mark_damaged};
use crate::query::Orphans;
use crate::readers::Readers;
use crate::rebuild::{database_path, make_again, set_aside};
use crate::sources::SourceMemory;
use crate::unreadable::Unreadable;
use crate::wide::Wide;
use crate::{
    Committed, Journal, JournalError, JournalWriter, KeepAll, Mappers, Position, ProjectionError, Record,
    RecordKind, Redact, Source, SourceCursor, SourceId,
};

/// What the last commit of the tables changed.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The position that the tables have reached. Whoever missed a commit sees it jump.
    pub position: Position,
    /// The numbers of the sessions that the last commit changed.
    pub sessions: Arc<Vec<u32>>,
}

/// Records after which the live state is saved: about as many are replayed at a start after a crash.
const SAVE_LIVE_EVERY_RECORDS: usize = 200_000;

/// Says why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Own prices cannot be used.
    #[error(transparent)]
    OwnPrices(#[from] agent_core::price::OwnPriceError),
    /// Another process has the data folder.
    #[error(
        "the data folder {folder} is in use by another dashcam (process {process}); if that one serves pages, \
         `dashcam link` prints a link to them"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process that holds it, as it wrote it down.
        process: String,
    },
    /// The file system refused.
    #[error("cannot {action} {path}: {cause}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        cause: std::io::Error,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] Arc<JournalError>),
    /// The projection.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The projection has stopped.
    #[error("the tables are no longer kept up: {0}")]
    Stopped(Arc<str>),
    /// Too much waits to be written; try again.
    #[error("too much waits to be written; try again in a moment")]
    Busy,
    /// One rebuild at a time.
    #[error("the tables are being made again already; wait until that ends")]
    Rebuilding,
    /// There is no such thing.
    #[error("no {what} {name}")]
    NotFound {
        /// What was sought: session, turn, ...
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A prefix fits more than one session.
    #[error("{prefix} fits {count} sessions, among them {some}; give more of the name")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many it fits.
        count: usize,
        /// A few of them.
        some: String,
    },
    /// A record cannot be read as what it is.
    #[error("record {position} cannot be read: {reason}")]
    Unreadable {
        /// The record.
        position: u64,
        /// Why.
        reason: String,
    },
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> Self {
        Self::Journal(Arc::new(error))
    }
}

impl From<duckdb::Error> for StoreError {
    fn from(error: duckdb::Error) -> Self {
        Self::Projection(ProjectionError::Query(error))
    }
}

/// An open data folder. Cheap to clone; the folder is let go when the last clone is dropped.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    journal: Journal,
    mappers: Arc<Mappers>,
    /// A plain lock: held to look up or move a few words, never across I/O or an await.
    live: Arc<Mutex<LiveState>>,
    readers: Arc<Readers>,
    unreadable: Unreadable,
    orphans: Orphans,
    sources: SourceMemory,
    wide: Wide,
    // Dropped in this order: what waits is written, then projected, and the lock goes last.
    writer: Option<JournalWriter>,
    worker: Option<Worker>,
    redact: Box<dyn Redact>,
    torn_bytes: u64,
    _lock: File,
}

impl Store {
    /// Opens the data folder, makes it when there is none, and brings the tables up to the journal in the
    /// background. Tables of another version are made again first.
    pub fn open(folder: &Path, mappers: Mappers) -> Result<Self, StoreError> {
        Self::open_redacting(folder, mappers, Box::new(KeepAll))
    }

    /// Opens the data folder as [`Store::open`] does, and has `redact` take secrets out of all that comes in.
    pub fn open_redacting(
        folder: &Path,
        mappers: Mappers,
        redact: Box<dyn Redact>,
    ) -> Result<Self, StoreError> {
        let fail = |action| move |cause| StoreError::Io { action, path: folder.to_owned(), cause };
        // Transcripts hold what an agent saw: nobody else on the machine may read them.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fail("make"))?;
        keep_private(folder);
        let lock = lock(folder)?;
        let (journal, opened) = Journal::open(&folder.join("journal"))?;
        let mappers = Arc::new(mappers);
        let live = Arc::new(Mutex::new(LiveState::open(folder, &journal)?));
        let projection = open_projection(folder, &journal, &mappers)?;
        let readers = Arc::new(Readers::new(|| projection.reader())?);
        let behind = projection.position() < journal.last();
        let worker = {
            let journal = journal.clone();
            Worker::start(projection, move || journal.last())
        };
        let wake = worker.waker();
        if behind {
            wake();
        }
        let writer = {
            let live = Arc::clone(&live);
            let folder = folder.to_owned();
            let mut unsaved_records = 0;
            let on_commit = move |committed: Committed, records: &[Record]| {
                live.lock().expect("no holder of this lock panics").apply_all(committed.first, records);
                wake();
                unsaved_records += records.len();
                if unsaved_records >= SAVE_LIVE_EVERY_RECORDS {
                    unsaved_records = 0;
                    save_live(&folder, &live);
                }
            };
            JournalWriter::start(&journal, Box::new(on_commit))?
        };
        let inner = Inner {
            folder: folder.to_owned(),
            journal,
            mappers,
            live,
            readers,
            unreadable: Unreadable::default(),
            orphans: Orphans::default(),
            sources: SourceMemory::default(),
            wide: Wide::default(),
            writer: Some(writer),
            worker: Some(worker),
            redact,
            torn_bytes: opened.torn_bytes,
            _lock: lock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Returns what is remembered of sessions whose parent is not here.
    pub(crate) fn orphan_memory(&self) -> &Orphans {
        &self.inner.orphans
    }

    /// Returns the journal.
    pub fn journal(&self) -> &Journal {
        &self.inner.journal
    }

    pub(crate) fn mappers(&self) -> &Arc<Mappers> {
        &self.inner.mappers
    }

    pub(crate) fn source_memory(&self) -> &SourceMemory {
        &self.inner.sources
    }

    pub(crate) fn unreadable_files(&self) -> &Unreadable {
        &self.inner.unreadable
    }

    pub(crate) fn readers(&self) -> &Arc<Readers> {
        &self.inner.readers
    }

    /// Returns how many bytes of an unfinished commit were cut off the journal's end at the opening.
    pub fn torn_bytes(&self) -> u64 {
        self.inner.torn_bytes
    }

    /// Opens a source: from now on rows can be appended under its number.
    pub fn open_source(&self, source: &Source) -> Result<SourceId, StoreError> {
        let id = self.live().next_source();
        let bytes = serde_json::to_vec(source).expect("a source has string keys only");
        self.append(vec![Record { kind: RecordKind::Source, source: id, number: 0, read_to: 0, bytes }])?;
        Ok(id)
    }

    /// Appends the records in order and waits until they are safe on disk. Blocks; not for async threads.
    pub fn append(&self, mut records: Vec<Record>) -> Result<Committed, StoreError> {
        records.iter_mut().for_each(|record| self.inner.redact.redact(record));
        Ok(self.writer().append(records)?)
    }

    /// Appends the records in order; the answer comes when they are safe on disk. Refuses at once with
    /// [`StoreError::Busy`] when too much waits already.
    pub fn try_append(
        &self,
        mut records: Vec<Record>,
    ) -> Result<oneshot::Receiver<Result<Committed, Arc<JournalError>>>, StoreError> {
        records.iter_mut().for_each(|record| self.inner.redact.redact(record));
        self.writer().try_append(records).map_err(|_| StoreError::Busy)
    }

    /// Returns the newest source at `path` and how far it has been read.
    pub fn source_at(&self, path: &str) -> Option<SourceCursor> {
        self.live().source_at(path).cloned()
    }

    /// Returns the newest source of each place.
    pub fn source_cursors(&self) -> Vec<SourceCursor> {
        self.live().sources().cloned().collect()
    }

    /// Waits until the tables hold everything up to `position`. Blocks; not for async threads.
    pub fn wait_until_projected(&self, position: Position) -> Result<(), StoreError> {
        self.worker().wait_for(position).map_err(StoreError::Stopped)
    }

    /// Returns how many records the tables are behind the journal.
    pub fn lag(&self) -> u64 {
        self.inner.journal.last().0.saturating_sub(self.worker().position().0)
    }

    /// Follows the commits of the tables.
    pub fn changes(&self) -> watch::Receiver<Change> {
        self.worker().changes()
    }

    /// Runs a query on one of the readers' connections. Blocks; not for async threads.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.inner.readers.with(query).inspect_err(|error| {
            if matches!(error, StoreError::Projection(error) if error.is_damage()) {
                mark_damaged(&database_path(&self.inner.folder));
            }
        })
    }

    /// Runs a question over many sessions, which may take more memory. Blocks; not for async threads.
    pub(crate) fn read_wide<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|connection| {
            let _more = self.inner.wide.more(connection, MEMORY_LIMIT)?;
            query(connection)
        })
    }

    fn live(&self) -> MutexGuard<'_, LiveState> {
        self.inner.live.lock().expect("no holder of this lock panics")
    }

    fn writer(&self) -> &JournalWriter {
        self.inner.writer.as_ref().expect("it is taken at the drop only")
    }

    pub(crate) fn worker(&self) -> &Worker {
        self.inner.worker.as_ref().expect("it is taken at the drop only")
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.writer = None;
        save_live(&self.folder, &self.live);
        if let Some(worker) = self.worker.take() {
            worker.stop();
        }
    }
}

fn save_live(folder: &Path, live: &Mutex<LiveState>) {
    let bytes = live.lock().expect("no holder of this lock panics").to_bytes();
    if let Err(error) = LiveState::save(folder, &bytes) {
        tracing::warn!(%error, "the live state was not saved; the next start replays more of the journal");
    }
}

/// Closes a folder that was there before to everybody else: DuckDB makes its files as the folder allows. A folder
/// that holds other things than ours is left as it is.
fn keep_private(folder: &Path) {
    let closed = fs::metadata(folder).and_then(|about| {
        let mut permissions = about.permissions();
        let is_ours = folder.join("journal").exists() || fs::read_dir(folder)?.next().is_none();
        if permissions.mode() & 0o077 == 0 {
            return Ok(true);
        }
        permissions.set_mode(0o700);
        if is_ours {
            fs::set_permissions(folder, permissions)?;
        }
        Ok(is_ours)
    });
    if !matches!(closed, Ok(true)) {
        tracing::warn!(folder = %folder.display(), "others on this machine may read what is recorded here");
    }
}

/// Takes the folder for this process alone.
pub(crate) fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let fail = |action| {
        let path = path.clone();
        move |cause| StoreError::Io { action, path, cause }
    };
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(fail("open"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let process = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            return Err(StoreError::InUse { folder: folder.to_owned(), process });
        }
        Err(TryLockError::Error(cause)) => return Err(fail("lock")(cause)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(fail("write"))?;
    Ok(file)
}

fn open_projection(
    folder: &Path,
    journal: &Journal,
    mappers: &Arc<Mappers>,
) -> Result<Projection, StoreError> {
    let path = database_path(folder);
    let mark = damage_mark(&path);
    if mark.exists() {
        tracing::warn!("the tables were found damaged; making them again from the journal");
        set_aside(&path)?;
        fs::remove_file(&mark).map_err(|cause| StoreError::Io { action: "remove", path: mark, cause })?;
    }
    match Projection::open(&path, journal, mappers, SESSIONS_IN_MEMORY) {
        Ok(Some(projection)) if projection.position() <= journal.last() => return Ok(projection),
        Ok(Some(_)) => tracing::warn!("the tables are ahead of the journal; making them again"),
        Ok(None) => tracing::warn!("the tables are of another version; making them again from the journal"),
        Err(error @ ProjectionError::Library { .. }) => return Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "the tables cannot be opened; making them again from the journal");
            set_aside(&path)?;
        }
    }
    make_again(folder, journal, mappers, &mut |_, _| {})?;
    let projection = Projection::open(&path, journal, mappers, SESSIONS_IN_MEMORY)?;
    projection
        .ok_or_else(|| StoreError::Stopped("the tables that were just made are of another version".into()))
}
