//! Text of a session, cut to what a page can hold.

use crate::format::{bytes, whole};
use crate::markup::{Markup, Sought};

/// Lines from which a text is long.
const LONG_LINES: usize = 28;
/// Bytes from which it is, whatever its lines.
const LONG_BYTES: usize = 4 << 10;

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
    /// Whether it needs a box of its own to scroll in.
    pub(crate) is_long: bool,
}

/// What is missing in the middle of a text.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// Such as `56 kB of 3.2 MB shown`.
    pub(crate) words: String,
    pub(crate) tail: Markup,
}

/// The beginning of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub(crate) shown: Markup,
    /// Such as `4.1 kB of 12 kB shown`; absent when nothing is missing.
    pub(crate) cut: Option<String>,
}

/// What is shown of a text for which a page has no more room.
const LATE_BYTES: usize = 400;

/// How much room a text may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// The text is what the page is about.
    Wide,
    /// One of many.
    Narrow,
    /// There is no more room: a beginning and an end.
    Tiny,
}

impl Room {
    /// Returns how many bytes of the beginning and of the end are shown.
    const fn bytes(self) -> (usize, usize) {
        match self {
            Self::Wide => (48 << 10, 8 << 10),
            Self::Narrow => (6 << 10, 2 << 10),
            Self::Tiny => (400, 100),
        }
    }
}

/// The room that a page has: it is given out in order, and who comes late gets less.
#[derive(Debug)]
pub(crate) struct Space {
    /// Bytes of markup.
    bytes: usize,
    /// Elements, beyond those that each row of a page has.
    elements: usize,
}

impl Space {
    /// Returns the room of one page.
    pub(crate) const fn of_page() -> Self {
        Self { bytes: 300 << 10, elements: 500 }
    }

    /// Returns `text` ready to be shown in at most `room`; `whole` is the address of all of it.
    pub(crate) fn content(&mut self, text: &str, whole: String, room: Room) -> Content {
        let fits = |room: Room| text.len().min(room.bytes().0 + room.bytes().1) <= self.bytes;
        let room = [room, Room::Narrow].into_iter().find(|&room| fits(room)).unwrap_or(Room::Tiny);
        let (content, elements) = Content::bounded(text, whole, room, self.elements);
        let taken = content.head.len() + content.cut.as_ref().map_or(0, |cut| cut.tail.len());
        self.bytes = self.bytes.saturating_sub(taken);
        self.elements = self.elements.saturating_sub(elements);
        content
    }

    /// Returns the room of a page of many short texts.
    pub(crate) const fn of_transcript() -> Self {
        Self { bytes: 200 << 10, elements: 220 }
    }

    /// Returns the beginning of a text among many, at most `most` bytes of it, with what was sought marked.
    pub(crate) fn beginning(&mut self, text: &str, most: usize, sought: Option<&Sought>) -> Beginning {
        let text = text.trim();
        let most = if text.len().min(most) <= self.bytes { most } else { most.min(LATE_BYTES) };
        let end = if text.len() <= most { text.len() } else { text.floor_char_boundary(most) };
        let (shown, used) = Markup::marked(&text[..end], sought, self.elements);
        self.bytes = self.bytes.saturating_sub(shown.len());
        self.elements = self.elements.saturating_sub(used);
        let cut = (end < text.len())
            .then(|| format!("{} of {} shown", bytes(end as u64), bytes(text.len() as u64)));
        Beginning { shown, cut }
    }

    /// Returns a short line with what was sought marked.
    pub(crate) fn line(&mut self, line: &str, sought: Option<&Sought>) -> Markup {
        let (shown, used) = Markup::marked(line, sought, self.elements);
        self.elements = self.elements.saturating_sub(used);
        shown
    }

    /// Takes so many elements; returns whether there is room for them.
    pub(crate) fn take_elements(&mut self, count: usize) -> bool {
        let fits = count <= self.elements;
        if fits {
            self.elements -= count;
        }
        fits
    }
}

impl Content {
    /// Returns `text` ready to be shown in `room`; `whole` is the address of all of it.
    pub(crate) fn new(text: &str, whole: String, room: Room) -> Self {
        Self::bounded(text, whole, room, usize::MAX).0
    }

    fn bounded(text: &str, whole: String, room: Room, elements: usize) -> (Self, usize) {
        let (head_bytes, tail_bytes) = room.bytes();
        let is_cut = text.len() > head_bytes + tail_bytes;
        let head = if is_cut { &text[..text.floor_char_boundary(head_bytes)] } else { text };
        let (head_markup, mut used) = Markup::bounded(head, elements);
        let cut = is_cut.then(|| {
            let tail = &text[text.ceil_char_boundary(text.len() - tail_bytes)..];
            let words =
                format!("{} of {} shown", bytes((head.len() + tail.len()) as u64), bytes(text.len() as u64));
            let (tail, in_tail) = Markup::bounded(tail, elements - used.min(elements));
            used += in_tail;
            Cut { words, tail }
        });
        let content = Self {
            head: head_markup,
            cut,
            whole,
            size: bytes(text.len() as u64),
            lines: whole_lines(text),
            is_empty: text.trim().is_empty(),
            is_long: text.len() > LONG_BYTES || text.lines().nth(LONG_LINES).is_some(),
        };
        (content, used)
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

    #[test]
    fn a_beginning_says_what_it_leaves_out() {
        let mut space = Space::of_transcript();
        let whole = space.beginning("one\ntwo\n", 4096, None);
        assert_eq!((whole.shown.to_string().as_str(), whole.cut), ("one\ntwo", None));
        let cut = space.beginning(&"ü".repeat(3_000), 4095, None);
        assert_eq!((cut.shown.len(), cut.cut.as_deref()), (4094, Some("4 kB of 6 kB shown")));
    }

    #[test]
    fn a_page_gives_no_more_room_than_it_has() {
        let mut space = Space::of_page();
        let text = "<".repeat(60 << 10);
        let total: usize = (0..50)
            .map(|_| space.content(&text, String::new(), Room::Wide))
            .map(|content| content.head.len() + content.cut.map_or(0, |cut| cut.tail.len()))
            .sum();
        assert!(total < 650 << 10, "{total}");
    }
}
