//! The DuckDB projection: what the journal's records mean, in tables that pages and reports read.

mod batch;
pub(crate) mod columns;
mod database;
mod decisions;
mod kept;
mod prompt;
pub(crate) mod ranges;
mod rollup;
mod session;
mod signature;
pub(crate) mod tables;
pub(crate) mod text;
mod worker;

#[cfg(test)]
mod tests;

pub use database::ProjectionError;
pub(crate) use database::{MEMORY_LIMIT, damage_mark, mark_damaged};
pub(crate) use rollup::sum_of_tokens;
pub(crate) use session::{DELIVERED, RETOLD};
pub(crate) use worker::Worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_core::price::PriceTable;
use agent_core::{Body, Event, EventId, SessionStarted};
use duckdb::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::prices::table_of;
use crate::{Journal, JournalError, Mapped, Mappers, Position, Record, RecordKind, Row, Source, SourceId};
use batch::Batch;
use columns::Table;
use database::Found;
use decisions::is_decision;
use session::{Applied, Context, Place, Session, Shared};
use tables::{SessionRow, SourceRow, UnreadRow};
use text::hash64;

/// Sessions held in memory between batches; the one that was used longest ago goes first.
pub(crate) const SESSIONS_IN_MEMORY: usize = 32;
/// Statements that a reader's connection keeps; the pages and reports together have about fifty.
const KEPT_STATEMENTS: usize = 96;
/// Bytes of records in one batch: where rows are large, whoever waits for the end of a batch (a reader of what
/// is new) waits for no more than these.
const BATCH_BYTES: usize = 64 << 20;
/// Events of the sessions held in memory, each about 150 bytes there: one session more is kept whatever its
/// size.
const EVENTS_IN_MEMORY: u64 = 50_000;

/// Reads the journal's records in order and keeps the tables as they say.
pub(crate) struct Projection {
    path: PathBuf,
    connection: Connection,
    journal: Journal,
    mappers: Arc<Mappers>,
    /// Read when the first call is to be priced: to start takes no price.
    prices: Option<Arc<PriceTable>>,
    position: Position,
    sessions: FxHashMap<u32, (u64, Session)>,
    sessions_in_memory: usize,
    uses: u64,
    keys: FxHashMap<u64, u32>,
    /// Sessions by the id of their first message.
    roots: FxHashMap<u64, u32>,
    next_key: u32,
    sources: FxHashMap<SourceId, OpenSource>,
    batch: Batch,
    touched: FxHashSet<u32>,
    mapped: Mapped,
}

struct OpenSource {
    source: Arc<Source>,
    row: SourceRow,
    written: bool,
    changed: bool,
}

impl Projection {
    /// Opens the tables in the file at `path`, or makes them. Returns nothing when the file is of another
    /// version and must be made again.
    pub(crate) fn open(
        path: &Path,
        journal: &Journal,
        mappers: &Arc<Mappers>,
        sessions_in_memory: usize,
    ) -> Result<Option<Self>, ProjectionError> {
        let mapping = mappers.versions();
        let (connection, found) = database::open(path, &mapping)?;
        match found {
            Found::Usable => {}
            Found::Empty => database::create_tables(&connection, &mapping)?,
            Found::Outdated => return Ok(None),
        }
        let mut projection = Self {
            path: path.to_owned(),
            connection,
            journal: journal.clone(),
            mappers: Arc::clone(mappers),
            prices: None,
            position: Position::default(),
            sessions: FxHashMap::default(),
            sessions_in_memory,
            uses: 0,
            keys: FxHashMap::default(),
            roots: FxHashMap::default(),
            next_key: 1,
            sources: FxHashMap::default(),
            batch: Batch::default(),
            touched: FxHashSet::default(),
            mapped: Mapped::default(),
        };
        projection.start_from_tables()?;
        Ok(Some(projection))
    }

    /// Forgets what is in memory and goes on from what the tables hold: after a batch that failed midway.
    pub(crate) fn start_from_tables(&mut self) -> duckdb::Result<()> {
        self.sessions.clear();
        self.sources.clear();
        self.batch = Batch::default();
        self.touched.clear();
        self.keys.clear();
        self.roots.clear();
        self.next_key = 1;
        let position: String =
            self.connection
                .query_row("SELECT value FROM main.meta WHERE key = 'position'", [], |row| row.get(0))?;
        self.position = Position(position.parse().unwrap_or(0));
        self.load_keys()
    }

