//! One event: an envelope around a [`Body`].

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{Body, EventId, Timestamp, TsQuality};

/// The version of the envelope that this crate writes.
pub const SCHEMA_VERSION: u32 = 1;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Names this observation; the same thing read twice has one id.
    pub id: EventId,
    /// Grows when the source amends the observation; the highest counts.
    pub rev: u64,
    /// Names the thing itself, over all observations of it: a response, a tool call, a message.
    pub fact: Option<String>,
    /// When it happened.
    pub ts: Option<Timestamp>,
    /// Where `ts` comes from.
    pub ts_quality: TsQuality,
    /// When Dashcam got it.
    pub received: Option<Timestamp>,
    /// The session, by the name its source gives it.
    pub session: String,
    /// The run's native key.
    pub run: Option<String>,
    /// The turn's native key.
    pub turn: Option<String>,
    /// The step's native key.
    pub step: Option<String>,
    /// The step that this one follows, by its native key; a branch shows itself by it.
    pub after: Option<String>,
    /// The place in the session, from 1, given by the recorder; a hole is a loss.
    pub seq: Option<u64>,
    /// Who wrote it down.
    pub source: Option<String>,
    /// What happened.
    pub body: Body,
    /// Envelope fields that this version does not know.
    pub other: Map<String, Value>,
}

/// Says why a text is no event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The text is not JSON, or a field has the wrong type.
    #[error("not an event: {0}")]
    Json(#[from] serde_json::Error),
    /// A field that every event needs is not there.
    #[error("not an event: the field `{0}` is missing")]
    Missing(&'static str),
    /// The payload does not fit its type.
    #[error("not an event: the payload of `{name}` does not fit: {cause}")]
    Payload {
        /// The type.
        name: String,
        /// What does not fit.
        cause: serde_json::Error,
    },
    /// The version is newer than this program can read without guessing.
    #[error("event version {0} is newer than {SCHEMA_VERSION}; a newer dashcam is needed")]
    Version(u32),
}

impl Event {
    /// Returns an event of `session` with `body` and nothing else said.
    pub fn new(id: EventId, session: impl Into<String>, body: Body) -> Self {
        Self {
            id,
            rev: 0,
            fact: None,
            ts: None,
            ts_quality: TsQuality::Missing,
            received: None,
            session: session.into(),
            run: None,
            turn: None,
            step: None,
            after: None,
            seq: None,
            source: None,
            body,
            other: Map::new(),
        }
    }

    /// Sets the time as the source reported it; an absent time stays missing.
    pub fn at(mut self, ts: Option<Timestamp>) -> Self {
        self.ts = ts;
        self.ts_quality = if ts.is_some() { TsQuality::Reported } else { TsQuality::Missing };
        self
    }

    /// Reads one event from its JSON text.
    pub fn from_json(text: &[u8]) -> Result<Self, EventError> {
        let wire: Wire = serde_json::from_slice(text)?;
        if wire.v > SCHEMA_VERSION {
            return Err(EventError::Version(wire.v));
        }
        let name = wire.r#type.ok_or(EventError::Missing("type"))?;
        let body = Body::read(&name, wire.data)
            .map_err(|cause| EventError::Payload { name: name.clone().into_owned(), cause })?;
        let ts_quality = match (wire.ts, wire.ts_quality) {
            (Some(_), quality) => quality.unwrap_or(TsQuality::Reported),
            (None, _) => TsQuality::Missing,
        };
        Ok(Self {
            id: wire.id.ok_or(EventError::Missing("id"))?,
            rev: wire.rev,
            fact: wire.fact,
            ts: wire.ts,
            ts_quality,
            received: wire.received,
            session: wire
                .session
                .filter(|session| !session.is_empty())
                .ok_or(EventError::Missing("session"))?,
            run: wire.run,
            turn: wire.turn,
            step: wire.step,
            after: wire.after,
            seq: wire.seq,
            source: wire.source,
            body,
            other: wire.other,
        })
    }

    /// Returns the event as one line of JSON, without the line break.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an event has string keys only")
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(default = "schema_version")]
    v: u32,
    id: Option<EventId>,
    #[serde(default)]
    rev: u64,
    fact: Option<String>,
    ts: Option<Timestamp>,
    ts_quality: Option<TsQuality>,
    received: Option<Timestamp>,
    session: Option<String>,
    run: Option<String>,
    turn: Option<String>,
    step: Option<String>,
    after: Option<String>,
    seq: Option<u64>,
    source: Option<String>,
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

const fn schema_version() -> u32 {
    SCHEMA_VERSION
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("v", &SCHEMA_VERSION)?;
        map.serialize_entry("id", &self.id)?;
        if self.rev != 0 {
            map.serialize_entry("rev", &self.rev)?;
        }
        if let Some(ts) = &self.ts {
            map.serialize_entry("ts", ts)?;
            if self.ts_quality != TsQuality::Reported {
                map.serialize_entry("ts_quality", &self.ts_quality)?;
            }
        }
        if let Some(received) = &self.received {
            map.serialize_entry("received", received)?;
        }
        map.serialize_entry("session", &self.session)?;
        for (key, value) in [
            ("run", &self.run),
            ("turn", &self.turn),
            ("step", &self.step),
            ("after", &self.after),
            ("fact", &self.fact),
            ("source", &self.source),
        ] {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        if let Some(seq) = &self.seq {
            map.serialize_entry("seq", seq)?;
        }
        map.serialize_entry("type", self.body.name())?;
        map.serialize_entry("data", &self.body.data())?;
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
