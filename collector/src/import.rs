//! Brings a session file into the journal: knows its format, goes on where it stopped, skips nothing.

mod error;

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use store::{Position, Record, RecordKind, Source, SourceCursor, SourceId, Store, StoreError, record_hash};

use crate::document::read_document;
use crate::formats::{Described, DocumentShape, Format, Layout};
use crate::gate::Held;
use crate::lines::{Line, Lines};
use crate::stop::StoppableFile;
use crate::{Gate, Limits, Stop};
pub use error::{ImportError, Reached};

/// How much of a file is looked at to know its format.
const HEAD_BYTES: usize = 256 << 10;
/// Bytes of rows that go to the journal at one time.
const BATCH_BYTES: usize = 4 << 20;

/// What was done with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// Its format is none of those known.
    NotASession,
    /// It is a session file.
    Session(ImportedFile),
}

/// What was read of a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its number in the journal.
    pub source: SourceId,
    /// The format.
    pub format: String,
    /// Rows that were read now.
    pub new_rows: u64,
    /// Rows that an earlier import took in.
    pub known_rows: u64,
    /// The position of its last record.
    pub position: Position,
    /// Set when the file ends in the middle of a row: the row's number. It is read when it is whole.
    pub unfinished_row: Option<u64>,
}

/// Brings files into one store.
pub struct Importer {
    gate: Gate,
    formats: Vec<Box<dyn Format>>,
}

impl Importer {
    /// Returns an importer of all formats.
    pub fn new(store: Store) -> Self {
        Self::through(Gate::new(store, Limits::default()))
    }

    /// Returns an importer of all formats whose rows pass this gate.
    pub fn through(gate: Gate) -> Self {
        Self { gate, formats: crate::formats::all() }
    }

    /// Returns the store that files go to.
    pub fn store(&self) -> &Store {
        self.gate.store()
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Brings in what is new in the file at `path` and returns when it is safe on disk. Blocks, also while
    /// the tables are far behind.
    ///
    /// `progress` is told how many bytes were read since the last time.
    pub fn import(&self, path: &Path, progress: &mut dyn FnMut(u64)) -> Result<Imported, ImportError> {
        self.import_until(path, &Stop::default(), progress)
    }

    /// Does what [`Importer::import`] does, but ends with [`ImportError::Stopped`] soon after `stop` is told.
    pub fn import_until(
        &self,
        path: &Path,
        stop: &Stop,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Imported, ImportError> {
        let fail = |cause| ImportError::Io { path: path.to_owned(), cause };
        let path = fs::canonicalize(path).map_err(fail)?;
        let mut file = File::open(&path).map_err(fail)?;
        let head = read_head(&mut file).map_err(fail)?;
        let Some((format, layout)) = self.sniff(&head) else { return Ok(Imported::NotASession) };
        let mut job = Job {
            gate: &self.gate,
            stop,
            path: &path,
            progress,
            batch: Vec::new(),
            batch_bytes: 0,
            last: None,
        };
        match layout {
            Layout::Lines => job.lines(file, format, &head),
            Layout::Document(shape) => job.document(file, format, &head, shape),
        }
        .map(Imported::Session)
    }

    fn sniff(&self, head: &[u8]) -> Option<(&dyn Format, Layout)> {
        self.formats.iter().find_map(|format| Some((format.as_ref(), format.sniff(head)?)))
    }
}

fn read_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}

/// One file on its way into the journal.
struct Job<'a> {
    gate: &'a Gate,
    stop: &'a Stop,
    path: &'a Path,
    progress: &'a mut dyn FnMut(u64),
    batch: Vec<Record>,
    batch_bytes: usize,
    last: Option<Position>,
}

