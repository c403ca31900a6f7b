//! What else comes into the context and leaves it: system rows and attachments.

use serde_json::{Value, json};

use super::*;

fn compacted(subtype: &str, key: &str, metadata: Value) -> Value {
    let fields = json!({
        "subtype": subtype, "parentUuid": null, "logicalParentUuid": "a9", key: metadata,
        "timestamp": "2026-01-02T03:04:05.678Z",
    });
    with(row("system"), fields)
}

#[test]
fn compaction_takes_all_or_names_what_it_takes() {
    let whole = json!({"trigger": "manual", "preTokens": 900, "postTokens": 200});
    check(
        compacted("compact_boundary", "compactMetadata", whole),
        json!([{"context.compacted": {"trigger": "manual", "tokens_before": 900, "tokens_after": 200}}]),
    );
    let segment = json!({"headUuid": "r1", "tailUuid": "r3", "anchorUuid": "sum"});
    let kept = |messages: Value| json!({"preservedSegment": segment, "preservedMessages": messages});
    for (metadata, kept) in [
        (
            kept(json!({"anchorUuid": "sum", "uuids": ["r1"], "allUuids": ["r1", "r2"]})),
            json!({"steps": ["r1", "r2"], "behind": "sum"}),
        ),
        (kept(json!({"anchorUuid": UUID, "uuids": ["r1"]})), json!({"steps": ["r1"], "behind": UUID})),
        (kept(Value::Null), json!({"span": ["r1", "r3"], "behind": "sum"})),
    ] {
        check(
            compacted("compact_boundary", "compactMetadata", metadata),
            json!([{"context.compacted": {"kept": kept}}]),
        );
    }
    check(
        compacted("compact_boundary", "compactMetadata", json!({"preservedMessages": {"uuids": []}})),
        json!([{"context.compacted": {}}]),
    );
    let micro = json!({
        "trigger": "auto", "preTokens": 900, "tokensSaved": 300, "compactedToolIds": ["call_1"],
        "clearedAttachmentUUIDs": [],
    });
    let expected = json!({
        "trigger": "auto", "tokens_before": 900, "tokens_after": 600, "dropped_calls": ["call_1"],
        "placeholder": "[Old tool result content cleared]",
    });
    check(
        compacted("microcompact_boundary", "microcompactMetadata", micro.clone()),
        json!([{"context.compacted": expected}]),
    );
    check(
        compacted(
            "microcompact_boundary",
            "microcompactMetadata",
            with(micro, json!({"clearedAttachmentUUIDs": ["t7"]})),
        ),
        json!([{"context.compacted": with(expected, json!({"dropped_steps": ["t7"]}))}]),
    );
}

#[test]
fn a_boundary_follows_its_logical_parent() {
    let event = events(&compacted("compact_boundary", "compactMetadata", json!({}))).remove(0);
    assert_eq!((event.step.as_deref(), event.after.as_deref()), (Some(UUID), Some("a9")));
    assert_eq!(event.ts.map(|ts| ts.to_string()).as_deref(), Some("2026-01-02T03:04:05.678Z"));
}

#[test]
fn local_commands_are_a_persons_and_their_output_the_clients() {
    let local = |content: &str| with(row("system"), json!({"subtype": "local_command", "content": content}));
    let command = "<command-name>/model</command-name>";
    check(
        local(command),
        json!([{"user.messaged": {
            "origin": "command", "text": command, "typed": "/model", "kind": "user",
            "source": "slash command", "reason": "slash command that the user typed",
        }}]),
    );
    let output = "<local-command-stdout>opus</local-command-stdout>";
    check(
        local(output),
        json!([{"user.messaged": {
            "origin": "command_output", "text": output, "kind": "state", "source": "slash command",
            "reason": "output of a slash command",
        }}]),
    );
    check(local("opus"), json!([{"user.messaged": {"origin": "command_output", "text": "opus"}}]));
}

#[test]
fn the_prompts_front_comes_from_its_snapshot() {
    check(
        attachment(json!({
            "type": "prompt_snapshot", "systemPrompt": ["You are"], "tools": [{"name": "Read"}],
        })),
        json!([
            {"context.added": {
                "kind": "system", "source": "prompt_snapshot", "reason": "the system of the request",
                "slot": "system", "content": [{"text": "You are", "type": "text"}],
            }},
            {"context.added": {
                "kind": "tool_schema", "source": "prompt_snapshot", "reason": "the tools of the request",
                "slot": "tools", "content": [{"name": "Read"}],
            }},
        ]),
    );
}

