//! Collects the events of one row and gives them their ids, times and facts.

use agent_core::{Body, Event, EventId, Json, SessionStarted, Timestamp};
use store::{Mapped, Source, Unread};

/// The events of one row in the making.
pub(super) struct Draft<'a> {
    source: &'a Source,
    row_number: u64,
    out: &'a mut Mapped,
    /// Names the value that is being mapped; rows have no ids of their own.
    value: String,
    ts: Option<Timestamp>,
    step: Option<String>,
    /// Events of the row so far, which tells apart the ids of one value's events.
    index: u64,
}

impl<'a> Draft<'a> {
    /// Returns an empty draft for the row `row_number` of `source`.
    pub fn new(source: &'a Source, row_number: u64, out: &'a mut Mapped) -> Self {
        Self { source, row_number, out, value: String::new(), ts: None, step: None, index: 0 }
    }

    /// Starts with the next value of the row: its text, and its time as written and as read.
    ///
    /// The id is made of the session, the row's number and the text, and so is the same in every copy and
    /// every longer snapshot of the file.
    pub fn begin(&mut self, text: &str, time: Option<Timestamp>) {
        let session = self.source.session.as_bytes();
        let number = self.row_number.to_le_bytes();
        self.value = EventId::derived(&[b"codex", session, &number, text.as_bytes()]).to_string();
        self.step = None;
        // A time that is none leaves the event without one (`ts_quality: missing`); the row itself was read.
        self.ts = time;
    }

    /// Sets the native id of the item that is being mapped.
    pub fn set_step(&mut self, step: Option<String>) {
        self.step = step;
    }

    /// Adds an event; `fact` names what it tells of, by content alone.
    pub fn push(&mut self, fact: String, body: Body) {
        self.add(Some(fact), body);
    }

    /// Adds an event of the session's own header. It has no fact: a child's header stands before the history
    /// that it repeats, and must not look like the end of it.
    pub fn push_own(&mut self, body: Body) {
        self.add(None, body);
    }

    /// Adds an event that keeps a row in reach that means nothing here.
    pub fn other(&mut self, kind: &str, data: Option<Json>) {
        self.add(None, Body::Other { name: format!("codex.{kind}"), data });
    }

    /// Notes a part that could not be read.
    pub fn unread(&mut self, unread: Unread) {
        self.out.unread.push(unread);
    }

    /// Returns the number of events of the row so far.
    pub fn event_count(&self) -> u64 {
        self.index
    }

    /// Returns the session that the file is of.
    pub fn session(&self) -> &str {
        &self.source.session
    }

    /// Returns what the file's beginning says of the session.
    pub fn about(&self) -> &SessionStarted {
        &self.source.about
    }

    /// Returns a name for a thing of this row that has none.
    pub fn row_name(&self) -> String {
        format!("row-{}-{}", self.row_number, self.index)
    }

    fn add(&mut self, fact: Option<String>, body: Body) {
        let id = EventId::derived(&[self.value.as_bytes(), &self.index.to_le_bytes()]);
        self.index += 1;
        let mut event = Event::new(id, self.source.session.as_str(), body).at(self.ts);
        event.fact = fact;
        event.step = self.step.clone();
        self.out.events.push(event);
    }
}

/// Returns the name of a thing that has no id: its kind and a hash of its content.
///
/// Forks and sub-agents repeat their parent's rows, sometimes with new times and row numbers: neither may
/// go in.
pub(super) fn fact(kind: &str, parts: &[&str]) -> String {
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    format!("{kind}:{}", EventId::derived(&bytes))
}
