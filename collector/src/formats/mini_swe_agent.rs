//! mini-swe-agent trajectories: one JSON document whose `messages` are the whole conversation as it was sent.
//!
//! Three generations: a bare list of `{role, content}` (test fixtures of 1.x), `mini-swe-agent-1` (1.x: the
//! action stands in the text, the observation is the `user` message after it) and `mini-swe-agent-1.1`
//! (2.x: tool calls, actions, cost and time in `extra`).

mod messages;
mod tools;
mod wire;

use std::path::Path;

use agent_core::{Body, EndReason, Ended, SessionStarted, Status, TurnStarted};
use memchr::memmem;
use store::{ApiShape, Mapped, Mapper, Row, Source};

use self::wire::{Element, Info, Record};
use super::emit::{self, Emit, about_agent, said};
use super::{Described, DocumentShape, Format, Layout};
use crate::document::{DocumentHead, HEADER};

const SHAPE: DocumentShape = DocumentShape { arrays: &["messages"], closing: &["info"] };

/// The name of the format and of the agent.
const NAME: &str = "mini-swe-agent";

/// How many of the first messages name the session: system and task are equal for two runs of one task, the
/// first answer tells them apart by its id and time.
const NAMING_MESSAGES: usize = 3;

/// The format.
pub(super) struct MiniSweAgent;

impl Format for MiniSweAgent {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        let head = DocumentHead::read(head, &SHAPE)?;
        let ours = if head.is_array { is_bare_conversation(&head) } else { is_trajectory(&head) };
        ours.then_some(Layout::Document(&SHAPE))
    }

    fn describe(&self, _path: &Path, head: &[u8]) -> Described {
        let mut about = about_agent(NAME);
        let mut first = Vec::new();
        if let Some(head) = DocumentHead::read(head, &SHAPE) {
            if let Ok(record) = serde_json::from_slice::<Record>(&head.header) {
                fill_about(&mut about, &record);
            }
            first = head.elements;
            first.truncate(NAMING_MESSAGES);
        }
        // `instance_id` stands behind the messages, where the head of a long file does not reach, and two
        // runs of one task share it; so it is the title and not the name.
        let session = emit::session_name("mini", first.iter().map(|(_, record)| record.as_slice()));
        Described { session, about }
    }
}

/// Says whether a bare list is the agent's: plain messages in which its commands or their results stand.
fn is_bare_conversation(head: &DocumentHead) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the fields tell the format by being there, and no others")]
    struct Plain {
        role: String,
        content: String,
        #[serde(default)]
        timestamp: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        extra: Option<serde::de::IgnoredAny>,
    }
    #[derive(serde::Deserialize)]
    struct Wrapped {
        #[serde(rename = "")]
        message: Plain,
    }
    let plain = |record: &Vec<u8>| {
        serde_json::from_slice::<Wrapped>(record).is_ok_and(|it| it.message.role != "tool")
    };
    let marked = |record: &Vec<u8>| {
        [&b"mswea_bash_command"[..], b"<returncode>", b"MINI_SWE_AGENT_FINAL_OUTPUT"]
            .iter()
            .any(|mark| memmem::find(record, mark).is_some())
    };
    let records = || head.elements.iter().map(|(_, record)| record);
    records().all(plain) && records().any(marked)
}

/// Says whether an object is a trajectory. `trajectory_format` stands behind the messages, so in a long file
/// the shape of what is before it must do.
fn is_trajectory(head: &DocumentHead) -> bool {
    let Ok(record) = serde_json::from_slice::<Record>(&head.header) else { return false };
    if let Some(format) = &record.trajectory_format {
        return format.starts_with(NAME);
    }
    let begun = head.begun.iter().any(|(key, _)| *key == "messages");
    let info_is_ours = record.info.as_ref().is_some_and(Info::is_telling);
    let message_is_ours = |(_, element): &(&str, Vec<u8>)| {
        serde_json::from_slice::<Element>(element).is_ok_and(|element| element.messages.is_telling())
    };
    begun && (info_is_ours || head.elements.iter().any(message_is_ours))
}

impl Mapper for MiniSweAgent {
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
        emit::map_row(source, row, &SHAPE, "mini_swe_agent.unknown", out, map_record);
    }
}

fn map_record(record: &Record, emit: &mut Emit<'_>) {
    if let Some(message) = &record.in_list {
        if emit.index == 0 {
            tools::none(emit);
        }
        messages::map(message, emit);
    } else if let Some(message) = &record.messages {
        messages::map(message, emit);
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
    let config = record.info.as_ref().and_then(|info| info.config.as_ref());
    if let Some(name) = config.and_then(|config| config.model.as_ref()?.model_name.clone()) {
        // The client library's names are `provider/model`.
        let provider = name.split_once('/').map(|(provider, _)| provider.to_owned());
        let turn = TurnStarted { model: Some(name), provider, ..TurnStarted::default() };
        emit.push(None, Body::TurnStarted(turn));
    }
    tools::map(record, emit);
}

fn fill_about(about: &mut SessionStarted, record: &Record) {
    about.title = said(record.instance_id.clone());
    let Some(info) = &record.info else { return };
    about.agent_version = said(info.mini_version.clone());
    about.cwd = info.config.as_ref().and_then(|config| said(config.environment.as_ref()?.cwd.clone()));
}

/// Maps the closing `info`: how it ended, what it made, what it cost.
fn map_end(info: &Info, emit: &mut Emit<'_>) {
    let word = info.exit_status.as_deref().unwrap_or("");
    let (status, end_reason) = end_of(word);
    let mut ended = Ended {
        status: Some(status),
        end_reason: Some(end_reason),
        detail: said(Some(word.to_owned())),
        ..Ended::default()
    };
    if let Some(stats) = &info.model_stats {
        emit::note_stats(&mut ended, stats);
    }
    emit.end(info.submission.clone(), ended);
}

/// Returns what an exit status means; it is the name of the exception that ended the agent.
fn end_of(word: &str) -> (Status, EndReason) {
    match word {
        "" => (Status::Unknown, EndReason::Unknown),
        "Submitted" => (Status::Completed, EndReason::Done),
        "LimitsExceeded" => (Status::Failed, EndReason::Budget),
        "TimeExceeded" => (Status::Failed, EndReason::Timeout),
        "KeyboardInterrupt" | "UserInterruption" => (Status::Cancelled, EndReason::UserInterrupt),
        _ => (Status::Failed, EndReason::Failure),
    }
}

#[cfg(test)]
mod tests;
