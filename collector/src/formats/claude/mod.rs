//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and the files of its sub-agents.

mod about;
mod assistant;
mod attachment;
mod learning;
mod system;
mod user;
mod wire;

use std::path::Path;

use agent_core::{Body, Event, EventId, Json, ParentKind, ParentLink, SessionStarted, Timestamp};
use serde_json::value::RawValue;
use store::{Mapped, Mapper, Row, Source};

use super::rows::read_line;
use super::{Described, Format, Layout};
use wire::{ProgressWire, RowWire, read};

/// The format.
pub(super) struct ClaudeCode;

impl Mapper for ClaudeCode {
    fn format(&self) -> &'static str {
        "claude-code"
    }

    fn version(&self) -> u32 {
        1
    }

    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped) {
        let mut place = 0_u32;
        let events = &mut out.events;
        let unread = read_line::<RowWire>(row.bytes, |wire, text| {
            let is_subagent_file = source.about.parent.is_some();
            let mut writer = Writer::new(source.session.clone(), &wire, text, row.number, place, events);
            place += 1;
            map_row(&mut writer, &wire, is_subagent_file);
            if writer.count == 0 {
                writer.keep(&wire);
            }
        });
        out.unread.extend(unread);
    }
}

impl Format for ClaudeCode {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        about::is_claude_code(head).then_some(Layout::Lines)
    }

    fn describe(&self, path: &Path, head: &[u8]) -> Described {
        about::describe(path, head)
    }
}

fn map_row(writer: &mut Writer<'_>, wire: &RowWire, is_subagent: bool) {
    // Old versions wrote sub-agents into the main file, as rows on the side.
    if !is_subagent && wire.is_sidechain == Some(true) && wire.agent_id.is_some() {
        writer.enter_child(wire.agent_id.as_deref().unwrap_or_default());
        return map_message_row(writer, wire, true);
    }
    map_message_row(writer, wire, is_subagent);
}

fn map_message_row(writer: &mut Writer<'_>, wire: &RowWire, is_subagent: bool) {
    match wire.kind.as_deref() {
        Some("assistant") => assistant::map(writer, wire),
        Some("user") => user::map(writer, wire, is_subagent),
        Some("system") => system::map(writer, wire),
        Some("attachment") => attachment::map(writer, wire),
        Some("progress") => map_progress(writer, wire),
        Some("summary") => title(writer, wire.summary.as_deref()),
        Some("custom-title") => title(writer, wire.custom_title.as_deref()),
        Some("ai-title") => title(writer, wire.ai_title.as_deref()),
        Some("pr-link") => writer.push(
            None,
            Body::ArtifactProduced(agent_core::ArtifactProduced {
                kind: Some("pull_request".to_owned()),
                uri: wire.pr_url.clone(),
                ..Default::default()
            }),
        ),
        _ => {}
    }
}

fn title(writer: &mut Writer<'_>, title: Option<&str>) {
    if let Some(title) = title.filter(|title| !title.is_empty()) {
        writer.push(
            None,
            Body::SessionTitled(agent_core::SessionTitled { title: title.to_owned(), ..Default::default() }),
        );
    }
}

/// Versions around 2.1.30 tell of sub-agents by progress rows that carry whole messages.
fn map_progress(writer: &mut Writer<'_>, wire: &RowWire) {
    let Some(progress) = read::<ProgressWire>(wire.data.as_deref()) else { return };
    if progress.kind.as_deref() != Some("agent_progress") {
        return;
    }
    let (Some(agent), Some(mut inner)) = (&progress.agent_id, read::<RowWire>(progress.message.as_deref()))
    else {
        return;
    };
    // The carried message has an id of its own in later rows of this generation; the row's id stands in
    // for it where it has none.
    inner.uuid = inner.uuid.or_else(|| wire.uuid.clone());
    inner.timestamp = inner.timestamp.or_else(|| wire.timestamp.clone());
    let parent = writer.session.clone();
    writer.enter_child(agent);
    if inner.kind.as_deref() == Some("user") && wire.parent_tool_use_id.is_some() {
        start_child(writer, &parent, wire.parent_tool_use_id.clone());
    }
    writer.set_row(&inner);
    map_message_row(writer, &inner, true);
}

/// The child's beginning; the same each time, so that repeats add nothing.
fn start_child(writer: &mut Writer<'_>, parent: &str, call_id: Option<String>) {
    let about = SessionStarted {
        agent: Some("claude-code".to_owned()),
        parent: Some(ParentLink {
            session: parent.to_owned(),
            kind: ParentKind::Subagent,
            call_id: call_id.clone(),
        }),
        ..Default::default()
    };
    let id = EventId::derived(&[b"claude-code child", writer.session.as_bytes()]);
    let mut event = Event::new(id, writer.session.clone(), Body::SessionStarted(about)).at(writer.ts);
    event.fact = call_id;
    writer.events.push(event);
    writer.count += 1;
}

/// Makes the events of one row.
struct Writer<'a> {
    session: String,
    ts: Option<Timestamp>,
    step: Option<String>,
    after: Option<String>,
    /// What the ids of the row's events are derived from.
    identity: Vec<u8>,
    count: u32,
    events: &'a mut Vec<Event>,
}

impl<'a> Writer<'a> {
    fn new(
        session: String,
        wire: &RowWire,
        text: &str,
        number: u64,
        place: u32,
        events: &'a mut Vec<Event>,
    ) -> Self {
        let mut writer =
            Self { session, ts: None, step: None, after: None, identity: Vec::new(), count: 0, events };
        writer.set_row(wire);
        match wire.uuid.as_deref() {
            Some(uuid) if is_uuid(uuid) => writer.identity.extend_from_slice(uuid.as_bytes()),
            // Rows without an id of their own: a longer copy of the file has them at the same place.
            _ => {
                writer.identity.extend_from_slice(writer.session.as_bytes());
                writer.identity.extend_from_slice(&number.to_le_bytes());
                writer.identity.extend_from_slice(&place.to_le_bytes());
                writer.identity.extend_from_slice(blake3::hash(text.as_bytes()).as_bytes());
            }
        }
        writer
    }

    fn set_row(&mut self, wire: &RowWire) {
        self.ts = wire.timestamp.as_deref().and_then(|text| text.parse().ok());
        self.step.clone_from(&wire.uuid);
        self.after = wire.logical_parent_uuid.clone().or_else(|| wire.parent_uuid.clone());
    }

    /// The events to come belong to a sub-agent of the session.
    fn enter_child(&mut self, agent: &str) {
        self.session = format!("{}/{agent}", self.session);
    }

    fn push(&mut self, fact: Option<String>, body: Body) {
        let id = EventId::derived(&[b"claude-code", &self.identity, &self.count.to_le_bytes()]);
        self.count += 1;
        let mut event = Event::new(id, self.session.clone(), body).at(self.ts);
        event.step.clone_from(&self.step);
        event.after.clone_from(&self.after);
        event.fact = fact;
        self.events.push(event);
    }

    /// Keeps a row in reach that means nothing here.
    fn keep(&mut self, wire: &RowWire) {
        let name = match (&wire.kind, &wire.subtype) {
            (Some(kind), Some(subtype)) => format!("claude_code.{kind}.{subtype}"),
            (Some(kind), None) => format!("claude_code.{kind}"),
            (None, _) => "claude_code.unknown".to_owned(),
        };
        self.push(None, Body::Other { name: name.replace('-', "_"), data: None });
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn copy(raw: Option<&RawValue>) -> Option<Json> {
    raw.map(Json::copy)
}
