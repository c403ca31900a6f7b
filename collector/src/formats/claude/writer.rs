//! Makes the events of one row.

use agent_core::{Body, ContextCompacted, Event, EventId, ParentKind, ParentLink, SessionStarted, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use store::{Source, Unread};

use super::super::misfit;
use super::is_uuid;
use super::wire::{RowWire, read};

/// Makes the events of one row: their ids, their time, their session.
pub(super) struct Writer<'a> {
    session: String,
    ts: Option<Timestamp>,
    step: Option<String>,
    after: Option<String>,
    /// What the ids of the row's events are derived from.
    identity: Vec<u8>,
    /// Events with such an id.
    count: u32,
    /// Events of what stands beside the message.
    beside: u32,
    is_subagent: bool,
    /// Whether the message came along in a row of another kind, without what the runtime says of results.
    is_carried: bool,
    about: &'a SessionStarted,
    first: usize,
    events: &'a mut Vec<Event>,
    /// What of the row could not be read.
    unread: &'a mut Vec<Unread>,
}

impl<'a> Writer<'a> {
    /// Returns a writer for the row `wire`, read from `text`; `place` is the number of the line and the
    /// row's place in it.
    pub(super) fn new(
        source: &'a Source,
        wire: &RowWire<'_>,
        text: &str,
        place: (u64, u32),
        events: &'a mut Vec<Event>,
        unread: &'a mut Vec<Unread>,
    ) -> Self {
        let parent = source.about.parent.as_ref();
        let mut writer = Self {
            session: source.session.clone(),
            ts: None,
            step: None,
            after: None,
            identity: Vec::new(),
            count: 0,
            beside: 0,
            is_subagent: parent.is_some_and(|parent| parent.kind == ParentKind::Subagent),
            is_carried: false,
            about: &source.about,
            first: events.len(),
            events,
            unread,
        };
        writer.set_row(wire);
        if writer.identity.is_empty() {
            // A row without an id of its own: a longer copy of the file has it at the same place.
            writer.identity.extend_from_slice(source.session.as_bytes());
            writer.identity.extend_from_slice(&place.0.to_le_bytes());
            writer.identity.extend_from_slice(&place.1.to_le_bytes());
            writer.identity.extend_from_slice(blake3::hash(text.as_bytes()).as_bytes());
        }
        writer
    }

    /// The events to come are those of this row.
    pub(super) fn set_row(&mut self, wire: &RowWire<'_>) {
        self.ts = wire.timestamp.as_deref().and_then(|text| text.parse().ok());
        self.step.clone_from(&wire.uuid);
        self.after = wire.logical_parent_uuid.clone().or_else(|| wire.parent_uuid.clone());
        if let Some(uuid) = wire.uuid.as_deref().filter(|uuid| is_uuid(uuid)) {
            self.identity.clear();
            self.identity.extend_from_slice(uuid.as_bytes());
        }
    }

    /// The events to come follow the step `after`.
    pub(super) fn follow(&mut self, after: Option<String>) {
        self.after = after;
    }

    /// The events to come belong to a sub-agent of the session, which was started by the call `call_id`.
    /// All hang on the main session, those of sub-agents too: their files lie in one folder.
    ///
    /// Each of its rows says where it comes from, since any may be the first that is there. The event is the
    /// same each time, so that repeats add nothing.
    pub(super) fn enter_child(&mut self, agent: &str, call_id: Option<String>) {
        let main = self.session.split('/').next().unwrap_or_default();
        let child = format!("{main}/{agent}");
        let parent = std::mem::replace(&mut self.session, child);
        self.is_subagent = true;
        let about = SessionStarted {
            agent: Some("claude-code".to_owned()),
            user: self.about.user.clone(),
            project: self.about.project.clone(),
            parent: Some(ParentLink { session: parent, kind: ParentKind::Subagent, call_id }),
            ..Default::default()
        };
        let id = EventId::derived(&[b"claude-code child", self.session.as_bytes()]);
        let event = Event::new(id, self.session.clone(), Body::SessionStarted(about)).at(self.ts);
        self.events.push(event);
        self.first = self.events.len();
    }

