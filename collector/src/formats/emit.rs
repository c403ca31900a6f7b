//! Makes the events of one row of a document, whose rows have no ids of their own.

use agent_core::{
    ArtifactProduced, Block, Body, ChunkKind, ContextAdded, Ended, Event, EventId, Json, ModelResponded,
    SessionStarted, Timestamp,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use store::{Mapped, Row, Source, Unread};

use super::DocumentShape;
use super::chat::{Call, ModelStats, quality};
use super::rows::read_line;
use crate::document::index_of;

/// Maps one row: reads it as a `T`, lets `map` say what it means, and keeps in reach, under the name
/// `unknown`, one that means nothing.
pub(super) fn map_row<T>(
    source: &Source,
    row: Row<'_>,
    shape: &DocumentShape,
    unknown: &str,
    out: &mut Mapped,
    map: impl Fn(&T, &mut Emit<'_>),
) where
    T: for<'de> Deserialize<'de>,
{
    let mut emit = Emit::new(source, row, shape, out);
    let unread = read_line::<T>(row.bytes, |record, _| map(&record, &mut emit));
    if emit.is_empty() && unread.is_empty() {
        emit.keep(unknown);
    }
    emit.unread().extend(unread);
}

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
    step: Option<String>,
    count: u32,
}

impl<'a> Emit<'a> {
    pub(super) fn new(source: &'a Source, row: Row<'a>, shape: &DocumentShape, out: &'a mut Mapped) -> Self {
        let index = index_of(shape, row.number);
        Self { source, row, index, out, row_hash: blake3::hash(row.bytes), ts: None, step: None, count: 0 }
    }

    /// Sets the time of the events to come.
    pub(super) fn at(&mut self, ts: Option<Timestamp>) {
        self.ts = ts;
    }

    /// Names the row, so that what it puts before the model can be taken back by that name.
    pub(super) fn name_step(&mut self, name: String) {
        self.step = Some(name);
    }

    /// Adds an event; `fact` is the native id of what it tells of.
    pub(super) fn push(&mut self, fact: Option<String>, body: Body) {
        let id = EventId::derived(&[
            self.source.session.as_bytes(),
            &self.row.number.to_le_bytes(),
            self.row_hash.as_bytes(),
            &self.count.to_le_bytes(),
        ]);
        self.add(id, fact, body);
    }

    /// Adds an event that other rows tell too: `name` is all that tells it from others of the session.
    pub(super) fn push_once(&mut self, name: &[&[u8]], body: Body) {
        let parts: Vec<&[u8]> =
            [self.source.session.as_bytes(), b"once"].iter().chain(name).copied().collect();
        self.add(EventId::derived(&parts), None, body);
    }

    fn add(&mut self, id: EventId, fact: Option<String>, body: Body) {
        self.count += 1;
        let mut event = Event::new(id, self.source.session.as_str(), body).at(self.ts);
        event.fact = fact;
        event.step.clone_from(&self.step);
        self.out.events.push(event);
    }

    /// Adds a part of the context.
    pub(super) fn context(
        &mut self,
        kind: ChunkKind,
        reason: Option<&str>,
        slot: Option<&str>,
        content: Option<Json>,
    ) {
        let context = ContextAdded {
            kind: Some(kind),
            reason: reason.map(str::to_owned),
            slot: slot.map(str::to_owned),
            content,
            ..ContextAdded::default()
        };
        self.push(None, Body::ContextAdded(context));
    }

    /// Adds the tool schemas; an empty list says that none are sent.
    pub(super) fn tools(&mut self, schemas: Json, reason: &str) {
        self.context(ChunkKind::ToolSchema, Some(reason), Some("tools"), Some(schemas));
    }

    /// Adds a whole response and the calls that it asks for.
    pub(super) fn respond(&mut self, mut answer: ModelResponded, calls: Vec<Call>) {
        answer.content.extend(calls.iter().map(|Call { call, .. }| Block::ToolUse {
            call_id: call.call_id.clone(),
            name: call.name.clone(),
        }));
        answer.last_piece = true;
        answer.usage_quality = Some(quality(&answer.usage, answer.finish_reason.as_deref()));
        self.push(answer.response_id.clone(), Body::ModelResponded(answer));
        self.called(calls);
    }

    /// Adds calls.
    pub(super) fn called(&mut self, calls: Vec<Call>) {
        for Call { native_id, call } in calls {
            self.push(native_id, Body::ToolCalled(call));
        }
    }

    /// Adds the end of the session, before it the patch that the agent submitted.
    pub(super) fn end(&mut self, submission: Option<String>, ended: Ended) {
        if let Some(patch) = said(submission) {
            let artifact = ArtifactProduced {
                kind: Some("patch".to_owned()),
                text: Some(patch),
                ..ArtifactProduced::default()
            };
            self.push(None, Body::ArtifactProduced(artifact));
        }
        self.push(None, Body::SessionEnded(ended));
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

/// Returns the dollars that a JSON number or string names. No model is free: zero is written where nobody
/// knew the price, and in replays, so it is no cost.
pub(super) fn dollars(raw: Option<&RawValue>) -> Option<agent_core::PicoUsd> {
    agent_core::PicoUsd::from_decimal(raw?.get().trim_matches('"')).filter(|cost| cost.0 > 0)
}

/// Notes what the run cost in all, as far as it was counted: replays write zeros.
pub(super) fn note_stats(ended: &mut Ended, stats: &ModelStats) {
    let counted = |figure: Option<u64>| figure.filter(|&figure| figure > 0);
    ended.reported_cost_usd = dollars(stats.instance_cost.as_deref());
    ended.usage.uncached_input = counted(stats.tokens_sent);
    ended.usage.output = counted(stats.tokens_received);
    note(&mut ended.other, "api_calls", counted(stats.api_calls));
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
fn note(other: &mut serde_json::Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
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

/// What the tests of the formats of documents share.
#[cfg(test)]
pub(super) mod testing {
    use std::io::{self, Cursor};
    use std::path::Path;

    use agent_core::Event;
    use store::{Mapped, Row, Source};

    use super::super::{Described, DocumentShape, Format, Layout};
    use crate::document::read_document;

    /// Returns the source that a file with this text is.
    pub(crate) fn source(format: &dyn Format, text: &str) -> Source {
        let Described { session, about } = format.describe(Path::new("x.traj"), text.as_bytes());
        Source {
            format: format.format().to_owned(),
            path: String::new(),
            session,
            about,
            first_row: String::new(),
            is_document: true,
        }
    }

    /// Cuts the text into its rows.
    pub(crate) fn rows(format: &dyn Format, text: &str) -> Vec<(u64, Vec<u8>)> {
        let mut rows = Vec::new();
        read_document(&mut Cursor::new(text), shape(format, text), &mut |number, bytes| {
            rows.push((number, bytes.to_vec()));
            Ok::<(), io::Error>(())
        })
        .unwrap();
        rows
    }

    fn shape(format: &dyn Format, text: &str) -> &'static DocumentShape {
        match format.sniff(text.as_bytes()) {
            Some(Layout::Document(shape)) => shape,
            layout => panic!("{layout:?}: {text}"),
        }
    }

    /// Returns the events of one row.
    pub(crate) fn map(format: &dyn Format, source: &Source, row: &(u64, Vec<u8>)) -> Mapped {
        let mut out = Mapped::default();
        format.map(source, Row { number: row.0, bytes: &row.1 }, &mut out);
        out
    }

    /// Returns the events of the whole text, of which nothing may be unreadable.
    pub(crate) fn events(format: &dyn Format, text: &str) -> Vec<Event> {
        let source = source(format, text);
        let mapped: Vec<Mapped> = rows(format, text).iter().map(|row| map(format, &source, row)).collect();
        assert!(mapped.iter().all(|mapped| mapped.unread.is_empty()), "{mapped:?}");
        mapped.into_iter().flat_map(|mapped| mapped.events).collect()
    }

    /// Compares the events of the text, each as its name and payload, with the expected ones.
    pub(crate) fn check(format: &dyn Format, text: &str, expected: &[&str]) {
        let shown: Vec<String> = events(format, text)
            .iter()
            .map(|event| format!("{} {}", event.body.name(), event.body.data().get()))
            .collect();
        assert_eq!(shown, expected, "{}", shown.join("\n"));
    }

    /// Checks that each row means the same whichever rows were mapped before it.
    pub(crate) fn check_any_order(format: &dyn Format, text: &str) {
        let source = source(format, text);
        let map = |row: &(u64, Vec<u8>)| map(format, &source, row).events;
        let rows = rows(format, text);
        let forwards: Vec<Event> = rows.iter().flat_map(map).collect();
        let mut backwards: Vec<_> = rows.iter().rev().map(map).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards.concat());
        let ids: std::collections::BTreeSet<_> = forwards.iter().map(|event| event.id).collect();
        assert_eq!(ids.len(), forwards.len());
    }
}
