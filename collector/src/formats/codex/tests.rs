//! Small rollouts of each generation, and the traps that real ones hold.

use std::fmt::Write;
use std::path::Path;

use agent_core::{Block, Body, Event, ParentKind, ParentLink, SessionStarted, Usage};
use serde_json::{Value, json};
use store::{Mapped, Mapper, Row, Source};

use super::super::{Described, Format, Layout};
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

#[test]
fn items_become_events() {
    let cases = [
        (
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}),
            vec!["user.messaged human go"],
        ),
        (
            json!({"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "# AGENTS.md instructions for /w/app\n\nbe brief"},
                {"type": "input_text", "text": "<environment_context>\n<cwd>/w</cwd>"},
                {"type": "input_text", "text": "now do it"}]}),
            vec![
                "user.messaged injected # AGENTS.md instructions for /w/app\n\nbe brief",
                "memory.recalled /w/app/AGENTS.md",
                "user.messaged injected <environment_context>\n<cwd>/w</cwd>",
                "user.messaged human now do it",
            ],
        ),
        (
            json!({"type": "message", "role": "developer", "content": [
                {"type": "input_text", "text": "<permissions instructions>all</permissions instructions>"},
                {"type": "input_text", "text": "<skills_instructions>\n### Available skills\n- a:b: does c (file: /s/b/SKILL.md)\n### How\n- x: y"}]}),
            vec![
                "context.added system - <permissions instructions>all</permissions instructions>",
                "context.added skill - <skills_instructions>\n### Available skills\n- a:b: does c (file: /s/b/SKILL.md)\n### How\n- x: y",
                "skill.listed a:b",
            ],
        ),
        (
            json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}),
            vec!["model.responded hi"],
        ),
        (
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}], "encrypted_content": "x"}),
            vec!["model.responded reasoning(why,false)"],
        ),
        (
            json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
            vec!["model.responded reasoning(,true)"],
        ),
        (
            json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{\"command\":[\"ls\"]}"}),
            vec!["model.responded shell#c1", r#"tool.called shell#c1 {"command":["ls"]}"#],
        ),
        (
            json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{\"torn"}),
            vec!["model.responded shell#c1", r#"tool.called shell#c1 "{\"torn""#],
        ),
        (
            json!({"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": "cat /s/github/SKILL.md"}),
            vec![
                "model.responded exec#c2",
                r#"tool.called exec#c2 "cat /s/github/SKILL.md""#,
                "skill.matched github",
            ],
        ),
        (
            json!({"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}}),
            vec![
                "model.responded local_shell#c3",
                r#"tool.called local_shell#c3 {"command":["ls"],"type":"exec"}"#,
            ],
        ),
        (
            json!({"type": "web_search_call", "id": "w1", "status": "completed", "action": {"query": "q"}}),
            vec![
                "model.responded web_search#w1",
                r#"tool.called web_search#w1 {"query":"q"}"#,
                "tool.ended #w1 succeeded",
            ],
        ),
        (
            json!({"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 2\nOutput:\n"}),
            vec!["tool.ended #c1 failed"],
        ),
        (
            json!({"type": "function_call", "namespace": "app", "name": "make", "call_id": "c4", "arguments": null}),
            vec!["model.responded app.make#c4", "tool.called app.make#c4 "],
        ),
        (json!({"type": "ghost_snapshot", "ghost_commit": {}}), vec!["codex.ghost_snapshot"]),
        // Rows without a call id stand alone; neither is tied to the other.
        (
            json!({"type": "tool_call", "function": {"name": "run"}, "arguments": {"a": 1}}),
            vec!["model.responded run#row-1-0", r#"tool.called run#row-1-0 {"a":1}"#],
        ),
        (
            json!({"type": "tool_result", "name": "run", "result": {"stdout": "", "exitCode": 0}}),
            vec!["tool.ended #row-1-0 succeeded"],
        ),
        (
            json!({"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": [{"type": "input_text", "text": "do"}]}),
            vec!["user.messaged agent do"],
        ),
        (
            json!({"type": "agent_message", "author": "/root/a", "recipient": "/root", "content": [{"type": "input_text", "text": "done"}]}),
            vec!["user.messaged injected done"],
        ),
    ];
    for (payload, expected) in cases {
        assert_eq!(briefs(&item(payload.clone())), expected, "{payload}");
        // The flat generation has the same items without their envelope.
        assert_eq!(briefs(&payload), expected, "{payload}");
    }
}

#[test]
fn pictures_are_told_by_size_and_never_copied() {
    let url = format!("data:image/png;base64,{}", "A".repeat(400));
    let png = Block::Media { media_type: "image/png".into(), bytes: 300 };
    let parts = json!([{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": url},
        {"type": "input_image", "image_url": null}]);
    let said = only(&item(json!({"type": "message", "role": "user", "content": parts})));
    let Body::UserMessaged(message) = &said.body else { panic!("{said:?}") };
    assert_eq!((message.text.as_str(), &message.media), ("see", &vec![png.clone()]));

    let made =
        json!({"type": "image_generation_call", "id": "i", "status": "completed", "result": "A".repeat(400)});
    let result = json!({"type": "function_call_output", "call_id": "c", "output": parts});
    for payload in [made, result] {
        let events = events(&item(payload));
        let Body::ToolEnded(end) = &events.last().expect("there is an end").body else {
            panic!("{events:?}")
        };
        assert!(events.iter().all(|event| !event.to_json().contains("AAAA")));
        // Only what the provider ran stands within the response.
        assert_eq!(end.other.contains_key("within_response"), end.call_id == "i");
    }
}

#[test]
fn notices_that_are_no_copies_count() {
    let cases = [
        (
            json!({"type": "thread_name_updated", "thread_name": "Fix it"}),
            "session.titled",
            json!({"title": "Fix it"}),
        ),
        (
            json!({"type": "collab_agent_spawn_end", "call_id": "c", "new_thread_id": "k", "new_agent_role": "scout"}),
            "subagent.started",
            json!({"session": "k", "call_id": "c", "name": "scout"}),
        ),
        (
            json!({"type": "agent_message", "message": "x", "memory_citation":
                {"entries": [{"path": "/m/a.md", "lineStart": 1, "note": "n"}]}}),
            "memory.recalled",
            json!({"key": "/m/a.md", "source": "memory_citation", "text": "n"}),
        ),
    ];
    for (payload, name, data) in cases {
        let event = only(&notice(payload));
        assert_eq!((event.body.name(), event.body.data().to_value()), (name, data));
    }
    let skill = "<skill>\n<name>pdf</name>\n<path>/s/pdf/SKILL.md</path>\nread it</skill>";
    let given = briefs(&item(json!({"type": "message", "role": "user", "content": skill})));
    assert_eq!(given[1], "skill.matched pdf");
}

#[test]
fn copies_and_side_notes_stay_in_reach_without_counting() {
    for kind in [
        "user_message",
        "agent_message",
        "agent_reasoning",
        "item_completed",
        "context_compacted",
        "exec_command_end",
        "patch_apply_end",
        "mcp_tool_call_end",
        "task_started",
        "never_heard_of",
    ] {
        let event = only(&notice(json!({"type": kind, "message": "x", "text": "x"})));
        assert_eq!(event.body, Body::Other { name: format!("codex.{kind}"), data: None });
    }
    assert_eq!(briefs(&json!({"record_type": "state"})), ["codex.state"]);
    assert_eq!(
        briefs(
            &json!({"timestamp": "2026-01-02T03:04:05Z", "ordinal": 4, "type": "world_state", "payload": {}})
        ),
        ["codex.world_state"]
    );
    let rolled_back = only(&notice(json!({"type": "thread_rolled_back", "num_turns": 2})));
    assert_eq!(rolled_back.body.data().to_value(), json!({"num_turns": 2}));
}

fn usage(uncached: u64, read: u64, write: Option<u64>, output: u64, reasoning: u64) -> Usage {
    Usage {
        uncached_input: Some(uncached),
        cache_read: Some(read),
        cache_write_5m: write,
        cache_write_1h: None,
        output: Some(output),
        reasoning: Some(reasoning),
    }
}

#[test]
fn nested_token_counts_become_disjoint_buckets() {
    let call = json!({"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 15,
        "output_tokens": 20, "reasoning_output_tokens": 8, "total_tokens": 120});
    let session = json!({"input_tokens": 1000, "cached_input_tokens": 600, "output_tokens": 200,
        "reasoning_output_tokens": 80, "total_tokens": 1200});
    let count = only(&notice(json!({"type": "token_count",
        "info": {"last_token_usage": call, "total_token_usage": session}})));
    let record = only(&json!({"timestamp": "2026-01-02T03:04:05Z", "type": "token_usage_record",
        "payload": {"response_id": "resp_1", "usage": call, "thread_token_usage": session}}));
    for event in [&count, &record] {
        let Body::ModelResponded(piece) = &event.body else { panic!("{event:?}") };
        assert_eq!(piece.usage, usage(25, 60, Some(15), 20, 8));
        assert_eq!(piece.usage_so_far, Some(usage(400, 600, None, 200, 80)));
        assert!(piece.last_piece && piece.response_id.is_none());
        assert_eq!(piece.usage_raw.as_ref(), Some(&call));
    }
    assert_eq!(record.fact.as_deref(), Some("resp_1"));
}

#[test]
fn missing_usage_is_missing() {
    for info in [json!(null), json!({}), json!({"last_token_usage": {"input_tokens": 0, "output_tokens": 0}})]
    {
        let event = only(&notice(json!({"type": "token_count", "info": info})));
        assert_eq!(event.body.name(), "codex.token_count", "{info}");
    }
    let older = [
        json!({"type": "token_count", "info": {"prompt": 14, "completion": 9}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 14, "output_tokens": 9}}),
    ];
    for payload in older {
        let event = only(&notice(payload));
        let Body::ModelResponded(piece) = event.body else { panic!("{event:?}") };
        assert_eq!(piece.usage, Usage { uncached_input: Some(14), output: Some(9), ..Usage::default() });
        assert_eq!(piece.usage_so_far, None);
    }
    // Zeros of the call with a grown sum: the sum is what counts, and it is kept.
    let grown = only(&notice(json!({"type": "token_count", "info": {
        "last_token_usage": {"input_tokens": 0, "output_tokens": 0},
        "total_token_usage": {"input_tokens": 5, "output_tokens": 1}}})));
    let Body::ModelResponded(piece) = grown.body else { panic!("{grown:?}") };
    assert_eq!(piece.usage_so_far.and_then(|usage| usage.prompt()), Some(5));
}

#[test]
fn ends_errors_and_compactions_are_told() {
    let body =
        |payload: Value| events(&notice(payload)).into_iter().map(|event| event.body.data().to_value());
    let aborted: Vec<Value> =
        body(json!({"type": "turn_aborted", "turn_id": "t", "reason": "interrupted", "duration_ms": 7}))
            .collect();
    assert_eq!(aborted[0], json!({"reason": "interrupted"}));
    assert_eq!(
        aborted[1],
        json!({"status": "cancelled", "end_reason": "user_interrupt", "duration_ms": 7,
        "detail": "interrupted"})
    );
    let done: Vec<Value> = body(json!({"type": "task_complete", "duration_ms": 9, "error": null})).collect();
    assert_eq!(done, [json!({"status": "completed", "end_reason": "done", "duration_ms": 9})]);
    let broken: Vec<Value> = body(json!({"type": "task_complete", "error": {"message": "no"}})).collect();
    assert_eq!(broken, [json!({"status": "failed", "end_reason": "failure", "detail": "no"})]);
    let errors = [
        (
            json!({"type": "error", "message": "gone", "codex_error_info": {"http_connection_failed": {"http_status_code": 502}}}),
            json!({"kind": "http_connection_failed", "message": "gone", "http_status": 502}),
        ),
        (
            json!({"type": "error", "error": {"kind": "rate_limit", "message": "slow"}}),
            json!({"kind": "rate_limit", "message": "slow"}),
        ),
    ];
    for (payload, expected) in errors {
        assert_eq!(body(payload).collect::<Vec<_>>(), [json!({"error": expected})]);
    }
    let image = format!("data:image/png;base64,{}", "A".repeat(400));
    let compacted = only(&json!({"timestamp": "2026-01-02T03:04:05Z", "type": "compacted", "payload":
        {"message": "sum", "replacement_history": [{"type": "message", "image_url": image}]}}));
    assert_eq!(
        compacted.body.data().to_value(),
        json!({"replacement":
        [{"type": "message", "image_url": "data:image/png;base64,[300 bytes left out]"}]})
    );
}

#[test]
fn headers_give_the_prompt_and_repeated_ones_what_changed() {
    let header = |id: &str, branch: &str| {
        json!({"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": {
            "id": id, "cwd": "/home/ann/app", "cli_version": "0.144.2", "git": {"branch": branch},
            "model_provider": "openai", "base_instructions": {"text": "You are"}, "dynamic_tools": [{"name": "t"}]}})
    };
    let first = header("s1", "main");
    let described = Codex.describe(Path::new("/x/rollout.jsonl"), first.to_string().as_bytes());
    let source = source(described.about);
    let names = |row: &Value| -> Vec<String> {
        map_row(&source, 1, &row.to_string()).events.iter().map(brief).collect()
    };
    let prompt = ["context.added system system You are", r#"context.added tool_schema tools [{"name":"t"}]"#];
    assert_eq!(names(&first), prompt);
    assert_eq!(names(&header("s1", "fix"))[0], "session.started");
    assert!(map_row(&source, 1, &first.to_string()).events.iter().all(|event| event.fact.is_none()));
    // The parent's header, repeated in a fork, says nothing of the fork.
    assert_eq!(names(&header("parent", "other")), ["codex.session_meta"]);

    let context = json!({"timestamp": "2026-01-02T03:04:05Z", "type": "turn_context", "payload": {
        "model": "gpt-5.6-sol", "cwd": "/w", "approval_policy": "never"}});
    let told = map_row(&source, 2, &context.to_string()).events.remove(0).body.data().to_value();
    assert_eq!(
        told,
        json!({"model": "gpt-5.6-sol", "provider": "openai", "cwd": "/w", "permission_mode": "never"})
    );
}

#[test]
fn sessions_are_described() {
    const NAME: &str = "/c/rollout-2026-01-02T03-04-05-019f5cfd-b70b-73a1-ad47-32159be95bba.jsonl";
    let parent = |session: &str, kind| Some(ParentLink { session: session.into(), kind, call_id: None });
    let meta =
        |payload: Value| json!({"timestamp": "t", "type": "session_meta", "payload": payload}).to_string();
    let describe = |path: &str, head: &str| Codex.describe(Path::new(path), head.as_bytes());

    let Described { session, about } = describe(
        NAME,
        &meta(json!({"id": "s", "cwd": "C:\\Users\\Bo\\my app",
        "cli_version": "0.1", "git": {"branch": "b"}, "source": "cli"})),
    );
    assert_eq!(session, "s");
    assert_eq!(about.user.as_deref(), Some("Bo"));
    assert_eq!(about.project.as_deref(), Some("my app"));
    assert_eq!((about.agent_version.as_deref(), about.git_branch.as_deref()), (Some("0.1"), Some("b")));
    assert_eq!(about.parent, None);

    let spawned = json!({"subagent": {"thread_spawn": {"parent_thread_id": "p"}}});
    for (payload, expected) in [
        (json!({"id": "s", "source": spawned, "forked_from_id": "f"}), parent("p", ParentKind::Subagent)),
        (json!({"id": "s", "parent_thread_id": "p"}), parent("p", ParentKind::Subagent)),
        (json!({"id": "s", "forked_from_id": "f", "parent_thread_id": null}), parent("f", ParentKind::Fork)),
    ] {
        // The parent's header follows in the file and must not win.
        let head = format!("{}\n{}\n", meta(payload), meta(json!({"id": "p"})));
        let described = describe("/home/cy/x.jsonl", &head);
        assert_eq!((described.session.as_str(), described.about.parent), ("s", expected));
        assert_eq!(described.about.user.as_deref(), Some("cy"));
    }

    // A torn first line: the file's name tells the session, not the parent's header behind it.
    let torn = format!(
        "{{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"x\n{}\n",
        meta(json!({"id": "p"}))
    );
    assert_eq!(describe(NAME, &torn).session, "019f5cfd-b70b-73a1-ad47-32159be95bba");
    assert_eq!(Codex.sniff(torn.as_bytes()), Some(Layout::Lines));

    let flat = concat!(
        r#"{"id":"f1","timestamp":"2025-08-18T01:16:13.522Z","instructions":null,"git":{"branch":"main"}}"#,
        "\n",
        r#"{"record_type":"state"}"#,
        "\n",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/Users/di/lib</cwd>"}]}"#,
        "\n"
    );
    let described = describe("/c/x.jsonl", flat);
    assert_eq!(described.session, "f1");
    assert_eq!(described.about.cwd.as_deref(), Some("/Users/di/lib"));
    assert_eq!(
        (described.about.user.as_deref(), described.about.project.as_deref()),
        (Some("di"), Some("lib"))
    );
}

#[test]
fn only_rollouts_are_taken() {
    let cases = [
        (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#, true),
        ("\u{FEFF}{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{}}\r\n", true),
        (r#"{"id":"s","timestamp":"t","instructions":null,"git":{}}"#, true),
        ("{\"torn\n{\"record_type\":\"state\"}\n", true),
        (r#"{"type":"thread.started","thread_id":"x"}"#, false),
        (r#"{"type":"item.completed","item":{"type":"agent_message"}}"#, false),
        (r#"{"type":"user","sessionId":"s","uuid":"u","timestamp":"t","message":{}}"#, false),
        (r#"{"role":"user","content":"hi"}"#, false),
        (r#"{"type":"user","text":"{\"timestamp\":1,\"type\":\"session_meta\",\"payload\":{"}"#, false),
        ("", false),
    ];
    for (head, taken) in cases {
        assert_eq!(Codex.sniff(head.as_bytes()).is_some(), taken, "{head}");
    }
}

#[test]
fn replayed_rows_have_the_same_facts_and_other_ids() {
    let rows = [
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}),
        json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{}"}),
    ];
    for payload in rows {
        let parent = item(payload.clone()).to_string();
        let child = parent.replace("2026-01-02", "2026-03-04");
        let (source, other) = (source(SessionStarted::default()), source(SessionStarted::default()));
        let child_source = Source { session: "s2".into(), ..other };
        let told = map_row(&source, 3, &parent).events;
        let replayed = map_row(&child_source, 9, &child).events;
        for (one, two) in told.iter().zip(&replayed) {
            assert_eq!(one.fact, two.fact);
            assert!(one.fact.is_some());
            assert_ne!(one.id, two.id);
        }
        // Read again from a copy of the file it is the same event.
        assert_eq!(map_row(&source, 3, &parent).events, told);
    }
}

#[test]
fn a_sub_agents_orders_come_from_its_parent() {
    let about = SessionStarted {
        parent: Some(ParentLink { session: "p".into(), kind: ParentKind::Subagent, call_id: None }),
        ..SessionStarted::default()
    };
    let row = json!({"type": "message", "role": "user", "content": "do"}).to_string();
    assert_eq!(brief(&map_row(&source(about), 1, &row).events[0]), "user.messaged agent do");
}

#[test]
fn damage_is_named_and_the_rest_kept() {
    let source = source(SessionStarted::default());
    let cases = [
        // (row, events, parts unread)
        // A time that is none is no damage of the row: the event has no time.
        (r#"{"timestamp":"t","type":"event_msg","payload":{"type":"x"}}"#, vec!["codex.x"], 0),
        (
            r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":"many"}}}}"#,
            vec!["codex.event_msg"],
            1,
        ),
        (r#"{"type":"response_item","payload":7}"#, vec!["codex.response_item"], 1),
        (r#"{"record_type":"state"}{"record_type":"state"}"#, vec!["codex.state", "codex.state"], 0),
        (r#"{"type":"response_item","pay"#, vec![], 1),
    ];
    for (row, expected, unread) in cases {
        let mapped = map_row(&source, 1, row);
        assert_eq!(mapped.events.iter().map(brief).collect::<Vec<_>>(), expected, "{row}");
        assert_eq!(mapped.unread.len(), unread, "{row}: {:?}", mapped.unread);
    }
    let twice = map_row(&source, 1, r#"{"record_type":"state"}{"record_type":"state"}"#).events;
    assert_ne!(twice[0].id, twice[1].id);
}
