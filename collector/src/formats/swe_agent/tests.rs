use std::io::{self, Cursor};

use agent_core::Event;

use super::*;
use crate::document::read_document;

const FULL: &str = r#"{"environment":"main","trajectory":[
{"action":"ls -F","observation":"a\r\nb","response":"Look.\nls -F","thought":"Look.","execution_time":0.1164,"state":"{}","messages":[{"role":"system","content":"S"},{"role":"user","content":"D1","is_demo":true},{"role":"user","content":"D2","is_demo":true},{"role":"user","content":"T"}]},
{"action":"submit","observation":"","response":"Go.","thought":"Go.","thinking_blocks":[{"type":"thinking","thinking":"hm"}],"tool_calls":[{"id":"c9","function":{"name":"submit","arguments":"{}"}}]},
{"action":"exit_cost","observation":"","response":"","thought":"Exit due to cost limit"}],
"history":[
{"role":"system","content":"S","agent":"main"},
{"role":"user","content":"D1","agent":"main","is_demo":true},
{"role":"user","content":"D2","agent":"main","is_demo":true},
{"role":"user","content":"T","agent":"main"},
{"role":"assistant","content":"Look.\nls -F","thought":"Look.","action":"ls -F","agent":"main"},
{"role":"user","content":"a\nb\nbash-$","agent":"main"}],
"info":{"exit_status":"submitted (exit_cost)","submission":"diff","swe_agent_version":"1.1.0","model_stats":{"instance_cost":0.53839,"tokens_sent":52861,"tokens_received":326,"api_calls":5}},
"replay_config":"{\"agent\":{\"model\":{\"name\":\"gpt-4o\"}},\"problem_statement\":{\"id\":\"a__b-1\"}}"}"#;

const DEMO: &str = r#"{"history":[
{"role":"system","content":"S","agent":"main","message_type":"system_prompt"},
{"role":"user","content":"T","agent":"main","message_type":"observation"},
{"role":"assistant","content":"Find.","thought":"Find.","action":"find_file x","agent":"main","tool_calls":[{"function":{"arguments":"{\"file_name\":\"x\"}","name":"find_file"},"id":"c1","type":"function"}]},
{"role":"tool","content":"Found","agent":"main","tool_call_ids":["c1"]},
{"role":"assistant","content":"Run.","action":"python x","agent":"main"},
{"role":"user","content":"8.2","agent":"main"}]}"#;

fn source(text: &str) -> Source {
    let Described { session, about } = SweAgent.describe(Path::new("x.traj"), text.as_bytes());
    Source {
        format: NAME.to_owned(),
        path: String::new(),
        session,
        about,
        first_row: String::new(),
        is_document: true,
    }
}

fn rows(text: &str) -> Vec<(u64, Vec<u8>)> {
    let mut rows = Vec::new();
    read_document(&mut Cursor::new(text), &SHAPE, &mut |number, bytes| {
        rows.push((number, bytes.to_vec()));
        Ok::<(), io::Error>(())
    })
    .unwrap();
    rows
}

fn events(text: &str) -> Vec<Event> {
    let source = source(text);
    let mut out = Mapped::default();
    for (number, bytes) in rows(text) {
        SweAgent.map(&source, Row { number, bytes: &bytes }, &mut out);
    }
    assert_eq!(out.unread, []);
    out.events
}

fn check(text: &str, expected: &[&str]) {
    let shown: Vec<String> = events(text)
        .iter()
        .map(|event| format!("{} {}", event.body.name(), event.body.data().get()))
        .collect();
    assert_eq!(shown, expected, "{}", shown.join("\n"));
}

