//! What files and calls say of memory, skills, plans and sub-agents.

use agent_core::{Body, ChunkKind, ContextAdded, Json, LearningNote, Note, Subagent};
use serde::Deserialize;

use super::Writer;
use super::wire::RowWire;

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
    let mut parts: Vec<&str> = path.split(['/', '\\']).collect();
    let name = parts.pop().unwrap_or_default();
    matches!(name, "CLAUDE.md" | "CLAUDE.local.md" | "MEMORY.md" | "AGENTS.md")
        || parts.iter().position(|part| *part == ".claude").is_some_and(|at| parts[at..].contains(&"memory"))
}

/// Returns the skill that a `.../skills/<skill>/SKILL.md` is of.
fn skill_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let skills = parts.iter().rposition(|part| *part == "skills")?;
    let (skill, rest) = parts[skills + 1..].split_first()?;
    (rest.last() == Some(&"SKILL.md")).then(|| (*skill).to_owned())
}

/// Reads a text that the runtime put in when a skill was called, and puts it into the prompt as the skill's.
/// Returns whether it is one.
pub(super) fn skill_content(writer: &mut Writer<'_>, wire: &RowWire, text: &str) -> bool {
    let Some(rest) = text.strip_prefix("Base directory for this skill: ") else { return false };
    let folder = rest.lines().next().unwrap_or_default().trim_end();
    let skill = folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    // Where a call of the Skill tool brought it in, the call has told that the skill was taken.
    if wire.source_tool_use_id.is_none() {
        writer.push(
            None,
            Body::SkillMatched(LearningNote {
                key: skill.to_owned(),
                source: Some("skill content".to_owned()),
                ..Default::default()
            }),
        );
    }
    writer.push(
        None,
        Body::ContextAdded(ContextAdded {
            kind: Some(ChunkKind::Skill),
            source: Some(folder.to_owned()),
            reason: Some("the skill's text".to_owned()),
            content: Some(Json::string(text)),
            ..Default::default()
        }),
    );
    true
}

const REMINDER: &str = "<system-reminder>";
const REMINDER_END: &str = "</system-reminder>";
/// What stands before a file's path where a reminder quotes it.
const QUOTES: &str = "Contents of ";

/// Notes the memory files that the reminders in a message quote.
pub(super) fn of_reminders(writer: &mut Writer<'_>, text: &str) {
    for (_, rest) in text.match_indices(REMINDER).map(|(at, tag)| text.split_at(at + tag.len())) {
        of_reminder(writer, rest.split(REMINDER_END).next().unwrap_or_default(), None);
    }
}

/// Notes the memory files that the reminder at the end of a result quotes. Others are of the result itself:
/// the agent has read a file that quotes reminders. `words` is the output as JSON text.
pub(super) fn of_result(writer: &mut Writer<'_>, words: &str, output: Option<&Json>, call_id: &str) {
    // Nearly all results end here, and they may be large.
    let tail = &words[words.floor_char_boundary(words.len().saturating_sub(60))..];
    if !tail.contains(REMINDER_END) || !words.contains(QUOTES) {
        return;
    }
    let Some(text) = output.and_then(last_text) else { return };
    let Some(text) = text.trim_end().strip_suffix(REMINDER_END) else { return };
    if let Some((_, reminder)) = text.rsplit_once(REMINDER) {
        of_reminder(writer, reminder, Some(call_id));
    }
}

/// Returns an output's text, or that of its last block.
fn last_text(output: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct TextWire {
        text: Option<String>,
    }
    output.as_text().or_else(|| serde_json::from_str::<Vec<TextWire>>(output.get()).ok()?.pop()?.text)
}

fn of_reminder(writer: &mut Writer<'_>, reminder: &str, call_id: Option<&str>) {
    for (_, rest) in reminder.match_indices(QUOTES).map(|(at, quotes)| reminder.split_at(at + quotes.len())) {
        let line = rest.lines().next().unwrap_or_default().trim_end().trim_end_matches(':');
        let path = line.split(" (").next().unwrap_or_default();
        if is_memory(path) {
            writer.push(
                None,
                Body::MemoryRecalled(LearningNote {
                    key: path.to_owned(),
                    source: Some("system-reminder".to_owned()),
                    call_id: call_id.map(str::to_owned),
                    ..Default::default()
                }),
            );
        }
    }
}