impl Job<'_> {
    fn lines(
        &mut self,
        mut file: File,
        format: &dyn Format,
        head: &[u8],
    ) -> Result<ImportedFile, ImportError> {
        let len = file.metadata().map_err(|cause| self.io(cause))?.len();
        let first_row = hash_of_first_row(head);
        let known = self.known(&first_row).filter(|cursor| may_end_a_row(&file, cursor.read_to, len));
        // A file that grows is imported at each line: what its beginning says is not asked again.
        let mut opened = match known {
            Some(cursor) => Opened::Known(cursor),
            None => self.new_source(format, format.describe(self.path, head), first_row, false),
        };
        let (start, last_number) = match &opened {
            Opened::Known(cursor) => (cursor.read_to, cursor.last_number),
            Opened::New { .. } => (0, 0),
        };
        (self.progress)(start);
        file.seek(SeekFrom::Start(start)).map_err(|cause| self.io(cause))?;
        let mut lines = Lines::new(self.stoppable(file), start, last_number);
        let mut unfinished_row = None;
        let mut new_rows = 0;
        while let Some(line) = lines.next().map_err(|cause| self.io(cause))? {
            match line {
                Line::Blank => {}
                Line::Unfinished { number } => unfinished_row = Some(number),
                Line::Row { number, read_to, bytes } => {
                    let source = self.source(&mut opened)?;
                    new_rows += 1;
                    self.push(Record { kind: RecordKind::Row, source, number, read_to, bytes })?;
                }
                Line::TooLong { number, read_to, len, limit_bytes } => {
                    let source = self.source(&mut opened)?;
                    let reason = format!("the row is {len} bytes long, {limit_bytes} are the most\n");
                    let bytes = reason.into_bytes();
                    self.push(Record { kind: RecordKind::Unread, source, number, read_to, bytes })?;
                }
            }
        }
        self.done(format, opened, new_rows, unfinished_row)
    }

    fn document(
        &mut self,
        file: File,
        format: &dyn Format,
        head: &[u8],
        shape: &'static DocumentShape,
    ) -> Result<ImportedFile, ImportError> {
        let len = file.metadata().map_err(|cause| self.io(cause))?.len();
        // Of a document the beginning changes too: its place and session tell which source it is.
        let described = format.describe(self.path, head);
        let known = self.known(DOCUMENT_FIRST_ROW).filter(|cursor| cursor.session == described.session);
        let hashes = known.as_ref().map(|cursor| cursor.record_hashes.clone()).unwrap_or_default();
        let mut opened = match known {
            Some(cursor) => Opened::Known(cursor),
            None => self.new_source(format, described, DOCUMENT_FIRST_ROW.to_owned(), true),
        };
        let mut new_rows = 0;
        let end = read_document(&mut self.stoppable(file), shape, &mut |number, bytes| {
            let index = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
            if hashes.get(index) == Some(&record_hash(bytes)) {
                return Ok(());
            }
            let source = self.source(&mut opened).map_err(DocumentError::Import)?;
            new_rows += 1;
            self.push(Record {
                kind: RecordKind::Row,
                source,
                number,
                read_to: number,
                bytes: bytes.to_vec(),
            })
            .map_err(DocumentError::Import)
        });
        let end = end.map_err(|error| match error {
            DocumentError::Import(error) => error,
            DocumentError::Io(cause) => self.io(cause),
        })?;
        (self.progress)(len);
        let mut unfinished_row = None;
        if let Some(fault) = end.fault
            && new_rows > 0
        {
            let source = self.source(&mut opened)?;
            let number = end.records + 1;
            unfinished_row = Some(number);
            let bytes = format!("{fault}\n").into_bytes();
            self.push(Record { kind: RecordKind::Unread, source, number, read_to: end.records, bytes })?;
        }
        self.done(format, opened, new_rows, unfinished_row)
    }

    fn known(&self, first_row: &str) -> Option<SourceCursor> {
        self.cursor().filter(|cursor| cursor.first_row == first_row)
    }

    fn cursor(&self) -> Option<SourceCursor> {
        self.gate.store().source_at(&self.path.to_string_lossy())
    }

    fn stoppable(&self, file: File) -> StoppableFile {
        StoppableFile { file, stop: self.stop.clone() }
    }

    fn new_source(
        &self,
        format: &dyn Format,
        described: Described,
        first_row: String,
        is_document: bool,
    ) -> Opened {
        let source = Source {
            format: format.format().to_owned(),
            path: self.path.to_string_lossy().into_owned(),
            session: described.session,
            about: described.about,
            first_row,
            is_document,
        };
        Opened::New { source: Box::new(source), id: None }
    }

    /// Returns the source's number; a new one is written down when its first row is there.
    fn source(&mut self, opened: &mut Opened) -> Result<SourceId, ImportError> {
        match opened {
            Opened::Known(cursor) => Ok(cursor.id),
            Opened::New { id: Some(id), .. } => Ok(*id),
            Opened::New { source, id } => {
                self.pass_gate()?;
                let new = self.gate.store().open_source(source).map_err(|cause| self.store_error(cause))?;
                Ok(*id.insert(new))
            }
        }
    }

    fn push(&mut self, record: Record) -> Result<(), ImportError> {
        self.batch_bytes += record.bytes.len();
        self.batch.push(record);
        if self.batch_bytes >= BATCH_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), ImportError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.pass_gate()?;
        let bytes = std::mem::take(&mut self.batch_bytes) as u64;
        let batch = std::mem::take(&mut self.batch);
        let committed = self.gate.store().append(batch).map_err(|cause| self.store_error(cause))?;
        self.last = Some(committed.last);
        (self.progress)(bytes);
        Ok(())
    }

    fn done(
        &mut self,
        format: &dyn Format,
        mut opened: Opened,
        new_rows: u64,
        unfinished_row: Option<u64>,
    ) -> Result<ImportedFile, ImportError> {
        self.write()?;
        // A recognised file without a whole row yet is a source all the same: it is known and will grow.
        let source = self.source(&mut opened)?;
        let known = match &opened {
            Opened::Known(cursor) => Some(cursor),
            Opened::New { .. } => None,
        };
        Ok(ImportedFile {
            source,
            format: format.format().to_owned(),
            new_rows,
            known_rows: known.map_or(0, |cursor| cursor.rows),
            position: self
                .last
                .or(known.map(|cursor| cursor.position))
                .unwrap_or(self.gate.store().journal().last()),
            unfinished_row,
        })
    }

    /// Waits until there is room for more. What is in hand when there is none is read again later.
    fn pass_gate(&self) -> Result<(), ImportError> {
        self.gate.wait(self.stop).map_err(|held| match held {
            Held::Stopped => self.stopped(),
            Held::Full(full) => {
                ImportError::Full { path: self.path.to_owned(), reached: self.reached(), full }
            }
            Held::Store(cause) => self.store_error(cause),
        })
    }

    fn io(&self, cause: io::Error) -> ImportError {
        if self.stop.is_told() {
            self.stopped()
        } else {
            ImportError::Io { path: self.path.to_owned(), cause }
        }
    }

    fn stopped(&self) -> ImportError {
        ImportError::Stopped { path: self.path.to_owned(), reached: self.reached() }
    }

    /// Returns how much of the file is safe in the journal.
    fn reached(&self) -> Reached {
        let cursor = self.cursor();
        if cursor.as_ref().is_some_and(|cursor| cursor.first_row == DOCUMENT_FIRST_ROW) {
            return Reached::Records(cursor.map_or(0, |cursor| cursor.rows));
        }
        let of = fs::metadata(self.path).map_or(0, |metadata| metadata.len());
        Reached::Bytes { read: cursor.map_or(0, |cursor| cursor.read_to), of }
    }

    fn store_error(&self, cause: StoreError) -> ImportError {
        ImportError::Store { path: self.path.to_owned(), cause: Box::new(cause) }
    }
}

