//! Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and the files of its sub-agents.

mod about;
mod assistant;
mod attachment;
mod label;
mod learning;
mod queue;
mod system;
mod user;
mod wire;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;

use agent_core::{ArtifactProduced, Body, Json, SessionTitled};
use serde_json::value::RawValue;
use store::{Mapped, Mapper, Row, Source, Unread};

use super::rows::{clean, read_text};
use super::{Described, Format, Layout};
use crate::files::is_uuid;
use wire::{ProgressWire, RowWire, read};
use writer::Writer;

/// The format.
pub(super) struct ClaudeCode;

impl Mapper for ClaudeCode {
    fn format(&self) -> &'static str {
        "claude-code"
    }

    fn version(&self) -> u32 {
        5
    }

    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped) {
        let mut place = 0_u32;
        let mut in_parts: Vec<Unread> = Vec::new();
        let text = clean(row.bytes, &mut out.unread);
        let events = &mut out.events;
        let unread = read_text::<RowWire<'_>>(&text, |wire, text| {
            let mut writer = Writer::new(source, &wire, text, (row.number, place), events, &mut in_parts);
            place += 1;
            map_row(&mut writer, &wire);
            if writer.is_empty() {
                writer.keep(&wire);
            }
        });
        out.unread.extend(unread);
        out.unread.append(&mut in_parts);
    }
}

impl Format for ClaudeCode {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        about::is_claude_code(head).then_some(Layout::Lines)
    }

    fn describe(&self, path: &Path, head: &[u8]) -> Described {
        about::describe(path, head)
    }
}

/// The name of the child that holds rows on the side which do not say whose they are.
const UNNAMED_AGENT: &str = "sidechain";

fn map_row(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    // The first versions wrote sub-agents into the main file, as rows on the side.
    if !writer.is_subagent() && wire.is_sidechain == Some(true) {
        let agent = wire.agent_id.as_deref().unwrap_or(UNNAMED_AGENT);
        writer.enter_child(agent, wire.parent_tool_use_id.clone());
    }
    match wire.kind.as_deref() {
        Some("progress") => map_progress(writer, wire),
        _ => map_message(writer, wire),
    }
}

fn map_message(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    match wire.kind.as_deref() {
        Some("assistant") => assistant::map(writer, wire),
        Some("user") => user::map(writer, wire),
        Some("system") => system::map(writer, wire),
        Some("attachment") => attachment::map(writer, wire),
        Some("queue-operation") => queue::map(writer, wire),
        Some("summary") => {
            // Many summaries are titles of other sessions: the message they end with tells.
            writer.follow(wire.leaf_uuid.clone());
            title(writer, wire.summary.as_deref(), "summary");
        }
        Some("custom-title") if is_own(writer, wire) => title(writer, wire.custom_title.as_deref(), "user"),
        Some("ai-title") if is_own(writer, wire) => title(writer, wire.ai_title.as_deref(), "model"),
        Some("pr-link") => writer.push(
            None,
            Body::ArtifactProduced(ArtifactProduced {
                kind: Some("pull_request".to_owned()),
                uri: wire.pr_url.clone(),
                ..Default::default()
            }),
        ),
        _ => {}
    }
}

/// Returns whether a title is for the session: rows that came along from another one bring its title.
fn is_own(writer: &Writer<'_>, wire: &RowWire<'_>) -> bool {
    wire.session_id.as_deref().is_none_or(|session| session == writer.session())
}

fn title(writer: &mut Writer<'_>, title: Option<&str>, by: &str) {
    let Some(title) = title.filter(|title| !title.is_empty()) else { return };
    let mut titled = SessionTitled { title: title.to_owned(), ..Default::default() };
    titled.other.insert("by".to_owned(), by.into());
    writer.push(None, Body::SessionTitled(titled));
}

/// Versions around 2.1.30 tell of sub-agents by progress rows that carry whole messages.
fn map_progress(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let Some(progress) = read::<ProgressWire<'_>>(wire.data) else { return };
    if progress.kind.as_deref() != Some("agent_progress") {
        return;
    }
    let Some(mut inner) = writer.read::<RowWire<'_>>(progress.message, "message of a sub-agent") else {
        return;
    };
    let Some(agent) = &progress.agent_id else { return };
    inner.uuid = inner.uuid.or_else(|| wire.uuid.clone());
    inner.timestamp = inner.timestamp.or_else(|| wire.timestamp.clone());
    // The sub-agent's own file has the same message under the same id.
    writer.set_row(&inner);
    writer.set_carried();
    writer.enter_child(agent, wire.parent_tool_use_id.clone());
    map_message(writer, &inner);
}

fn copy(raw: Option<&RawValue>) -> Option<Json> {
    raw.map(Json::copy)
}
