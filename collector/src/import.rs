//! Brings a session file into the journal: knows its format, goes on where it stopped, skips nothing.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use store::{Position, Record, RecordKind, Source, SourceCursor, SourceId, Store, StoreError, record_hash};

use crate::document::read_document;
use crate::formats::{Described, DocumentShape, Format, Layout};
use crate::lines::{Line, Lines};

/// How much of a file is looked at to know its format.
const HEAD_BYTES: usize = 256 << 10;
/// Bytes of rows that go to the journal at one time.
const BATCH_BYTES: usize = 4 << 20;

/// Says why a file could not be brought in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The store did not take it.
    #[error("cannot store what is in {path}: {cause}")]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: Box<StoreError>,
    },
}

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
    store: Store,
    formats: Vec<Box<dyn Format>>,
}

impl Importer {
    /// Returns an importer of all formats.
    pub fn new(store: Store) -> Self {
        Self { store, formats: crate::formats::all() }
    }

    /// Returns the store that files go to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Brings in what is new in the file at `path` and returns when it is safe on disk. Blocks.
    ///
    /// `progress` is told how many bytes were read since the last time.
    pub fn import(&self, path: &Path, progress: &mut dyn FnMut(u64)) -> Result<Imported, ImportError> {
        let fail = |cause| ImportError::Io { path: path.to_owned(), cause };
        let path = fs::canonicalize(path).map_err(fail)?;
        let mut file = File::open(&path).map_err(fail)?;
        let head = read_head(&mut file).map_err(fail)?;
        let Some((format, layout)) = self.sniff(&head) else { return Ok(Imported::NotASession) };
        let mut job =
            Job { store: &self.store, path: &path, progress, batch: Vec::new(), batch_bytes: 0, last: None };
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
    store: &'a Store,
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
        let known = self.known(&first_row).filter(|cursor| cursor.read_to <= len);
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
        let mut lines = Lines::new(file, start, last_number);
        let mut unfinished_row = None;
        let mut new_rows = 0;
        while let Some(line) = lines.next().map_err(|cause| self.io(cause))? {
            match line {
                Line::Blank => {}
                Line::Unfinished { number } => unfinished_row = Some(number),
                Line::Row { number, read_to, bytes } => {
                    let source = self.source(&mut opened)?;
                    new_rows += 1;
                    self.push(Record {
                        kind: RecordKind::Row,
                        source,
                        number,
                        read_to,
                        bytes: bytes.to_vec(),
                    })?;
                }
            }
        }
        self.done(format, opened, new_rows, unfinished_row)
    }

    fn document(
        &mut self,
        mut file: File,
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
        let path = self.path.to_owned();
        let end = read_document(&mut file, shape, &mut |number, bytes| {
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
            DocumentError::Io(cause) => ImportError::Io { path, cause },
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
        self.store.source_at(&self.path.to_string_lossy()).filter(|cursor| cursor.first_row == first_row)
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
                let new = self.store.open_source(source).map_err(|cause| self.store_error(cause))?;
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
        let bytes = std::mem::take(&mut self.batch_bytes) as u64;
        let batch = std::mem::take(&mut self.batch);
        let committed = self.store.append(batch).map_err(|cause| self.store_error(cause))?;
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
                .unwrap_or(self.store.journal().last()),
            unfinished_row,
        })
    }

    fn io(&self, cause: io::Error) -> ImportError {
        ImportError::Io { path: self.path.to_owned(), cause }
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
