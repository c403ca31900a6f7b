//! Rows that are no items: notices, ends, errors and compactions.

use agent_core::Body;
use serde_json::{Value, json};

use super::{briefs, events, item, notice, only};

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
            json!({"type": "collab_tool_call", "call_id": "c", "new_thread_id": "k"}),
            "subagent.started",
            json!({"session": "k", "call_id": "c"}),
        ),
        (
            json!({"type": "thread_rolled_back", "num_turns": 2}),
            "context.compacted",
            json!({"dropped_requests": 2}),
        ),
    ];
    for (payload, name, data) in cases {
        let event = only(&notice(payload));
        assert_eq!((event.body.name(), event.body.data().to_value()), (name, data));
    }
    // The same as an item.
    let spawned = item(json!({"type": "collab_tool_call", "call_id": "c", "new_thread_id": "k"}));
    assert_eq!(briefs(&spawned), ["subagent.started"]);
    let skill = "<skill>\n<name>pdf</name>\n<path>/s/pdf/SKILL.md</path>\nread it</skill>";
    let given = briefs(&item(json!({"type": "message", "role": "user", "content": skill})));
    assert_eq!(given[1], "skill.matched pdf");
}

#[test]
fn copies_and_side_notes_stay_in_reach_without_counting() {
    for kind in [
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
    // Notices that tell nothing.
    for payload in [
        json!({"type": "user_message", "message": "  "}),
        json!({"type": "user_message", "message": "<environment_context>x</environment_context>"}),
        json!({"type": "agent_message", "message": null}),
        json!({"type": "thread_rolled_back", "num_turns": 0}),
        json!({"type": "mcp_tool_call_end", "call_id": "c"}),
        json!({"type": "exec_command_end", "exit_code": 1}),
        json!({"type": "collab_tool_call", "new_thread_id": null}),
    ] {
        let event = only(&notice(payload.clone()));
        assert_eq!(
            event.body,
            Body::Other { name: format!("codex.{}", payload["type"].as_str().unwrap()), data: None }
        );
    }
}

#[test]
fn messages_for_the_screen_are_copies_of_the_same_fact() {
    let said = |role: &str, text: &str| {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        only(&item(json!({"type": "message", "role": role, "phase": "final_answer",
            "content": [{"type": kind, "text": text}]})))
    };
    let told = |kind: &str, text: &str| {
        events(&notice(
            json!({"type": kind, "message": text, "phase": "final_answer", "images": ["https://x"],
            "memory_citation": {"entries": [{"path": "/m/a.md", "lineStart": 1, "note": "n"}]}}),
        ))
    };
    for (role, kind) in [("user", "user_message"), ("assistant", "agent_message")] {
        let original = said(role, "do  this\nnow ");
        let copy = told(kind, "do this\nnow").remove(0);
        assert_eq!(original.fact, copy.fact, "{role}");
        assert_ne!(original.fact, told(kind, "do that")[0].fact, "{role}");
        assert_eq!(original.body.name(), copy.body.name());
        let (original, copy) = (original.body.data().to_value(), copy.body.data().to_value());
        assert_eq!((original.get("is_copy"), &copy["is_copy"]), (None, &json!(true)), "{role}");
        assert_eq!(original["phase"], if role == "user" { json!(null) } else { copy["phase"].clone() });
    }
    let pictured = told("user_message", "see").remove(0).body.data().to_value();
    assert_eq!(pictured["media"], json!([{"type": "media", "media_type": "", "bytes": 0}]));
    let cited = told("agent_message", "x");
    assert_eq!(
        cited[1].body.data().to_value(),
        json!({"key": "/m/a.md", "source": "memory_citation", "text": "n"})
    );
    assert_eq!((cited.len(), cited[1].body.name()), (2, "memory.recalled"));
}

#[test]
fn ends_of_tools_are_told_beside_their_results() {
    let took = json!({"secs": 1, "nanos": 250_999_999});
    let cases = [
        (
            json!({"type": "mcp_tool_call_end", "duration": took, "result":
                {"Ok": {"content": [{"type": "text", "text": "404 not found"}], "isError": true}}}),
            json!({"status": "failed", "error": {"message": "404 not found"}, "duration_ms": 1250}),
        ),
        (
            json!({"type": "mcp_tool_call_end", "result": {"Ok": {"content": [], "isError": false}}}),
            json!({"status": "succeeded"}),
        ),
        (
            json!({"type": "mcp_tool_call_end", "result": {"Ok": {"content": []}}}),
            json!({"status": "succeeded"}),
        ),
        (
            json!({"type": "mcp_tool_call_end", "result": {"Err": "connection refused"}}),
            json!({"status": "failed", "error": {"message": "connection refused"}}),
        ),
        (
            json!({"type": "mcp_tool_call_end", "result": {"Err": "user rejected MCP tool call"}}),
            json!({"status": "rejected", "error": {"message": "user rejected MCP tool call"}}),
        ),
        (
            json!({"type": "patch_apply_end", "success": false, "stdout": "", "stderr": "no such line", "status": "failed"}),
            json!({"status": "failed", "error": {"message": "no such line"}}),
        ),
        (
            json!({"type": "patch_apply_end", "success": true, "stdout": "Success."}),
            json!({"status": "succeeded"}),
        ),
        (
            json!({"type": "patch_apply_end", "success": false, "stdout": "", "status": "declined"}),
            json!({"status": "rejected", "error": {"message": "declined"}}),
        ),
        (
            json!({"type": "exec_command_end", "exit_code": 101, "aggregated_output": "  Compiling\nerror: E1\n",
                "stdout": "", "stderr": "", "duration": took, "status": "failed"}),
            json!({"status": "failed", "exit_code": 101, "error": {"message": "error: E1"}, "duration_ms": 1250}),
        ),
        (
            json!({"type": "exec_command_end", "exit_code": 0, "status": "completed"}),
            json!({"status": "succeeded", "exit_code": 0}),
        ),
    ];
    for (mut payload, mut expected) in cases {
        payload["call_id"] = json!("c");
        expected["call_id"] = json!("c");
        let event = only(&notice(payload.clone()));
        assert_eq!(
            (event.body.name(), event.body.data().to_value()),
            ("tool.reported", expected),
            "{payload}"
        );
    }
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
