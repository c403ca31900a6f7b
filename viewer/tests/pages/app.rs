//! A whole viewer in one line, with a recorder of sessions beside it.

use agent_core::{
    Block, Body, ErrorInfo, Event, EventId, Json, ModelFailed, ModelResponded, SessionStarted, Timestamp,
    ToolCalled, ToolEnded, ToolStatus, Usage, UsageQuality, UserMessaged,
};
use axum::Router;
use axum::body::{Body as HttpBody, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use jiff::tz::TimeZone;
use store::{Mappers, Record, RecordKind, SourceId, Store};
use tempfile::TempDir;
use tower::ServiceExt;
use viewer::AppState;

pub const TOKEN: &str = "a token of this test";

/// A viewer over a store of its own.
pub struct App {
    pub store: Store,
    pub state: AppState,
    router: Router,
    _folder: TempDir,
}

/// An answer, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl App {
    /// Returns a viewer over a store that holds these sessions.
    pub fn with(sessions: &[Session]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Mappers::default()).unwrap();
        let state =
            AppState::with_zone(store.clone(), TOKEN, vec!["dashcam.example".to_owned()], TimeZone::UTC);
        let app = Self { router: viewer::router(state.clone()), state, store, _folder: folder };
        sessions.iter().for_each(|session| app.add(session));
        app
    }

    /// Adds the events of a session and waits until pages can show them.
    pub fn add(&self, session: &Session) {
        let records = session.events.iter().map(|event| Record {
            kind: RecordKind::Event,
            source: SourceId(0),
            number: 0,
            read_to: 0,
            bytes: event.to_json().into_bytes(),
        });
        let records: Vec<Record> = records.collect();
        let count = records.len() as u64;
        // The store blocks, which a thread of the async runtime may not.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let committed = self.store.append(records).unwrap();
                self.store.wait_until_projected(store::Position(committed.first.0 + count - 1)).unwrap();
            });
        });
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request<HttpBody>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 64 << 20).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// Opens a page as somebody who has the token.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(
            request("GET", path)
                .header("authorization", format!("Bearer {TOKEN}"))
                .body(HttpBody::empty())
                .unwrap(),
        )
        .await
    }

    /// Opens a page that must be there.
    pub async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    /// Returns the router, for requests whose answer has no end.
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}

/// Returns a request from this machine.
pub fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "127.0.0.1:7117")
}

/// The events of one session, one second apart.
pub struct Session {
    pub name: String,
    events: Vec<Event>,
    at: i64,
    responses: u32,
}

impl Session {
    pub fn new(name: &str) -> Self {
        let at = "2026-03-10T12:00:00Z".parse::<Timestamp>().unwrap().micros();
        Self { name: name.to_owned(), events: Vec::new(), at, responses: 0 }
    }

    /// Returns a session that began a minute ago, and so may still be running.
    pub fn recent(name: &str) -> Self {
        Self { at: Timestamp::now().micros() - 60_000_000, ..Self::new(name) }
    }

    /// Returns the same with a step at each event, as sources number them that can be forked.
    pub fn stepped(mut self) -> Self {
        for (n, event) in self.events.iter_mut().enumerate() {
            event.step = Some(format!("step-{n}"));
        }
        self
    }

    /// Returns the same events as those of another session, as an agent copies them that forks one.
    pub fn copied(&self, name: &str) -> Self {
        let events = self.events.iter().map(|event| Event { session: name.to_owned(), ..event.clone() });
        Self { name: name.to_owned(), events: events.collect(), at: self.at, responses: self.responses }
    }

    pub fn event(mut self, body: Body) -> Self {
        self.at += 1_000_000;
        let event =
            Event::new(EventId::new_v7(), self.name.clone(), body).at(Some(Timestamp::from_micros(self.at)));
        self.events.push(event);
        self
    }

    pub fn started(self, about: SessionStarted) -> Self {
        self.event(Body::SessionStarted(about))
    }

    pub fn asks(self, text: &str) -> Self {
        self.event(Body::UserMessaged(UserMessaged { text: text.to_owned(), ..Default::default() }))
    }

    pub fn says(mut self, text: &str) -> Self {
        self.responses += 1;
        let id = format!("response-{}", self.responses);
        self.event(Body::ModelResponded(ModelResponded {
            model: Some("model-x".to_owned()),
            response_id: Some(id),
            content: vec![Block::Text { text: text.to_owned() }],
            finish_reason: Some("end_turn".to_owned()),
            usage: Usage {
                uncached_input: Some(1_000),
                cache_read: Some(20_000),
                cache_write_5m: Some(300),
                output: Some(40),
                ..Default::default()
            },
            usage_quality: Some(UsageQuality::Final),
            ..Default::default()
        }))
    }

    /// A call and its result.
    pub fn calls(self, id: &str, name: &str, input: &str, status: ToolStatus, output: &str) -> Self {
        let input = Json::parse(input.to_owned()).unwrap();
        self.event(Body::ToolCalled(ToolCalled {
            call_id: id.to_owned(),
            name: name.to_owned(),
            input: Some(input),
            ..Default::default()
        }))
        .event(Body::ToolEnded(ToolEnded {
            call_id: id.to_owned(),
            status: Some(status),
            output: Some(Json::string(output)),
            ..Default::default()
        }))
    }

    pub fn fails(self, words: &str) -> Self {
        self.event(Body::ModelFailed(ModelFailed {
            error: ErrorInfo {
                message: Some(words.to_owned()),
                kind: Some("overloaded".to_owned()),
                ..Default::default()
            },
            ..Default::default()
        }))
    }
}
