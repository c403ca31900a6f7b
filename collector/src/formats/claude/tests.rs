//! One row in, its events out: a trap of the format each.

use std::path::Path;

use agent_core::{Block, Body, Event};
use serde_json::{Value, json};
use store::{Mapped, Mapper, Row, Source};

use super::super::Format;
use super::ClaudeCode;

fn source() -> Source {
    let described = ClaudeCode.describe(Path::new("/files/s1.jsonl"), b"{\"sessionId\":\"s1\"}\n");
    Source {
        format: "claude-code".to_owned(),
        path: "/files/s1.jsonl".to_owned(),
        session: described.session,
        about: described.about,
        first_row: String::new(),
        is_document: false,
    }
}

fn events(row: &Value) -> Vec<Event> {
    let mut out = Mapped::default();
    ClaudeCode.map(&source(), Row { number: 1, bytes: row.to_string().as_bytes() }, &mut out);
    assert_eq!(out.unread, []);
    out.events
}

/// Returns an event as its type and payload, short enough to be compared by eye.
fn told(event: &Event) -> Value {
    let mut told = json!({ event.body.name(): event.body.data().to_value() });
    if event.session != "s1" {
        told["session"] = event.session.clone().into();
    }
    told
}

fn check(row: Value, expected: Value) {
    let events: Vec<Value> = events(&row).iter().map(told).collect();
    assert_eq!(Value::from(events), expected, "{row}");
}

fn user(content: Value) -> Value {
    json!({"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": content}})
}

fn with(mut row: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn assistant(message: Value) -> Value {
    json!({"type": "assistant", "uuid": "a1", "sessionId": "s1", "requestId": "req_1", "message": message})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn result(content: Value) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "call_1", "content": content}]))
}

fn failed(content: Value) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "call_1", "content": content, "is_error": true}]))
}

#[test]
fn words_in_the_users_place_have_their_origins() {
    let cases = [
        ("sand the oak", Value::Null, None),
        ("<command-name>/clear</command-name>", Value::Null, Some("command")),
        ("<local-command-stdout>gone</local-command-stdout>", Value::Null, Some("command_output")),
        ("<bash-input>ls</bash-input>", Value::Null, Some("command")),
        ("<task-notification>done</task-notification>", Value::Null, Some("injected")),
        ("sand the oak", json!({"isMeta": true}), Some("injected")),
        ("sand the oak", json!({"isCompactSummary": true}), Some("compact_summary")),
        ("sand the oak", json!({"origin": {"kind": "human"}}), None),
        ("sand the oak", json!({"origin": {"kind": "task-notification"}}), Some("injected")),
    ];
    for (words, fields, origin) in cases {
        let row = if fields.is_null() { user(words.into()) } else { with(user(words.into()), fields) };
        let mut said = json!({"text": words});
        if let Some(origin) = origin {
            said["origin"] = origin.into();
        }
        check(row, json!([{"user.messaged": said}]));
    }
}

#[test]
fn a_persons_words_are_told_from_what_stands_beside_them() {
    check(
        user(json!([text("<ide_opened_file>oak.c</ide_opened_file>"), text("sand it"), text("twice")])),
        json!([
            {"user.messaged": {"origin": "injected", "text": "<ide_opened_file>oak.c</ide_opened_file>"}},
            {"user.messaged": {"text": "sand it\n\ntwice"}},
        ]),
    );
    check(
        user(json!([
            {"type": "tool_result", "tool_use_id": "call_1", "content": "planks"},
            text("not those"),
        ])),
        json!([
            {"tool.ended": {"call_id": "call_1", "status": "succeeded", "output": "planks"}},
            {"user.messaged": {"text": "not those"}},
        ]),
    );
}

#[test]
fn only_the_exact_marker_is_an_interrupt() {
    check(
        user(json!([text("[Request interrupted by user]")])),
        json!([{"user.interrupted": {"during": "response"}}]),
    );
    check(
        user("[Request interrupted by user for tool use]".into()),
        json!([{"user.interrupted": {"during": "tool"}}]),
    );
    let quoted = "it said [Request interrupted by user] again";
    check(user(quoted.into()), json!([{"user.messaged": {"text": quoted}}]));
    check(
        result("[Request interrupted by user]".into()),
        json!([{"tool.ended": {
            "call_id": "call_1", "status": "succeeded", "output": "[Request interrupted by user]",
        }}]),
    );
}

