//! The one thread that writes the journal: it gathers what waits, writes it, syncs once, and answers.

use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::blobs::BLOB_FROM;
use super::frame::{FrameBuilder, Header};
use super::record::{Encoded, Position, Record};
use super::segment::Segment;
use super::{Journal, JournalError};

/// Raw bytes of a commit. Small enough that one record is read back quickly, large enough to compress well.
const FRAME_BYTES: usize = 256 << 10;
/// A new file is begun after this many bytes.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Batches that wait to be written; a sender waits, or is refused, when there are more.
const WAITING_BATCHES: usize = 64;
/// Raw bytes that are written under one sync at the most.
const GROUP_BYTES: usize = 8 << 20;

/// The positions that an append was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The position of the first record.
    pub first: Position,
    /// The position of the last one.
    pub last: Position,
}

type Answer = Result<Committed, Arc<JournalError>>;

struct Append {
    records: Vec<Record>,
    answer: oneshot::Sender<Answer>,
}

/// Is called with each batch after it is safe on disk, in the order of positions.
pub type OnCommit = Box<dyn FnMut(Committed, &[Record]) + Send>;

/// Appends to a journal. There is one for each open journal; dropping it writes what waits and ends.
pub struct JournalWriter {
    waiting: Option<SyncSender<Append>>,
    thread: Option<JoinHandle<()>>,
}

impl JournalWriter {
    /// Starts the thread that writes `journal`.
    pub fn start(journal: &Journal, on_commit: OnCommit) -> Result<Self, JournalError> {
        let (waiting, batches) = sync_channel(WAITING_BATCHES);
        let log = Log::new(journal.clone());
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write_batches(log, &batches, on_commit))
            .map_err(|cause| JournalError::Io {
                action: "start the thread that writes",
                path: journal.inner.folder.clone(),
                cause,
            })?;
        Ok(Self { waiting: Some(waiting), thread: Some(thread) })
    }

    /// Appends the records in order and waits until they are safe on disk. Blocks; not for async threads.
    pub fn append(&self, records: Vec<Record>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let waiting = self.waiting.as_ref().expect("the sender lives until drop");
        waiting.send(Append { records, answer }).map_err(|_| Arc::new(JournalError::Closed))?;
        answered.blocking_recv().unwrap_or_else(|_| Err(Arc::new(JournalError::Closed)))
    }

    /// Hands the records over without waiting; gives them back when too much waits already.
    pub fn try_append(&self, records: Vec<Record>) -> Result<oneshot::Receiver<Answer>, Vec<Record>> {
        let (answer, answered) = oneshot::channel();
        let waiting = self.waiting.as_ref().expect("the sender lives until drop");
        match waiting.try_send(Append { records, answer }) {
            Ok(()) => Ok(answered),
            Err(TrySendError::Full(append) | TrySendError::Disconnected(append)) => Err(append.records),
        }
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        self.waiting = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed by it; the journal on disk is whole up to its last sync.
            let _ = thread.join();
        }
    }
}

