//! Parts of a prompt as pages show them.

use store::PromptPartRow;

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
    /// Returns a part without what stands in it. `turn` is the turn of the prompt.
    pub(crate) fn new(session: &str, row: &PromptPartRow, turn: u32) -> Self {
        let is_new = row.turn == turn;
        let label = match (row.kind.as_str(), row.role.as_str()) {
            ("history", "assistant") => "model",
            ("history", "user") => "user",
            (kind, _) => words::part_kind(kind),
        };
        Self {
            part: row.part,
            kind: row.kind.clone(),
            label: one_line(label),
            source: row.source.as_deref().map(one_line).unwrap_or_default(),
            reason: row.reason.as_deref().map(one_line).unwrap_or_default(),
            tokens: tokens(row.tokens, row.tokens_basis.as_deref()),
            tokens_title: tokens_title(row.tokens_basis.as_deref()),
            size: bytes(row.bytes),
            since: if is_new { "new this turn".to_owned() } else { format!("since turn {}", row.turn) },
            is_new,
            href: links::part(session, row.part),
            content: None,
            is_open: false,
        }
    }
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
