//! Makes the events of one row of a document, whose rows have no ids of their own.

use agent_core::{Body, Event, EventId, Json, SessionStarted, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;
use store::{Mapped, Row, Source, Unread};

use super::DocumentShape;
use crate::document::index_of;

/// Puts the events of one row into the output, each with an id that follows from the session, the row's
/// number, its bytes and the event's place in it.
pub(super) struct Emit<'a> {
    pub(super) source: &'a Source,
    pub(super) row: Row<'a>,
    /// The place of the row's element in its array, from 0.
    pub(super) index: u64,
    out: &'a mut Mapped,
    row_hash: blake3::Hash,
    ts: Option<Timestamp>,
    count: u32,
}

impl<'a> Emit<'a> {
    pub(super) fn new(source: &'a Source, row: Row<'a>, shape: &DocumentShape, out: &'a mut Mapped) -> Self {
        let index = index_of(shape, row.number);
        Self { source, row, index, out, row_hash: blake3::hash(row.bytes), ts: None, count: 0 }
    }

    /// Sets the time of the events to come.
    pub(super) fn at(&mut self, ts: Option<Timestamp>) {
        self.ts = ts;
    }

    /// Adds an event; `fact` is the native id of what it tells of.
    pub(super) fn push(&mut self, fact: Option<String>, body: Body) {
        let id = EventId::derived(&[
            self.source.session.as_bytes(),
            &self.row.number.to_le_bytes(),
            self.row_hash.as_bytes(),
            &self.count.to_le_bytes(),
        ]);
        self.count += 1;
        let mut event = Event::new(id, self.source.session.as_str(), body).at(self.ts);
        event.fact = fact;
        self.out.events.push(event);
    }

    /// Adds an event that only keeps the row in reach.
    pub(super) fn keep(&mut self, name: &str) {
        self.push(None, Body::Other { name: name.to_owned(), data: None });
    }

    /// Says whether the row has given an event.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns where to name what cannot be read.
    pub(super) fn unread(&mut self) -> &mut Vec<Unread> {
        &mut self.out.unread
    }
}

/// Returns the session's name for a file whose rows name none: the format, and a hash of rows that no other
/// session shares and that stay the same while the file grows.
pub(super) fn session_name<'a>(format: &str, rows: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for row in rows {
        hasher.update(&(row.len() as u64).to_le_bytes());
        hasher.update(row);
    }
    format!("{format}-{}", &hasher.finalize().to_hex()[..16])
}

/// Returns the dollars that a JSON number or string names, as a decimal string.
pub(super) fn dollars(raw: Option<&RawValue>) -> Option<agent_core::PicoUsd> {
    agent_core::PicoUsd::from_decimal(raw?.get().trim_matches('"'))
}

/// Returns the instant that a JSON number of seconds since 1970 names.
pub(super) fn unix_seconds(raw: Option<&RawValue>) -> Option<Timestamp> {
    let seconds: f64 = raw?.get().parse().ok()?;
    let micros = seconds * 1e6;
    // Beyond this a float no longer tells whole microseconds (the year 2255), so it is no real time.
    (micros.abs() < 9e15).then(|| Timestamp::from_micros(micros.round() as i64))
}

/// Returns a field that is only kept when it says something.
pub(super) fn said(word: Option<String>) -> Option<String> {
    word.filter(|word| !word.is_empty())
}

/// Adds a field to a payload when there is something to say.
pub(super) fn note(other: &mut serde_json::Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        other.insert(key.to_owned(), value.into());
    }
}

/// Returns an `about` of the agent alone.
pub(super) fn about_agent(agent: &str) -> SessionStarted {
    SessionStarted { agent: Some(agent.to_owned()), ..SessionStarted::default() }
}

/// Returns the call id of the `nth` action of the message at `index`, where the source gives none.
pub(super) fn call_id(index: u64, nth: usize) -> String {
    format!("{index}.{nth}")
}

/// Returns a JSON object of one string member.
pub(super) fn object_of(key: &str, text: &str) -> Json {
    Json::of(&serde_json::Map::from_iter([(key.to_owned(), Value::from(text))]))
}
