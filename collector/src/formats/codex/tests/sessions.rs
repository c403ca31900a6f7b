//! What headers and places tell of a session.

use std::path::Path;

use agent_core::{ParentKind, ParentLink};
use serde_json::{Value, json};

use super::super::super::{Described, Format, Layout};
use super::{Codex, brief, map_row, source};

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
    let tools = map_row(&source, 1, &first.to_string()).events.remove(1).body.data().to_value();
    assert_eq!(tools["partial"], true);
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
    let given = json!({"subagent": {"parent_thread_id": "p"}});
    for (payload, expected) in [
        (json!({"id": "s", "source": given}), parent("p", ParentKind::Subagent)),
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

    // A sub-agent of which the file does not say whose: its orders are no person's.
    for named in [json!({"subagent": "review"}), json!({"subagent": {"other": "review"}})] {
        let about = describe("/c/x.jsonl", &meta(json!({"id": "s", "source": named}))).about;
        assert_eq!((about.parent.as_ref(), &about.other["subagent"]), (None, &json!("review")));
        let row = json!({"type": "message", "role": "user", "content": "do"}).to_string();
        assert_eq!(brief(&map_row(&source(about), 1, &row).events[0]), "user.messaged agent do");
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
        // Items by themselves, and such a file with a torn first line.
        (r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#, true),
        (
            concat!(
                r#"{"type":"message","role":"us"#,
                "\n",
                r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#
            ),
            true,
        ),
        (r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#, true),
        (r#"{"type":"function_call_output","call_id":"c","output":"x"}"#, true),
        (r#"{"type":"message","role":"user","content":"hi"}"#, false),
        (r#"{"type":"message","text":"\"input_text\""}"#, false),
        (r#"{"type":"user","text":"{\"timestamp\":1,\"type\":\"session_meta\",\"payload\":{"}"#, false),
        ("", false),
    ];
    for (head, taken) in cases {
        assert_eq!(Codex.sniff(head.as_bytes()).is_some(), taken, "{head}");
    }
}
