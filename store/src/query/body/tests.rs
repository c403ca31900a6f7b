//! One small conversation in each API's shape, written out by hand.

use agent_core::{
    Block, Body, ChunkKind, ContextAdded, Event, EventId, Json, ModelResponded, ToolCalled, ToolEnded,
    UserMessaged,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::BodyWriter;
use crate::ApiShape;
use crate::projection::tables::PartRow;

const SHAPES: [ApiShape; 3] = [ApiShape::Messages, ApiShape::ChatCompletions, ApiShape::Responses];

fn slot(slot: &str, content: &Value) -> Body {
    let (slot, content) = (Some(slot.to_owned()), Some(Json::of(content)));
    Body::ContextAdded(ContextAdded { slot, content, ..Default::default() })
}

fn said(content: Vec<Block>) -> Body {
    Body::ModelResponded(ModelResponded { content, ..Default::default() })
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn called(call_id: &str, input: &Value) -> Body {
    let (call_id, name) = (call_id.to_owned(), "bash".to_owned());
    Body::ToolCalled(ToolCalled { call_id, name, input: Some(Json::of(input)), ..Default::default() })
}

fn ended(call_id: &str, output: Option<Value>) -> ToolEnded {
    let output = output.as_ref().map(Json::of);
    ToolEnded { call_id: call_id.to_owned(), output, ..Default::default() }
}

fn asked(text: &str) -> Body {
    Body::UserMessaged(UserMessaged { text: text.to_owned(), ..Default::default() })
}

fn written(shape: ApiShape, bodies: Vec<Body>) -> Vec<u8> {
    let mut parts: Vec<PartRow> = Vec::new();
    for (sub, body) in (0..).zip(&bodies) {
        let kind = match body {
            Body::ContextAdded(added) if added.slot.as_deref() == Some("system") => ChunkKind::System,
            Body::ContextAdded(added) if added.slot.as_deref() == Some("tools") => ChunkKind::ToolSchema,
            _ => ChunkKind::History,
        };
        parts.push(PartRow { sub, kind: kind.as_str().to_owned(), ..Default::default() });
    }
    shape.order(&mut parts);
    let mut writer = BodyWriter::new(shape, Some("m"));
    for part in &parts {
        let body = bodies[usize::from(part.sub)].clone();
        writer.add(part, &Event::new(EventId::derived(&[b"e"]), "s", body));
    }
    writer.finish().body()
}

fn conversation() -> Vec<Body> {
    vec![
        slot("system", &json!("be brief")),
        slot("tools", &json!([{"name": "bash"}])),
        asked("list"),
        said(vec![Block::Reasoning { text: "hm".to_owned(), hidden: false }, text("I look.")]),
        called("c1", &json!({"command": "ls"})),
        called("c2", &json!({"command": "pwd"})),
        Body::ToolEnded(ended("c1", Some(json!("a b")))),
        Body::ToolEnded(ended("c2", Some(json!("/")))),
        said(vec![text("Two files.")]),
        asked("thanks"),
    ]
}

#[test]
fn messages_hold_blocks() {
    let body: Value = serde_json::from_slice(&written(ApiShape::Messages, conversation())).expect("JSON");
    let expected = json!({
        "model": "m",
        "system": "be brief",
        "tools": [{"name": "bash"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "list"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "bash", "input": {"command": "pwd"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a b"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "/"},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "Two files."}]},
            {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn chat_completions_hold_calls_inside_of_messages() {
    let bytes = written(ApiShape::ChatCompletions, conversation());
    let body: Value = serde_json::from_slice(&bytes).expect("JSON");
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
    let expected = json!({
        "model": "m",
        "tools": [{"name": "bash"}],
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [
                call("c1", r#"{"command":"ls"}"#),
                call("c2", r#"{"command":"pwd"}"#),
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "a b"},
            {"role": "tool", "tool_call_id": "c2", "content": "/"},
            {"role": "assistant", "content": "Two files."},
            {"role": "user", "content": "thanks"},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn chat_completions_know_calls_without_words_and_agents_without_tools() {
    let bodies = vec![
        slot("system", &json!("be brief")),
        slot("tools", &json!([])),
        called("c1", &json!({"command": "ls"})),
    ];
    let body: Value = serde_json::from_slice(&written(ApiShape::ChatCompletions, bodies)).expect("JSON");
    let call = json!({"id": "c1", "type": "function", "function": {"name": "bash", "arguments": r#"{"command":"ls"}"#}});
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn responses_hold_items() {
    let mut bodies = conversation();
    bodies.push(called("c3", &json!("*** Begin Patch")));
    bodies.push(Body::ToolEnded(ended("c3", Some(json!("Done")))));
    let body: Value = serde_json::from_slice(&written(ApiShape::Responses, bodies)).expect("JSON");
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let expected = json!({
        "model": "m",
        "instructions": "be brief",
        "tools": [{"name": "bash"}],
        "input": [
            message("user", "input_text", "list"),
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            message("assistant", "output_text", "I look."),
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": r#"{"command":"ls"}"#},
            {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": r#"{"command":"pwd"}"#},
            {"type": "function_call_output", "call_id": "c1", "output": "a b"},
            {"type": "function_call_output", "call_id": "c2", "output": "/"},
            message("assistant", "output_text", "Two files."),
            message("user", "input_text", "thanks"),
            {"type": "custom_tool_call", "call_id": "c3", "name": "bash", "input": "*** Begin Patch"},
            {"type": "custom_tool_call_output", "call_id": "c3", "output": "Done"},
        ],
    });
    assert_eq!(body, expected);
}

#[test]
fn only_what_went_wrong_is_marked_as_an_error() {
    use agent_core::ToolStatus::{Failed, Rejected, Succeeded, Unknown};
    for (status, is_error) in
        [(None, 0), (Some(Unknown), 0), (Some(Succeeded), 0), (Some(Failed), 1), (Some(Rejected), 1)]
    {
        let end = ToolEnded { status, ..ended("c1", Some(json!("a"))) };
        let body = written(ApiShape::Messages, vec![Body::ToolEnded(end)]);
        let body = String::from_utf8(body).expect("UTF-8");
        assert_eq!(body.matches("is_error").count(), is_error, "{body}");
    }
}

/// What the provider ran itself has no result of ours: none is made up for it.
#[test]
fn a_call_that_the_provider_ran_gets_no_result() {
    let mut end = ended("c1", None);
    end.other.insert("within_response".to_owned(), true.into());
    for shape in SHAPES {
        let bodies = vec![asked("find"), called("c1", &json!({"query": "x"})), Body::ToolEnded(end.clone())];
        let body = String::from_utf8(written(shape, bodies)).expect("UTF-8");
        assert_eq!(body.matches("c1").count(), 1, "{body}");
    }
}

/// What the source says in the words of its API is written so.
#[test]
fn responses_know_the_items_that_the_source_names() {
    let native = |id: &str, item: &str, input: &Value| {
        let mut body = called(id, input);
        if let Body::ToolCalled(call) = &mut body {
            call.other.insert("item".to_owned(), item.into());
        }
        body
    };
    let mut spaced = native("c4", "function_call", &json!({"a": 1}));
    if let Body::ToolCalled(call) = &mut spaced {
        call.name = "mcp.docs.find".to_owned();
        call.other.insert("namespace".to_owned(), "mcp.docs".into());
    }
    let mut found = ended("c3", Some(json!([{"name": "x"}])));
    found.other.insert("item".to_owned(), "tool_search_output".into());
    let bodies = vec![
        native("c1", "web_search_call", &json!({"query": "duck"})),
        native("c2", "custom_tool_call", &json!({"cmd": "ls"})),
        native("c3", "tool_search_call", &json!({"query": "x"})),
        spaced,
        Body::ToolEnded(ended("c2", Some(json!("a b")))),
        Body::ToolEnded(found),
    ];
    let body: Value = serde_json::from_slice(&written(ApiShape::Responses, bodies)).expect("JSON");
    let expected = json!([
        {"type": "web_search_call", "id": "c1", "action": {"query": "duck"}},
        {"type": "custom_tool_call", "call_id": "c2", "name": "bash", "input": r#"{"cmd":"ls"}"#},
        {"type": "tool_search_call", "call_id": "c3", "arguments": {"query": "x"}},
        {"type": "function_call", "call_id": "c4", "namespace": "mcp.docs", "name": "find", "arguments": r#"{"a":1}"#},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "a b"},
        {"type": "tool_search_output", "call_id": "c3", "tools": [{"name": "x"}]},
    ]);
    assert_eq!(body["input"], expected);
}

fn any_body() -> impl Strategy<Value = Body> {
    let word = prop_oneof!["\\PC{0,4}", Just("\"".to_owned()), Just("}]".to_owned())].boxed();
    prop_oneof![
        word.clone().prop_map(|word| asked(&word)),
        word.clone().prop_map(|word| said(vec![text(&word), Block::other(&Json::string(&word))])),
        word.clone().prop_map(|word| called(&word, &json!(word))),
        word.clone().prop_map(|word| Body::ToolEnded(ended(&word, None))),
        word.clone().prop_map(|word| slot("system", &json!(word))),
        word.clone().prop_map(|word| slot("tools", &json!([word]))),
        word.prop_map(|word| slot("note", &json!([{"type": "text", "text": word}]))),
    ]
}

/// A message without words is none, and parts the system prompt from the schemas all the same.
#[test]
fn schemas_that_come_late_stand_among_the_messages() {
    let bodies = vec![asked(""), slot("system", &json!("rules")), slot("tools", &json!([{"name": "bash"}]))];
    for shape in SHAPES {
        let body = written(shape, bodies.clone());
        serde_json::from_slice::<Value>(&body).expect("JSON");
        assert!(String::from_utf8_lossy(&body).contains("bash"), "nothing is lost");
    }
}

proptest! {
    #[test]
    fn every_body_is_json(bodies in prop::collection::vec(any_body(), 0..10)) {
        for shape in SHAPES {
            let body = written(shape, bodies.clone());
            let read = serde_json::from_slice::<Value>(&body);
            prop_assert!(read.is_ok(), "{} {read:?}", String::from_utf8_lossy(&body));
        }
    }
}