#[test]
fn results_say_how_a_call_ended() {
    let refused = "The user doesn't want to proceed with this tool use. STOP";
    let sibling = "<tool_use_error>Sibling tool call errored</tool_use_error>";
    let cases = [
        (result("Exit code 3 is what I print".into()), json!({"status": "succeeded"})),
        (failed("Exit code 3\nno nails".into()), json!({"status": "failed", "exit_code": 3})),
        (failed(refused.into()), json!({"status": "rejected"})),
        (
            with(failed("no".into()), json!({"toolDenialKind": "user-rejected"})),
            json!({"status": "rejected"}),
        ),
        (failed(sibling.into()), json!({"status": "cancelled"})),
        (
            with(result("half".into()), json!({"toolUseResult": {"interrupted": true, "stdout": "half"}})),
            json!({"status": "cancelled"}),
        ),
        (
            with(result("ok".into()), json!({"toolUseResult": {"durationMs": 12.6}})),
            json!({"status": "succeeded", "duration_ms": 13}),
        ),
        (
            with(result("ok".into()), json!({"toolUseResult": {"durationSeconds": 1.5, "code": "x"}})),
            json!({"status": "succeeded", "duration_ms": 1500}),
        ),
    ];
    for (row, expected) in cases {
        let mut told = events(&row)[0].body.data().to_value();
        for known in ["call_id", "output", "error"] {
            told.as_object_mut().unwrap().remove(known);
        }
        assert_eq!(told, expected, "{row}");
    }
}

#[test]
fn the_copy_of_a_result_beside_it_is_not_read_as_output() {
    let row = with(result("short".into()), json!({"toolUseResult": {"stdout": "short, at length"}}));
    check(row, json!([{"tool.ended": {"call_id": "call_1", "status": "succeeded", "output": "short"}}]));
}

#[test]
fn results_of_subagents_name_their_sessions() {
    let done = json!({"toolUseResult": {"status": "completed", "agentId": "ab12", "totalDurationMs": 900}});
    let ended = json!({"tool.ended": {
        "call_id": "call_1", "status": "succeeded", "output": "seen", "duration_ms": 900,
    }});
    let agent = json!({"subagent.ended": {"session": "s1/ab12", "call_id": "call_1", "status": "completed"}});
    check(with(result("seen".into()), done), json!([ended, agent]));
    let launched = json!({"toolUseResult": {"status": "async_launched", "agentId": "ab12"}});
    assert_eq!(events(&with(result("seen".into()), launched)).len(), 1);
}

#[test]
fn a_response_has_its_pieces_and_disjoint_tokens() {
    check(
        assistant(json!({
            "id": "msg_1", "model": "claude-sonnet-5", "stop_reason": "end_turn",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "c2lnbg"},
                {"type": "thinking", "thinking": "oak?", "signature": "c2lnbg"},
                text("Oak."),
                {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
            ],
            "usage": {
                "input_tokens": 3, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 9,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 7},
                "output_tokens": 20, "output_tokens_details": {"thinking_tokens": 4},
            },
        })),
        json!([{"model.responded": {
            "provider": "anthropic", "model": "claude-sonnet-5", "response_id": "msg_1", "request_id": "req_1",
            "content": [
                {"type": "reasoning", "text": "", "hidden": true},
                {"type": "reasoning", "text": "oak?"},
                {"type": "text", "text": "Oak."},
                {"type": "other", "value": {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}},
            ],
            "finish_reason": "end_turn", "usage_quality": "final",
            "usage": {
                "uncached_input": 3, "cache_read": 50, "cache_write_5m": 2, "cache_write_1h": 7,
                "output": 20, "reasoning": 4,
            },
        }}]),
    );
}

#[test]
fn responses_are_named_also_where_the_provider_names_none() {
    let name = |row: Value| match &events(&row)[0].body {
        Body::ModelResponded(piece) => piece.response_id.clone().unwrap(),
        body => panic!("{body:?}"),
    };
    let row = assistant(json!({"content": [text("Oak.")]}));
    assert_eq!(name(row.clone()), "req_1");
    assert_eq!(name(with(row, json!({"requestId": null}))), "a1");
}

