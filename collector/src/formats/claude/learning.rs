//! What files and calls say of memory, skills, plans and sub-agents.

use agent_core::{Body, Json, LearningNote, Note, Subagent};
use serde::Deserialize;

use super::Writer;

#[derive(Default, Deserialize)]
struct InputWire {
    file_path: Option<String>,
    skill: Option<String>,
    command: Option<String>,
    subagent_type: Option<String>,
    description: Option<String>,
}

/// Adds what a call of a tool means for memory, skills, plans and sub-agents.
pub(super) fn of_call(writer: &mut Writer<'_>, tool: &str, call_id: &str, input: &Json) {
    let is_of_interest = matches!(
        tool,
        "Skill"
            | "Task"
            | "Agent"
            | "Write"
            | "Edit"
            | "MultiEdit"
            | "Read"
            | "TodoWrite"
            | "TaskCreate"
            | "TaskUpdate"
            | "ExitPlanMode"
    );
    if !is_of_interest {
        return;
    }
    let wire: InputWire = serde_json::from_str(input.get()).unwrap_or_default();
    match tool {
        "Skill" => {
            if let Some(name) = wire.skill.or(wire.command) {
                note(writer, Body::SkillMatched, name, call_id, "Skill tool");
            }
        }
        "Task" | "Agent" => writer.push(
            None,
            Body::SubagentStarted(Subagent {
                call_id: Some(call_id.to_owned()),
                name: wire.subagent_type.or(wire.description),
                ..Default::default()
            }),
        ),
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "ExitPlanMode" => {
            let mut plan = Note { detail: Some(format!("by {tool}")), ..Default::default() };
            plan.other.insert("call_id".to_owned(), call_id.into());
            writer.push(None, Body::PlanUpdated(plan));
        }
        _ => of_file(writer, tool, call_id, wire.file_path),
    }
}

fn of_file(writer: &mut Writer<'_>, tool: &str, call_id: &str, path: Option<String>) {
    let Some(path) = path else { return };
    let is_read = tool == "Read";
    let source = format!("{tool} tool");
    if is_memory(&path) {
        note(
            writer,
            if is_read { Body::MemoryRecalled } else { Body::MemoryWritten },
            path,
            call_id,
            &source,
        );
    } else if let Some(skill) = skill_of(&path) {
        let kind = match tool {
            "Read" => Body::SkillMatched,
            "Write" => Body::SkillCreated,
            _ => Body::SkillUpdated,
        };
        note(writer, kind, skill, call_id, &source);
    }
}

fn note(writer: &mut Writer<'_>, kind: fn(LearningNote) -> Body, key: String, call_id: &str, source: &str) {
    writer.push(
        None,
        kind(LearningNote {
            key,
            source: Some(source.to_owned()),
            call_id: Some(call_id.to_owned()),
            ..Default::default()
        }),
    );
}

/// Returns whether a file is one that agents keep their memory in.
fn is_memory(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "CLAUDE.md" | "CLAUDE.local.md" | "MEMORY.md" | "AGENTS.md")
        || (path.contains("/.claude/") && path.contains("/memory/"))
}

/// Returns the skill that a `.../skills/<skill>/SKILL.md` is of.
fn skill_of(path: &str) -> Option<String> {
    let folder = path.strip_suffix("/SKILL.md")?;
    let (_, skill) = folder.rsplit_once("/skills/")?;
    Some(skill.to_owned())
}

/// Reminders that the runtime puts in quote memory files by their path.
pub(super) fn of_reminder(writer: &mut Writer<'_>, text: &str) {
    const QUOTES: &str = "Contents of ";
    for (at, _) in text.match_indices(QUOTES) {
        let rest = &text[at + QUOTES.len()..];
        let path = rest.split([' ', '\n', ':']).next().unwrap_or_default();
        if is_memory(path) {
            writer.push(
                None,
                Body::MemoryRecalled(LearningNote {
                    key: path.to_owned(),
                    source: Some("system-reminder".to_owned()),
                    ..Default::default()
                }),
            );
        }
    }
}
