//! Small rollouts of each generation, and the traps that real ones hold.

mod damage;
mod items;
mod notices;
mod sessions;
mod tokens;

use std::fmt::Write;

use agent_core::{Block, Body, Event, SessionStarted};
use serde_json::{Value, json};
use store::{Mapped, Mapper, Row, Source};

use super::Codex;

fn source(about: SessionStarted) -> Source {
    Source {
        format: "codex".into(),
        path: "/a/b.jsonl".into(),
        session: "s1".into(),
        about,
        first_row: String::new(),
        is_document: false,
    }
}

fn map_row(source: &Source, number: u64, row: &str) -> Mapped {
    let mut out = Mapped::default();
    Codex.map(source, Row { number, bytes: row.as_bytes() }, &mut out);
    out
}

fn events(row: &Value) -> Vec<Event> {
    let mapped = map_row(&source(SessionStarted::default()), 1, &row.to_string());
    assert_eq!(mapped.unread, vec![], "{row}");
    mapped.events
}

fn only(row: &Value) -> Event {
    let mut events = events(row);
    assert_eq!(events.len(), 1, "{row}");
    events.remove(0)
}

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": "response_item", "payload": payload})
}

fn notice(payload: Value) -> Value {
    json!({"timestamp": "2026-01-02T03:04:05.678Z", "type": "event_msg", "payload": payload})
}

/// Says an event in a few words.
fn brief(event: &Event) -> String {
    let mut line = event.body.name().to_owned();
    let mut say = |word: &str| write!(line, " {word}").expect("a string takes all");
    match &event.body {
        Body::UserMessaged(message) => {
            say(message.origin.map_or("-", |origin| origin.as_str()));
            say(&message.text);
        }
        Body::ModelResponded(piece) => {
            for block in &piece.content {
                match block {
                    Block::Text { text } => say(text),
                    Block::Reasoning { text, hidden } => say(&format!("reasoning({text},{hidden})")),
                    Block::ToolUse { call_id, name } => say(&format!("{name}#{call_id}")),
                    other => say(&format!("{other:?}")),
                }
            }
        }
        Body::ToolCalled(call) => {
            say(&format!(
                "{}#{} {}",
                call.name,
                call.call_id,
                call.input.as_ref().map_or("", |input| input.get())
            ));
        }
        Body::ToolEnded(end) => {
            say(&format!("#{} {}", end.call_id, end.status.map_or("?", |status| status.as_str())));
        }
        Body::ContextAdded(added) => {
            say(added.kind.map_or("-", |kind| kind.as_str()));
            say(added.slot.as_deref().unwrap_or("-"));
            say(&added.content.as_ref().map_or(String::new(), |content| content.to_display()));
        }
        Body::MemoryRecalled(note) | Body::SkillListed(note) | Body::SkillMatched(note) => say(&note.key),
        _ => {}
    }
    line
}

fn briefs(row: &Value) -> Vec<String> {
    events(row).iter().map(brief).collect()
}