    /// Adds an event; `fact` is the native id of what it tells of.
    pub(super) fn push(&mut self, fact: Option<String>, body: Body) {
        let id = EventId::derived(&[b"claude-code", &self.identity, &self.count.to_le_bytes()]);
        self.count += 1;
        let mut event = Event::new(id, self.session.clone(), body).at(self.ts);
        event.step.clone_from(&self.step);
        event.after.clone_from(&self.after);
        event.fact = fact;
        self.events.push(event);
    }

    /// Adds an event of what stands beside the message in the row. Its id is none of those in the row's
    /// order: another copy of the message may stand alone.
    pub(super) fn push_beside(&mut self, body: Body) {
        let at = self.beside.to_le_bytes();
        let id = EventId::derived(&[b"claude-code beside", &self.identity, &at]);
        self.beside += 1;
        let mut event = Event::new(id, self.session.clone(), body).at(self.ts);
        event.step.clone_from(&self.step);
        event.after.clone_from(&self.after);
        self.events.push(event);
    }

    /// Adds an event of what was learned by a call. Copies of the message tell it at different places.
    pub(super) fn push_learned(&mut self, call_id: &str, body: Body) {
        let parts = [self.session.as_bytes(), call_id.as_bytes(), body.name().as_bytes()];
        let id = EventId::derived(&[&b"claude-code learned"[..], parts[0], parts[1], parts[2]]);
        let mut event = Event::new(id, self.session.clone(), body).at(self.ts);
        event.step.clone_from(&self.step);
        event.after.clone_from(&self.after);
        self.events.push(event);
    }

    /// Takes what the rows `steps` said out of the context.
    pub(super) fn take_back(&mut self, steps: Option<&RawValue>) {
        let Some(steps) = read::<Vec<String>>(steps).filter(|steps| !steps.is_empty()) else { return };
        let gone = ContextCompacted { dropped_steps: Some(steps), ..Default::default() };
        self.push_beside(Body::ContextCompacted(gone));
    }

    /// Keeps a row in reach that means nothing here.
    pub(super) fn keep(&mut self, wire: &RowWire<'_>) {
        let what = wire.subtype.as_deref().or(wire.operation.as_deref()).map(snake);
        let name = match (&wire.kind, what) {
            (Some(kind), Some(what)) => format!("claude_code.{kind}.{what}"),
            (Some(kind), None) => format!("claude_code.{kind}"),
            (None, _) => "claude_code.unknown".to_owned(),
        };
        self.push(None, Body::Other { name: name.replace('-', "_"), data: None });
    }

    /// Reads a part of the row; when it has another shape than `T`, that is named as a loss.
    pub(super) fn read<'r, T: Deserialize<'r>>(
        &mut self,
        raw: Option<&'r RawValue>,
        what: &str,
    ) -> Option<T> {
        let read = serde_json::from_str(raw?.get());
        read.map_err(|error| self.unread.push(Unread(format!("{what}: {}", misfit::words(&error))))).ok()
    }

    /// Returns whether the row has given no event yet.
    pub(super) fn is_empty(&self) -> bool {
        self.events.len() == self.first
    }

    /// Returns whether the row is of a sub-agent.
    pub(super) fn is_subagent(&self) -> bool {
        self.is_subagent
    }

    /// The message at hand came along in a row of another kind.
    pub(super) fn set_carried(&mut self) {
        self.is_carried = true;
    }

    /// Returns whether it did.
    pub(super) fn is_carried(&self) -> bool {
        self.is_carried
    }

    /// Returns the session of the events to come.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Returns a name for the `at`th thing in the row, for what has none of its own.
    pub(super) fn name_of(&self, at: &str) -> String {
        format!("{}#{at}", self.step.as_deref().unwrap_or("row"))
    }
}

/// Returns a name in lower case, its words parted by lines: `popAll` is `pop_all`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
