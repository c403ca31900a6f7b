//! The DuckDB projection: what the journal's records mean, in tables that pages and reports read.

mod batch;
pub(crate) mod columns;
mod database;
mod kept;
mod prompt;
pub(crate) mod ranges;
mod session;
pub(crate) mod tables;
pub(crate) mod text;
mod worker;

pub use database::ProjectionError;
pub(crate) use worker::{Progress, Worker};

use std::path::Path;
use std::sync::Arc;

use agent_core::{Body, Event, EventId};
use duckdb::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Journal, Mapped, Mappers, Position, Record, RecordKind, Row, Source, SourceId};
use batch::Batch;
use columns::Table;
use database::Found;
use session::{Applied, Context, Inherited, Place, Session};
use tables::{SessionRow, SourceRow, UnreadRow};
use text::hash64;

/// Sessions held in memory; the one that was used longest ago goes first.
const SESSIONS_IN_MEMORY: usize = 32;

/// Reads the journal's records in order and keeps the tables as they say.
pub(crate) struct Projection {
    connection: Connection,
    journal: Journal,
    mappers: Arc<Mappers>,
    position: Position,
    sessions: FxHashMap<u32, (u64, Session)>,
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
    ) -> Result<Option<Self>, ProjectionError> {
        let mapping = mappers.versions();
        let (connection, found) = database::open(path, &mapping)?;
        match found {
            Found::Usable => {}
            Found::Empty => database::create_tables(&connection, &mapping)?,
            Found::Outdated => return Ok(None),
        }
        let position: String = connection
            .query_row("SELECT value FROM main.meta WHERE key = 'position'", [], |row| row.get(0))?;
        let mut projection = Self {
            connection,
            journal: journal.clone(),
            mappers: Arc::clone(mappers),
            position: Position(position.parse().unwrap_or(0)),
            sessions: FxHashMap::default(),
            uses: 0,
            keys: FxHashMap::default(),
            roots: FxHashMap::default(),
            next_key: 1,
            sources: FxHashMap::default(),
            batch: Batch::default(),
            touched: FxHashSet::default(),
            mapped: Mapped::default(),
        };
        projection.load_keys()?;
        Ok(Some(projection))
    }

    /// Returns a connection for a reader.
    pub(crate) fn reader(&self) -> Result<Connection, ProjectionError> {
        Ok(self.connection.try_clone()?)
    }

    /// Returns the position of the last record that the tables hold.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Takes in records up to `last`, at most until the batch holds `max_rows` events, and commits them.
    /// Returns the sessions that changed.
    pub(crate) fn advance(&mut self, last: Position, max_rows: usize) -> Result<Vec<u32>, ProjectionError> {
        let mut position = self.position;
        while position < last && self.batch.len() < max_rows {
            position = position.next();
            let record = self.journal.read(position)?;
            self.take(position, &record)?;
        }
        self.commit(position)
    }

    /// Moves what the tables hold from the write-ahead log into the file.
    pub(crate) fn checkpoint(&self) -> duckdb::Result<()> {
        self.connection.execute_batch("CHECKPOINT")
    }

    fn load_keys(&mut self) -> duckdb::Result<()> {
        let mut statement = self.connection.prepare("SELECT session_key, session, root FROM main.sessions")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (key, name): (u32, String) = (row.get(0)?, row.get(1)?);
            self.keys.insert(hash64(&name), key);
            if let Some(root) = row.get::<_, Option<u64>>(2)? {
                self.roots.entry(root).or_insert(key);
            }
            self.next_key = self.next_key.max(key + 1);
        }
        Ok(())
    }

    fn take(&mut self, position: Position, record: &Record) -> Result<(), ProjectionError> {
        match record.kind {
            RecordKind::Source => self.open_source(position, record),
            RecordKind::Row => self.take_row(position, record),
            RecordKind::Unread => {
                let text = String::from_utf8_lossy(&record.bytes);
                let reason = text.split('\n').next().unwrap_or_default().to_owned();
                self.take_unread(position, record, reason)
            }
            RecordKind::Event => self.take_event(position, record),
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
        let session = self.session(key)?;
        session.set_source(&source.format);
        if session.event_count() == 0 {
            self.apply(&event, place)?;
        } else {
            session.describe(&source.about);
        }
        self.inherit_from_parent(key, &source)?;
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

    fn take_row(&mut self, position: Position, record: &Record) -> Result<(), ProjectionError> {
        let source = Arc::clone(&self.source(record.source)?.source);
        let mappers = Arc::clone(&self.mappers);
        let mut mapped = std::mem::take(&mut self.mapped);
        mapped.clear();
        match mappers.get(&source.format) {
            Some(mapper) => mapper.map(&source, Row { number: record.number, bytes: &record.bytes }, &mut mapped),
            None => mapped.unread.push(crate::Unread(format!("no mapper for the format {}", source.format))),
        }
        let (mut stored, mut duplicates) = (0, 0);
        for (sub, event) in mapped.events.iter().enumerate() {
            // A row with more than 65,536 events does not exist; what came after would share the last place.
            let sub = u16::try_from(sub).unwrap_or(u16::MAX);
            match self.apply(event, Place { position: position.0, sub })? {
                Applied::Stored => stored += 1,
                Applied::Duplicate => duplicates += 1,
            }
        }
        for unread in mapped.unread.drain(..) {
            self.take_unread(position, record, unread.0)?;
        }
        self.mapped = mapped;
        let open = self.source(record.source)?;
        open.row.rows += 1;
        open.row.events += stored;
        open.row.duplicates += duplicates;
        open.row.position = position.0;
        open.changed = true;
        Ok(())
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
        if record.source.0 == 0 {
            return Ok(());
        }
        let open = self.source(record.source)?;
        open.row.unread += 1;
        open.row.position = position.0;
        open.changed = true;
        let name = open.source.session.clone();
        let key = self.session_named(&name)?;
        self.session(key)?.refused();
        Ok(())
    }

    fn take_event(&mut self, position: Position, record: &Record) -> Result<(), ProjectionError> {
        match Event::from_json(&record.bytes) {
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
        let key = self.session_named(&event.session)?;
        self.find_root(key, event)?;
        self.load(key)?;
        let (_, session) = self.sessions.get_mut(&key).expect("it was loaded");
        let mut context = Context { batch: &mut self.batch, database: &self.connection };
        Ok(session.apply(event, place, &mut context)?)
    }

    /// A session whose first message is another session's first message is a copy of its beginning.
    fn find_root(&mut self, key: u32, event: &Event) -> Result<(), ProjectionError> {
        if event.step.is_none() || !matches!(event.body, Body::UserMessaged(_) | Body::ModelResponded(_)) {
            return Ok(());
        }
        let session = self.session(key)?;
        if session.row.root.is_some() {
            return Ok(());
        }
        let root = event.id.hash64();
        session.row.root = Some(root);
        match self.roots.get(&root) {
            Some(&parent) if parent != key => {
                let (name, turn) = {
                    let parent = self.session(parent)?;
                    (parent.row.session.clone(), parent.turn())
                };
                let session = self.session(key)?;
                if session.row.parent.is_none() {
                    session.fork_of(&name, turn);
                }
                if !session.has_inherited() {
                    let inherited = self.inheritance_of(parent)?;
                    self.session(key)?.inherit(inherited);
                }
            }
            Some(_) => {}
            None => {
                self.roots.insert(root, key);
            }
        }
        Ok(())
    }

    /// A child that says who its parent is replays the parent's history at its start.
    fn inherit_from_parent(&mut self, key: u32, source: &Source) -> Result<(), ProjectionError> {
        let Some(parent) = &source.about.parent else { return Ok(()) };
        let Some(&parent) = self.keys.get(&hash64(&parent.session)) else { return Ok(()) };
        if parent != key && !self.session(key)?.has_inherited() {
            let inherited = self.inheritance_of(parent)?;
            self.session(key)?.inherit(inherited);
        }
        Ok(())
    }

    /// Returns all ids and facts of a session and its ancestors.
    fn inheritance_of(&mut self, key: u32) -> Result<Arc<Inherited>, ProjectionError> {
        let mut all = Inherited::default();
        let mut seen = FxHashSet::default();
        let mut next = Some(key);
        while let Some(key) = next
            && seen.insert(key)
        {
            let session = self.session(key)?;
            let own = session.own();
            all.ids.extend(own.ids);
            all.facts.extend(own.facts);
            let parent = session.row.parent.as_deref().map(hash64);
            next = parent.and_then(|parent| self.keys.get(&parent).copied());
        }
        Ok(Arc::new(all))
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

    /// Returns a session to be changed.
    fn session(&mut self, key: u32) -> Result<&mut Session, ProjectionError> {
        self.load(key)?;
        let (_, session) = self.sessions.get_mut(&key).expect("it was loaded");
        Ok(session)
    }

    /// Has a session in memory.
    fn load(&mut self, key: u32) -> Result<(), ProjectionError> {
        self.uses += 1;
        self.touched.insert(key);
        if let Some((used, _)) = self.sessions.get_mut(&key) {
            *used = self.uses;
            return Ok(());
        }
        let row = select_one::<SessionRow>(&self.connection, "session_key", key)?
            .expect("every key in memory has a row in the table or a session in memory");
        let parent = row.parent.as_deref().map(hash64).and_then(|parent| self.keys.get(&parent).copied());
        let session = Session::load(&self.connection, row)?;
        self.sessions.insert(key, (self.uses, session));
        if let Some(parent) = parent.filter(|&parent| parent != key) {
            let inherited = self.inheritance_of(parent)?;
            self.session(key)?.inherit(inherited);
        }
        Ok(())
    }

    /// Returns an open source.
    fn source(&mut self, id: SourceId) -> Result<&mut OpenSource, ProjectionError> {
        if !self.sources.contains_key(&id) {
            let row = select_one::<SourceRow>(&self.connection, "source_id", id.0)?
                .ok_or(crate::JournalError::NoSuchRecord(u64::from(id.0)))?;
            let record = self.journal.read(Position(row.opened))?;
            let source = serde_json::from_slice(&record.bytes).map_err(|cause| ProjectionError::Carry {
                session: row.session.clone(),
                cause,
            })?;
            self.sources.insert(id, OpenSource { source: Arc::new(source), row, written: true, changed: false });
        }
        Ok(self.sources.get_mut(&id).expect("it was just put in"))
    }

    /// Writes the batch and the position that it reaches in one transaction.
    fn commit(&mut self, position: Position) -> Result<Vec<u32>, ProjectionError> {
        if position == self.position {
            return Ok(Vec::new());
        }
        let mut touched: Vec<u32> = self.touched.drain().collect();
        touched.sort_unstable();
        for key in &touched {
            if let Some((_, session)) = self.sessions.get_mut(key) {
                session.flush(&mut self.batch);
            }
        }
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
        while self.sessions.len() > SESSIONS_IN_MEMORY {
            let oldest = self.sessions.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            let Some(oldest) = oldest else { return };
            self.sessions.remove(&oldest);
        }
        if self.sources.len() > SESSIONS_IN_MEMORY {
            self.sources.clear();
        }
    }
}

/// Returns 64 bits by which an observation is known: its id and its revision.
pub fn event_identity(event: &Event) -> u64 {
    event.id.hash64().wrapping_add(event.rev.wrapping_mul(0x9E37_79B9_7F4A_7C15))
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
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query([key])?;
    rows.next()?.map(|row| T::read(row, 0)).transpose()
}
