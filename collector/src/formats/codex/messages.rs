//! Messages: the user's, what the runtime puts in the user's place, the developer's, and the model's.

use agent_core::{
    Block, Body, ChunkKind, ContextAdded, Json, LearningNote, ModelResponded, Origin, UsageQuality,
    UserMessaged,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::about;
use super::draft::{Draft, fact};
use super::items::{ITEM, native};
use super::media::{picture, without_base64};
use super::skills;
use super::wire::{Item, Notice, text_of, value_of, words_of};

/// What the runtime's insertions in the user's place begin with. A person may write tags too, so that the
/// list names them all.
const INJECTED: [&str; 22] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<recommended_plugins>",
    "<turn_aborted>",
    "<user_action>",
    "<skill>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<app-context>",
    "<subagent_notification>",
    "<subagents>",
    "<personality_spec>",
    "<model_switch>",
    "<goal_context>",
    "<hook_prompt",
    "<codex_internal_context",
];

/// A command that the user ran in the agent's shell, with its output.
const SHELL_COMMAND: &str = "<user_shell_command>";

/// What stands before the summary of a compaction.
const SUMMARY: &str = "Another language model started to solve this problem";

/// A part of a message's content.
enum Part {
    Text(String),
    Media(Block),
    Other(Json),
}

#[derive(Deserialize)]
struct RawPart<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    image_url: Option<&'a RawValue>,
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
}

/// Maps a message of any role.
pub(super) fn message(draft: &mut Draft<'_>, item: &Item<'_>) {
    let parts = parts(item.content.or(item.message));
    match text_of(item.role).as_deref() {
        Some("assistant") => answered(draft, parts, native(&[("phase", item.phase)]), false),
        Some(role @ ("developer" | "system")) => instructed(draft, role, parts),
        _ => said(draft, parts, person(draft), &Map::new()),
    }
}

/// Maps what the screen was told of a person's message.
pub(super) fn user_copied(draft: &mut Draft<'_>, notice: &Notice<'_>) {
    let Some(text) = words_of(notice.message).filter(|text| inserted(text).is_none()) else { return };
    let images = value_of::<Vec<&RawValue>>(notice.images).unwrap_or_default();
    let message = UserMessaged {
        origin: Some(person(draft)),
        text,
        media: images.into_iter().map(picture).collect(),
        is_copy: true,
        ..UserMessaged::default()
    };
    push_message(draft, message);
}

/// Maps what the screen was told of the model's words.
pub(super) fn answer_copied(draft: &mut Draft<'_>, notice: &Notice<'_>) {
    let Some(text) = words_of(notice.message) else { return };
    answered(draft, vec![Part::Text(text)], native(&[("phase", notice.phase)]), true);
}

/// Maps a message from one agent to another. Agents have paths: one below the sender gets an order, any other
/// gets news.
pub(super) fn agent_message(draft: &mut Draft<'_>, item: &Item<'_>) {
    let author = text_of(item.author).unwrap_or_default();
    let recipient = text_of(item.recipient).unwrap_or_default();
    let below = recipient.strip_prefix(author.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let origin = if below && !author.is_empty() { Origin::Agent } else { Origin::Injected };
    let native = native(&[(ITEM, item.kind), ("author", item.author), ("recipient", item.recipient)]);
    said(draft, parts(item.content), origin, &native);
}

/// Returns whose words an ordinary user message is: to a sub-agent it is the parent agent that speaks.
fn person(draft: &Draft<'_>) -> Origin {
    if about::is_subagent(draft.about()) { Origin::Agent } else { Origin::Human }
}

fn answered(draft: &mut Draft<'_>, parts: Vec<Part>, native: Map<String, Value>, is_copy: bool) {
    let content: Vec<Block> = parts
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => Block::Text { text },
            Part::Media(media) => media,
            Part::Other(raw) => Block::other(&raw),
        })
        .collect();
    let words = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let name = message_name("assistant", words, &content);
    let piece = ModelResponded { is_copy, ..piece_with(content, native) };
    draft.push(name, Body::ModelResponded(piece));
}

/// Names a message by its words alone: its copy for the screen lacks some spaces, and some of its pictures.
fn message_name<'a>(speaker: &str, words: impl Iterator<Item = &'a str>, all: &[Block]) -> String {
    let words: String = words.flat_map(str::split_whitespace).collect();
    let otherwise = if words.is_empty() { Json::of(&all) } else { Json::string("") };
    fact(speaker, &[&words, otherwise.get()])
}

/// Returns a piece of the open response; its usage is told later.
pub(super) fn piece(content: Vec<Block>) -> Body {
    Body::ModelResponded(piece_with(content, Map::new()))
}

fn piece_with(content: Vec<Block>, other: Map<String, Value>) -> ModelResponded {
    ModelResponded { content, usage_quality: Some(UsageQuality::Missing), other, ..ModelResponded::default() }
}

fn instructed(draft: &mut Draft<'_>, role: &str, parts: Vec<Part>) {
    for part in parts {
        let Part::Text(text) = part else { continue };
        let tag = tag_of(&text);
        let kind = match tag {
            Some("skills_instructions") => ChunkKind::Skill,
            Some("memory" | "memories") => ChunkKind::Memory,
            Some(_) => ChunkKind::System,
            None => ChunkKind::Insight,
        };
        let added = ContextAdded {
            kind: Some(kind),
            source: Some(format!("{role} message")),
            reason: Some(tag.unwrap_or("told by the runtime").to_owned()),
            content: Some(Json::string(&text)),
            ..ContextAdded::default()
        };
        draft.push(fact("developer", &[&text]), Body::ContextAdded(added));
        skills::listed(draft, &text);
    }
}