#[test]
fn tools_that_the_provider_runs_end_within_the_response() {
    let found = json!([{"type": "web_search_result", "title": "Oak"}]);
    let row = assistant(json!({"id": "msg_1", "model": "m", "content": [
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "oak"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": found},
        text("Oak is hard."),
    ]}));
    let events = events(&row);
    let Body::ModelResponded(piece) = &events[0].body else { panic!("{:?}", events[0]) };
    assert_eq!(
        piece.content,
        [
            Block::ToolUse { call_id: "srv_1".to_owned(), name: "web_search".to_owned() },
            Block::Text { text: "Oak is hard.".to_owned() },
        ]
    );
    let rest: Vec<Value> = events[1..].iter().map(told).collect();
    assert_eq!(
        Value::from(rest),
        json!([
            {"tool.called": {"call_id": "srv_1", "name": "web_search", "input": {"query": "oak"}}},
            {"tool.ended": {
                "call_id": "srv_1", "status": "succeeded", "output": found, "within_response": true,
            }},
        ])
    );
}

#[test]
fn rows_made_in_the_models_place_are_no_responses() {
    let made = |words: &str| assistant(json!({"id": "x", "model": "<synthetic>", "content": [text(words)]}));
    check(made("No response requested."), json!([{"claude_code.assistant": {}}]));
    check(
        with(made("API Error: 529 {\"type\":\"error\"}"), json!({"isApiErrorMessage": true})),
        json!([{"model.failed": {"error": {
            "kind": "overloaded", "message": "API Error: 529 {\"type\":\"error\"}", "http_status": 529,
            "retryable": true,
        }}}]),
    );
    check(
        with(made("Log in: 500 ways"), json!({"isApiErrorMessage": true, "error": "authentication_failed"})),
        json!([{"model.failed": {"error": {"kind": "authentication_failed", "message": "Log in: 500 ways"}}}]),
    );
}

#[test]
fn errors_of_the_api_are_data_in_all_their_shapes() {
    let row = |error: Value| {
        json!({
            "type": "system", "subtype": "api_error", "uuid": "e1", "sessionId": "s1", "error": error,
            "retryInMs": 534.74, "retryAttempt": 2, "maxRetries": 10,
        })
    };
    let failure =
        |error: Value| json!([{"model.failed": {"error": error, "attempt": 2, "retry_in_ms": 535}}]);
    check(row(json!({})), failure(json!({"kind": "connection", "retryable": true})));
    check(
        row(
            json!({"status": 401, "error": {"error": {"type": "authentication_error", "message": "no key"}}}),
        ),
        failure(json!({
            "kind": "authentication_error", "message": "no key", "http_status": 401, "retryable": false,
        })),
    );
    check(
        row(json!({"message": "cut off", "status": 0, "isNetworkDown": true})),
        failure(json!({"kind": "connection", "message": "cut off", "retryable": true})),
    );
}

#[test]
fn compaction_takes_all_or_names_what_it_takes() {
    let row = |subtype: &str, key: &str, metadata: Value| {
        json!({
            "type": "system", "subtype": subtype, "uuid": "c1", "parentUuid": null, "sessionId": "s1",
            "logicalParentUuid": "a9", key: metadata,
        })
    };
    let whole = row("compact_boundary", "compactMetadata", json!({"trigger": "auto", "preTokens": 900}));
    assert_eq!(events(&whole)[0].after.as_deref(), Some("a9"));
    check(whole, json!([{"context.compacted": {"trigger": "auto", "tokens_before": 900}}]));
    check(
        row(
            "microcompact_boundary",
            "microcompactMetadata",
            json!({"trigger": "auto", "preTokens": 900, "tokensSaved": 300, "compactedToolIds": ["call_1"]}),
        ),
        json!([{"context.compacted": {
            "trigger": "auto", "tokens_before": 900, "tokens_after": 600, "dropped_calls": ["call_1"],
        }}]),
    );
}

