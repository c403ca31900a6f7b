//! `POST /v1/events`: events as NDJSON, acknowledged when they are safe in the journal.

use std::collections::VecDeque;
use std::sync::Mutex;

use agent_core::Event;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashSet;
use serde::Serialize;
use store::{Record, RecordKind, SourceId, Store, StoreError};

use super::body::unpack;
use super::explain::explain;
use super::{Intake, MAX_BODY_BYTES};
use crate::Full;

/// A longer line is refused, by its number.
const MAX_LINE_BYTES: usize = 8 << 20;
/// While there is no room for bulk, bodies up to this size are looked at: whether they are of control.
const MAX_CONTROL_BODY_BYTES: usize = 64 << 10;
/// Seconds after which a sender that was refused for load tries again.
const RETRY_AFTER_S: &str = "2";

/// What became of the events of one request.
#[derive(Debug, Default, Serialize)]
struct Answer {
    accepted: u64,
    duplicate: u64,
    refused: u64,
    events: Vec<EventAnswer>,
}

#[derive(Debug, Serialize)]
struct EventAnswer {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) async fn post_events(
    State(intake): State<Intake>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return unread_body(&rejection).into_response(),
    };
    let work = tokio::task::spawn_blocking(move || take_in(&intake, &headers, body));
    match work.await {
        Ok(Ok(answer)) => axum::Json(answer).into_response(),
        Ok(Err(refusal)) => refusal.into_response(),
        Err(error) => Refusal::Failed(error.to_string()).into_response(),
    }
}

/// Why a request was not taken, in words that its sender can act on.
enum Refusal {
    Body(StatusCode, String),
    Full(Full),
    Busy,
    Failed(String),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, reason) = match self {
            Self::Body(status, reason) => return (status, reason).into_response(),
            Self::Full(full) => (StatusCode::TOO_MANY_REQUESTS, full.to_string()),
            Self::Busy => (StatusCode::TOO_MANY_REQUESTS, StoreError::Busy.to_string()),
            Self::Failed(reason) => {
                tracing::error!(reason, "events could not be stored");
                (StatusCode::SERVICE_UNAVAILABLE, format!("the events could not be stored: {reason}"))
            }
        };
        (status, [(header::RETRY_AFTER, RETRY_AFTER_S)], reason).into_response()
    }
}

fn unread_body(rejection: &BytesRejection) -> Refusal {
    let reason = match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("the body is longer than {MAX_BODY_BYTES} bytes; send smaller batches, or packed ones")
        }
        _ => rejection.body_text(),
    };
    Refusal::Body(rejection.status(), reason)
}

fn take_in(intake: &Intake, headers: &HeaderMap, body: Bytes) -> Result<Answer, Refusal> {
    let full = intake.gate.check().err();
    if let Some(full) = &full
        && body.len() > MAX_CONTROL_BODY_BYTES
    {
        return Err(Refusal::Full(full.clone()));
    }
    let body = unpack(headers, body.into()).map_err(|(status, reason)| Refusal::Body(status, reason))?;
    let Taken { records, ids, is_control, mut answer } = read_events(intake, &body);
    if let Some(full) = full
        && !is_control
    {
        return Err(Refusal::Full(full));
    }
    if !records.is_empty() {
        let waiting = intake.gate.store().try_append(records).map_err(|error| match error {
            StoreError::Busy => Refusal::Busy,
            other => Refusal::Failed(other.to_string()),
        })?;
        match waiting.blocking_recv() {
            Ok(Ok(_)) => intake.recent.add(ids),
            Ok(Err(error)) => return Err(Refusal::Failed(error.to_string())),
            Err(_) => return Err(Refusal::Failed("the journal is closed".to_owned())),
        }
    }
    answer.events.sort_by_key(|event| event.line);
    Ok(answer)
}

/// What a body comes to.
struct Taken {
    records: Vec<Record>,
    ids: Vec<u64>,
    /// Whether all its new events are of control and guards.
    is_control: bool,
    answer: Answer,
}

