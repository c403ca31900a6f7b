//! Sub-agents in their three layouts.

use serde_json::json;

use super::*;

#[test]
fn rows_on_the_side_are_a_sub_agents() {
    check(
        json!({
            "type": "user", "isSidechain": true, "parentUuid": null, "message": {"content": "look"},
        }),
        json!([
            {"of": "/sidechain", "session.started": {
                "agent": "claude-code", "parent": {"session": SESSION, "kind": "subagent"},
            }},
            {"of": "/sidechain", "user.messaged": {"origin": "agent", "text": "look"}},
        ]),
    );
    let ended = json!([{"type": "tool_result", "tool_use_id": "t", "content": ""}]);
    check(
        json!({
            "type": "user", "isSidechain": true, "agentId": "a1", "parentUuid": "x",
            "message": {"content": ended},
        }),
        json!([
            {"of": "/a1", "session.started": {
                "agent": "claude-code", "parent": {"session": SESSION, "kind": "subagent"},
            }},
            {"of": "/a1", "tool.ended": {"call_id": "t", "status": "succeeded", "output": ""}},
        ]),
    );
    // A row of the child that means nothing stays in reach beside that.
    check(
        json!({"type": "never-seen", "isSidechain": true, "agentId": "a1"}),
        json!([
            {"of": "/a1", "session.started": {
                "agent": "claude-code", "parent": {"session": SESSION, "kind": "subagent"},
            }},
            {"of": "/a1", "claude_code.never_seen": {}},
        ]),
    );
}

#[test]
fn each_row_of_a_child_says_the_same_of_where_it_comes_from() {
    let about = SessionStarted {
        user: Some("ann".to_owned()),
        project: Some("app".to_owned()),
        cwd: Some("/home/ann/app".to_owned()),
        ..Default::default()
    };
    let main = source(SESSION, about);
    let row = |number: u64, uuid: &str| {
        let row = json!({
            "type": "assistant", "uuid": uuid, "isSidechain": true, "agentId": "a1", "parentUuid": "x",
            "message": {"id": uuid, "content": [text("seen")]},
        });
        map_in(&main, number, &row.to_string()).events
    };
    let (first, second) = (row(7, UUID), row(8, "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"));
    assert_eq!(first[0].id, second[0].id);
    assert_ne!(first[1].id, second[1].id);
    assert_eq!(
        told(&first[0]),
        json!({"of": "/a1", "session.started": {
            "agent": "claude-code", "user": "ann", "project": "app",
            "parent": {"session": SESSION, "kind": "subagent"},
        }})
    );
}

#[test]
fn a_carried_message_is_the_sub_agents_own() {
    let carried = json!({
        "type": "progress", "uuid": "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb", "sessionId": SESSION,
        "parentToolUseID": "t1",
        "data": {"type": "agent_progress", "agentId": "a1", "message": {
            "type": "user", "uuid": UUID, "message": {"content": [text("look")]},
        }},
    });
    check(
        carried.clone(),
        json!([
            {"of": "/a1", "session.started": {
                "agent": "claude-code",
                "parent": {"session": SESSION, "kind": "subagent", "call_id": "t1"},
            }},
            {"of": "/a1", "user.messaged": {"origin": "agent", "text": "look"}},
        ]),
    );
    // The same message in the sub-agent's own file is the same event.
    let own = describe(&format!("/p/{SESSION}/subagents/agent-a1.jsonl"), AGENT_ROW);
    let own_row = json!({
        "type": "user", "uuid": UUID, "isSidechain": true, "agentId": "a1",
        "message": {"content": [text("look")]},
    });
    let own = map_in(&own, 1, &own_row.to_string());
    let carried = &events(&carried)[1];
    assert_eq!((own.events[0].id, &own.events[0].session), (carried.id, &carried.session));
}

#[test]
fn a_nested_sub_agent_lies_beside_its_parent() {
    let own = describe(&format!("/p/{SESSION}/subagents/agent-a1.jsonl"), AGENT_ROW);
    let row = json!({
        "type": "progress", "parentToolUseID": "t2",
        "data": {"type": "agent_progress", "agentId": "a2", "message": {
            "type": "user", "message": {"content": "look deeper"},
        }},
    });
    let out = map_in(&own, 1, &row.to_string());
    assert_eq!(
        out.events.iter().map(told).collect::<Vec<_>>(),
        [
            json!({"of": "/a2", "session.started": {
                "agent": "claude-code", "user": "ann", "project": "app",
                "parent": {"session": format!("{SESSION}/a1"), "kind": "subagent", "call_id": "t2"},
            }}),
            json!({"of": "/a2", "user.messaged": {"origin": "agent", "text": "look deeper"}}),
        ]
    );
}

#[test]
fn what_a_carried_message_asks_to_read_is_learned_when_that_is_done() {
    let read = |path: &str| json!({"type": "tool_use", "id": "call_1", "name": "Read", "input": {"file_path": path}});
    let carried = |path: &str| {
        let inner =
            with(assistant(json!({"id": "m", "content": [read(path)]})), json!({"isSidechain": true}));
        let row = json!({
            "type": "progress", "parentToolUseID": "t1",
            "data": {"type": "agent_progress", "agentId": "a1", "message": inner},
        });
        events(&row).into_iter().filter(|event| event.fact.is_none()).skip(1).collect::<Vec<_>>()
    };
    for (path, learned) in [
        (
            "/p/CLAUDE.md",
            json!([{"of": "/a1", "memory.recalled": {
                "key": "/p/CLAUDE.md", "source": "Read tool", "call_id": "call_1", "when_done": true,
            }}]),
        ),
        (
            "/p/skills/oak/SKILL.md",
            json!([{"of": "/a1", "skill.matched": {
                "key": "oak", "source": "Read tool", "call_id": "call_1", "when_done": true,
            }}]),
        ),
        ("/p/main.c", json!([])),
    ] {
        assert_eq!(Value::from(carried(path).iter().map(told).collect::<Vec<_>>()), learned, "{path}");
    }
    // The sub-agent's own file tells the same of the result, where the runtime names the file.
    let own = describe(&format!("/p/{SESSION}/subagents/agent-a1.jsonl"), AGENT_ROW);
    let done = with(
        result("1: be kind".into()),
        json!({"isSidechain": true, "toolUseResult": {"type": "text", "file": {"filePath": "/p/CLAUDE.md"}}}),
    );
    let done = map_in(&own, 1, &done.to_string()).events;
    assert_eq!(done[1].body.name(), "memory.recalled");
    assert_eq!(done[1].id, carried("/p/CLAUDE.md")[0].id);
    // Rows of the main thread tell it by their results alone.
    let asked = events(&assistant(json!({"id": "m", "content": [read("/p/CLAUDE.md")]})));
    assert!(asked.iter().all(|event| event.body.name() != "memory.recalled"));
}
