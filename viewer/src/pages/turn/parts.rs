//! Parts of a prompt as pages show them.

use agent_core::Event;
use rustc_hash::FxHashMap;
use store::{PromptPartRow, Store, StoreError};

use crate::format::{UNKNOWN, bytes, short};
use crate::links;
use crate::markup::one_line;
use crate::pages::content::Content;
use crate::pages::words;

/// One part of a prompt.
#[derive(Debug)]
pub(crate) struct PartView {
    /// Its number in the session.
    pub(crate) part: u32,
    /// Its kind, which is also the class that gives it its colour.
    pub(crate) kind: String,
    pub(crate) label: String,
    pub(crate) source: String,
    pub(crate) reason: String,
    pub(crate) tokens: String,
    pub(crate) tokens_title: &'static str,
    pub(crate) size: String,
    pub(crate) since: String,
    pub(crate) is_new: bool,
    pub(crate) href: String,
    pub(crate) content: Option<Content>,
    pub(crate) is_open: bool,
}

impl PartView {
    /// Returns a part without what stands in it.
    pub(crate) fn new(session: &str, row: &PromptPartRow, is_new: bool) -> Self {
        let is_call = row.kind == "history" && row.reason.as_deref() == Some("tool call");
        let label = match (row.kind.as_str(), row.role.as_str()) {
            _ if is_call => "tool call",
            ("history", "assistant") => "model",
            ("history", "user") => "user",
            (kind, _) => words::part_kind(kind),
        };
        let source = row.source.as_deref().map(one_line).unwrap_or_default();
        Self {
            part: row.part,
            kind: row.kind.clone(),
            label: one_line(label),
            source: if source.is_empty() && row.bytes == 0 { "(no words)".to_owned() } else { source },
            reason: if is_call {
                String::new()
            } else {
                row.reason.as_deref().map(one_line).unwrap_or_default()
            },
            tokens: tokens(row.tokens, row.tokens_basis.as_deref()),
            tokens_title: tokens_title(row.tokens_basis.as_deref()),
            size: bytes(row.bytes),
            since: if is_new { "new this turn".to_owned() } else { format!("from turn {}", row.turn) },
            is_new,
            href: links::part(session, row.part),
            content: None,
            is_open: false,
        }
    }
}

/// Names the calls that parts come from by their tools, which tell a reader more than ids.
pub(crate) fn name_calls(
    store: &Store,
    session_key: u32,
    lists: &mut [&mut Vec<PromptPartRow>],
) -> Result<(), StoreError> {
    let ids: Vec<&str> =
        lists.iter().flat_map(|rows| rows.iter()).filter_map(|row| row.source.as_deref()).collect();
    let calls = store.tool_calls_by_id(session_key, &ids)?;
    let names: FxHashMap<String, String> = calls
        .into_iter()
        .map(|call| (call.call_id, format!("{} {}", call.name, call.input_preview)))
        .collect();
    for row in lists.iter_mut().flat_map(|rows| rows.iter_mut()) {
        if let Some(name) = row.source.as_ref().and_then(|source| names.get(source)) {
            row.source = Some(name.clone());
        }
    }
    Ok(())
}

/// Returns each part with the event that holds what stands in it; nothing where the source lacks the bytes.
pub(crate) fn with_events(
    store: &Store,
    rows: Vec<PromptPartRow>,
) -> Result<Vec<(PromptPartRow, Option<Event>)>, StoreError> {
    let places: Vec<(u64, u16)> =
        rows.iter().filter(|row| row.position != 0).map(|row| (row.position, row.sub)).collect();
    let mut events = store.events_at(&places)?.into_iter();
    Ok(rows
        .into_iter()
        .map(|row| if row.position == 0 { (row, None) } else { (row, events.next()) })
        .collect())
}

/// Returns a number of tokens; what was not counted has a sign before it.
pub(crate) fn tokens(tokens: Option<u64>, basis: Option<&str>) -> String {
    match (tokens, basis) {
        (None, _) => UNKNOWN.to_owned(),
        (Some(tokens), Some("estimated") | None) => format!("≈ {}", short(tokens)),
        (Some(tokens), Some(_)) => short(tokens),
    }
}

fn tokens_title(basis: Option<&str>) -> &'static str {
    match basis {
        Some("reported") => "tokens as the provider reported them",
        Some("counted") => "tokens as the agent counted them",
        _ => "tokens estimated from the size, four bytes a token",
    }
}
