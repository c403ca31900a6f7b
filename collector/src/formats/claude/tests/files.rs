//! How a file is known, and what its place and its beginning say of the session.

use super::*;

#[test]
fn a_file_is_known_by_its_rows() {
    let long = format!("{{\"parentUuid\":null,\"sessionId\":\"s1\",\"message\":\"{}", "A".repeat(9000));
    let picture = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"promptId\":\"p\",\"type\":\"user\",\"message\":{{\"content\":[{{\"data\":\"{}",
        "A".repeat(300_000)
    );
    for (head, known) in [
        (r#"{"type":"summary","summary":"Oak","leafUuid":"x"}"#, true),
        (r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{}}"#, true),
        (r#"{"type":"mode","mode":"normal","sessionId":"s1"}"#, true),
        (r#"{"type":"queue-operation","operation":"dequeue","sessionId":"s"}"#, true),
        (r#"{"type":"new-thing","uuid":"u","sessionId":"s1"}"#, true),
        ("\u{FEFF}{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\r\n", true),
        ("{\"odd\":1}\n\n{\"sessionId\":\"s\",\"parentUuid\":null}\n{\"torn", true),
        (AGENT_ROW, true),
        (
            r#"{"type":"user","sessionId":"s1","isSidechain":true,"agentId":"a","message":{"content":"x"}}"#,
            true,
        ),
        (&long, true),
        (&picture, true),
        (r#"{"type":"system","subtype":"init","session_id":"s1","uuid":"u"}"#, false),
        (r#"{"type":"started","key":"v2:one","agentId":"a"}"#, false),
        (r#"{"sessionId":"s1","projectHash":"h","kind":"main"}"#, false),
        (r#"{"sessionId":"s1","type":"user","content":"x"}"#, false),
        (r#"{"type":"user","message":{"content":"x"}}"#, false),
        (r#"{"type":"session_meta","payload":{"text":"\"parentUuid\": \"isSidechain\":"}}"#, false),
        ("the row has \"parentUuid\": and \"sessionId\":", false),
        ("", false),
    ] {
        assert_eq!(ClaudeCode.sniff(head.as_bytes()).is_some(), known, "{head:.80}");
    }
}

#[test]
fn a_file_is_told_by_its_place() {
    let head = br#"{"sessionId":"s1","uuid":"u","agentId":"ab","cwd":"/Users/ada/oak","version":"2.1.0","gitBranch":""}"#;
    let uuid = "55555555-0000-4000-8000-00000000000a";
    for (path, session, parent) in [
        ("/x/.claude/projects/-oak/s1.jsonl".to_owned(), "s1".to_owned(), None),
        ("/x/copied.jsonl".to_owned(), "s1".to_owned(), None),
        (format!("/x/{uuid}.jsonl"), uuid.to_owned(), None),
        ("/x/agent-ab.jsonl".to_owned(), "s1/ab".to_owned(), Some("s1")),
        ("/x/agent-notes.jsonl".to_owned(), "s1".to_owned(), None),
        // A folder above that happens to be named so says nothing.
        (format!("/x/{uuid}/-oak/agent-ab.jsonl"), "s1/ab".to_owned(), Some("s1")),
        (format!("/x/{uuid}/subagents/agent-cd.jsonl"), format!("{uuid}/cd"), Some(uuid)),
        (format!("/x/{uuid}/subagents/workflows/wf_1/agent-cd.jsonl"), format!("{uuid}/cd"), Some(uuid)),
    ] {
        let described = ClaudeCode.describe(Path::new(&path), head);
        assert_eq!(described.session, session, "{path}");
        let link = described.about.parent.as_ref();
        assert_eq!(link.map(|link| link.session.as_str()), parent, "{path}");
        assert_eq!(link.and_then(|link| link.call_id.as_deref()), None, "{path}");
        assert_eq!(described.about.user.as_deref(), Some("ada"));
        assert_eq!(described.about.project.as_deref(), Some("oak"));
        assert_eq!(described.about.git_branch, None);
    }
    let described = ClaudeCode.describe(Path::new("/home/bob/.claude/projects/-oak/s2.jsonl"), b"");
    assert_eq!((described.session.as_str(), described.about.user.as_deref()), ("s2", Some("bob")));
}

#[test]
fn a_session_is_named_by_its_file_or_its_rows() {
    let other = "22222222-2222-4222-8222-222222222222";
    let row = |session: &str| {
        format!("{{\"sessionId\":\"{session}\",\"uuid\":\"u\",\"cwd\":\"C:\\\\Users\\\\bob\\\\app\"}}\n")
    };
    for (path, head, session) in [
        (format!("/p/{SESSION}.jsonl"), row(other) + &row(SESSION), SESSION),
        (format!("/p/{SESSION}.jsonl"), row(other), SESSION),
        ("/p/copy.jsonl".to_owned(), row(other) + &row(SESSION), other),
        ("/p/agent-notes.jsonl".to_owned(), row(SESSION), SESSION),
    ] {
        let described = describe(&path, &head);
        assert_eq!(described.session, session, "{path}");
        assert_eq!(described.about.user.as_deref(), Some("bob"));
        assert_eq!(described.about.project.as_deref(), Some("app"));
        assert_eq!(described.about.parent, None);
    }
}

#[test]
fn a_sub_agents_file_hangs_on_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let subagents = folder.path().join(SESSION).join("subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(
        subagents.join("agent-a1.meta.json"),
        r#"{"agentType":"Explore","description":"Look around","toolUseId":"t1"}"#,
    )
    .unwrap();
    let described = describe(&subagents.join("agent-a1.jsonl").to_string_lossy(), AGENT_ROW);
    assert_eq!(described.session, format!("{SESSION}/a1"));
    let parent = described.about.parent.unwrap();
    assert_eq!((parent.session.as_str(), parent.call_id.as_deref()), (SESSION, Some("t1")));
    assert_eq!(described.about.title.as_deref(), Some("Look around"));
}

#[test]
fn a_sub_agents_file_is_known_by_its_rows_too() {
    let main = r#"{"sessionId":"s-of-rows","uuid":"v","isSidechain":false,"message":{"content":"go"}}"#;
    let other = AGENT_ROW.replace("\"a1\"", "\"a2\"");
    let of_nobody = r#"{"sessionId":"s-of-rows","uuid":"v","isSidechain":true,"message":{"content":"go"}}"#;
    let notice = r#"{"type":"mode","sessionId":"s-of-rows"}"#;
    for (rows, session) in [
        (vec![AGENT_ROW], "s-of-rows/a1"),
        (vec![notice, AGENT_ROW, AGENT_ROW], "s-of-rows/a1"),
        (vec![AGENT_ROW, main], "s-of-rows"),
        (vec![AGENT_ROW, &other], "s-of-rows"),
        (vec![AGENT_ROW, of_nobody], "s-of-rows"),
    ] {
        let described = describe("/p/exported.jsonl", &rows.join("\n"));
        assert_eq!(described.session, session, "{rows:?}");
        let parent = described.about.parent.map(|parent| parent.session);
        assert_eq!(parent.as_deref(), session.contains('/').then_some("s-of-rows"));
    }
    // A file that bears a session's name is that session.
    assert_eq!(describe(&format!("/p/{SESSION}.jsonl"), AGENT_ROW).session, SESSION);
}
