//! User rows: what a person typed, what the runtime put in, and the results of tools.

use agent_core::{Block, Body, ChunkKind, Origin, UserInterrupted, UserMessaged};

use super::Writer;
use super::assistant::{block, blocks};
use super::label::{Label, label};
use super::learning;
use super::wire::{MessageWire, OriginWire, RowWire, read};

mod result;

const INTERRUPTED: &str = "[Request interrupted by user]";
pub(super) const INTERRUPTED_TOOL: &str = "[Request interrupted by user for tool use]";

/// What stands in a row under one label.
struct Said<'a> {
    label: Label,
    texts: Vec<&'a str>,
    media: Vec<Block>,
}

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let Some(message) = writer.read::<MessageWire<'_>>(wire.message, "message") else { return };
    let blocks = blocks(writer, message.content);
    let said_by_row = said_by(writer, wire);
    let mut said: Vec<Said<'_>> = Vec::new();
    for (at, wire_block) in blocks.iter().enumerate() {
        match (wire_block.kind.as_deref(), wire_block.text.as_deref()) {
            (Some("tool_result"), _) => result::map(writer, wire, wire_block),
            (Some("text"), Some(INTERRUPTED)) => interrupted(writer, "response"),
            (Some("text"), Some(INTERRUPTED_TOOL)) => interrupted(writer, "tool"),
            (Some("text"), text) => {
                let text = text.unwrap_or_default();
                last_of(&mut said, label_in(wire, said_by_row, text)).texts.push(text);
            }
            _ => {
                let label = said.last().map_or_else(|| Label::plain(said_by_row), |last| last.label.clone());
                last_of(&mut said, label).media.push(block(wire_block, message.content, at));
            }
        }
    }
    for said in said {
        messaged(writer, wire, said);
    }
}

/// Returns where to add what has this label: neighbours with one label are one message.
fn last_of<'a, 'b>(said: &'b mut Vec<Said<'a>>, label: Label) -> &'b mut Said<'a> {
    if said.last().is_none_or(|last| last.label != label) {
        said.push(Said { label, texts: Vec::new(), media: Vec::new() });
    }
    let at = said.len() - 1;
    &mut said[at]
}

fn messaged(writer: &mut Writer<'_>, wire: &RowWire<'_>, said: Said<'_>) {
    let Said { label, texts, media } = said;
    let text = texts.join("\n\n");
    if label.origin == Origin::Injected && learning::skill_content(writer, wire, &text) {
        return;
    }
    learning::of_reminders(writer, &text);
    writer.push(wire.uuid.clone(), message(label, text, media));
}

/// Returns the event of a message.
pub(super) fn message(label: Label, text: String, media: Vec<Block>) -> Body {
    Body::UserMessaged(user_messaged(label, text, media))
}

/// Returns a message that has this label.
pub(super) fn user_messaged(label: Label, text: String, media: Vec<Block>) -> UserMessaged {
    UserMessaged {
        origin: (label.origin != Origin::Human).then_some(label.origin),
        text,
        media,
        typed: label.typed,
        kind: label.kind,
        source: label.source,
        reason: label.reason.map(str::to_owned),
        ..Default::default()
    }
}

/// Returns whose words the row is, as far as its fields say.
fn said_by(writer: &Writer<'_>, wire: &RowWire<'_>) -> Origin {
    if wire.is_compact_summary == Some(true) {
        return Origin::CompactSummary;
    }
    match wire.is_meta {
        Some(true) => Origin::Injected,
        _ if sender(wire).is_some() => Origin::Injected,
        _ if writer.is_subagent() => Origin::Agent,
        _ => Origin::Human,
    }
}

/// Returns who sent a row that is none of a person's.
fn sender(wire: &RowWire<'_>) -> Option<String> {
    let kind = read::<OriginWire>(wire.origin)?.kind?;
    (!is_person(&kind)).then_some(kind)
}

/// Returns whether the kind of an origin is a person's.
pub(super) fn is_person(kind: &str) -> bool {
    matches!(kind, "human" | "cli" | "user")
}

/// Returns the label of a text in this row.
fn label_in(wire: &RowWire<'_>, said_by_row: Origin, text: &str) -> Label {
    // A call of the Skill tool brings along what looks like a command of a person.
    let said_by_row = match wire.source_tool_use_id {
        Some(_) if said_by_row == Origin::Human => Origin::Injected,
        _ => said_by_row,
    };
    let label = label(said_by_row, text);
    match sender(wire) {
        Some(sender) if label.source.as_deref() == Some("client") => {
            Label::injected(ChunkKind::Insight, &sender, "message that no person typed")
        }
        _ => label,
    }
}

fn interrupted(writer: &mut Writer<'_>, during: &str) {
    writer.push(
        None,
        Body::UserInterrupted(UserInterrupted { during: Some(during.to_owned()), ..Default::default() }),
    );
}
