//! Attachment rows: what versions from 2.1.92 on write down of the rest of the context.

mod kinds;

use std::collections::BTreeMap;

use agent_core::{Body, ChunkKind, ContextAdded, Json, LearningNote, Origin, UserMessaged};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::label::{is_marked, label};
use super::user::{is_person, user_messaged};
use super::wire::{OriginWire, RowWire, read};
use super::{Writer, copy, queue};
use kinds::kind_and_reason;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentWire<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    system_prompt: Raw<'a>,
    #[serde(borrow)]
    tools: Raw<'a>,
    path: Option<String>,
    filename: Option<String>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    rendered: Raw<'a>,
    names: Option<Vec<String>>,
    skill_names: Option<Vec<String>>,
    skills: Option<Vec<SkillWire>>,
    #[serde(borrow)]
    prompt: Raw<'a>,
    command_mode: Option<String>,
    #[serde(borrow)]
    origin: Raw<'a>,
    is_meta: Option<bool>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    snippet: Raw<'a>,
    #[serde(borrow)]
    banner: Raw<'a>,
    #[serde(borrow)]
    added_lines: Raw<'a>,
    #[serde(borrow)]
    added_blocks: Raw<'a>,
    hook_name: Option<String>,
    hook_event: Option<String>,
    #[serde(borrow)]
    blocking_error: Raw<'a>,
}

#[derive(Deserialize)]
struct SkillWire {
    name: Option<String>,
    path: Option<String>,
    content: Option<String>,
}

#[derive(Deserialize)]
struct RenderedWire<'a> {
    #[serde(borrow)]
    content: Raw<'a>,
}

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let Some(attachment) = writer.read::<AttachmentWire<'_>>(wire.attachment, "attachment") else {
        return;
    };
    let kind = attachment.kind.clone().unwrap_or_default();
    match kind.as_str() {
        "prompt_snapshot" => prompt_snapshot(writer, &attachment),
        "nested_memory" => memory(writer, &attachment),
        "skill_listing" => listed(writer, Some(&names_of(&attachment)), "skill_listing"),
        "dynamic_skill" => listed(writer, attachment.skill_names.as_deref(), "dynamic_skill"),
        "invoked_skills" => invoked(writer, &attachment),
        "queued_command" => return queued(writer, wire, &attachment),
        _ => {}
    }
    context(writer, &attachment, &kind);
}

/// The system prompt and the tool schemas as they stood in the request.
fn prompt_snapshot(writer: &mut Writer<'_>, attachment: &AttachmentWire<'_>) {
    for (slot, kind, content) in [
        ("system", ChunkKind::System, attachment.system_prompt),
        ("tools", ChunkKind::ToolSchema, attachment.tools),
    ] {
        let content = match kind {
            ChunkKind::System => system_blocks(content),
            _ => copy(content),
        };
        if let Some(content) = content {
            writer.push(
                None,
                Body::ContextAdded(ContextAdded {
                    kind: Some(kind),
                    source: Some("prompt_snapshot".to_owned()),
                    reason: Some(format!("the {slot} of the request")),
                    slot: Some(slot.to_owned()),
                    content: Some(content),
                    ..Default::default()
                }),
            );
        }
    }
}

/// The runtime's mark between the fixed and the changing part of the system prompt; it is not sent.
const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// Returns the system prompt as the request holds it: a list of text blocks.
fn system_blocks(raw: Option<&RawValue>) -> Option<Json> {
    let Some(parts) = read::<Vec<&RawValue>>(raw) else { return copy(raw) };
    let blocks: Vec<String> = parts
        .iter()
        .filter_map(|part| match read::<String>(Some(part)) {
            Some(text) if text.trim() == BOUNDARY => None,
            Some(text) => {
                let text = text.replace(BOUNDARY, "");
                Some(Json::of(&serde_json::json!({"type": "text", "text": text})).get().to_owned())
            }
            None => Some(part.get().to_owned()),
        })
        .collect();
    Json::parse(format!("[{}]", blocks.join(","))).ok()
}

fn memory(writer: &mut Writer<'_>, attachment: &AttachmentWire<'_>) {
    let Some(path) = attachment.path.clone() else { return };
    writer.push(
        None,
        Body::MemoryRecalled(LearningNote {
            key: path,
            source: Some("nested_memory".to_owned()),
            ..Default::default()
        }),
    );
}

fn listed(writer: &mut Writer<'_>, names: Option<&[String]>, source: &str) {
    for name in names.unwrap_or_default() {
        writer.push(
            None,
            Body::SkillListed(LearningNote {
                key: name.clone(),
                source: Some(source.to_owned()),
                ..Default::default()
            }),
        );
    }
}

