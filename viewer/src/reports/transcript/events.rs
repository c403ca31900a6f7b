//! What an event says to a reader of the transcript.

use agent_core::{Block, Body, ContextCompacted, Ended, ErrorInfo, ModelFailed, Note, Origin, UserMessaged};
use rustc_hash::FxHashSet;

use super::Depth;
use crate::format::{duration, short};
use crate::pages::event_text::{media_words, output_text};
use crate::pages::words;
use crate::reports::excerpt::Room;
use crate::reports::look::Ink;

/// Something that is said: a name, a few words beside it, and a text below.
pub(super) struct Said {
    pub(super) name: String,
    pub(super) beside: String,
    pub(super) text: String,
    pub(super) ink: Ink,
    pub(super) text_ink: Option<Ink>,
    pub(super) room: Room,
    /// Whether the same speaker may go on without being named again.
    pub(super) goes_on: bool,
}

impl Said {
    /// Returns what is said on one line.
    pub(super) fn line(name: &str, beside: &str, ink: Ink) -> Self {
        Self {
            name: name.to_owned(),
            beside: beside.to_owned(),
            text: String::new(),
            ink,
            text_ink: None,
            room: Room::Whole,
            goes_on: false,
        }
    }

    fn below(self, text: &str, room: Room) -> Self {
        Self { text: text.to_owned(), room, ..self }
    }
}

/// Returns what the event says; nothing when it only keeps the books. `called` are the calls that have an
/// event of their own.
pub(super) fn said(body: &Body, depth: Depth, called: &FxHashSet<&str>) -> Option<Vec<Said>> {
    Some(match body {
        Body::UserMessaged(message) => vec![message_said(message, depth)],
        Body::ModelResponded(piece) => {
            piece.content.iter().filter_map(|block| block_said(block, depth, called)).collect()
        }
        Body::ModelFailed(failed) => vec![model_failure(failed, depth)],
        Body::UserInterrupted(interrupted) => {
            let during = interrupted.during.as_deref().map(|what| format!("during a {what}"));
            vec![Said::line("interrupted by the user", &during.unwrap_or_default(), Ink::Warning)]
        }
        Body::UserRetried(_) => vec![Said::line("the user asked for the same again", "", Ink::Warning)],
        Body::UserRated(rated) => {
            let rating = rated.rating.map(|rating| rating.to_string()).unwrap_or_default();
            let comment = rated.comment.as_deref().unwrap_or_default();
            vec![Said::line("the user judged", &rating, Ink::Name).below(comment, depth.room(8, 2))]
        }
        Body::ContextCompacted(compacted) => vec![compaction(compacted, depth)],
        Body::ContextAdded(added) => {
            let kind = added.kind.map_or("state", agent_core::ChunkKind::as_str).replace('_', " ");
            let why = [added.source.as_deref(), added.reason.as_deref()];
            let beside = std::iter::once(kind.as_str()).chain(why.into_iter().flatten()).collect::<Vec<_>>();
            let text = added.content.as_ref().map(output_text).unwrap_or_default();
            vec![Said::line("added to the context", &beside.join(", "), Ink::Quiet).below(&text, Room::Whole)]
        }
        Body::MemoryWritten(note)
        | Body::MemoryRecalled(note)
        | Body::MemoryRejected(note)
        | Body::MemoryEvicted(note)
        | Body::SkillListed(note)
        | Body::SkillMatched(note)
        | Body::SkillRejected(note)
        | Body::SkillCreated(note)
        | Body::SkillUpdated(note)
        | Body::SkillDeprecated(note)
        | Body::SkillWriteRejected(note) => {
            let text = note.text.as_deref().unwrap_or_default();
            let name = body.name().replace('.', " ");
            vec![Said::line(&name, &note.key, Ink::Quiet).below(text, Room::Whole)]
        }
        Body::RunEnded(ended) => vec![ending("run ended", ended, depth)],
        Body::SessionEnded(ended) => vec![ending("session ended", ended, depth)],
        Body::SubagentStarted(subagent) | Body::SubagentEnded(subagent) => {
            let verb = if matches!(body, Body::SubagentStarted(_)) { "started" } else { "ended" };
            let words = [
                subagent.name.as_deref(),
                subagent.status.map(|status| words::status(status).text),
                subagent.session.as_deref(),
            ];
            let words = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
            vec![Said::line(&format!("sub-agent {verb}"), &words, Ink::Name)]
        }
        Body::ArtifactProduced(artifact) => {
            let words = [artifact.kind.as_deref(), artifact.uri.as_deref()];
            let words = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let text = artifact.text.as_deref().unwrap_or_default();
            vec![Said::line("produced", &words, Ink::Name).below(text, depth.room(10, 4))]
        }
        Body::ScoreRecorded(score) => {
            let value = score.value.map(|value| value.to_string());
            let words = [Some(score.name.clone()), value, score.label.clone()];
            vec![Said::line("score", &words.into_iter().flatten().collect::<Vec<_>>().join(" "), Ink::Name)]
        }
        Body::PlanUpdated(note) => vec![noted("plan", note, depth)],
        Body::PolicyDecided(note)
        | Body::GuardTripped(note)
        | Body::ControlRequested(note)
        | Body::ControlObeyed(note)
        | Body::InterruptRequested(note)
        | Body::ContextRefused(note)
        | Body::CommentAdded(note)
        | Body::CaseMarked(note) => vec![noted(&body.name().replace('.', " "), note, depth)],
        _ => return None,
    })
}

