//! The beginning and the end of a text.

use std::borrow::Cow;

use crate::format::{bytes, whole};

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// All of it.
    Whole,
    /// So many lines of the beginning and of the end, and of a long line its beginning.
    Lines(usize, usize),
}

/// Bytes of one line that are shown where there is no room for all.
const LINE_BYTES: usize = 600;

/// What of a text is shown.
pub(super) struct Excerpt<'a> {
    /// The first lines.
    pub(super) first: Vec<Cow<'a, str>>,
    /// The last lines, when there are more than fit.
    pub(super) last: Vec<Cow<'a, str>>,
    total: usize,
}

impl<'a> Excerpt<'a> {
    pub(super) fn new(text: &'a str, room: Room) -> Self {
        let text = text.trim_matches(['\n', '\r']);
        let lines: Vec<&str> = if text.trim().is_empty() { Vec::new() } else { text.split('\n').collect() };
        let total = lines.len();
        let Room::Lines(first, last) = room else {
            let first = lines.into_iter().map(Cow::Borrowed).collect();
            return Self { first, last: Vec::new(), total };
        };
        // A line that says that one line is not shown would take its place.
        let (head, tail) = if total <= first + last + 1 {
            (&lines[..], &[][..])
        } else {
            (&lines[..first], &lines[total - last..])
        };
        let shorten = |lines: &[&'a str]| lines.iter().map(|line| shortened(line, room)).collect();
        Self { first: shorten(head), last: shorten(tail), total }
    }

    /// Returns the words that stand between the first and the last lines; nothing when all are shown.
    pub(super) fn cut(&self) -> Option<String> {
        let shown = self.first.len() + self.last.len();
        (shown < self.total)
            .then(|| format!("… {} of {} lines shown", whole(shown as u64), whole(self.total as u64)))
    }
}

/// Returns a line, cut where it is long and there is no room for all.
pub(super) fn shortened(line: &str, room: Room) -> Cow<'_, str> {
    if room == Room::Whole || line.len() <= LINE_BYTES {
        return Cow::Borrowed(line);
    }
    let head = &line[..line.floor_char_boundary(LINE_BYTES)];
    Cow::Owned(format!("{head} … {} of {} shown", bytes(head.len() as u64), bytes(line.len() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, room: Room, first: &[&str], cut: Option<&str>, last: &[&str]) {
        let excerpt = Excerpt::new(text, room);
        assert_eq!((&excerpt.first[..], &excerpt.last[..]), (&of(first)[..], &of(last)[..]), "{text:?}");
        assert_eq!(excerpt.cut().as_deref(), cut, "{text:?}");
    }

    fn of<'a>(lines: &[&'a str]) -> Vec<Cow<'a, str>> {
        lines.iter().map(|line| Cow::Borrowed(*line)).collect()
    }

    #[test]
    fn both_ends_are_shown_and_counted() {
        let room = Room::Lines(2, 1);
        check("a\nb\nc\nd\ne\n", room, &["a", "b"], Some("… 3 of 5 lines shown"), &["e"]);
        check("a\nb\nc\nd\n", room, &["a", "b", "c", "d"], None, &[]);
        check("a\nb\nc\nd\ne", Room::Whole, &["a", "b", "c", "d", "e"], None, &[]);
        check("\n \n", room, &[], None, &[]);
        check("", Room::Whole, &[], None, &[]);
    }

    #[test]
    fn a_long_line_is_cut_where_there_is_no_room() {
        let long = "ü".repeat(1000);
        let excerpt = Excerpt::new(&long, Room::Lines(3, 3));
        assert_eq!(excerpt.first[0], format!("{} … 600 B of 2 kB shown", "ü".repeat(300)));
        assert_eq!(Excerpt::new(&long, Room::Whole).first[0], long);
    }
}