    /// Returns a connection for a reader, which keeps the statements of all pages: to parse one anew takes about as
    /// long as to run it. (One with parameters is planned at each run all the same.)
    pub(crate) fn reader(&self) -> Result<Connection, ProjectionError> {
        let connection = self.connection.try_clone()?;
        connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
        Ok(connection)
    }

    /// Returns the position of the last record that the tables hold.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Takes in records up to `last`, at most until the batch holds `max_rows` events, and commits them.
    /// Returns the sessions that changed.
    pub(crate) fn advance(&mut self, last: Position, max_rows: usize) -> Result<Vec<u32>, ProjectionError> {
        self.advance_while(last, max_rows, &|| true)
    }

    /// Does what `advance` does, but commits what it has as soon as `go_on` says no.
    pub(crate) fn advance_while(
        &mut self,
        last: Position,
        max_rows: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Vec<u32>, ProjectionError> {
        let mut position = self.position;
        let mut bytes = 0;
        while position < last && self.batch.len() < max_rows && bytes < BATCH_BYTES && go_on() {
            position = position.next();
            match self.journal.read(position) {
                Ok(record) => {
                    bytes += record.bytes.len();
                    self.take(position, record)?;
                }
                Err(error) => position = self.skip_lost(position, last, error)?,
            }
        }
        self.commit(position)
    }

    /// Goes on after records that the journal has lost, and says which: what came in later is not to wait for
    /// what will not come back. Returns the last of them.
    fn skip_lost(
        &mut self,
        first: Position,
        last: Position,
        error: JournalError,
    ) -> Result<Position, ProjectionError> {
        let Some(end) = self.journal.end_of_loss(first, &error) else { return Err(error.into()) };
        let end = end.min(last);
        tracing::error!(first = first.0, last = end.0, %error, "the journal has lost records");
        let reason = match end.0 - first.0 {
            0 => format!("record {} is lost: {error}", first.0),
            more => format!("{} records, {} to {}, are lost: {error}", more + 1, first.0, end.0),
        };
        self.batch.unread.push(UnreadRow { source_id: 0, row: 0, reason, position: first.0 });
        Ok(end)
    }

    /// Returns the file of the tables.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the file, lets `change` put another one in its place, and opens what stands there then. All
    /// readers' connections must be closed.
    pub(crate) fn reopened(
        self,
        change: impl FnOnce() -> Result<(), ProjectionError>,
    ) -> Result<(Self, Result<(), ProjectionError>), ProjectionError> {
        let Self { path, connection, journal, mappers, sessions_in_memory, .. } = self;
        connection.close().map_err(|(_, cause)| ProjectionError::Query(cause))?;
        let changed = change();
        let outdated = || ProjectionError::Outdated { path: path.clone() };
        let new = Self::open(&path, &journal, &mappers, sessions_in_memory)?.ok_or_else(outdated)?;
        Ok((new, changed))
    }

    /// Moves what the tables hold from the write-ahead log into the file.
    pub(crate) fn checkpoint(&self) -> duckdb::Result<()> {
        self.connection.execute_batch("CHECKPOINT")
    }

    fn load_keys(&mut self) -> duckdb::Result<()> {
        let mut statement =
            self.connection.prepare("SELECT session_key, session, root FROM main.sessions")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (key, name): (u32, String) = (row.get(0)?, row.get(1)?);
            self.keys.insert(hash64(&name), key);
            if let Some(root) = row.get::<_, Option<u64>>(2)? {
                self.roots.insert(root, key);
            }
            self.next_key = self.next_key.max(key + 1);
        }
        Ok(())
    }

    fn take(&mut self, position: Position, record: Record) -> Result<(), ProjectionError> {
        match record.kind {
            RecordKind::Source => self.open_source(position, &record),
            RecordKind::Row => self.take_row(position, record),
            RecordKind::Unread => {
                let text = String::from_utf8_lossy(&record.bytes);
                let reason = text.split('\n').next().unwrap_or_default().to_owned();
                self.take_unread(position, &record, reason)
            }
            RecordKind::Event => self.take_event(position, &record),
            RecordKind::Cursor | RecordKind::Erased => Ok(()),
        }
    }

