//! Text of a session with nothing in it that a terminal would obey.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::markup::hidden;

/// Columns between tab stops.
const TAB: usize = 8;

/// Returns the text on one line; what a terminal would obey, or a reader could not see, becomes visible.
pub(super) fn printable(text: &str) -> String {
    visible(text.trim(), |_, out| {
        if !out.ends_with(' ') {
            out.push(' ');
        }
    })
}

/// Returns one line of a text, its spaces kept; with `expand`, tabs become spaces.
pub(super) fn printable_line(line: &str, expand: bool) -> String {
    visible(line.strip_suffix('\r').unwrap_or(line), |space, out| match space {
        '\t' if expand => {
            let to_stop = TAB - out.width() % TAB;
            out.extend(std::iter::repeat_n(' ', to_stop));
        }
        ' ' | '\t' => out.push(space),
        other => match hidden(other, ' ', None) {
            Some(name) => out.push_str(&name),
            None => out.push(' '),
        },
    })
}

fn visible(text: &str, mut space: impl FnMut(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char.is_whitespace() {
            space(char, &mut out);
        } else if let Some(name) = hidden(char, before, chars.peek().copied()) {
            out.push_str(&name);
        } else {
            out.push(char);
        }
        before = char;
    }
    out
}

/// Returns the pieces of a printable line, none wider than `width` columns; broken at spaces where that
/// leaves no piece less than half full.
pub(super) fn pieces(line: &str, width: Option<usize>) -> Vec<&str> {
    let Some(width) = width.map(|width| width.max(1)) else { return vec![line] };
    let mut pieces = Vec::new();
    let mut rest = line;
    while rest.width() > width {
        let end = fitting(rest, width);
        // The space at which a line is broken is not shown.
        let space = rest.as_bytes()[..=end].iter().rposition(|&byte| byte == b' ');
        let space = space.filter(|&at| rest[..at].width() * 2 >= width);
        let (piece, after) = match space {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => rest.split_at(end),
        };
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Returns the text cut to `width` columns, with a sign that it was.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", text[..fitting(text, width.saturating_sub(1))].trim_end())
}

/// Returns how many bytes of the text fit into `width` columns; one character always does.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, char) in text.char_indices() {
        used += char.width().unwrap_or(0);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\r\u{8}b\u{202e}c\u{200b}\u{7f}";
        let shown = "a␛[2J␛]0;title␇U+009B31m␍␈bU+202EcU+200B␡";
        assert_eq!(printable_line(hostile, true), shown);
        assert_eq!(printable_line(hostile, false), shown);
        assert_eq!(printable("a\u{1b}[2J\r\n b\u{85}c\u{2028}d"), "a␛[2J b c d");
        assert_eq!(printable_line("a\u{85}b\u{2028}c\u{b}d", false), "aU+0085bU+2028c␋d");
        assert_eq!(printable_line("end\r", true), "end");
    }

    #[test]
    fn tabs_go_to_their_stops() {
        assert_eq!(printable_line("a\tbc\t\td", true), "a       bc              d");
        assert_eq!(printable_line("a\tb", false), "a\tb");
    }

    #[test]
    fn lines_break_at_spaces_or_in_words() {
        let check = |line: &str, width: usize, expected: &[&str]| {
            assert_eq!(pieces(line, Some(width)), expected, "{line}");
        };
        check("one two three", 8, &["one two", "three"]);
        check("one two three", 7, &["one two", "three"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("a bcdefgh", 6, &["a bcde", "fgh"]);
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("", 5, &[""]);
        assert_eq!(pieces("one two three", None), ["one two three"]);
    }

    #[test]
    fn a_cut_shows_itself() {
        assert_eq!([cut("title", 5), cut("a title", 5), cut("漢字漢", 5)], ["title", "a ti…", "漢字…"]);
    }
}