fn message_said(message: &UserMessaged, depth: Depth) -> Said {
    let (name, room) = match message.origin {
        None | Some(Origin::Human) if message.joins_run => {
            ("user, while the agent worked", depth.room(30, 8))
        }
        None | Some(Origin::Human) => ("user", depth.room(30, 8)),
        Some(Origin::Agent) => ("the parent agent", depth.room(30, 8)),
        Some(Origin::Injected) => ("user, put in by the runtime", depth.room(3, 1)),
        Some(Origin::Command) => ("user, command", depth.room(6, 2)),
        Some(Origin::CommandOutput) => ("user, output of a command", depth.room(6, 2)),
        Some(Origin::CompactSummary) => ("user, summary of what was compacted", depth.room(6, 2)),
    };
    let ink = if message.is_request() { Ink::Name } else { Ink::Quiet };
    let media = message.media.iter().map(|block| format!("[{}]", media_words(block)));
    let text = std::iter::once(message.text.clone()).chain(media).collect::<Vec<_>>().join("\n");
    Said::line(name, "", ink).below(&text, room)
}

fn block_said(block: &Block, depth: Depth, called: &FxHashSet<&str>) -> Option<Said> {
    let assistant = |text: &str| Said {
        goes_on: true,
        ..Said::line("assistant", "", Ink::Name).below(text, depth.room(60, 20))
    };
    match block {
        Block::Text { text } if text.trim().is_empty() => None,
        Block::Text { text } => Some(assistant(text)),
        Block::Reasoning { text, hidden } if text.trim().is_empty() => {
            let words = if *hidden { "kept by the provider" } else { "empty" };
            (depth.whole || depth.all).then(|| Said::line("reasoning", words, Ink::Quiet))
        }
        Block::Reasoning { text, .. } => Some(Said {
            goes_on: true,
            text_ink: Some(Ink::Quiet),
            ..Said::line("reasoning", "", Ink::Quiet).below(text, depth.room(4, 2))
        }),
        Block::ToolUse { call_id, .. } if called.contains(call_id.as_str()) => None,
        Block::ToolUse { name, .. } => {
            Some(Said::line(name, "(called; the call itself is not in the source)", Ink::Name))
        }
        Block::Media { .. } => Some(assistant(&format!("[{}]", media_words(block)))),
        Block::Other { value } => Some(assistant(&value.to_json())),
    }
}

fn model_failure(failed: &ModelFailed, depth: Depth) -> Said {
    let ErrorInfo { kind, message, http_status, .. } = &failed.error;
    let facts = [
        kind.clone(),
        http_status.map(|status| format!("HTTP {status}")),
        failed.attempt.filter(|&attempt| attempt > 0).map(|attempt| format!("attempt {attempt}")),
        failed.retry_in_ms.filter(|&ms| ms > 0).map(|ms| format!("tried again after {}", duration(ms))),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = message.as_deref().unwrap_or_default();
    let said = Said::line("model call FAILED", &facts, Ink::Bad).below(text, depth.room(8, 2));
    Said { text_ink: Some(Ink::Bad), ..said }
}

fn compaction(compacted: &ContextCompacted, depth: Depth) -> Said {
    if let Some(count) = compacted.dropped_requests {
        let requests = if count == 1 { "request".to_owned() } else { format!("{count} requests") };
        return Said::line(&format!("taken back to before the last {requests}"), "", Ink::Warning);
    }
    let size = match (compacted.tokens_before, compacted.tokens_after) {
        (Some(before), Some(after)) => Some(format!("{} to {} tokens", short(before), short(after))),
        (Some(before), None) => Some(format!("{} tokens before", short(before))),
        _ => None,
    };
    let dropped = compacted.dropped_calls.as_ref().map(|calls| format!("{} results blanked", calls.len()));
    let facts = [compacted.trigger.clone(), size, dropped];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = compacted.replacement.as_ref().map(output_text).unwrap_or_default();
    Said::line("context compacted", &facts, Ink::Warning).below(&text, depth.room(3, 1))
}

fn ending(name: &str, ended: &Ended, depth: Depth) -> Said {
    let facts = [
        ended.status.map(|status| words::status(status).text.to_owned()),
        ended.end_reason.and_then(|reason| words::end_reason(reason.as_str())).map(str::to_owned),
        ended.duration_ms.map(duration),
    ];
    let ink = match ended.status {
        Some(agent_core::Status::Failed) => Ink::Bad,
        Some(agent_core::Status::Cancelled) => Ink::Warning,
        _ => Ink::Quiet,
    };
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = ended.detail.as_deref().unwrap_or_default();
    Said::line(name, &facts, ink).below(text, depth.room(6, 2))
}

fn noted(name: &str, note: &Note, depth: Depth) -> Said {
    let detail = note.detail.as_deref().unwrap_or_default();
    Said::line(name, "", Ink::Quiet).below(detail, depth.room(8, 2))
}
