//! OpenAI Codex CLI: `rollout-*.jsonl` files below `~/.codex/sessions` and `~/.codex/archived_sessions`.
//!
//! Three generations are read: flat rows of mid-2025 (a header, bare response items, no times, no usage),
//! the envelope `{timestamp, type, payload}`, and the envelope of 2026 with more kinds of rows.
//!
//! A rollout tells most things twice. The rows `response_item` are what the model saw and said; the
//! messages, reasoning and tool endings among the `event_msg` rows (`item_completed` included) are copies for
//! the screen. Messages are marked as copies, which count only where the item is missing; what is told of the
//! ends of tools is joined with their results; all else stays in reach as events of a type of its own and
//! never counts.

mod about;
mod draft;
mod items;
mod media;
mod messages;
mod notices;
mod outputs;
mod reports;
mod script;
mod skills;
mod telling;
mod tokens;
mod wire;

#[cfg(test)]
mod tests;

use std::path::Path;

use store::{ApiShape, Mapped, Mapper, Row, Source, Unread};

use super::rows::{clean, read_text};
use super::{Described, Format, Layout};
use draft::Draft;
use wire::{Envelope, text_of};

/// The format of the Codex CLI's rollout files.
pub(super) struct Codex;

impl Mapper for Codex {
    fn format(&self) -> &'static str {
        "codex"
    }

    fn version(&self) -> u32 {
        3
    }

    fn api_shape(&self) -> ApiShape {
        ApiShape::Responses
    }

    fn map(&self, source: &Source, row: Row<'_>, out: &mut Mapped) {
        let text = clean(row.bytes, &mut out.unread);
        let mut draft = Draft::new(source, row.number, out);
        let unread =
            read_text::<Envelope<'_>>(&text, |envelope, text| map_value(&mut draft, &envelope, text));
        out.unread.extend(unread);
    }
}

impl Format for Codex {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        about::is_rollout(head).then_some(Layout::Lines)
    }

    fn describe(&self, path: &Path, head: &[u8]) -> Described {
        about::describe(path, head)
    }
}

/// Maps one JSON value of a line; `text` is the value's own text.
fn map_value(draft: &mut Draft<'_>, envelope: &Envelope<'_>, text: &str) {
    draft.begin(text, envelope.time());
    let kind = text_of(envelope.kind);
    let events_before = draft.event_count();
    let read = match (kind.as_deref(), envelope.payload) {
        (Some(kind), Some(payload)) => map_enveloped(draft, kind, payload.get()),
        // Some builds write the record's fields beside its type instead of in a payload.
        (Some("token_usage_record"), None) => tokens::usage_record(draft, text),
        (Some(_), None) => items::map(draft, text),
        (None, _) if envelope.role.is_some() => items::map(draft, text),
        (None, _) if envelope.is_flat_header() => notices::session_meta(draft, text),
        (None, _) => Ok(()),
    };
    let kind = kind.or_else(|| text_of(envelope.record_type));
    let kind = kind.as_deref().unwrap_or("row");
    if let Err(error) = read {
        draft.unread(Unread(format!("{kind}: {}", super::misfit::words(&error))));
    }
    if draft.event_count() == events_before {
        draft.other(kind, None);
    }
}

fn map_enveloped(draft: &mut Draft<'_>, kind: &str, payload: &str) -> serde_json::Result<()> {
    match kind {
        "session_meta" => notices::session_meta(draft, payload),
        "turn_context" => notices::turn_context(draft, payload),
        "response_item" => items::map(draft, payload),
        "event_msg" => notices::event_msg(draft, payload),
        "compacted" => notices::compacted(draft, payload),
        "token_usage_record" => tokens::usage_record(draft, payload),
        _ => Ok(()),
    }
}
