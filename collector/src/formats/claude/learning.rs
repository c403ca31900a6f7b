//! What files and calls say of memory, skills, plans and sub-agents.

use agent_core::{Body, ChunkKind, ContextAdded, Json, LearningNote, Note, Subagent};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Writer;
use super::wire::{OutcomeWire, RowWire, read};

#[derive(Default, Deserialize)]
struct InputWire {
    subagent_type: Option<String>,
    description: Option<String>,
    file_path: Option<String>,
}

/// Adds what a call of a tool means for plans and sub-agents, and what one of a carried message asks to read:
/// nothing in its result names the file.
pub(super) fn of_call(writer: &mut Writer<'_>, tool: &str, call_id: &str, input: &RawValue) {
    match tool {
        "Task" | "Agent" => {
            let wire: InputWire = read(Some(input)).unwrap_or_default();
            writer.push(
                None,
                Body::SubagentStarted(Subagent {
                    call_id: Some(call_id.to_owned()),
                    name: wire.subagent_type.or(wire.description),
                    ..Default::default()
                }),
            );
        }
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "ExitPlanMode" => {
            let mut plan = Note { detail: Some(format!("by {tool}")), ..Default::default() };
            plan.other.insert("call_id".to_owned(), call_id.into());
            writer.push(None, Body::PlanUpdated(plan));
        }
        "Read" if writer.is_carried() => {
            let wire: InputWire = read(Some(input)).unwrap_or_default();
            if let Some(path) = wire.file_path {
                of_file(writer, Outcome::Read(path), call_id, true);
            }
        }
        _ => {}
    }
}

/// What a call that succeeded did.
enum Outcome {
    Read(String),
    Created(String),
    Changed(String),
    Loaded(String),
}

/// Adds what a call that succeeded means for memory and skills. `beside` is what the runtime says of it;
/// rows of sub-agents that came along without that tell it by their first words, as far as they name the file.
pub(super) fn of_outcome(writer: &mut Writer<'_>, beside: Option<&RawValue>, words: &str, call_id: &str) {
    let outcome = match beside {
        // Nearly all results end here, and they may be large.
        Some(beside) if !may_be_of_interest(beside.get()) => return,
        Some(beside) => read(Some(beside)).and_then(outcome),
        None => outcome_in_words(words),
    };
    if let Some(outcome) = outcome {
        of_file(writer, outcome, call_id, false);
    }
}

/// Notes what was done, or with `when_done` what is to be done, when it is of memory or a skill.
fn of_file(writer: &mut Writer<'_>, outcome: Outcome, call_id: &str, when_done: bool) {
    let (kind, skill_kind, key, source): (Noted, Noted, _, _) = match outcome {
        Outcome::Read(path) => (Body::MemoryRecalled, Body::SkillMatched, path, "Read tool"),
        Outcome::Created(path) => (Body::MemoryWritten, Body::SkillCreated, path, "Write tool"),
        Outcome::Changed(path) => (Body::MemoryWritten, Body::SkillUpdated, path, "Edit tool"),
        Outcome::Loaded(skill) => (Body::SkillMatched, Body::SkillMatched, skill, "Skill tool"),
    };
    let (kind, key) = match skill_of(&key) {
        _ if source == "Skill tool" || is_memory(&key) => (kind, key),
        Some(skill) => (skill_kind, skill),
        None => return,
    };
    let note = LearningNote {
        key,
        source: Some(source.to_owned()),
        call_id: Some(call_id.to_owned()),
        when_done,
        ..Default::default()
    };
    writer.push_learned(call_id, kind(note));
}

fn may_be_of_interest(beside: &str) -> bool {
    beside.contains("\"filePath\"") || beside.contains("\"commandName\"")
}

fn outcome(wire: OutcomeWire) -> Option<Outcome> {
    if let (Some(skill), Some(true)) = (wire.command_name, wire.success) {
        return Some(Outcome::Loaded(skill));
    }
    if let Some(file) = wire.file {
        return file.file_path.map(Outcome::Read);
    }
    let path = wire.file_path?;
    match wire.kind.as_deref() {
        Some("create") => Some(Outcome::Created(path)),
        Some("update") => Some(Outcome::Changed(path)),
        _ if wire.structured_patch.is_some() || wire.old_string.is_some() => Some(Outcome::Changed(path)),
        _ => None,
    }
}

fn outcome_in_words(words: &str) -> Option<Outcome> {
    if let Some(skill) = words.strip_prefix("Launching skill: ") {
        return Some(Outcome::Loaded(first_line(skill)));
    }
    if let Some(path) = words.strip_prefix("File created successfully at: ") {
        return Some(Outcome::Created(first_line(path)));
    }
    let (path, _) = words.strip_prefix("The file ")?.split_once(" has been updated")?;
    Some(Outcome::Changed(first_line(path)))
}

/// Returns the first line of the text in a JSON string.
fn first_line(json: &str) -> String {
    let line = json.split(['"', '\n']).next().unwrap_or_default();
    let line = line.split("\\n").next().unwrap_or_default();
    line.trim().replace("\\\\", "\\")
}

type Noted = fn(LearningNote) -> Body;

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
pub(super) fn skill_content(writer: &mut Writer<'_>, wire: &RowWire<'_>, text: &str) -> bool {
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
pub(super) fn of_reminder_in(writer: &mut Writer<'_>, words: &str, output: Option<&Json>, call_id: &str) {
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
    for path in quoted_files(reminder).filter(|path| is_memory(path)) {
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

/// Returns the first memory file that a reminder quotes.
pub(super) fn quoted_memory(reminder: &str) -> Option<&str> {
    quoted_files(reminder).find(|path| is_memory(path))
}

fn quoted_files(reminder: &str) -> impl Iterator<Item = &str> {
    reminder.match_indices(QUOTES).map(|(at, quotes)| {
        let line = reminder[at + quotes.len()..].lines().next().unwrap_or_default();
        let path = line.trim_end().trim_end_matches(':');
        path.split(" (").next().unwrap_or_default()
    })
}