#[test]
fn calls_tell_of_memory_and_skills() {
    let cases = [
        (
            "Read",
            json!({"file_path": "/home/ada/oak/CLAUDE.md"}),
            Some(("memory.recalled", "/home/ada/oak/CLAUDE.md")),
        ),
        (
            "Edit",
            json!({"file_path": "/home/ada/oak/AGENTS.md"}),
            Some(("memory.written", "/home/ada/oak/AGENTS.md")),
        ),
        (
            "Write",
            json!({"file_path": "/home/ada/.claude/projects/oak/memory/glue.md"}),
            Some(("memory.written", "/home/ada/.claude/projects/oak/memory/glue.md")),
        ),
        (
            "Write",
            json!({"file_path": "/oak/.claude/skills/carve/SKILL.md"}),
            Some(("skill.created", "carve")),
        ),
        (
            "Edit",
            json!({"file_path": "/oak/.claude/skills/carve/SKILL.md"}),
            Some(("skill.updated", "carve")),
        ),
        ("Skill", json!({"skill": "wood:carve"}), Some(("skill.matched", "wood:carve"))),
        ("Read", json!({"file_path": "/oak/NOT-CLAUDE.md"}), None),
        ("Grep", json!({"file_path": "/oak/CLAUDE.md"}), None),
    ];
    for (tool, input, expected) in cases {
        let row = assistant(json!({"id": "m", "model": "m", "content": [
            {"type": "tool_use", "id": "call_1", "name": tool, "input": input},
        ]}));
        let events = events(&row);
        let note = events.get(2).map(|event| {
            let data = event.body.data().to_value();
            assert_eq!(data["call_id"], "call_1");
            (event.body.name().to_owned(), data["key"].as_str().unwrap().to_owned())
        });
        let note = note.as_ref().map(|(name, key)| (name.as_str(), key.as_str()));
        assert_eq!(note, expected, "{row}");
    }
}

#[test]
fn reminders_tell_of_memory_files_and_quoted_ones_do_not() {
    let reminder = "<system-reminder>\nContents of /home/ada day/CLAUDE.md (the user's own):\n\noak\n\n\
                    Contents of /home/ada/plan.md:\n\nno memory</system-reminder>";
    let recalled = |row: &Value| -> Vec<String> {
        let recalls = events(row).into_iter().filter_map(|event| match event.body {
            Body::MemoryRecalled(note) => Some(note.key),
            _ => None,
        });
        recalls.collect()
    };
    let known = ["/home/ada day/CLAUDE.md"];
    assert_eq!(recalled(&user(json!([text(reminder), text("go on")]))), known);
    assert_eq!(recalled(&result(format!("planks\n\n{reminder}\n").into())), known);
    assert_eq!(recalled(&result(json!([text("planks"), text(reminder)]))), known);
    assert_eq!(recalled(&result(format!("{reminder}\nis what the file says").into())), [""; 0]);
    assert_eq!(recalled(&user("Contents of /home/ada/CLAUDE.md:".into())), [""; 0]);
}

#[test]
fn the_text_of_a_skill_is_part_of_the_prompt_as_such() {
    let words = "Base directory for this skill: /home/ada/.claude/skills/carve\n\n# Carve";
    let added = json!({"context.added": {
        "kind": "skill", "source": "/home/ada/.claude/skills/carve", "reason": "the skill's text",
        "content": words,
    }});
    let row = with(user(json!([text(words)])), json!({"isMeta": true}));
    check(row.clone(), json!([{"skill.matched": {"key": "carve", "source": "skill content"}}, added]));
    // The call of the Skill tool has told of it already.
    check(with(row, json!({"sourceToolUseID": "call_1"})), json!([added]));
    check(user(words.into()), json!([{"user.messaged": {"text": words}}]));
}

#[test]
fn attachments_are_what_they_say() {
    let row = |attachment: Value| json!({"type": "attachment", "uuid": "t1", "sessionId": "s1", "attachment": attachment});
    let queued = |fields: Value| row(with(json!({"type": "queued_command", "prompt": "stop"}), fields));
    check(queued(json!({"commandMode": "prompt"})), json!([{"user.messaged": {"text": "stop"}}]));
    check(
        queued(json!({"commandMode": "prompt", "prompt": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            text("this"),
        ]})),
        json!([{"user.messaged": {
            "text": "this", "media": [{"type": "media", "media_type": "image/png", "bytes": 3}],
        }}]),
    );
    check(
        queued(json!({"commandMode": "task-notification"})),
        json!([{"user.messaged": {"origin": "injected", "text": "stop"}}]),
    );
    check(
        row(json!({"type": "skill_listing", "names": ["carve", "glue"], "content": "- carve\n- glue"})),
        json!([
            {"skill.listed": {"key": "carve", "source": "skill_listing"}},
            {"skill.listed": {"key": "glue", "source": "skill_listing"}},
            {"context.added": {"kind": "skill", "reason": "attachment skill_listing", "content": "- carve\n- glue"}},
        ]),
    );
    check(row(json!({"type": "never_seen"})), json!([{"claude_code.attachment": {}}]));
}

