//! Events with their payloads, read back from the journal.

use std::sync::Arc;

use agent_core::{Body, ErrorInfo, Event, EventId, ToolStatus, Unqueued, UserMessaged};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::projection::columns::Table;
use crate::projection::started_event;
use crate::projection::tables::{EventRow, SourceRow, ToolCallRow};
use crate::projection::{DELIVERED, RETOLD};
use crate::{Mapped, Position, RecordKind, Row, Source, SourceId, Store, StoreError};

/// An event with its place.
#[derive(Clone, Debug)]
pub struct FullEvent {
    /// Its place in the session, from 0.
    pub n: u32,
    /// Its turn.
    pub turn: u32,
    /// The record that it came from.
    pub position: Position,
    /// The event.
    pub event: Event,
}

/// A record as it came in.
#[derive(Clone, Debug)]
pub struct RawRecord {
    /// Its position.
    pub position: Position,
    /// Where it came from: a path and the row's number.
    pub place: Option<(String, u64)>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The type of the events that tell of a call's end beside its result.
const REPORTED: &str = "tool.reported";
/// How many events are read back at a time.
const CHUNK: u32 = 2000;

impl Store {
    /// Calls `take` with each event of the session, or of one turn, in order. A tool's result says how the
    /// call ended as all that the source tells of it comes to.
    pub fn for_each_event<E: From<StoreError>>(
        &self,
        session_key: u32,
        turn: Option<u32>,
        mut take: impl FnMut(FullEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut hydrator = Hydrator::new(self);
        let ends = self.reported_ends(session_key, turn)?;
        let mut from = 0;
        loop {
            let rows = self.event_rows(session_key, turn, from, from.saturating_add(CHUNK))?;
            let Some(last) = rows.last() else {
                match self.next_event(session_key, turn, from)? {
                    Some(next) => {
                        from = next;
                        continue;
                    }
                    None => return Ok(()),
                }
            };
            from = last.n + 1;
            for row in &rows {
                take(ends.tell(hydrator.full(row)?, row))?;
            }
        }
    }

    /// Returns which of the events, given by session and [`crate::event_identity`], the tables hold.
    pub fn known_events(&self, asked: &[(&str, u64)]) -> Result<FxHashSet<u64>, StoreError> {
        let mut by_session: FxHashMap<&str, Vec<u64>> = FxHashMap::default();
        for (session, identity) in asked {
            by_session.entry(session).or_default().push(*identity);
        }
        let mut known = FxHashSet::default();
        self.read(|connection| {
            for (session, identities) in by_session {
                let key: Option<u32> = connection
                    .prepare_cached("SELECT max(session_key) FROM main.sessions WHERE session = ?")?
                    .query_row([session], |row| row.get(0))?;
                let Some(key) = key else { continue };
                let list = identities.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
                let sql = format!("SELECT id FROM main.events WHERE session_key = {key} AND id IN ({list})");
                let mut statement = connection.prepare_cached(&sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    known.insert(row.get(0)?);
                }
            }
            Ok(known)
        })
    }

    /// Returns the events of a turn, as [`Self::for_each_event`] gives them.
    pub fn turn_events(&self, session_key: u32, turn: u32) -> Result<Vec<FullEvent>, StoreError> {
        let rows: Vec<EventRow> =
            self.select("session_key = ? AND turn = ? ORDER BY n", [session_key, turn])?;
        let mut hydrator = Hydrator::new(self);
        let ends = if rows.iter().any(|row| row.event_type == REPORTED) {
            self.ended_calls(session_key, Some(turn))?
        } else {
            Ends::default()
        };
        rows.iter().map(|row| Ok(ends.tell(hydrator.full(row)?, row))).collect()
    }

    fn reported_ends(&self, session_key: u32, turn: Option<u32>) -> Result<Ends, StoreError> {
        let of_turn = turn.map_or(String::new(), |turn| format!(" AND turn = {turn}"));
        let reports = format!("session_key = ? AND event_type = '{REPORTED}'{of_turn} LIMIT 1");
        if self.select::<EventRow>(&reports, [session_key])?.is_empty() {
            return Ok(Ends::default());
        }
        self.ended_calls(session_key, turn)
    }

    fn ended_calls(&self, session_key: u32, turn: Option<u32>) -> Result<Ends, StoreError> {
        let of_turn = turn.map_or(String::new(), |turn| format!(" AND turn = {turn}"));
        let ended = format!("session_key = ? AND end_position IS NOT NULL{of_turn}");
        let calls: Vec<ToolCallRow> = self.select(&ended, [session_key])?;
        let place = |call: &ToolCallRow| Some((call.end_position?, call.end_sub?));
        Ok(Ends(calls.into_iter().filter_map(|call| Some((place(&call)?, call))).collect()))
    }

    /// Returns the event at a place.
    pub fn event_at(&self, position: u64, sub: u16) -> Result<Event, StoreError> {
        Hydrator::new(self).event(position, sub)
    }

    /// Returns the records that the events of a turn came from, each once.
    pub fn turn_records(&self, session_key: u32, turn: u32) -> Result<Vec<RawRecord>, StoreError> {
        let rows: Vec<EventRow> =
            self.select("session_key = ? AND turn = ? ORDER BY n", [session_key, turn])?;
        let mut positions: Vec<u64> = rows.iter().map(|row| row.position).collect();
        positions.dedup();
        positions.into_iter().map(|position| self.raw_record(Position(position))).collect()
    }

    /// Returns one record as it came in.
    pub fn raw_record(&self, position: Position) -> Result<RawRecord, StoreError> {
        let record = self.journal().read(position)?;
        let place = match self.source_row(record.source)? {
            Some(source) => Some((source.path, record.number)),
            None => None,
        };
        Ok(RawRecord { position, place, bytes: record.bytes })
    }

    pub(super) fn source_row(&self, id: SourceId) -> Result<Option<SourceRow>, StoreError> {
        Ok(self.select("source_id = ?", [id.0])?.pop())
    }

    fn event_rows(
        &self,
        session_key: u32,
        turn: Option<u32>,
        from: u32,
        to: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        match turn {
            None => self.select("session_key = ? AND n >= ? AND n < ? ORDER BY n", [session_key, from, to]),
            Some(turn) => self.select(
                "session_key = ? AND turn = ? AND n >= ? AND n < ? ORDER BY n",
                [session_key, turn, from, to],
            ),
        }
    }

    fn next_event(&self, session_key: u32, turn: Option<u32>, from: u32) -> Result<Option<u32>, StoreError> {
        let of_turn = turn.map_or(String::new(), |turn| format!(" AND turn = {turn}"));
        let sql =
            format!("SELECT min(n) FROM {} WHERE session_key = ? AND n >= ?{of_turn}", EventRow::full_name());
        self.read(|connection| {
            Ok(connection.prepare_cached(&sql)?.query_row([session_key, from], |row| row.get(0))?)
        })
    }
}

/// How calls ended of which a source tells beside their results, by the places of these.
#[derive(Default)]
struct Ends(FxHashMap<(u64, u16), ToolCallRow>);

impl Ends {
    /// Puts what all that the source tells of a call's end comes to into its result.
    fn tell(&self, mut full: FullEvent, row: &EventRow) -> FullEvent {
        if let Body::ToolEnded(end) = &mut full.event.body
            && let Some(call) = self.0.get(&(row.position, row.sub))
        {
            let status = call.status.as_deref().and_then(ToolStatus::from_word);
            if status != end.status {
                end.status = status;
                let message = call.output_preview.clone().filter(|_| status == Some(ToolStatus::Failed));
                end.error = message.map(|message| ErrorInfo { message: Some(message), ..Default::default() });
            }
            end.exit_code = call.exit_code;
            end.duration_ms = end.duration_ms.and(call.duration_ms);
        }
        full
    }
}

/// Maps records again to get at the payloads of events; neighbours in one record are mapped once.
pub(super) struct Hydrator<'a> {
    store: &'a Store,
    at: Option<u64>,
    events: Vec<Option<Event>>,
}

impl<'a> Hydrator<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, at: None, events: Vec::new() }
    }

    pub(super) fn full(&mut self, row: &EventRow) -> Result<FullEvent, StoreError> {
        let mut event = self.written(row.position, row.sub)?;
        if row.event_type == DELIVERED {
            event = delivered(event);
        }
        if row.event_type == RETOLD {
            // It was told by another event, and is not to be shown twice.
            event.body = Body::Other { name: RETOLD.to_owned(), data: Some(event.body.data()) };
        }
        Ok(FullEvent { n: row.n, turn: row.turn, position: Position(row.position), event })
    }

    /// Returns the event at a place; a message that waited as what it became once it was delivered.
    pub(super) fn event(&mut self, position: u64, sub: u16) -> Result<Event, StoreError> {
        Ok(delivered(self.written(position, sub)?))
    }

    /// Returns the event at a place as it is written down.
    fn written(&mut self, position: u64, sub: u16) -> Result<Event, StoreError> {
        if self.at != Some(position) {
            self.events = self.map(Position(position))?.into_iter().map(Some).collect();
            self.at = Some(position);
        }
        let event = self.events.get(usize::from(sub)).cloned().flatten();
        event.ok_or_else(|| StoreError::Unreadable {
            position,
            reason: format!("it has no event {sub}; run `dashcam rebuild`"),
        })
    }

    fn map(&mut self, position: Position) -> Result<Vec<Event>, StoreError> {
        let record = self.store.journal().read(position)?;
        let unreadable = |reason: String| StoreError::Unreadable { position: position.0, reason };
        match record.kind {
            RecordKind::Event => Event::from_json(&record.bytes)
                .map(|event| vec![event])
                .map_err(|error| unreadable(error.to_string())),
            RecordKind::Source => serde_json::from_slice(&record.bytes)
                .map(|source| vec![started_event(&source)])
                .map_err(|error| unreadable(error.to_string())),
            RecordKind::Row => {
                let source = self.source(record.source)?;
                let mapper = self.store.mappers().get(&source.format);
                let mapper = mapper.ok_or_else(|| unreadable(format!("no mapper for {}", source.format)))?;
                let mut mapped = Mapped::default();
                mapper.map(&source, Row { number: record.number, bytes: &record.bytes }, &mut mapped);
                Ok(mapped.events)
            }
            kind => Err(unreadable(format!("it is of the kind {}", kind.as_str()))),
        }
    }

    fn source(&self, id: SourceId) -> Result<Arc<Source>, StoreError> {
        self.store.source_memory().get(id, || {
            let row = self.store.source_row(id)?;
            let row = row.ok_or_else(|| StoreError::NotFound { what: "source", name: id.0.to_string() })?;
            let record = self.store.journal().read(Position(row.opened))?;
            serde_json::from_slice(&record.bytes)
                .map_err(|error| StoreError::Unreadable { position: row.opened, reason: error.to_string() })
        })
    }
}

/// Returns the message that came in by way of the queue; any other event as it is.
fn delivered(event: Event) -> Event {
    let message = match event.body {
        Body::MessageQueued(message) | Body::MessageUnqueued(Unqueued { message: Some(message), .. }) => {
            message
        }
        _ => return event,
    };
    // It stands beside the event that told that it waits.
    let id = EventId::derived(&[b"delivered", event.id.to_string().as_bytes()]);
    Event { id, body: Body::UserMessaged(UserMessaged { joins_run: true, ..message }), ..event }
}
