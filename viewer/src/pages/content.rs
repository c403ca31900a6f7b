//! Text of a session, cut to what a page can hold.

use crate::format::{bytes, whole};
use crate::markup::Markup;

/// How much of the beginning of a long text is shown.
const HEAD_BYTES: usize = 48 << 10;
/// How much of its end.
const TAIL_BYTES: usize = 8 << 10;
/// How much of its beginning is shown where a page has many texts.
const SHORT_HEAD_BYTES: usize = 6 << 10;
/// How much of its end is shown there.
const SHORT_TAIL_BYTES: usize = 2 << 10;

/// A text ready to be shown, whole or cut, and where the whole is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) head: Markup,
    pub(crate) cut: Option<Cut>,
    /// Where the whole text is, as plain text.
    pub(crate) whole: String,
    pub(crate) size: String,
    pub(crate) lines: String,
    pub(crate) is_empty: bool,
}

/// What is missing in the middle of a text.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// Such as `56 kB of 3.2 MB shown`.
    pub(crate) words: String,
    pub(crate) tail: Markup,
}

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// The text is what the page is about.
    Wide,
    /// One of many.
    Narrow,
}

impl Content {
    /// Returns `text` ready to be shown; `whole` is the address of all of it.
    pub(crate) fn new(text: &str, whole: String, room: Room) -> Self {
        let (head_bytes, tail_bytes) = match room {
            Room::Wide => (HEAD_BYTES, TAIL_BYTES),
            Room::Narrow => (SHORT_HEAD_BYTES, SHORT_TAIL_BYTES),
        };
        let is_cut = text.len() > head_bytes + tail_bytes;
        let head = if is_cut { &text[..text.floor_char_boundary(head_bytes)] } else { text };
        let cut = is_cut.then(|| {
            let tail = &text[text.ceil_char_boundary(text.len() - tail_bytes)..];
            let words = format!("{} of {} shown", bytes((head.len() + tail.len()) as u64), bytes(text.len() as u64));
            Cut { words, tail: Markup::text(tail) }
        });
        Self {
            head: Markup::text(head),
            cut,
            whole,
            size: bytes(text.len() as u64),
            lines: whole_lines(text),
            is_empty: text.trim().is_empty(),
        }
    }
}

fn whole_lines(text: &str) -> String {
    match text.lines().count() {
        0 | 1 => String::new(),
        count => format!("{} lines", whole(count as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_and_says_so() {
        let text = format!("begin{}end", "ü".repeat(50_000));
        let content = Content::new(&text, String::new(), Room::Wide);
        let cut = content.cut.expect("it is cut");
        assert!(content.head.to_string().starts_with("begin"));
        assert!(cut.tail.to_string().ends_with("end"));
        assert_eq!(cut.words, "57.3 kB of 100 kB shown");
        assert!(Content::new("short", String::new(), Room::Narrow).cut.is_none());
    }
}
