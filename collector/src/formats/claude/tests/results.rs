//! Results of tools: how a call ended, and what it gave back.

use serde_json::{Value, json};

use super::*;

#[test]
fn results_say_how_a_call_ended() {
    let refused = "The user doesn't want to proceed with this tool use. STOP";
    let sibling = "<tool_use_error>Sibling tool call errored</tool_use_error>";
    let broken_off = "[Request interrupted by user for tool use]";
    let beside = |row: Value, beside: Value| with(row, json!({"toolUseResult": beside}));
    for (row, expected) in [
        (
            beside(result("ok".into()), json!({"stdout": "ok", "interrupted": false, "durationMs": 12})),
            json!({"status": "succeeded", "output": "ok", "duration_ms": 12}),
        ),
        (
            result("Exit code 3 is what I print".into()),
            json!({"status": "succeeded", "output": "Exit code 3 is what I print"}),
        ),
        (
            beside(failed("Exit code 127\nnot found".into()), json!("Error: Exit code 127")),
            json!({
                "status": "failed", "exit_code": 127, "output": "Exit code 127\nnot found",
                "error": {"message": "Exit code 127\nnot found"},
            }),
        ),
        (
            failed(refused.into()),
            json!({"status": "rejected", "output": refused, "error": {"message": refused}}),
        ),
        (
            with(failed("no".into()), json!({"toolDenialKind": "user-rejected"})),
            json!({"status": "rejected", "output": "no", "error": {"message": "no"}}),
        ),
        (
            failed(sibling.into()),
            json!({"status": "cancelled", "output": sibling, "error": {"message": sibling}}),
        ),
        (
            failed(broken_off.into()),
            json!({"status": "cancelled", "output": broken_off, "error": {"message": broken_off}}),
        ),
        (
            beside(result("half".into()), json!({"interrupted": true, "stdout": "half"})),
            json!({"status": "cancelled", "output": "half", "error": {"message": "half"}}),
        ),
        (
            beside(result("ok".into()), json!({"durationMs": 12.6})),
            json!({"status": "succeeded", "output": "ok", "duration_ms": 13}),
        ),
        (
            beside(result("ok".into()), json!({"durationSeconds": 1.5, "code": "x"})),
            json!({"status": "succeeded", "output": "ok", "duration_ms": 1500}),
        ),
        // Another tool may well mean something else by a field.
        (
            beside(result("x".into()), json!({"durationMs": "long", "interrupted": "never"})),
            json!({"status": "succeeded", "output": "x"}),
        ),
    ] {
        check(row, json!([{"tool.ended": with(expected, json!({"call_id": "call_1"}))}]));
    }
}

#[test]
fn a_failure_that_quotes_such_words_is_a_failure() {
    let quoted = json!([text("grep: [Request interrupted by user for tool use]")]);
    check(
        failed(quoted.clone()),
        json!([{"tool.ended": {
            "call_id": "call_1", "status": "failed", "output": quoted,
            "error": {"message": quoted.to_string()},
        }}]),
    );
}

#[test]
fn the_message_of_a_failure_is_the_beginning_of_its_output() {
    // Three bytes each time, so that 500 bytes are 166 times and two more.
    let output = "é\n".repeat(4000);
    check(
        failed(output.clone().into()),
        json!([{"tool.ended": {
            "call_id": "call_1", "status": "failed", "output": output,
            "error": {"message": format!("{}é", "é\n".repeat(166))},
        }}]),
    );
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
    let agent = json!({"subagent.ended": {
        "session": format!("{SESSION}/ab12"), "call_id": "call_1", "status": "completed",
    }});
    check(with(result("seen".into()), done), json!([ended, agent]));
    let launched = json!({"toolUseResult": {"status": "async_launched", "agentId": "ab12"}});
    assert_eq!(events(&with(result("seen".into()), launched)).len(), 1);
}