/// Returns whether an event of this type may use the reserve.
fn is_control(name: &str) -> bool {
    matches!(name.split('.').next(), Some("policy" | "guard" | "control" | "interrupt"))
}

fn read_events(intake: &Intake, body: &[u8]) -> Taken {
    let mut answer = Answer::default();
    let mut fresh = Vec::new();
    let mut in_request = FxHashSet::default();
    for (number, line) in (1..).zip(body.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match read_event(line) {
            Ok(event) => {
                let identity = store::event_identity(&event);
                if !in_request.insert(identity) || intake.recent.has(identity) {
                    answer.duplicate(number, &event);
                } else {
                    fresh.push((number, identity, event, line));
                }
            }
            Err(reason) => answer.refuse(number, reason),
        }
    }
    let known = known_in_tables(intake.gate.store(), &fresh);
    let is_control = fresh.iter().all(|(_, _, event, _)| is_control(event.body.name()));
    let mut records = Vec::with_capacity(fresh.len());
    let mut ids = Vec::with_capacity(fresh.len());
    for (number, identity, event, line) in fresh {
        if known.contains(&identity) {
            answer.duplicate(number, &event);
            continue;
        }
        answer.accept(number, &event);
        ids.push(identity);
        records.push(Record {
            kind: RecordKind::Event,
            source: SourceId(0),
            number: 0,
            read_to: 0,
            bytes: line.to_vec(),
        });
    }
    Taken { records, ids, is_control, answer }
}

fn read_event(line: &[u8]) -> Result<Event, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("the line has {} bytes; {MAX_LINE_BYTES} are the most", line.len()));
    }
    Event::from_json(line).map_err(|error| explain(line, &error))
}

/// An event that the tables know and this process does not remember came before the last start. When the
/// tables cannot be asked, the event is taken: the projection drops what it knows.
fn known_in_tables(store: &Store, fresh: &[(u64, u64, Event, &[u8])]) -> FxHashSet<u64> {
    let asked: Vec<(&str, u64)> =
        fresh.iter().map(|(_, id, event, _)| (event.session.as_str(), *id)).collect();
    store.known_events(&asked).unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot look for duplicates in the tables");
        FxHashSet::default()
    })
}

impl Answer {
    fn accept(&mut self, line: u64, event: &Event) {
        self.accepted += 1;
        self.push(line, Some(event), "accepted", None);
    }

    fn duplicate(&mut self, line: u64, event: &Event) {
        self.duplicate += 1;
        self.push(line, Some(event), "duplicate", None);
    }

    fn refuse(&mut self, line: u64, reason: String) {
        self.refused += 1;
        self.push(line, None, "refused", Some(reason));
    }

    fn push(&mut self, line: u64, event: Option<&Event>, outcome: &'static str, reason: Option<String>) {
        let id = event.map(|event| event.id.to_string());
        self.events.push(EventAnswer { line, id, outcome, reason });
    }
}

/// How many ids are remembered: at 20,000 events a second those of the last ten seconds and more, by when
/// the tables know them.
const REMEMBERED_IDS: usize = 400_000;

/// The ids of the events that came last, before the tables have them.
#[derive(Default)]
pub(super) struct RecentIds {
    /// A plain lock: held for look-ups in memory, never across I/O or an await.
    ids: Mutex<(FxHashSet<u64>, VecDeque<u64>)>,
}

impl RecentIds {
    fn has(&self, id: u64) -> bool {
        self.ids.lock().expect("no holder of this lock panics").0.contains(&id)
    }

    fn add(&self, new: Vec<u64>) {
        let mut ids = self.ids.lock().expect("no holder of this lock panics");
        let (known, order) = &mut *ids;
        for id in new {
            if known.insert(id) {
                order.push_back(id);
            }
        }
        while order.len() > REMEMBERED_IDS {
            if let Some(oldest) = order.pop_front() {
                known.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests;
