//! The journal: an append-only, checksummed, fsynced log of what came in. It is the truth.
//!
//! It is a folder of files named by the ordinal of their first record. Each holds commits; a commit is a
//! compressed run of records under one hash that names the hash before it.

mod blobs;
mod frame;
mod record;
mod segment;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use blobs::Blobs;
use frame::{CommitHash, Frame};
pub use record::{Position, Record, RecordKind};
use segment::{Segment, Tail};
pub use writer::{Committed, JournalWriter};

/// Says what is wrong with the journal, and where.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("cannot {action} {path}: {cause}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The file is something else.
    #[error("{path} is no journal file of this version")]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// Bytes changed after they were written.
    #[error("{path} is damaged at byte {offset}: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the commit begins.
        offset: u64,
        /// What does not hold.
        what: String,
    },
    /// A value that was too large for a commit is not there any more, or changed.
    #[error("the blob {path} is lost: {what}")]
    BlobLost {
        /// The file.
        path: PathBuf,
        /// What does not hold.
        what: String,
    },
    /// There is no such record.
    #[error("the journal has no record {0}")]
    NoSuchRecord(u64),
    /// The thread that writes the journal has ended.
    #[error("the journal is closed")]
    Closed,
}

/// What opening found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Bytes cut off the end that were no whole commit: what a crash left unfinished and nobody was told
    /// was safe.
    pub torn_bytes: u64,
}

/// The journal's files, for reading. Cheap to clone; all clones see what the writer commits.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    key: [u8; 32],
    blobs: Blobs,
    /// A plain lock: held for a look-up or to note a commit, never across a write to disk or an await.
    segments: RwLock<BTreeMap<Position, Arc<RwLock<Segment>>>>,
    cache: Mutex<FrameCache>,
}

impl Journal {
    /// Opens the journal in `folder`, makes it when there is none, and cuts a torn end back to the last
    /// whole commit. Damage before the end is no hindrance: reading what is damaged names it.
    pub fn open(folder: &Path) -> Result<(Self, Opened), JournalError> {
        let fail = |cause| JournalError::Io { action: "open", path: folder.to_owned(), cause };
        fs::create_dir_all(folder).map_err(fail)?;
        let key = key_of(folder)?;
        let mut segments = BTreeMap::new();
        let mut opened = Opened::default();
        let mut names = segment_names(folder).map_err(fail)?;
        opened.torn_bytes += remove_unbegun(&mut names).map_err(fail)?;
        for (at, (first, path)) in names.iter().enumerate() {
            let (mut segment, tail) = Segment::open(path, *first, &key)?;
            let is_last = at + 1 == names.len();
            match tail {
                Tail::Torn(bytes) if is_last => {
                    segment.cut_to_len()?;
                    opened.torn_bytes += bytes;
                }
                // What a crash leaves stands in the last file only.
                Tail::Torn(bytes) => segment.note_loss(segment.len + bytes),
                Tail::Clean => {}
            }
            if is_last {
                opened.torn_bytes += cut_unverified_end(&mut segment, &key)?;
            }
            segments.insert(*first, Arc::new(RwLock::new(segment)));
        }
        let inner = Inner {
            folder: folder.to_owned(),
            key,
            blobs: Blobs::in_folder(folder),
            segments: RwLock::new(segments),
            cache: Mutex::new(FrameCache::default()),
        };
        Ok((Self { inner: Arc::new(inner) }, opened))
    }

    /// Returns the position of the last committed record.
    pub fn last(&self) -> Position {
        let segments = self.inner.segments.read().expect("no holder of this lock panics");
        segments
            .values()
            .rev()
            .find_map(|segment| read(segment).last.as_ref().map(frame::Header::last))
            .unwrap_or_default()
    }

    /// Returns the record at `position`.
    pub fn read(&self, position: Position) -> Result<Record, JournalError> {
        self.with_frame(position, |frame| {
            let record = frame.get(position).ok_or(JournalError::NoSuchRecord(position.0))?;
            let bytes =
                if record.is_blob { self.inner.blobs.get(record.content)? } else { record.content.to_vec() };
            Ok(Record {
                kind: record.kind,
                source: record.source,
                number: record.number,
                read_to: record.read_to,
                bytes,
            })
        })
    }

    /// Returns the last of the records that are lost together with the one at `position`, which `error` told
    /// when it was read; nothing when the error is no loss but may pass.
    pub(crate) fn end_of_loss(&self, position: Position, error: &JournalError) -> Option<Position> {
        match error {
            JournalError::BlobLost { .. } => Some(position),
            JournalError::Damaged { .. } | JournalError::NoSuchRecord(_) if position <= self.last() => {
                let segments = self.inner.segments.read().expect("no holder of this lock panics");
                let in_file = segments.range(..=position).next_back();
                let next = in_file.and_then(|(_, segment)| read(segment).first_after(position));
                let next = next.or_else(|| segments.range(position.next()..).next().map(|(first, _)| *first));
                next.map_or_else(|| Some(self.last()), |next| Some(Position(next.0 - 1)))
            }
            _ => None,
        }
    }

    /// Verifies every commit and the chain between them; returns how many records there are.
    pub fn verify(&self) -> Result<u64, JournalError> {
        let mut before: CommitHash = [0; 32];
        let mut records = 0;
        for segment in self.all_segments() {
            let segment = read(&segment);
            let mut offsets: Vec<u64> = segment.offsets_backwards().collect();
            offsets.reverse();
            for offset in offsets {
                let (header, _) = segment.read_frame(&self.inner.key, offset)?;
                if header.before != before {
                    return Err(JournalError::Damaged {
                        path: segment.path.clone(),
                        offset,
                        what: "it does not follow the commit before it".to_owned(),
                    });
                }
                before = header.hash;
                records += u64::from(header.count);
            }
        }
        Ok(records)
    }