/// Returns the names of the skills in a listing; older versions have them in the text only, a line
/// `- name: description` each.
fn names_of(attachment: &AttachmentWire<'_>) -> Vec<String> {
    if let Some(names) = &attachment.names {
        return names.clone();
    }
    let text: String = read(attachment.content).unwrap_or_default();
    let items = text.lines().filter_map(|line| line.strip_prefix("- "));
    // A name may hold a colon (`plugin:skill`); the one that ends the name has a space after it.
    let names = items.map(|item| item.split_once(": ").map_or(item, |(name, _)| name).trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

fn invoked(writer: &mut Writer<'_>, attachment: &AttachmentWire<'_>) {
    for skill in attachment.skills.as_deref().unwrap_or_default() {
        let name = skill.name.clone().unwrap_or_default();
        writer.push(
            None,
            Body::SkillMatched(LearningNote {
                key: name.clone(),
                source: Some("invoked_skills".to_owned()),
                ..Default::default()
            }),
        );
        // What was rendered for the request says the same once more.
        if let (Some(content), None) = (&skill.content, &attachment.rendered) {
            add(writer, skill.path.clone().or(Some(name)), "invoked_skills", Json::string(content));
        }
    }
}

/// A message that came in while the agent worked: the user's, or a notice of the runtime's.
fn queued(writer: &mut Writer<'_>, wire: &RowWire<'_>, attachment: &AttachmentWire<'_>) {
    let (text, media) = queue::words(writer, attachment.prompt);
    if text.is_empty() && media.is_empty() {
        return;
    }
    let kind = read::<OriginWire>(attachment.origin).and_then(|origin| origin.kind);
    let is_persons = attachment.command_mode.as_deref() == Some("prompt")
        && attachment.is_meta != Some(true)
        && kind.as_deref().is_none_or(is_person)
        && !is_marked(&text);
    let mut label = label(if is_persons { Origin::Human } else { Origin::Injected }, &text);
    if label.source.as_deref() == Some("client") {
        // A message by another program says whose it is by its mode or its origin.
        label.source = kind.or_else(|| attachment.command_mode.clone());
        label.reason = Some(queue::CAME_IN);
    }
    label.reason.get_or_insert(queue::CAME_IN);
    let message = UserMessaged { joins_run: true, ..user_messaged(label, text, media) };
    writer.push(wire.uuid.clone(), Body::UserMessaged(message));
}

/// What the attachment puts before the model, where it says so.
fn context(writer: &mut Writer<'_>, attachment: &AttachmentWire<'_>, kind: &str) {
    let source = attachment
        .path
        .clone()
        .or_else(|| attachment.filename.clone())
        .or_else(|| attachment.hook_name.clone())
        .or_else(|| Some(kind.to_owned()));
    let rendered: Vec<RenderedWire<'_>> = read(attachment.rendered).unwrap_or_default();
    if !rendered.is_empty() {
        for content in rendered.iter().flat_map(|piece| pieces(piece.content)) {
            add(writer, source.clone(), kind, content);
        }
        return;
    }
    if let Some(text) = unrendered(attachment, kind) {
        add(writer, source, kind, text);
    }
}

/// Returns the part of an attachment that the model is told, in versions that do not write it down as such.
fn unrendered(attachment: &AttachmentWire<'_>, kind: &str) -> Option<Json> {
    let is_filled = |raw: &&RawValue| !matches!(raw.get(), "\"\"" | "[]" | "{}");
    let filled = |raw: &Raw<'_>| raw.filter(is_filled).map(Json::copy);
    match kind {
        "nested_memory" => field(attachment.content, "content"),
        "hook_blocking_error" => field(attachment.blocking_error, "blockingError"),
        // Of a hook that went well the model sees what it printed at these two events only.
        "hook_success" => {
            let is_told =
                matches!(attachment.hook_event.as_deref(), Some("SessionStart" | "UserPromptSubmit"));
            filled(&attachment.content).filter(|_| is_told)
        }
        // The system prompt and the skills' texts have been added; the others are for the person only.
        "prompt_snapshot" | "invoked_skills" | "hook_system_message" | "hook_cancelled" => None,
        _ => [
            &attachment.snippet,
            &attachment.text,
            &attachment.content,
            &attachment.added_lines,
            &attachment.added_blocks,
            &attachment.banner,
        ]
        .into_iter()
        .find_map(filled),
    }
}

/// Returns the blocks of a message's content; text alone is one.
fn pieces(content: Option<&RawValue>) -> Vec<Json> {
    match read::<Vec<&RawValue>>(content) {
        Some(blocks) => blocks.iter().map(|block| Json::copy(block)).collect(),
        None => copy(content).into_iter().collect(),
    }
}

/// Returns the value of one field of an object.
fn field(object: Option<&RawValue>, name: &str) -> Option<Json> {
    let fields: BTreeMap<String, &RawValue> = read(object)?;
    copy(fields.get(name).copied())
}

fn add(writer: &mut Writer<'_>, source: Option<String>, attachment: &str, content: Json) {
    let (kind, reason) = kind_and_reason(attachment);
    writer.push(
        None,
        Body::ContextAdded(ContextAdded {
            kind: Some(kind),
            source,
            reason: Some(reason),
            content: Some(content),
            ..Default::default()
        }),
    );
}