/// Stands in the place of the first row's hash for documents.
const DOCUMENT_FIRST_ROW: &str = "document";

/// A source on its way in.
enum Opened {
    /// It was read before.
    Known(SourceCursor),
    /// It is new.
    New {
        /// What is known of it.
        source: Box<Source>,
        /// Its number, once it is written down.
        id: Option<SourceId>,
    },
}

enum DocumentError {
    Import(ImportError),
    Io(io::Error),
}

impl From<io::Error> for DocumentError {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

/// Returns the hash of the first row, or of what of it is in the head; that is the same for a longer copy.
fn hash_of_first_row(head: &[u8]) -> String {
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    blake3::hash(&head[..end]).to_hex().to_string()
}

/// Returns whether a row can have ended at `read_to`. A file that was written anew may be longer than before
/// and begin with the same row; where reading stopped then falls into the middle of another one.
fn may_end_a_row(file: &File, read_to: u64, len: u64) -> bool {
    if read_to == 0 || read_to >= len {
        return read_to <= len;
    }
    let mut around = [0; 2];
    // A file that cannot be read here is cut in this moment: it is read anew, and the reading tells.
    let read = file.read_exact_at(&mut around, read_to - 1).is_ok();
    // A last row is taken without its line break, which may follow, or the next row glued to it.
    read && (around[0] == b'\n' || matches!(around[1], b'\n' | b'\r') || around == *b"}{")
}

#[cfg(test)]
mod tests;