    fn open_source(&mut self, position: Position, record: &Record) -> Result<(), ProjectionError> {
        let source: Source = match serde_json::from_slice(&record.bytes) {
            Ok(source) => source,
            Err(error) => return self.take_unread(position, record, format!("no source: {error}")),
        };
        let key = self.session_named(&source.session)?;
        let place = Place { position: position.0, sub: 0 };
        let event = started_event(&source);
        self.touched.insert(key);
        let session = self.session(key)?;
        session.set_source(&source.format);
        // A source that says nothing of its session itself (our own files do that by an event) is no event.
        if source.about == SessionStarted::default() {
            session.refresh();
        } else if session.event_count() == 0 {
            self.apply(&event, place)?;
        } else {
            session.describe(&source.about);
        }
        let row = SourceRow {
            source_id: record.source.0,
            format: source.format.clone(),
            path: source.path.clone(),
            session: source.session.clone(),
            opened: position.0,
            position: position.0,
            ..Default::default()
        };
        let open = OpenSource { source: Arc::new(source), row, written: false, changed: true };
        self.sources.insert(record.source, open);
        Ok(())
    }

    fn take_row(&mut self, position: Position, mut record: Record) -> Result<(), ProjectionError> {
        let Some(open) = self.source(record.source)? else {
            return self.take_unread(position, &record, format!("source {} is not known", record.source.0));
        };
        let source = Arc::clone(&open.source);
        let mappers = Arc::clone(&self.mappers);
        let mut mapped = std::mem::take(&mut self.mapped);
        match mappers.get(&source.format) {
            Some(mapper) => {
                mapper.map(&source, Row { number: record.number, bytes: &record.bytes }, &mut mapped)
            }
            None => mapped.unread.push(crate::Unread(format!("no mapper for the format {}", source.format))),
        }
        // A row can be large, and its events as large again: neither is held longer than it is needed.
        record.bytes = Vec::new();
        let (mut stored, mut duplicates) = (0, 0);
        for (sub, event) in mapped.events.iter().enumerate() {
            if self.is_known_child(&source, event)? {
                continue;
            }
            // A row with more than 65,536 events does not exist; what came after would share the last place.
            let sub = u16::try_from(sub).unwrap_or(u16::MAX);
            match self.apply(event, Place { position: position.0, sub })? {
                Applied::Stored => stored += 1,
                Applied::Duplicate => duplicates += 1,
            }
        }
        for unread in mapped.unread.drain(..) {
            self.take_unread(position, &record, unread.0)?;
        }
        mapped.clear();
        self.mapped = mapped;
        if let Some(open) = self.source(record.source)? {
            open.row.rows += 1;
            open.row.events += stored;
            open.row.duplicates += duplicates;
            open.row.position = position.0;
            open.changed = true;
        }
        Ok(())
    }

    /// Returns whether the event only says again where a child of the source's session comes from, as each row
    /// of the child may. A child that is new was read from the source as well.
    fn is_known_child(&mut self, source: &Source, event: &Event) -> Result<bool, ProjectionError> {
        let Body::SessionStarted(SessionStarted { parent: Some(parent), .. }) = &event.body else {
            return Ok(false);
        };
        if event.session == source.session || parent.session != source.session {
            return Ok(false);
        }
        let key = self.session_named(&event.session)?;
        let session = self.session(key)?;
        session.set_source(&source.format);
        Ok(session.knows(event_identity(event), None).event)
    }

    fn take_unread(
        &mut self,
        position: Position,
        record: &Record,
        reason: String,
    ) -> Result<(), ProjectionError> {
        self.batch.unread.push(UnreadRow {
            source_id: record.source.0,
            row: record.number,
            reason,
            position: position.0,
        });
        let Some(open) = self.source(record.source)? else { return Ok(()) };
        open.row.unread += 1;
        open.row.position = position.0;
        open.changed = true;
        let name = open.source.session.clone();
        let key = self.session_named(&name)?;
        self.touched.insert(key);
        self.session(key)?.refused();
        Ok(())
    }

    fn take_event(&mut self, position: Position, record: &Record) -> Result<(), ProjectionError> {
        match Event::from_json(&record.bytes) {
            Ok(event) if is_decision(&event.body) => {
                self.decide(&event, Place { position: position.0, sub: 0 })
            }
            Ok(event) => {
                let key = self.session_named(&event.session)?;
                self.session(key)?.set_source("api");
                self.apply(&event, Place { position: position.0, sub: 0 })?;
                Ok(())
            }
            Err(error) => self.take_unread(position, record, error.to_string()),
        }
    }

