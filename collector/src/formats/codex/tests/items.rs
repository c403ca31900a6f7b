//! The items of the conversation, and the traps that real ones hold.

use agent_core::{Block, Body, Event, ParentKind, ParentLink, SessionStarted};
use serde_json::json;
use store::Source;

use super::{brief, briefs, events, item, map_row, only, source};

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
fn events_name_the_item_that_a_rebuilt_prompt_has_in_their_place() {
    let call = |kind: &str| json!({"type": kind, "call_id": "c", "id": "c", "name": "n", "namespace": "app"});
    let result = |kind: &str| json!({"type": kind, "call_id": "c", "output": "x"});
    let cases = [
        (call("function_call"), vec![json!({}), json!({"item": "function_call", "namespace": "app"})]),
        (call("custom_tool_call"), vec![json!({}), json!({"item": "custom_tool_call", "namespace": "app"})]),
        (result("function_call_output"), vec![json!({"item": "function_call_output"})]),
        (result("custom_tool_call_output"), vec![json!({"item": "custom_tool_call_output"})]),
        (
            json!({"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}}),
            vec![
                json!({}),
                json!({"item": "web_search_call"}),
                // The end is no item: nothing of it may stand in a prompt.
                json!({"item": "web_search_call", "within_response": true}),
            ],
        ),
        (
            json!({"type": "message", "role": "assistant", "phase": "commentary", "content": "I look"}),
            vec![json!({"phase": "commentary"})],
        ),
        (
            json!({"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": "do"}),
            vec![json!({"item": "agent_message", "author": "/root", "recipient": "/root/a"})],
        ),
    ];
    for (payload, expected) in cases {
        let native = |event: Event| match event.body {
            Body::ModelResponded(piece) => json!(piece.other),
            Body::ToolCalled(call) => json!(call.other),
            Body::ToolEnded(end) => {
                assert!(!end.other.contains_key("within_response") || end.output.is_none());
                json!(end.other)
            }
            Body::UserMessaged(message) => json!(message.other),
            body => panic!("{body:?}"),
        };
        assert_eq!(
            events(&item(payload.clone())).into_iter().map(native).collect::<Vec<_>>(),
            expected,
            "{payload}"
        );
    }
}

#[test]
fn what_a_script_says_while_it_runs_is_not_its_result() {
    let said = |text: &str| json!({"type": "custom_tool_call_output", "call_id": "c", "name": "exec", "output": text});
    let note = only(&item(said("half done")));
    assert_eq!(
        note.body.data().to_value(),
        json!({"kind": "state", "source": "c", "reason": "said by the script while it ran",
            "content": "half done", "item": "custom_tool_call_output", "call_id": "c"})
    );
    assert_eq!(note.body.name(), "context.added");
    let result = said("Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n");
    assert_eq!(briefs(&item(result)), ["tool.ended #c succeeded"]);
}

#[test]
fn failed_commands_carry_their_code_time_and_words() {
    let printed = json!({"chunk_id": "a", "exit_code": 101, "output": "   Compiling x\nerror: no binary\n"});
    let output = json!([
        {"type": "input_text", "text": "Script completed\nWall time 12.9 seconds\nOutput:\n"},
        {"type": "input_text", "text": printed.to_string()}
    ]);
    let end = only(&item(json!({"type": "custom_tool_call_output", "call_id": "c", "output": output})));
    assert_eq!(
        end.body.data().to_value(),
        json!({"call_id": "c", "status": "failed", "exit_code": 101, "duration_ms": 12900,
            "error": {"message": "error: no binary"}, "output": output, "item": "custom_tool_call_output"})
    );
}

#[test]
fn insertions_say_what_they_are_in_the_prompt() {
    let cases = [
        ("# AGENTS.md instructions for /w\n\nbe brief", json!({"kind": "memory", "source": "/w/AGENTS.md"})),
        ("<environment_context>\n<cwd>/w</cwd>", json!({"kind": "state", "reason": "environment_context"})),
        ("<skill>\n<name>pdf</name></skill>", json!({"kind": "skill", "reason": "skill"})),
        ("<personality_spec> kind </personality_spec>", json!({"reason": "personality_spec"})),
    ];
    for (text, expected) in cases {
        let said = events(&item(json!({"type": "message", "role": "user", "content": text}))).remove(0);
        let mut told = said.body.data().to_value();
        let fields = told.as_object_mut().expect("an object");
        assert_eq!(fields.remove("origin"), Some(json!("injected")));
        fields.remove("text");
        assert_eq!(told, expected, "{text}");
    }
}
