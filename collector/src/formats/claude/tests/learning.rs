//! What rows say of memory, skills, plans and sub-agents.

use agent_core::Body;
use serde_json::{Value, json};

use super::*;

/// Returns what a row tells of memory and skills, besides the result itself.
fn notes(row: &Value) -> Vec<Value> {
    events(row).iter().skip(1).map(told).collect()
}

#[test]
fn calls_that_succeeded_tell_of_memory_and_skills() {
    let patched = |path: &str| json!({"filePath": path, "oldString": "a", "structuredPatch": []});
    let written = |kind: &str, path: &str| json!({"type": kind, "filePath": path, "content": "oak"});
    let read = |path: &str| json!({"type": "text", "file": {"filePath": path, "content": "oak"}});
    let skill = "/oak/.claude/skills/carve/SKILL.md";
    let memory = "/home/ada/.claude/projects/oak/memory/glue.md";
    for (beside, expected) in [
        (read("/oak/CLAUDE.md"), Some(("memory.recalled", "/oak/CLAUDE.md", "Read tool"))),
        (patched("/oak/AGENTS.md"), Some(("memory.written", "/oak/AGENTS.md", "Edit tool"))),
        (written("create", memory), Some(("memory.written", memory, "Write tool"))),
        (
            written("update", "C:\\w\\.claude\\x\\memory\\n.md"),
            Some(("memory.written", "C:\\w\\.claude\\x\\memory\\n.md", "Edit tool")),
        ),
        (read(skill), Some(("skill.matched", "carve", "Read tool"))),
        (written("create", skill), Some(("skill.created", "carve", "Write tool"))),
        (written("update", skill), Some(("skill.updated", "carve", "Edit tool"))),
        (patched("/w/skills/pdf/SKILL.md"), Some(("skill.updated", "pdf", "Edit tool"))),
        (
            json!({"success": true, "commandName": "wood:carve"}),
            Some(("skill.matched", "wood:carve", "Skill tool")),
        ),
        (json!({"success": false, "commandName": "wood:carve"}), None),
        (read("/oak/NOT-CLAUDE.md"), None),
        (written("create", "/w/memory/n.md"), None),
        // Another tool's word for a file that it did not write.
        (json!({"filePath": "/oak/CLAUDE.md", "matches": 3}), None),
        (json!({"stdout": "\"filePath\": \"/oak/CLAUDE.md\""}), None),
    ] {
        let row = with(result("done".into()), json!({"toolUseResult": beside}));
        let expected: Vec<Value> = expected
            .map(|(name, key, source)| json!({name: {"key": key, "source": source, "call_id": "call_1"}}))
            .into_iter()
            .collect();
        assert_eq!(notes(&row), expected, "{row}");
    }
}

#[test]
fn calls_that_failed_or_have_not_ended_teach_nothing() {
    let beside = json!({"toolUseResult": {"type": "update", "filePath": "/oak/CLAUDE.md"}});
    assert_eq!(notes(&with(failed("File has been modified since read".into()), beside)), [Value::Null; 0]);
    for (tool, input) in [
        ("Edit", json!({"file_path": "/oak/CLAUDE.md"})),
        ("Write", json!({"file_path": "/oak/.claude/skills/carve/SKILL.md"})),
        ("Skill", json!({"skill": "carve"})),
        ("Grep", json!({"file_path": "/oak/CLAUDE.md"})),
    ] {
        let call = json!({"type": "tool_use", "id": "t", "name": tool, "input": input});
        let events = events(&assistant(json!({"id": "m", "content": [call]})));
        assert_eq!(events.len(), 2, "{tool}: the response and the call");
    }
}

