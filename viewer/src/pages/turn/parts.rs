//! Parts of a prompt as pages show them.

use agent_core::Event;
use rustc_hash::FxHashMap;
use store::{PromptPartRow, Store, StoreError, ToolCallRow};

use crate::format::{UNKNOWN, bytes, short};
use crate::links;
use crate::markup::one_line;
use crate::pages::content::Content;
use crate::pages::event_text::text_of;
use crate::pages::words;

/// How much of a part stands in its line.
const PREVIEW_BYTES: usize = 120;
/// How much of what was asked stands before the result.
const ASKED_BYTES: usize = 36;
/// Larger parts are not read for a line.
const READ_OF_A_PART: u64 = 64 << 10;
/// Bytes of parts read for the lines of one page.
const READ_FOR_PREVIEWS: u64 = 512 << 10;

/// One part of a prompt.
#[derive(Debug)]
pub(crate) struct PartView {
    /// Its kind, which is also the class that gives it its colour.
    pub(crate) kind: String,
    pub(crate) label: String,
    pub(crate) source: String,
    /// How it begins, where that is known.
    pub(crate) preview: String,
    pub(crate) reason: String,
    pub(crate) tokens: String,
    pub(crate) tokens_title: &'static str,
    pub(crate) size: String,
    pub(crate) since: String,
    pub(crate) since_title: String,
    pub(crate) is_new: bool,
    pub(crate) href: String,
    /// Its name on the page, by which a link leads to it.
    pub(crate) anchor: Option<String>,
    pub(crate) content: Option<Content>,
    pub(crate) is_open: bool,
}

impl PartView {
    /// Returns a part without what stands in it, but with how it begins.
    pub(crate) fn new(session: &str, row: &PromptPartRow, is_new: bool, previews: &Previews) -> Self {
        let is_call = row.kind == "history" && row.reason.as_deref() == Some("tool call");
        let label = match (row.kind.as_str(), row.role.as_str()) {
            _ if is_call => "tool call",
            ("history", "assistant") => "model",
            ("history", "user") => "user",
            (kind, _) => words::part_kind(kind),
        };
        let source = row.source.as_deref().map(one_line).unwrap_or_default();
        let preview = previews.get(&row.part).cloned().unwrap_or_default();
        Self {
            kind: row.kind.clone(),
            label: one_line(label),
            source: if source.is_empty() && preview.is_empty() && row.bytes == 0 {
                "(no words)".to_owned()
            } else {
                source
            },
            preview,
            reason: if is_call {
                String::new()
            } else {
                row.reason.as_deref().map(one_line).unwrap_or_default()
            },
            tokens: tokens(row.tokens, row.tokens_basis.as_deref()),
            tokens_title: tokens_title(row.tokens_basis.as_deref()),
            size: bytes(row.bytes),
            since: if is_new { "new this turn".to_owned() } else { format!("since turn {}", row.turn) },
            since_title: format!("first sent in turn {}, and unchanged since", row.turn),
            is_new,
            href: links::part(session, row.part),
            anchor: None,
            content: None,
            is_open: false,
        }
    }
}

/// The beginning of what stands in parts, by their numbers.
pub(crate) type Previews = FxHashMap<u32, String>;

/// Names the calls that parts come from by their tools, which tell a reader more than ids, and returns how the
/// parts begin.
///
/// What the tables hold is taken from them. Of the rest, small parts are read: a page may not read a prompt of
/// megabytes to show a line of each part.
pub(crate) fn describe(
    store: &Store,
    session_key: u32,
    lists: &mut [&mut Vec<PromptPartRow>],
) -> Result<Previews, StoreError> {
    let numbers: Vec<u32> =
        lists.iter().flat_map(|rows| rows.iter()).filter_map(|row| row.tool_call).collect();
    let calls: FxHashMap<u32, ToolCallRow> =
        store.tool_calls_numbered(session_key, &numbers)?.into_iter().map(|call| (call.call, call)).collect();
    let mut previews = Previews::default();
    let mut unread = Vec::new();
    let mut room = READ_FOR_PREVIEWS;
    for row in lists.iter_mut().flat_map(|rows| rows.iter_mut()) {
        if let Some(call) = row.tool_call.and_then(|number| calls.get(&number)) {
            // A result leaves room for how it begins: what was asked stands with the call.
            let asked = if row.kind == "tool_result" {
                previews.insert(row.part, preview(call.output_preview.as_deref().unwrap_or_default()));
                shortened(&call.input_preview)
            } else {
                call.input_preview.clone()
            };
            row.source = Some(format!("{} {asked}", call.name));
        } else if row.position != 0 && row.kind != "framing" && row.bytes <= room.min(READ_OF_A_PART) {
            room -= row.bytes;
            unread.push((row.part, (row.position, row.sub)));
        }
    }
    let places: Vec<(u64, u16)> = unread.iter().map(|(_, place)| *place).collect();
    let events = store.events_at(&places)?;
    previews
        .extend(unread.iter().zip(&events).map(|((part, _), event)| (*part, preview(&text_of(&event.body)))));
    Ok(previews)
}

/// Returns the beginning of a text on one line.
pub(super) fn preview(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(PREVIEW_BYTES)];
    one_line(head)
}

fn shortened(asked: &str) -> String {
    if asked.len() <= ASKED_BYTES {
        return asked.to_owned();
    }
    format!("{}…", &asked[..asked.floor_char_boundary(ASKED_BYTES)])
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
