//! SWE-agent trajectories: one JSON document with `history` (the conversation) and `trajectory` (the steps).
//!
//! Both tell the same story. Steps give responses, calls and results; of the history only the system prompt,
//! the demonstrations and the task are taken. Demonstration files have no steps: there the history gives all.
//! No row can tell which kind of file it is from, and which of the history's messages is the task, so
//! `describe` finds both out and leaves them in the source's `about` (see [`Reading`]).

mod history;
mod reading;
mod steps;
mod wire;

use std::path::Path;

use agent_core::{ArtifactProduced, Body, EndReason, Ended, Status, TurnStarted};
use memchr::memmem;
use store::{Mapped, Mapper, Row, Source};

use self::reading::Reading;
use self::wire::{HistoryMarks, Info, Marks, Record, ReplayConfig, StepMarks};
use super::emit::{self, Emit, about_agent, note, said};
use super::rows::read_line;
use super::{Described, DocumentShape, Format, Layout};
use crate::document::{DocumentHead, HEADER};

const SHAPE: DocumentShape = DocumentShape { arrays: &["history", "trajectory"], closing: &["info"] };

/// The name of the format and of the agent.
const NAME: &str = "swe-agent";

/// The format.
pub(super) struct SweAgent;

impl Format for SweAgent {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        let parsed = DocumentHead::read(head, &SHAPE).filter(|parsed| !parsed.is_array)?;
        let steps = is_ours::<StepMarks>(&parsed, head, "trajectory", b"\"observation\"");
        let history = is_ours::<HistoryMarks>(&parsed, head, "history", b"\"message_type\"");
        let empty = parsed.begun.len() == SHAPE.arrays.len() && parsed.elements.is_empty();
        (steps || history || empty).then_some(Layout::Document(&SHAPE))
    }

    fn describe(&self, _path: &Path, head: &[u8]) -> Described {
        let mut about = about_agent(NAME);
        let mut naming: Vec<&[u8]> = Vec::new();
        let parsed = DocumentHead::read(head, &SHAPE);
        if let Some(parsed) = &parsed {
            if let Ok(record) = serde_json::from_slice::<Record>(&parsed.header) {
                fill_about(&mut about, &record);
            }
            let reading = Reading::of(parsed);
            naming = reading.naming_rows(parsed, head);
            reading.leave_in(&mut about);
        }
        Described { session: emit::session_name(NAME, naming.into_iter()), about }
    }
}

/// Says whether an array begins in the head and its elements have the marks; where the first element is longer
/// than the head, a word of its beginning must do.
fn is_ours<M: Marks>(parsed: &DocumentHead, head: &[u8], key: &str, word: &[u8]) -> bool {
    let Some((_, at)) = parsed.begun.iter().find(|(begun, _)| *begun == key) else { return false };
    let mut elements = parsed.elements.iter().filter(|(of, _)| *of == key).peekable();
    if elements.peek().is_none() {
        return memmem::find(&head[*at..], word).is_some();
    }
    elements.any(|(_, element)| serde_json::from_slice::<M>(element).is_ok_and(|marks| marks.are_ours()))
}

impl Mapper for SweAgent {
    fn format(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        1
    }

    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped) {
        let mut emit = Emit::new(source, row, &SHAPE, out);
        let unread = read_line::<Record>(row.bytes, |record, _| map_record(&record, &mut emit));
        if emit.is_empty() && unread.is_empty() {
            emit.keep("swe_agent.unknown");
        }
        emit.unread().extend(unread);
    }
}

fn map_record(record: &Record, emit: &mut Emit<'_>) {
    let reading = Reading::left_in(&emit.source.about);
    if let Some(message) = &record.history {
        history::map(message, reading, emit);
    } else if let Some(step) = &record.trajectory {
        steps::map(step, reading, emit);
    } else if emit.row.number == HEADER {
        map_header(record, emit);
    } else if let Some(info) = &record.info {
        map_end(info, emit);
    }
}

fn map_header(record: &Record, emit: &mut Emit<'_>) {
    let mut about = about_agent(NAME);
    fill_about(&mut about, record);
    emit.push(None, Body::SessionStarted(about));
    let config = record.replay_config.as_deref().and_then(ReplayConfig::read);
    let model = config.and_then(|config| config.agent?.model?.name);
    if let Some(name) = said(model) {
        emit.push(None, Body::TurnStarted(TurnStarted { model: Some(name), ..TurnStarted::default() }));
    }
}

fn fill_about(about: &mut agent_core::SessionStarted, record: &Record) {
    about.agent_version = record.info.as_ref().and_then(|info| said(info.swe_agent_version.clone()));
    let config = record.replay_config.as_deref().and_then(ReplayConfig::read);
    about.title = config.and_then(|config| said(config.problem_statement?.id));
}

/// Maps the closing `info`: how it ended, what it made, what it cost in all.
fn map_end(info: &Info, emit: &mut Emit<'_>) {
    let word = info.exit_status.as_deref().unwrap_or("");
    let (status, end_reason) = end_of(word);
    let mut ended = Ended {
        status: Some(status),
        end_reason: Some(end_reason),
        detail: said(Some(word.to_owned())),
        ..Ended::default()
    };
    // The steps carry neither tokens nor cost: these sums are all that the file tells.
    if let Some(stats) = &info.model_stats {
        let cost = emit::dollars(stats.instance_cost.as_deref()).map(|cost| cost.to_string());
        note(&mut ended.other, "reported_cost_usd", cost);
        note(&mut ended.other, "tokens_sent", stats.tokens_sent);
        note(&mut ended.other, "tokens_received", stats.tokens_received);
        note(&mut ended.other, "api_calls", stats.api_calls);
    }
    if let Some(patch) = said(info.submission.clone()) {
        let artifact = ArtifactProduced {
            kind: Some("patch".to_owned()),
            text: Some(patch),
            ..ArtifactProduced::default()
        };
        emit.push(None, Body::ArtifactProduced(artifact));
    }
    emit.push(None, Body::SessionEnded(ended));
}

/// Returns what an exit status means. `submitted (exit_cost)` is a patch taken from an agent that ran out of
/// money: the reason in the brackets counts, for the agent did not finish.
fn end_of(word: &str) -> (Status, EndReason) {
    match word {
        "" => (Status::Unknown, EndReason::Unknown),
        "submitted" => (Status::Completed, EndReason::Done),
        "skipped" => (Status::Cancelled, EndReason::Stopped),
        _ if word.contains("cost") => (Status::Failed, EndReason::Budget),
        _ if word.contains("time") => (Status::Failed, EndReason::Timeout),
        _ => (Status::Failed, EndReason::Failure),
    }
}

#[cfg(test)]
mod tests;