#[test]
fn results_that_came_along_alone_tell_by_their_words() {
    for (words, expected) in [
        (
            "The file /oak/CLAUDE.md has been updated. Here's the result",
            Some(("memory.written", "/oak/CLAUDE.md", "Edit tool")),
        ),
        (
            "File created successfully at: C:\\w\\CLAUDE.md",
            Some(("memory.written", "C:\\w\\CLAUDE.md", "Write tool")),
        ),
        ("Launching skill: wood:carve\n", Some(("skill.matched", "wood:carve", "Skill tool"))),
        ("he said: The file /oak/CLAUDE.md has been updated", None),
    ] {
        let expected: Vec<Value> = expected
            .map(|(name, key, source)| json!({name: {"key": key, "source": source, "call_id": "call_1"}}))
            .into_iter()
            .collect();
        assert_eq!(notes(&result(words.into())), expected, "{words}");
        assert_eq!(notes(&failed(words.into())), [Value::Null; 0], "{words}");
    }
}

#[test]
fn a_message_has_its_ids_whatever_stands_beside_it() {
    let alone = user(json!([
        {"type": "tool_result", "tool_use_id": "call_1", "content": "1 oak"},
        {"type": "tool_result", "tool_use_id": "call_2", "content": "2 ash"},
    ]));
    let file = json!({"type": "text", "file": {"filePath": "/oak/CLAUDE.md"}});
    let whole = with(alone.clone(), json!({"toolUseResult": file}));
    let ids = |row: &Value, name: &str| -> Vec<String> {
        let events = events(row).into_iter().filter(|event| event.body.name() == name);
        events.map(|event| event.id.to_string()).collect()
    };
    assert_eq!(ids(&whole, "tool.ended"), ids(&alone, "tool.ended"));
    let recalled = ids(&whole, "memory.recalled");
    assert!(!recalled.is_empty() && !ids(&alone, "tool.ended").contains(&recalled[0]));
}

#[test]
fn calls_tell_of_plans_and_sub_agents() {
    for (tool, input, expected) in [
        (
            "Task",
            json!({"subagent_type": "Explore", "prompt": "look"}),
            json!({"subagent.started": {"call_id": "t", "name": "Explore"}}),
        ),
        (
            "Agent",
            json!({"description": "Look around"}),
            json!({"subagent.started": {"call_id": "t", "name": "Look around"}}),
        ),
        (
            "TodoWrite",
            json!({"todos": []}),
            json!({"plan.updated": {"detail": "by TodoWrite", "call_id": "t"}}),
        ),
    ] {
        check(
            assistant(json!({"id": "m", "content": [
                {"type": "tool_use", "id": "t", "name": tool, "input": input},
            ]})),
            json!([
                {"model.responded": {
                    "response_id": "m", "usage_quality": "missing",
                    "content": [{"type": "tool_use", "call_id": "t", "name": tool}],
                }},
                {"tool.called": {"call_id": "t", "name": tool, "input": input}},
                expected,
            ]),
        );
    }
}

#[test]
fn reminders_tell_of_memory_files_and_quoted_ones_do_not() {
    let reminder = "<system-reminder>\nContents of /home/ada day/CLAUDE.md (the user's own):\n\noak\n\n\
                    Contents of /home/ada/plan.md:\n\nno memory</system-reminder>";
    let recalled = |row: &Value| -> Vec<(String, Option<String>)> {
        let recalls = events(row).into_iter().filter_map(|event| match event.body {
            Body::MemoryRecalled(note) => Some((note.key, note.call_id)),
            _ => None,
        });
        recalls.collect()
    };
    let known = |call: Option<&str>| [("/home/ada day/CLAUDE.md".to_owned(), call.map(str::to_owned))];
    let of_call = known(Some("call_1"));
    assert_eq!(recalled(&user(json!([text(reminder), text("go on")]))), known(None));
    assert_eq!(recalled(&result(format!("planks\n\n{reminder}\n").into())), of_call);
    assert_eq!(recalled(&result(json!([text("planks"), text(reminder)]))), of_call);
    assert_eq!(recalled(&result(format!("{reminder}\nis what the file says").into())), []);
    assert_eq!(recalled(&user("Contents of /home/ada/CLAUDE.md:".into())), []);
    let windows = "fn main\n<system-reminder>\nContents of C:\\w\\CLAUDE.md:\n\noak</system-reminder>";
    assert_eq!(
        recalled(&result(windows.into())),
        [("C:\\w\\CLAUDE.md".to_owned(), Some("call_1".to_owned()))]
    );
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
