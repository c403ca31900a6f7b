//! One row in, its events out: a generation or a trap of the format each.

mod context;
mod errors;
mod files;
mod learning;
mod queue;
mod responses;
mod results;
mod said;
mod subagents;

use std::path::Path;

use agent_core::{Event, SessionStarted};
use serde_json::{Value, json};
use store::{Mapped, Mapper, Row, Source};

use super::super::{Format, Layout};
use super::ClaudeCode;

const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const UUID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

fn source(session: &str, about: SessionStarted) -> Source {
    Source {
        format: "claude-code".to_owned(),
        path: String::new(),
        session: session.to_owned(),
        about,
        first_row: String::new(),
        is_document: false,
    }
}

fn map_in(source: &Source, number: u64, line: &str) -> Mapped {
    let mut out = Mapped::default();
    ClaudeCode.map(source, Row { number, bytes: line.as_bytes() }, &mut out);
    out
}

fn map(line: &str) -> Mapped {
    map_in(&source(SESSION, SessionStarted::default()), 1, line)
}

fn events(row: &Value) -> Vec<Event> {
    let out = map(&row.to_string());
    assert_eq!(out.unread, [], "{row}");
    out.events
}

/// Returns an event as its type and payload, and the sub-agent where it is one's.
fn told(event: &Event) -> Value {
    let mut told = json!({ event.body.name(): event.body.data().to_value() });
    let agent = event.session.strip_prefix(SESSION).expect("all belong to the session");
    if !agent.is_empty() {
        told["of"] = agent.into();
    }
    told
}

/// Checks what a row means.
fn check(row: Value, expected: Value) {
    let events: Vec<Value> = events(&row).iter().map(told).collect();
    assert_eq!(Value::from(events), expected, "{row}");
}

fn row(kind: &str) -> Value {
    json!({"type": kind, "uuid": UUID, "sessionId": SESSION})
}

fn user(content: Value) -> Value {
    with(row("user"), json!({"message": {"role": "user", "content": content}}))
}

fn assistant(message: Value) -> Value {
    with(row("assistant"), json!({"message": message}))
}

fn attachment(attachment: Value) -> Value {
    with(row("attachment"), json!({"attachment": attachment}))
}

fn with(mut row: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().expect("fields") {
        row[key] = value.clone();
    }
    row
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Returns the row of a result of the call `call_1`.
fn result(content: Value) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "call_1", "content": content}]))
}

fn failed(content: Value) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "call_1", "content": content, "is_error": true}]))
}

fn describe(path: &str, head: &str) -> Source {
    assert_eq!(ClaudeCode.sniff(head.as_bytes()), Some(Layout::Lines), "{head}");
    let described = ClaudeCode.describe(Path::new(path), head.as_bytes());
    source(&described.session, described.about)
}

/// A row as the file of a sub-agent begins with.
const AGENT_ROW: &str = r#"{"parentUuid":null,"isSidechain":true,"agentId":"a1","sessionId":"s-of-rows","type":"user","uuid":"u","cwd":"/home/ann/app","version":"2.1.200","gitBranch":"main","message":{"content":"look"}}"#;

#[test]
fn rows_of_any_type_stay_in_reach() {
    for (row, name) in [
        (json!({"type": "queue-operation", "sessionId": SESSION}), "claude_code.queue_operation"),
        (json!({"type": "file-history-snapshot", "snapshot": {}}), "claude_code.file_history_snapshot"),
        (json!({"type": "progress", "data": {"type": "bash_progress"}}), "claude_code.progress"),
        (json!({"type": "never-seen", "x": 1}), "claude_code.never_seen"),
        (json!({"type": "system", "subtype": "turn_duration"}), "claude_code.system.turn_duration"),
        (json!({"sessionId": SESSION}), "claude_code.unknown"),
        (json!({"x": 1}), "claude_code.unknown"),
    ] {
        check(row, json!([{name: {}}]));
    }
}

#[test]
fn titles_of_other_sessions_are_not_its_own() {
    check(
        json!({"type": "custom-title", "sessionId": SESSION, "customTitle": "Mine"}),
        json!([{"session.titled": {"title": "Mine", "by": "user"}}]),
    );
    check(
        json!({"type": "summary", "summary": "About it", "leafUuid": "x"}),
        json!([{"session.titled": {"title": "About it", "by": "summary"}}]),
    );
    check(
        json!({"type": "ai-title", "sessionId": "other", "aiTitle": "Not mine"}),
        json!([{"claude_code.ai_title": {}}]),
    );
}

#[test]
fn a_pull_request_is_an_artifact() {
    check(
        json!({"type": "pr-link", "sessionId": SESSION, "prUrl": "https://example.org/pull/1"}),
        json!([{"artifact.produced": {"kind": "pull_request", "uri": "https://example.org/pull/1"}}]),
    );
}

#[test]
fn rows_without_an_id_of_their_own_do_not_collapse() {
    let source = source(SESSION, SessionStarted::default());
    let row = |uuid: &str| format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"content":"yes"}}}}"#);
    let id = |number, line: &str| map_in(&source, number, line).events[0].id;
    assert_eq!(id(1, &row(UUID)), id(2, &row(UUID)), "one row, written twice");
    assert_ne!(id(1, &row("[trimmed for fixture]")), id(2, &row("[trimmed for fixture]")));
    assert_ne!(id(1, r#"{"type":"mode"}"#), id(1, r#"{"type":"mode","mode":"x"}"#));
    // Two rows glued on one line are two.
    let glued = map(r#"{"type":"mode"}{"type":"mode"}"#);
    assert_eq!(glued.events.len(), 2);
    assert_ne!(glued.events[0].id, glued.events[1].id);
}