    /// Returns the bytes on disk, blobs not counted.
    pub fn bytes_on_disk(&self) -> u64 {
        self.all_segments().iter().map(|segment| read(segment).len).sum()
    }

    fn all_segments(&self) -> Vec<Arc<RwLock<Segment>>> {
        self.inner.segments.read().expect("no holder of this lock panics").values().cloned().collect()
    }

    fn with_frame<T>(
        &self,
        position: Position,
        use_frame: impl FnOnce(&Frame) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let missing = || JournalError::NoSuchRecord(position.0);
        if position > self.last() {
            return Err(missing());
        }
        let segment = {
            let segments = self.inner.segments.read().expect("no holder of this lock panics");
            let (first, segment) = segments.range(..=position).next_back().ok_or_else(missing)?;
            (*first, Arc::clone(segment))
        };
        let offset = read(&segment.1).find(position).ok_or_else(missing)?;
        let place = (segment.0, offset);
        if let Some(frame) = self.cache().get(place) {
            return use_frame(&frame);
        }
        let (_, frame) = read(&segment.1).read_frame(&self.inner.key, offset)?;
        let frame = Arc::new(frame);
        self.cache().put(place, Arc::clone(&frame));
        use_frame(&frame)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, FrameCache> {
        self.inner.cache.lock().expect("no holder of this lock panics")
    }
}

fn read(segment: &RwLock<Segment>) -> std::sync::RwLockReadGuard<'_, Segment> {
    segment.read().expect("no holder of this lock panics")
}

/// Decompressed commits that were read last.
#[derive(Default)]
struct FrameCache {
    entries: Vec<((Position, u64), Arc<Frame>)>,
}

/// A turn's page and a prompt's parts, in commits of little more than 256 KiB in the usual case.
const CACHED_FRAMES: usize = 64;
/// A commit of one large record can have 8 MiB: few of them are held.
const CACHED_BYTES: usize = 24 << 20;

impl FrameCache {
    fn get(&mut self, key: (Position, u64)) -> Option<Arc<Frame>> {
        let at = self.entries.iter().position(|(known, _)| *known == key)?;
        let entry = self.entries.remove(at);
        let frame = Arc::clone(&entry.1);
        self.entries.push(entry);
        Some(frame)
    }

    fn put(&mut self, key: (Position, u64), frame: Arc<Frame>) {
        self.entries.push((key, frame));
        // The last one stays in any case: its records are read one after the other.
        while self.entries.len() > CACHED_FRAMES || (self.bytes() > CACHED_BYTES && self.entries.len() > 1) {
            self.entries.remove(0);
        }
    }

    fn bytes(&self) -> usize {
        self.entries.iter().map(|(_, frame)| frame.len()).sum()
    }
}

/// How much of the end is searched for the last commit that holds: more than what is written between two
/// syncs.
const VERIFIED_END_BYTES: u64 = 16 << 20;

/// Cuts off the commits at the end of the last file that do not hold: after a power loss what was not synced
/// may be zeros or garbage under a whole header. A commit that does not hold while a later one does is no
/// torn end but damage, and stays.
fn cut_unverified_end(segment: &mut Segment, key: &[u8; 32]) -> Result<u64, JournalError> {
    let len = segment.len;
    let ends: Vec<u64> =
        segment.offsets_backwards().take_while(|offset| len - offset <= VERIFIED_END_BYTES).collect();
    let bad = ends.iter().take_while(|&&offset| segment.read_frame(key, offset).is_err()).count();
    if bad > 1 && bad == ends.len() {
        // Not one commit holds: the key is not the one that they were written with. Nothing is cut for that.
        return segment.read_frame(key, ends[0]).map(|_| 0);
    }
    for _ in 0..bad {
        segment.cut_last()?;
    }
    Ok(len - segment.len)
}

/// Removes a last file that has not even its first bytes: a crash came while it was made.
fn remove_unbegun(names: &mut Vec<(Position, PathBuf)>) -> io::Result<u64> {
    let Some((_, path)) = names.last() else { return Ok(0) };
    let len = fs::metadata(path)?.len();
    if len >= segment::FILE_MAGIC.len() as u64 {
        return Ok(0);
    }
    fs::remove_file(path)?;
    names.pop();
    Ok(len)
}

fn segment_names(folder: &Path) -> io::Result<Vec<(Position, PathBuf)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "journal") {
            let first = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            let first = first.ok_or_else(|| io::Error::other(format!("{} has no number", path.display())))?;
            names.push((Position(first), path));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the key of the journal's digests, made at the first opening.
fn key_of(folder: &Path) -> Result<[u8; 32], JournalError> {
    let path = folder.join("key");
    let fail = |cause| JournalError::Io { action: "read", path: path.clone(), cause };
    match fs::read(&path) {
        Ok(bytes) => bytes.try_into().map_err(|_| fail(io::Error::other("the key is not 32 bytes long"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !segment_names(folder).map_err(fail)?.is_empty() {
                return Err(fail(error));
            }
            let key = crate::secret::random_bytes().map_err(fail)?;
            crate::secret::write_private(&path, &key).map_err(fail)?;
            Ok(key)
        }
        Err(error) => Err(fail(error)),
    }
}