    fn apply(&mut self, event: &Event, place: Place) -> Result<Applied, ProjectionError> {
        if is_decision(&event.body) {
            self.decide(event, place)?;
            return Ok(Applied::Stored);
        }
        let key = self.session_named(&event.session)?;
        self.find_root(key, event)?;
        let shared = self.shared_with_ancestors(key, event)?;
        self.touched.insert(key);
        self.load(key)?;
        let (_, session) = self.sessions.get_mut(&key).expect("it was loaded");
        let mut context = Context { batch: &mut self.batch, database: &self.connection };
        Ok(session.apply(event, place, shared, &mut context)?)
    }

    /// A session whose first message is another session's first message is a copy of its beginning.
    fn find_root(&mut self, key: u32, event: &Event) -> Result<(), ProjectionError> {
        if event.step.is_none() || !matches!(event.body, Body::UserMessaged(_) | Body::ModelResponded(_)) {
            return Ok(());
        }
        if self.session(key)?.take_root() {
            return Ok(());
        }
        let root = event.id.hash64();
        match self.roots.get(&root) {
            Some(&owner) if owner != key => {
                let name = self.session(owner)?.row.session.clone();
                self.session(key)?.fork_of(&name);
            }
            Some(_) => {}
            None => {
                self.roots.insert(root, key);
                self.session(key)?.set_root(root);
            }
        }
        Ok(())
    }

    /// Returns what the session's ancestors have of an event, or nothing when it has none. They are asked as
    /// they are now, so that the answer follows from the journal alone.
    fn shared_with_ancestors(&mut self, key: u32, event: &Event) -> Result<Option<Shared>, ProjectionError> {
        let Some(parent) = self.parent_of(key)? else { return Ok(None) };
        let (id, fact) = (event_identity(event), event.fact.as_deref().map(hash64));
        let mut shared = self.session(parent)?.knows(id, fact);
        let mut line = vec![key, parent];
        while !shared.event
            && let Some(next) = self.parent_of(line[line.len() - 1])?
            && !line.contains(&next)
        {
            let known = self.session(next)?.knows(id, fact);
            shared.event |= known.event;
            shared.fact |= known.fact;
            line.push(next);
        }
        Ok(Some(shared))
    }

    /// Returns the session that this one came from, once it is known here.
    fn parent_of(&mut self, key: u32) -> Result<Option<u32>, ProjectionError> {
        let parent = self.session(key)?.parent();
        Ok(parent.and_then(|parent| self.keys.get(&parent).copied()).filter(|&parent| parent != key))
    }

    fn session_named(&mut self, name: &str) -> Result<u32, ProjectionError> {
        let hash = hash64(name);
        if let Some(&key) = self.keys.get(&hash) {
            return Ok(key);
        }
        let key = self.next_key;
        self.next_key += 1;
        self.keys.insert(hash, key);
        self.uses += 1;
        self.sessions.insert(key, (self.uses, Session::new(key, name)));
        self.touched.insert(key);
        Ok(key)
    }

    /// Returns a session.
    fn session(&mut self, key: u32) -> Result<&mut Session, ProjectionError> {
        self.load(key)?;
        let (_, session) = self.sessions.get_mut(&key).expect("it was loaded");
        Ok(session)
    }

    /// Has a session in memory.
    fn load(&mut self, key: u32) -> Result<(), ProjectionError> {
        self.uses += 1;
        if let Some((used, _)) = self.sessions.get_mut(&key) {
            *used = self.uses;
            return Ok(());
        }
        let row = select_one::<SessionRow>(&self.connection, "session_key", key)?
            .expect("every key in memory has a row in the table or a session in memory");
        let session = Session::load(&self.connection, row)?;
        self.sessions.insert(key, (self.uses, session));
        Ok(())
    }

    /// Returns an open source; nothing when the record that opened it is lost or no source.
    fn source(&mut self, id: SourceId) -> Result<Option<&mut OpenSource>, ProjectionError> {
        if !self.sources.contains_key(&id)
            && let Some(open) = self.load_source(id)?
        {
            self.sources.insert(id, open);
        }
        Ok(self.sources.get_mut(&id))
    }