#[test]
fn attachments_of_memory_and_skills_are_learning_too() {
    check(
        attachment(
            json!({"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {"content": "Be brief"}}),
        ),
        json!([
            {"memory.recalled": {"key": "/w/CLAUDE.md", "source": "nested_memory"}},
            {"context.added": {
                "kind": "memory", "source": "/w/CLAUDE.md",
                "reason": "memory file of a folder that was touched", "content": "Be brief",
            }},
        ]),
    );
    let rendered = "<system-reminder>Read it</system-reminder>";
    check(
        attachment(json!({
            "type": "invoked_skills", "skills": [{"name": "pdf", "path": "/s/pdf", "content": "Read it"}],
            "rendered": [{"content": rendered}],
        })),
        json!([
            {"skill.matched": {"key": "pdf", "source": "invoked_skills"}},
            {"context.added": {
                "kind": "skill", "source": "invoked_skills", "reason": "text of skills that were called",
                "content": rendered,
            }},
        ]),
    );
    for names in [json!(["pdf", "a:b"]), Value::Null] {
        let content = "- pdf: Reads\n- a:b: Does\n";
        let mut listing = json!({"type": "skill_listing", "content": content});
        if !names.is_null() {
            listing["names"] = names;
        }
        check(
            attachment(listing),
            json!([
                {"skill.listed": {"key": "pdf", "source": "skill_listing"}},
                {"skill.listed": {"key": "a:b", "source": "skill_listing"}},
                {"context.added": {
                    "kind": "skill", "source": "skill_listing", "reason": "skills on offer",
                    "content": content,
                }},
            ]),
        );
    }
}

#[test]
fn attachments_say_what_they_are() {
    let todos = json!([{"content": "sand", "status": "pending"}]);
    for (given, kind, source, reason, content) in [
        (
            json!({"type": "hook_blocking_error", "hookName": "Stop", "blockingError": {"blockingError": "tests fail"}}),
            "insight",
            "Stop",
            "a hook refused",
            json!("tests fail"),
        ),
        (
            json!({"type": "hook_additional_context", "hookName": "h", "content": ["mind the glue"]}),
            "insight",
            "h",
            "what a hook adds",
            json!(["mind the glue"]),
        ),
        (
            json!({"type": "hook_success", "hookName": "h", "hookEvent": "SessionStart", "content": "hi"}),
            "insight",
            "h",
            "output of a hook",
            json!("hi"),
        ),
        (
            json!({"type": "todo_reminder", "content": todos}),
            "plan",
            "todo_reminder",
            "reminder of the todo list",
            todos.clone(),
        ),
        (
            json!({"type": "edited_text_file", "filename": "/w/a.txt", "snippet": "1 oak"}),
            "state",
            "/w/a.txt",
            "file that was changed from outside",
            json!("1 oak"),
        ),
        (
            json!({"type": "deferred_tools_delta", "addedLines": ["WebSearch"]}),
            "tool_schema",
            "deferred_tools_delta",
            "tools that can be loaded",
            json!(["WebSearch"]),
        ),
        (
            json!({"type": "total_tokens_reminder", "text": "9 left"}),
            "state",
            "total_tokens_reminder",
            "tokens used and left",
            json!("9 left"),
        ),
        (
            json!({"type": "silent_turn_reminder", "content": "say something"}),
            "insight",
            "silent_turn_reminder",
            "reminder of the client",
            json!("say something"),
        ),
        (
            json!({"type": "never_seen", "content": "news"}),
            "state",
            "never_seen",
            "attachment never_seen",
            json!("news"),
        ),
    ] {
        check(
            attachment(given),
            json!([{"context.added": {
                "kind": kind, "source": source, "reason": reason, "content": content,
            }}]),
        );
    }
}

#[test]
fn what_the_model_is_not_told_adds_nothing() {
    for given in [
        json!({"type": "hook_success", "hookName": "h", "hookEvent": "PostToolUse", "content": "hi"}),
        json!({"type": "todo_reminder", "content": []}),
        json!({"type": "never_seen"}),
    ] {
        check(attachment(given), json!([{"claude_code.attachment": {}}]));
    }
}
