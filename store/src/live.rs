//! What must be known of everything committed without asking DuckDB: how far each source has been read.
//!
//! One reducer, fed by the journal's thread in the order of positions. It is saved now and then; a start
//! replays what came after.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{Journal, JournalError, Position, Record, RecordKind, Source, SourceId};

/// How far a source has been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCursor {
    /// Its number.
    pub id: SourceId,
    /// The format.
    pub format: String,
    /// The place.
    pub path: String,
    /// The session of its rows.
    pub session: String,
    /// The hash of its first row.
    pub first_row: String,
    /// The byte after the last row taken in; for a document the count of its records.
    pub read_to: u64,
    /// Rows taken in.
    pub rows: u64,
    /// The number of the last row.
    pub last_number: u64,
    /// For a document: a hash of each record, by which an unchanged one is known when it is written anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_hashes: Vec<u64>,
    is_document: bool,
    /// The position of its last record.
    pub position: Position,
}

/// The state that follows from the journal up to `position`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LiveState {
    version: u32,
    position: Position,
    last_source: u32,
    /// The newest source of each place.
    newest: FxHashMap<SourceId, SourceCursor>,
    #[serde(skip)]
    by_path: FxHashMap<String, SourceId>,
}

const VERSION: u32 = 2;

impl LiveState {
    /// Loads what was saved and replays the journal's end.
    pub(crate) fn open(folder: &Path, journal: &Journal) -> Result<Self, JournalError> {
        let mut state = Self::load(folder, journal.last());
        let mut position = state.position;
        while position < journal.last() {
            position = position.next();
            match journal.read(position) {
                Ok(record) => state.apply_all(position, std::slice::from_ref(&record)),
                Err(error) => {
                    let Some(end) = journal.end_of_loss(position, &error) else { return Err(error) };
                    state.skip(position, end);
                    position = end;
                }
            }
        }
        Ok(state)
    }

    /// Each lost record may have opened a source, whose number must not be given again.
    fn skip(&mut self, first: Position, last: Position) {
        let lost = last.0 - first.0 + 1;
        self.last_source = self.last_source.saturating_add(u32::try_from(lost).unwrap_or(u32::MAX));
        self.position = last;
    }

    /// A saved state that cannot be used is no loss: the whole journal is replayed instead.
    fn load(folder: &Path, last: Position) -> Self {
        let path = file(folder);
        let fresh = Self { version: VERSION, ..Default::default() };
        let Ok(bytes) = fs::read(&path) else { return fresh };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(mut state) if state.version == VERSION && state.position <= last => {
                state.by_path = state.newest.iter().map(|(id, cursor)| (cursor.path.clone(), *id)).collect();
                state
            }
            Ok(_) => fresh,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the saved state is unreadable; replaying the journal");
                fresh
            }
        }
    }

    /// Returns what is to be saved.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a state has string keys only")
    }

    /// Saves what `to_bytes` gave, whole or not at all.
    pub(crate) fn save(folder: &Path, bytes: &[u8]) -> std::io::Result<()> {
        crate::secret::write_private(&file(folder), bytes)
    }

    /// Takes in the records from `first` on.
    pub(crate) fn apply_all(&mut self, first: Position, records: &[Record]) {
        for (position, record) in (first.0..).map(Position).zip(records) {
            self.apply(position, record);
        }
    }

    fn apply(&mut self, position: Position, record: &Record) {
        self.position = position;
        self.last_source = self.last_source.max(record.source.0);
        match record.kind {
            RecordKind::Source => self.open_source(position, record),
            RecordKind::Row | RecordKind::Unread | RecordKind::Cursor => {
                if let Some(cursor) = self.newest.get_mut(&record.source) {
                    move_cursor(cursor, position, record);
                }
            }
            RecordKind::Event | RecordKind::Erased => {}
        }
    }

    fn open_source(&mut self, position: Position, record: &Record) {
        // A source that is no JSON is reported by the projection; it has no place to be followed at.
        let Ok(source) = serde_json::from_slice::<Source>(&record.bytes) else { return };
        let cursor = SourceCursor {
            id: record.source,
            format: source.format,
            path: source.path.clone(),
            session: source.session,
            first_row: source.first_row,
            is_document: source.is_document,
            read_to: 0,
            rows: 0,
            last_number: 0,
            record_hashes: Vec::new(),
            position,
        };
        if let Some(older) = self.by_path.insert(source.path, record.source) {
            self.newest.remove(&older);
        }
        self.newest.insert(record.source, cursor);
    }

    /// Returns the newest source at a place.
    pub(crate) fn source_at(&self, path: &str) -> Option<&SourceCursor> {
        self.newest.get(self.by_path.get(path)?)
    }

    /// Returns all newest sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &SourceCursor> {
        self.newest.values()
    }

    /// Returns a number for a new source.
    pub(crate) fn next_source(&mut self) -> SourceId {
        self.last_source += 1;
        SourceId(self.last_source)
    }
}

fn move_cursor(cursor: &mut SourceCursor, position: Position, record: &Record) {
    cursor.read_to = record.read_to;
    cursor.position = position;
    cursor.last_number = cursor.last_number.max(record.number);
    if record.kind != RecordKind::Row {
        return;
    }
    cursor.rows += 1;
    if cursor.is_document {
        let index = usize::try_from(record.number).unwrap_or(usize::MAX).saturating_sub(1);
        if index < MAX_DOCUMENT_RECORDS {
            if cursor.record_hashes.len() <= index {
                cursor.record_hashes.resize(index + 1, 0);
            }
            cursor.record_hashes[index] = record_hash(&record.bytes);
        }
    }
}

/// Documents with more records than this are read whole again when they change.
const MAX_DOCUMENT_RECORDS: usize = 1 << 20;

/// Returns the hash by which an unchanged record of a document is known.
pub fn record_hash(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("the hash is longer"))
}

fn file(folder: &Path) -> PathBuf {
    folder.join("live.json")
}