fn tag_of(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('<')?.split_once('>').map(|(tag, _)| tag)
}

/// Maps a message in the user's place: each insertion of the runtime by itself, the person's words together.
fn said(draft: &mut Draft<'_>, parts: Vec<Part>, person: Origin, native: &Map<String, Value>) {
    let mut words: Vec<String> = Vec::new();
    let mut media = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => match inserted(&text) {
                Some(origin) => insert(draft, origin, text),
                None => words.push(text),
            },
            Part::Media(block) => media.push(block),
            Part::Other(raw) => media.push(Block::other(&raw)),
        }
    }
    if !words.is_empty() || !media.is_empty() {
        let other = native.clone();
        let text = words.join("\n");
        push_message(
            draft,
            UserMessaged { origin: Some(person), text, media, other, ..UserMessaged::default() },
        );
    }
}

fn push_message(draft: &mut Draft<'_>, message: UserMessaged) {
    let name = message_name("user", std::iter::once(message.text.as_str()), &message.media);
    draft.push(name, Body::UserMessaged(message));
}

/// Returns what kind of insertion of the runtime the text is; nothing when it is none.
fn inserted(text: &str) -> Option<Origin> {
    let text = text.trim_start();
    if INJECTED.iter().any(|start| text.starts_with(start)) {
        Some(Origin::Injected)
    } else if text.starts_with(SHELL_COMMAND) {
        Some(Origin::CommandOutput)
    } else if text.starts_with(SUMMARY) {
        Some(Origin::CompactSummary)
    } else {
        None
    }
}

fn insert(draft: &mut Draft<'_>, origin: Origin, text: String) {
    let memory = memory_of(&text);
    let message = UserMessaged {
        origin: Some(origin),
        kind: kind_of(&text, memory.is_some()),
        source: memory.clone(),
        reason: tag_of(&text).map(str::to_owned),
        text: text.clone(),
        ..UserMessaged::default()
    };
    draft.push(fact("inserted", &[&text]), Body::UserMessaged(message));
    if let Some(key) = memory {
        let source = Some(key.rsplit(['/', '\\']).next().unwrap_or(&key).to_owned());
        let note = LearningNote { key, source, text: Some(text.clone()), ..LearningNote::default() };
        draft.push(fact("memory", &[&text]), Body::MemoryRecalled(note));
    }
    skills::listed(draft, &text);
    skills::given(draft, &text);
}

/// Returns what an insertion is in the prompt, where it is more than the runtime's words.
fn kind_of(text: &str, is_memory: bool) -> Option<ChunkKind> {
    if is_memory {
        return Some(ChunkKind::Memory);
    }
    match tag_of(text)? {
        "skill" | "skills_instructions" => Some(ChunkKind::Skill),
        "environment_context" | "turn_aborted" | "user_action" | "subagents" | "subagent_notification" => {
            Some(ChunkKind::State)
        }
        _ => None,
    }
}

/// Returns the key of the remembered file that the text is.
fn memory_of(text: &str) -> Option<String> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix("# AGENTS.md instructions") {
        let folder = rest.lines().next().and_then(|line| line.strip_prefix(" for ")).unwrap_or("").trim();
        let separator = if folder.contains('\\') { '\\' } else { '/' };
        return Some(match folder {
            "" => "AGENTS.md".to_owned(),
            folder => format!("{}{separator}AGENTS.md", folder.trim_end_matches(separator)),
        });
    }
    text.starts_with("<user_instructions>").then(|| "user_instructions".to_owned())
}

fn parts(content: Option<&RawValue>) -> Vec<Part> {
    if let Some(text) = text_of(content) {
        return vec![Part::Text(text)];
    }
    let raws = value_of::<Vec<&RawValue>>(content).unwrap_or_else(|| content.into_iter().collect());
    raws.into_iter().filter_map(part).collect()
}

fn part(raw: &RawValue) -> Option<Part> {
    let Some(fields) = value_of::<RawPart<'_>>(Some(raw)) else {
        return Some(text_of(Some(raw)).map_or_else(|| Part::Other(without_base64(raw)), Part::Text));
    };
    if let Some(text) = text_of(fields.text) {
        return Some(Part::Text(text));
    }
    if let Some(url) = fields.image_url {
        return Some(Part::Media(picture(url)));
    }
    // A picture without an address holds nothing.
    let empty = text_of(fields.kind).as_deref() == Some("input_image");
    (!empty).then(|| Part::Other(without_base64(raw)))
}

/// Returns the texts of a message's content.
pub(super) fn texts(content: Option<&RawValue>) -> Vec<String> {
    let text_only = |part| match part {
        Part::Text(text) => Some(text),
        Part::Media(_) | Part::Other(_) => None,
    };
    parts(content).into_iter().filter_map(text_only).collect()
}

/// Returns what stands between two marks, trimmed.
pub(super) fn between(text: &str, open: &str, close: &str) -> Option<String> {
    let (_, rest) = text.split_once(open)?;
    let (inner, _) = rest.split_once(close)?;
    Some(inner.trim().to_owned()).filter(|inner| !inner.is_empty())
}