    fn load_source(&mut self, id: SourceId) -> Result<Option<OpenSource>, ProjectionError> {
        if id.0 == 0 {
            return Ok(None);
        }
        let Some(row) = select_one::<SourceRow>(&self.connection, "source_id", id.0)? else {
            return Ok(None);
        };
        let opened = Position(row.opened);
        let record = match self.journal.read(opened) {
            Ok(record) => record,
            Err(error) if self.journal.end_of_loss(opened, &error).is_some() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(source) = serde_json::from_slice(&record.bytes) else { return Ok(None) };
        Ok(Some(OpenSource { source: Arc::new(source), row, written: true, changed: false }))
    }

    /// Writes the batch and the position that it reaches in one transaction.
    fn commit(&mut self, position: Position) -> Result<Vec<u32>, ProjectionError> {
        if position == self.position {
            return Ok(Vec::new());
        }
        let mut touched: Vec<u32> = self.touched.drain().collect();
        touched.sort_unstable();
        for key in &touched {
            if let Some((_, session)) = self.sessions.get_mut(key)
                && session.has_calls_to_price()
            {
                let path = &self.path;
                let prices = self.prices.get_or_insert_with(|| table_of(path.parent().unwrap_or(path)));
                session.price_calls(prices, &self.connection)?;
            }
        }
        touched.retain(|key| {
            self.sessions.get_mut(key).is_some_and(|(_, session)| session.flush(&mut self.batch))
        });
        for open in self.sources.values_mut().filter(|open| open.changed) {
            if open.written {
                self.batch.delete::<SourceRow>(&format!("source_id = {}", open.row.source_id));
            }
            self.batch.sources.push(open.row.clone());
            (open.written, open.changed) = (true, false);
        }
        self.batch.sources.sort_by_key(|row| row.source_id);
        let transaction = self.connection.unchecked_transaction()?;
        self.batch.write(&transaction)?;
        transaction
            .execute("UPDATE main.meta SET value = ? WHERE key = 'position'", [position.0.to_string()])?;
        transaction.commit()?;
        self.position = position;
        self.forget_old();
        Ok(touched)
    }

    fn forget_old(&mut self) {
        let mut by_use: Vec<(u64, u32, u64)> = self
            .sessions
            .iter()
            .map(|(&key, (used, session))| (*used, key, u64::from(session.event_count())))
            .collect();
        by_use.sort_unstable();
        let mut events: u64 = by_use.iter().map(|(_, _, events)| events).sum();
        for (_, key, of_session) in by_use {
            let is_last = self.sessions.len() == 1;
            if is_last || (self.sessions.len() <= self.sessions_in_memory && events <= EVENTS_IN_MEMORY) {
                break;
            }
            self.sessions.remove(&key);
            events -= of_session;
        }
        if self.sources.len() > self.sessions_in_memory {
            self.sources.clear();
        }
    }
}

/// Returns 64 bits by which an observation is known: its id and its revision.
pub fn event_identity(event: &Event) -> u64 {
    identity_of(event.id.hash64(), event.rev)
}

/// Spreads revisions over all 64 bits.
const REVISION_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn identity_of(id: u64, rev: u64) -> u64 {
    id.wrapping_add(rev.wrapping_mul(REVISION_STEP))
}

/// Returns the id that an identity was made of.
fn base_of(identity: u64, rev: u64) -> u64 {
    identity.wrapping_sub(rev.wrapping_mul(REVISION_STEP))
}

/// Returns the event that the opening of a source is.
pub(crate) fn started_event(source: &Source) -> Event {
    let id = EventId::derived(&[b"source", source.format.as_bytes(), source.session.as_bytes()]);
    let mut event = Event::new(id, source.session.clone(), Body::SessionStarted(source.about.clone()));
    event.source = Some(source.format.clone());
    event
}

fn select_one<T: Table>(database: &Connection, column: &str, key: u32) -> duckdb::Result<Option<T>> {
    let sql = format!("SELECT {} FROM {} WHERE {column} = ?", T::COLUMNS, T::full_name());
    let mut statement = database.prepare(&sql)?;
    let mut rows = statement.query([key])?;
    rows.next()?.map(|row| T::read(row, 0)).transpose()
}