#[test]
fn steps_are_told_once_and_the_history_gives_the_prompt() {
    check(
        FULL,
        &[
            r#"session.started {"agent":"swe-agent","agent_version":"1.1.0","title":"a__b-1"}"#,
            r#"turn.started {"model":"gpt-4o"}"#,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"context.added {"kind":"insight","reason":"demonstration","content":"D1"}"#,
            r#"context.added {"kind":"insight","reason":"demonstration","content":"D2"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"swe_agent.history {}"#,
            r#"swe_agent.history {}"#,
            r#"model.responded {"content":[{"type":"text","text":"Look.\nls -F"},{"type":"tool_use","call_id":"0.0","name":"ls"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"0.0","name":"ls","input":{"action":"ls -F"}}"#,
            r#"tool.ended {"call_id":"0.0","status":"unknown","output":"a\r\nb","duration_ms":116}"#,
            r#"model.responded {"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"Go."},{"type":"tool_use","call_id":"c9","name":"submit"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"c9","name":"submit","input":{}}"#,
            r#"tool.ended {"call_id":"c9","status":"unknown","output":""}"#,
            r#"swe_agent.exit {}"#,
            r#"artifact.produced {"kind":"patch","text":"diff"}"#,
            r#"session.ended {"status":"failed","end_reason":"budget","detail":"submitted (exit_cost)","api_calls":5,"reported_cost_usd":"0.53839","tokens_received":326,"tokens_sent":52861}"#,
        ],
    );
}

#[test]
fn a_demonstration_file_tells_all_by_its_history() {
    check(
        DEMO,
        &[
            r#"session.started {"agent":"swe-agent"}"#,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Find."},{"type":"tool_use","call_id":"c1","name":"find_file"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"c1","name":"find_file","input":{"file_name":"x"}}"#,
            r#"tool.ended {"call_id":"c1","status":"unknown","output":"Found"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Run."},{"type":"tool_use","call_id":"4.0","name":"python"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"4.0","name":"python","input":{"action":"python x"}}"#,
            r#"tool.ended {"call_id":"4.0","status":"unknown","output":"8.2"}"#,
        ],
    );
}

#[test]
fn a_half_written_document_gives_its_whole_part() {
    let torn = &FULL[..FULL.find("\"submit\",\"observation\"").unwrap()];
    let names: Vec<String> = events(torn).iter().map(|event| event.body.name().to_owned()).collect();
    assert_eq!(names, ["session.started", "model.responded", "tool.called", "tool.ended"]);
    assert_eq!(source(torn).session, source(FULL).session);
}

#[test]
fn the_task_is_found_where_the_head_does_not_reach_the_history() {
    let head = &FULL[..FULL.find("\"history\"").unwrap()];
    let reading = Reading::left_in(&source(head).about);
    assert_eq!(reading, Reading { history_only: false, task_index: Some(3) });
    assert_eq!(reading, Reading::left_in(&source(FULL).about));
    let unknown = Reading::default();
    assert!(unknown.is_task(1) && unknown.is_task(2) && !unknown.is_task(3));
}

#[test]
fn known_by_what_is_in_it() {
    for (text, ours) in [
        (FULL, true),
        (DEMO, true),
        (&FULL[..70], true),
        (&DEMO[..80], true),
        (r#"{"history":[],"trajectory":[],"info":{}}"#, true),
        (r#"{"history":[{"role":"user","parts":[]}]}"#, false),
        (r#"{"history":[{"id":0,"source":"agent","role":"user"}]}"#, false),
        (r#"{"trajectory":[[0.1,0.2]]}"#, false),
        (r#"[{"role":"user"}]"#, false),
        ("", false),
    ] {
        assert_eq!(SweAgent.sniff(text.as_bytes()).is_some(), ours, "{text}");
    }
}

#[test]
fn exit_words() {
    for (word, status, reason) in [
        ("submitted", Status::Completed, EndReason::Done),
        ("exit_cost", Status::Failed, EndReason::Budget),
        ("submitted (exit_context)", Status::Failed, EndReason::Failure),
        ("exit_total_execution_time", Status::Failed, EndReason::Timeout),
        ("early_exit", Status::Failed, EndReason::Failure),
        ("", Status::Unknown, EndReason::Unknown),
    ] {
        assert_eq!(end_of(word), (status, reason), "{word}");
    }
}

#[test]
fn rows_mean_the_same_in_any_order() {
    let source = source(FULL);
    let map = |(number, bytes): &(u64, Vec<u8>)| {
        let mut out = Mapped::default();
        SweAgent.map(&source, Row { number: *number, bytes }, &mut out);
        out.events
    };
    let forwards: Vec<Event> = rows(FULL).iter().flat_map(map).collect();
    let mut backwards: Vec<_> = rows(FULL).iter().rev().map(map).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards.concat());
    let ids: std::collections::BTreeSet<_> = forwards.iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), forwards.len());
}