fn write_batches(mut log: Log, batches: &Receiver<Append>, mut on_commit: OnCommit) {
    while let Ok(first) = batches.recv() {
        let mut group = vec![first];
        let mut bytes = batch_bytes(&group[0]);
        while bytes < GROUP_BYTES {
            let Ok(next) = batches.try_recv() else { break };
            bytes += batch_bytes(&next);
            group.push(next);
        }
        match log.write_group(&group) {
            Ok(committed) => {
                for (append, committed) in group.into_iter().zip(committed) {
                    on_commit(committed, &append.records);
                    // Whoever asked may have gone; the records are safe all the same.
                    let _ = append.answer.send(Ok(committed));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                tracing::error!(%error, "the journal could not be written");
                for append in group {
                    let _ = append.answer.send(Err(Arc::clone(&error)));
                }
            }
        }
    }
}

fn batch_bytes(append: &Append) -> usize {
    append.records.iter().map(|record| record.bytes.len()).sum()
}

/// The end of the journal, where it grows.
struct Log {
    journal: Journal,
    current: Option<Arc<RwLock<Segment>>>,
    builder: FrameBuilder,
    last: Position,
    last_hash: [u8; 32],
}

impl Log {
    fn new(journal: Journal) -> Self {
        let segments = journal.all_segments();
        let last_hash = segments.iter().rev().find_map(|segment| super::read(segment).last_hash());
        Self {
            last: journal.last(),
            last_hash: last_hash.unwrap_or_default(),
            current: segments.last().cloned(),
            builder: FrameBuilder::new(journal.inner.key),
            journal,
        }
    }

    /// Writes the batches and syncs; on an error the file is as it was before.
    fn write_group(&mut self, group: &[Append]) -> Result<Vec<Committed>, JournalError> {
        let segment = self.segment()?;
        let start = super::read(&segment).len;
        let before = (self.last, self.last_hash);
        let written = self.encode(group).and_then(|(bytes, frames, committed)| {
            let segment = super::read(&segment);
            let fail = |cause| JournalError::Io { action: "write", path: segment.path.clone(), cause };
            segment.file.write_all_at(&bytes, start).map_err(fail)?;
            segment.file.sync_data().map_err(fail)?;
            Ok((frames, committed))
        });
        match written {
            Ok((frames, committed)) => {
                let mut segment = segment.write().expect("no holder of this lock panics");
                for (header, len) in frames {
                    let end = segment.len + len;
                    segment.took(header, end);
                }
                Ok(committed)
            }
            Err(error) => {
                (self.last, self.last_hash) = before;
                self.builder = FrameBuilder::new(self.journal.inner.key);
                super::read(&segment).cut_to_len()?;
                Err(error)
            }
        }
    }

    #[allow(clippy::type_complexity, reason = "the three results are used at one place")]
    fn encode(
        &mut self,
        group: &[Append],
    ) -> Result<(Vec<u8>, Vec<(Header, u64)>, Vec<Committed>), JournalError> {
        let mut bytes = Vec::new();
        let mut frames = Vec::new();
        let mut committed = Vec::with_capacity(group.len());
        let mut next = self.last.next();
        for append in group {
            let first = next;
            for record in &append.records {
                self.push(record)?;
                next = next.next();
                if self.builder.len() >= FRAME_BYTES {
                    self.finish_frame(&mut bytes, &mut frames)?;
                }
            }
            committed.push(Committed { first, last: Position(next.0 - 1) });
        }
        if !self.builder.is_empty() {
            self.finish_frame(&mut bytes, &mut frames)?;
        }
        Ok((bytes, frames, committed))
    }

    fn push(&mut self, record: &Record) -> Result<(), JournalError> {
        let hash;
        let is_blob = record.bytes.len() > BLOB_FROM;
        let content = if is_blob {
            hash = self
                .journal
                .inner
                .blobs
                .put(&record.bytes)
                .map_err(|cause| self.fail("write a blob of", cause))?;
            &hash[..]
        } else {
            &record.bytes[..]
        };
        self.builder.push(&Encoded {
            kind: record.kind,
            source: record.source,
            number: record.number,
            read_to: record.read_to,
            content,
            is_blob,
        });
        Ok(())
    }

    fn finish_frame(
        &mut self,
        bytes: &mut Vec<u8>,
        frames: &mut Vec<(Header, u64)>,
    ) -> Result<(), JournalError> {
        let start = bytes.len();
        let header = self
            .builder
            .finish(self.last.next(), self.last_hash, bytes)
            .map_err(|cause| self.fail("compress a commit of", cause))?;
        self.last = header.last();
        self.last_hash = header.hash;
        frames.push((header, (bytes.len() - start) as u64));
        Ok(())
    }

    fn fail(&self, action: &'static str, cause: std::io::Error) -> JournalError {
        JournalError::Io { action, path: self.journal.inner.folder.clone(), cause }
    }

    /// Returns the file to append to, beginning a new one when the last is full.
    fn segment(&mut self) -> Result<Arc<RwLock<Segment>>, JournalError> {
        if let Some(current) = &self.current
            && super::read(current).len < SEGMENT_BYTES
        {
            return Ok(Arc::clone(current));
        }
        let first = self.last.next();
        let segment = Arc::new(RwLock::new(Segment::create(&self.journal.inner.folder, first)?));
        let mut segments = self.journal.inner.segments.write().expect("no holder of this lock panics");
        segments.insert(first, Arc::clone(&segment));
        self.current = Some(Arc::clone(&segment));
        Ok(segment)
    }
}
