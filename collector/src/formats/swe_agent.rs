//! SWE-agent trajectories: one JSON document with `history` (the conversation) and `trajectory` (the steps).
//!
//! Both tell the same story. Steps give responses, calls and results; of the history only the system prompt,
//! the demonstrations and the task are taken. Demonstration files have no steps, and before 1.0 the steps do
//! not hold the results as the model was sent them: there the history gives all.
//! No row can tell which kind of file it is from, and which of the history's messages is the task, so
//! `describe` finds both out and leaves them in the source's `about` (see [`Reading`]).
//!
//! From 1.0 on a step also holds the list of messages that was sent, in which old results may be elided and
//! refused answers stand; see [`sent`].

mod history;
mod reading;
mod sent;
mod steps;
mod wire;

use std::path::Path;

use agent_core::{Body, EndReason, Ended, Json, Status, TurnStarted};
use memchr::memmem;
use store::{ApiShape, Mapped, Mapper, Row, Source};

use self::reading::{Reading, naming_rows};
use self::wire::{AgentConfig, HistoryMarks, Info, Marks, Record, ReplayConfig, StepMarks};
use super::emit::{self, Emit, about_agent, said};
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
            let record = serde_json::from_slice::<Record>(&parsed.header).ok();
            if let Some(record) = &record {
                fill_about(&mut about, record);
            }
            Reading::of(parsed, record.as_ref()).leave_in(&mut about);
            naming = naming_rows(parsed, head);
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
        2
    }

    fn api_shape(&self) -> ApiShape {
        ApiShape::ChatCompletions
    }

    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped) {
        emit::map_row(source, row, &SHAPE, "swe_agent.unknown", out, map_record);
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
    let agent = config.and_then(|config| config.agent);
    let sends_tools = sends_tools(record, agent.as_ref());
    if let Some(name) = said(agent.and_then(|agent| agent.model?.name)) {
        emit.push(None, Body::TurnStarted(TurnStarted { model: Some(name), ..TurnStarted::default() }));
    }
    // Where it does send tools the file lacks their schemas, and says nothing in their place.
    if sends_tools == Some(false) {
        emit.tools(Json::of(&[(); 0]), "this agent sends no tools: its actions stand in the text");
    }
}

/// Says whether tool schemas are sent to the model, where the header tells: before 1.0 they never were, and
/// since then it depends on how the answers are parsed.
fn sends_tools(record: &Record, agent: Option<&AgentConfig>) -> Option<bool> {
    let parser = agent.and_then(|agent| agent.tools.as_ref()?.parse_function.as_ref()?.name.as_deref());
    let stats = record.info.as_ref().and_then(|info| info.model_stats.as_ref());
    let is_old = || stats.is_some_and(|stats| stats.total_cost.is_some());
    parser.map(|parser| parser == "function_calling").or_else(|| is_old().then_some(false))
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
        emit::note_stats(&mut ended, stats);
    }
    emit.end(info.submission.clone(), ended);
}

/// Returns what an exit status means. `submitted (exit_cost)` is a patch taken from an agent that ran out of
/// money: the reason in the brackets counts, for the agent did not finish.
fn end_of(word: &str) -> (Status, EndReason) {
    match word {
        "" => (Status::Unknown, EndReason::Unknown),
        "submitted" => (Status::Completed, EndReason::Done),
        "skipped" => (Status::Cancelled, EndReason::Stopped),
        _ if word.contains("cost") => (Status::Failed, EndReason::Budget),
        _ if word.contains("_time") => (Status::Failed, EndReason::Timeout),
        _ => (Status::Failed, EndReason::Failure),
    }
}

#[cfg(test)]
mod tests;
