//! `dashcam show`.

use std::io::Write;

use agent_core::{Block, Body, Event};
use serde::Serialize;
use store::{FullEvent, Store};

use super::table::{local_time, printable_lines};
use super::{Notes, ReportError, Style, json_line};

/// An event for scripts: the event, and its place as the projection gives it.
#[derive(Serialize)]
struct EventLine<'a> {
    /// Its place in the session, from 0.
    n: u32,
    /// Its turn's number in the session; 0 before the first.
    turn_number: u32,
    /// Its record in the journal.
    position: u64,
    #[serde(flatten)]
    event: &'a Event,
}

pub(super) fn write(
    store: &Store,
    session: &str,
    turn: Option<u32>,
    style: Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let row = store.session(session)?;
    if let Some(turn) = turn {
        store.turn(row.session_key, turn)?;
    }
    let mut shown_turn = None;
    store.for_each_event::<ReportError>(row.session_key, turn, |full| {
        match style {
            Style::Json => {
                let FullEvent { n, turn, position, ref event } = full;
                json_line(out, &EventLine { n, turn_number: turn, position: position.0, event })?;
            }
            Style::Text => {
                if shown_turn != Some(full.turn) {
                    shown_turn = Some(full.turn);
                    writeln!(out, "\n── turn {} ──", full.turn)?;
                }
                write_text(out, &full)?;
            }
        }
        Ok(())
    })?;
    Ok(Notes::default())
}

fn write_text(out: &mut dyn Write, full: &FullEvent) -> std::io::Result<()> {
    let time = full.event.ts.map_or_else(|| "-".to_owned(), local_time);
    let name = full.event.body.name();
    let said = said(&full.event.body);
    if said.is_empty() {
        return writeln!(out, "{time}  {name}");
    }
    writeln!(out, "{time}  {name}")?;
    for line in printable_lines(&said).lines() {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// Returns what an event says, for a person.
fn said(body: &Body) -> String {
    match body {
        Body::UserMessaged(message) => message.text.clone(),
        Body::ModelResponded(piece) => piece
            .content
            .iter()
            .map(block_text)
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
        Body::ModelFailed(failure) => failure.error.message.clone().unwrap_or_default(),
        Body::ToolCalled(call) => {
            format!(
                "{} {}",
                call.name,
                call.input.as_ref().map(agent_core::Json::to_display).unwrap_or_default()
            )
        }
        Body::ToolEnded(end) => {
            let status = end.status.map_or("unknown", agent_core::ToolStatus::as_str);
            format!("{status}: {}", end.output.as_ref().map(agent_core::Json::to_display).unwrap_or_default())
        }
        Body::MemoryWritten(n)
        | Body::MemoryRecalled(n)
        | Body::SkillListed(n)
        | Body::SkillMatched(n)
        | Body::SkillCreated(n)
        | Body::SkillUpdated(n) => n.key.clone(),
        Body::ContextAdded(added) => [added.kind.map(agent_core::ChunkKind::as_str), added.source.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" from "),
        _ => String::new(),
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text { text } => text.clone(),
        Block::Reasoning { text, hidden: false } => format!("(reasoning) {text}"),
        Block::Reasoning { .. } => "(reasoning, hidden by the provider)".to_owned(),
        Block::ToolUse { .. } => String::new(),
        Block::Media { media_type, bytes } => format!("({media_type}, {bytes} bytes)"),
        Block::Other { value } => value.to_json(),
    }
}