#[test]
fn rows_of_any_type_stay_in_reach() {
    check(
        json!({"type": "queue-operation", "sessionId": "s1"}),
        json!([{"claude_code.queue_operation": {}}]),
    );
    check(json!({"type": "never-seen", "sessionId": "s1"}), json!([{"claude_code.never_seen": {}}]));
    check(json!({"sessionId": "s1"}), json!([{"claude_code.unknown": {}}]));
    check(
        json!({"type": "progress", "data": {"type": "bash_progress"}}),
        json!([{"claude_code.progress": {}}]),
    );
    check(
        json!({"type": "pr-link", "sessionId": "s1", "prUrl": "https://example.org/pull/1"}),
        json!([{"artifact.produced": {"kind": "pull_request", "uri": "https://example.org/pull/1"}}]),
    );
}

#[test]
fn a_file_is_known_by_its_rows_and_told_by_its_place() {
    let long = format!("{{\"parentUuid\":null,\"sessionId\":\"s1\",\"message\":\"{}", "A".repeat(9000));
    for (head, known) in [
        (r#"{"type":"summary","summary":"Oak","leafUuid":"x"}"#, true),
        (r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{}}"#, true),
        (r#"{"type":"mode","mode":"normal","sessionId":"s1"}"#, true),
        (r#"{"type":"new-thing","uuid":"u","sessionId":"s1"}"#, true),
        (long.as_str(), true),
        (r#"{"type":"system","subtype":"init","session_id":"s1","uuid":"u"}"#, false),
        (r#"{"type":"started","key":"v2:one","agentId":"a"}"#, false),
        (r#"{"sessionId":"s1","projectHash":"h","kind":"main"}"#, false),
        ("the row has \"parentUuid\": and \"sessionId\":", false),
        ("", false),
    ] {
        assert_eq!(ClaudeCode.sniff(head.as_bytes()).is_some(), known, "{head:.80}");
    }

    let head = br#"{"sessionId":"s1","uuid":"u","agentId":"ab","cwd":"/Users/ada/oak","version":"2.1.0","gitBranch":""}"#;
    let uuid = "55555555-0000-4000-8000-00000000000a";
    for (path, session, parent) in [
        ("/x/.claude/projects/-oak/s1.jsonl".to_owned(), "s1".to_owned(), None),
        ("/x/copied.jsonl".to_owned(), "s1".to_owned(), None),
        (format!("/x/{uuid}.jsonl"), uuid.to_owned(), None),
        ("/x/agent-ab.jsonl".to_owned(), "s1/ab".to_owned(), Some("s1")),
        ("/x/agent-notes.jsonl".to_owned(), "s1".to_owned(), None),
        (format!("/x/{uuid}/-oak/agent-ab.jsonl"), "s1/ab".to_owned(), Some("s1")),
        (format!("/x/{uuid}/subagents/agent-cd.jsonl"), format!("{uuid}/cd"), Some(uuid)),
        (format!("/x/{uuid}/subagents/workflows/wf_1/agent-cd.jsonl"), format!("{uuid}/cd"), Some(uuid)),
    ] {
        let described = ClaudeCode.describe(Path::new(&path), head);
        assert_eq!(described.session, session, "{path}");
        let link = described.about.parent.as_ref();
        assert_eq!(link.map(|link| link.session.as_str()), parent, "{path}");
        assert_eq!(described.about.user.as_deref(), Some("ada"));
        assert_eq!(described.about.project.as_deref(), Some("oak"));
        assert_eq!(described.about.git_branch, None);
    }
    let described = ClaudeCode.describe(Path::new("/home/bob/.claude/projects/-oak/s2.jsonl"), b"");
    assert_eq!((described.session.as_str(), described.about.user.as_deref()), ("s2", Some("bob")));
}
