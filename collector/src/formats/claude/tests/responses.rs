//! Assistant rows: pieces of responses, and the calls in them.

use agent_core::{Block, Body};
use serde_json::{Value, json};

use super::*;

#[test]
fn a_response_has_its_pieces_and_disjoint_tokens() {
    let row = assistant(json!({
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
    }));
    check(
        with(row, json!({"requestId": "req_1"})),
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
fn the_arguments_of_a_call_stay_as_the_model_wrote_them() {
    let line = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"b": 1,"a":[ ]}}]}}"#;
    let out = map(line);
    let Body::ModelResponded(piece) = &out.events[0].body else { panic!("{:?}", out.events[0]) };
    assert_eq!(piece.content, [Block::ToolUse { call_id: "t1".to_owned(), name: "Bash".to_owned() }]);
    let Body::ToolCalled(call) = &out.events[1].body else { panic!("{:?}", out.events[1]) };
    assert_eq!((call.call_id.as_str(), call.name.as_str()), ("t1", "Bash"));
    assert_eq!(call.input.as_ref().unwrap().get(), r#"{"b": 1,"a":[ ]}"#);
}

#[test]
fn usage_goes_into_disjoint_buckets() {
    let hour = json!({"ephemeral_1h_input_tokens": 5, "ephemeral_5m_input_tokens": 0});
    for (usage, expected) in [
        (
            json!({"input_tokens": 1, "cache_creation_input_tokens": 7, "output_tokens": 2}),
            json!({"uncached_input": 1, "cache_write_5m": 7, "output": 2}),
        ),
        (json!({"cache_creation_input_tokens": 7, "cache_creation": {}}), json!({"cache_write_5m": 7})),
        (
            json!({"cache_creation_input_tokens": 7, "cache_creation": hour}),
            json!({"cache_write_5m": 2, "cache_write_1h": 5}),
        ),
        (Value::Null, Value::Null),
    ] {
        let mut responded = json!({"model": "glm-4.6", "response_id": "m", "usage_quality": "missing"});
        if !expected.is_null() {
            responded = with(responded, json!({"usage": expected, "usage_quality": "partial"}));
        }
        check(
            assistant(json!({
                "id": "m", "model": "glm-4.6", "content": [], "stop_reason": null, "usage": usage,
            })),
            json!([{"model.responded": responded}]),
        );
    }
}

/// Each has prices of its own.
#[test]
fn who_serves_and_in_which_way_is_told() {
    for (model, tier, expected) in [
        ("claude-sonnet-5", json!("batch"), json!({"provider": "anthropic", "service_tier": "batch"})),
        ("us.anthropic.claude-sonnet-5-v1:0", Value::Null, json!({"provider": "aws.bedrock"})),
        ("glm-4.6", json!("standard"), json!({"service_tier": "standard"})),
    ] {
        let row = assistant(json!({
            "id": "m", "model": model, "content": [], "stop_reason": "end_turn",
            "usage": {"output_tokens": 1, "service_tier": tier},
        }));
        let told = json!({
            "model": model, "response_id": "m", "usage_quality": "final", "finish_reason": "end_turn",
            "usage": {"output": 1},
        });
        check(row, json!([{"model.responded": with(told, expected)}]));
    }
}

#[test]
fn responses_and_calls_have_names_also_where_the_provider_gives_none() {
    let row = assistant(json!({"model": "m", "content": [{"type": "tool_use", "name": "ls"}]}));
    for (row, id) in [(with(row.clone(), json!({"requestId": "req_1"})), "req_1"), (row, UUID)] {
        let events = events(&row);
        let Body::ModelResponded(piece) = &events[0].body else { panic!("{:?}", events[0]) };
        assert_eq!((piece.response_id.as_deref(), events[0].fact.as_deref()), (Some(id), Some(id)));
        // The piece and the call name it alike.
        let call_id = format!("{UUID}#0");
        assert_eq!(piece.content, [Block::ToolUse { call_id: call_id.clone(), name: "ls".to_owned() }]);
        assert_eq!(told(&events[1]), json!({"tool.called": {"call_id": call_id, "name": "ls"}}));
    }
}

#[test]
fn tools_that_the_provider_runs_end_within_the_response() {
    for (content, status) in [
        // A page that was found may hold the word.
        (json!([{"type": "web_search_result", "title": "web_search_tool_result_error"}]), "succeeded"),
        (json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}), "failed"),
    ] {
        check(
            assistant(json!({"id": "msg_1", "model": "m", "content": [
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "oak"}},
                {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": content},
                text("Oak is hard."),
            ]})),
            json!([
                {"model.responded": {
                    "model": "m", "response_id": "msg_1", "usage_quality": "missing",
                    "content": [
                        {"type": "tool_use", "call_id": "srv_1", "name": "web_search"},
                        {"type": "text", "text": "Oak is hard."},
                    ],
                }},
                {"tool.called": {"call_id": "srv_1", "name": "web_search", "input": {"query": "oak"}}},
                {"tool.ended": {
                    "call_id": "srv_1", "status": status, "output": content, "within_response": true,
                }},
            ]),
        );
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_kept() {
    let line = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":{"odd":1}},{"type":"text","text":"x"}],"usage":{"input_tokens":"many"}}}"#;
    let out = map(line);
    let losses: Vec<&str> = out.unread.iter().map(|unread| unread.0.split(':').next().unwrap()).collect();
    assert_eq!(losses, ["content block", "usage"]);
    assert_eq!(
        told(&out.events[0]),
        json!({"model.responded": {
            "response_id": "m", "usage_quality": "missing",
            "content": [
                {"type": "other", "value": {"text": {"odd": 1}, "type": "text"}},
                {"type": "text", "text": "x"},
            ],
        }})
    );
}

#[test]
fn words_that_are_said_again_leave_the_context_first() {
    let row = assistant(json!({"id": "m", "content": [text("Oak, and ash.")]}));
    let expected = json!({"model.responded": {
        "response_id": "m", "content": [{"type": "text", "text": "Oak, and ash."}],
        "usage_quality": "missing",
    }});
    check(
        with(row.clone(), json!({"supersedesUuids": ["a2"]})),
        json!([{"context.compacted": {"dropped_steps": ["a2"]}}, expected]),
    );
    check(with(row, json!({"supersedesUuids": []})), json!([expected]));
}
