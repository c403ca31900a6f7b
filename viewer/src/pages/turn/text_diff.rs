//! Two texts, line by line.

use similar::{Algorithm, ChangeTag, TextDiff as Diff};

use crate::format::whole;
use crate::markup::Markup;
use crate::pages::content::Space;

/// Equal lines kept around a change.
const CONTEXT: usize = 3;
/// Pieces of one comparison; more are counted only.
const PIECES: usize = 120;
/// Bytes of both texts; larger ones are not compared line by line.
const MAX_BYTES: usize = 400 << 10;
/// How long it may take; after that the result is right still, but not the shortest.
const DEADLINE: std::time::Duration = std::time::Duration::from_millis(150);

/// The difference of two texts, ready to be shown.
#[derive(Debug, Default)]
pub(crate) struct TextDiff {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// What is not shown.
    pub(crate) cut: Option<String>,
}

/// Lines of one kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// `add`, `del`, `same` or `gap`.
    pub(crate) class: &'static str,
    pub(crate) text: Markup,
}

impl TextDiff {
    pub(crate) fn new(before: &str, after: &str) -> Self {
        if before.len() + after.len() > MAX_BYTES {
            return Self {
                cut: Some("the texts are too long to compare line by line".to_owned()),
                ..Self::default()
            };
        }
        let diff = Diff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(before, after);
        let mut result = Self::default();
        let mut same: Vec<String> = Vec::new();
        let mut open: Option<(ChangeTag, String)> = None;
        for change in diff.iter_all_changes() {
            let tag = change.tag();
            if tag == ChangeTag::Equal {
                result.close(&mut open);
                same.push(line(tag, change.value()));
                continue;
            }
            result.flush_same(&mut same, false);
            *if tag == ChangeTag::Insert { &mut result.added } else { &mut result.removed } += 1;
            if open.as_ref().is_some_and(|(kind, _)| *kind != tag) {
                result.close(&mut open);
            }
            open.get_or_insert_with(|| (tag, String::new())).1.push_str(&line(tag, change.value()));
        }
        result.close(&mut open);
        result.flush_same(&mut same, true);
        result.cut_to(PIECES);
        result
    }

    /// Returns a text that is a patch already as one; nothing when it is none.
    pub(crate) fn of_patch(text: &str) -> Option<Self> {
        let is_patch = ["*** Begin Patch", "diff --git ", "--- "].iter().any(|start| text.starts_with(start));
        if !is_patch || text.len() > MAX_BYTES {
            return None;
        }
        let mut result = Self::default();
        let mut open: Option<(&'static str, String)> = None;
        for line in text.lines() {
            let class = patch_class(line);
            result.added += usize::from(class == "add");
            result.removed += usize::from(class == "del");
            if let Some((class, text)) = open.take_if(|(kind, _)| *kind != class) {
                result.pieces.push(Piece { class, text: Markup::text(&text) });
            }
            let text = &mut open.get_or_insert_with(|| (class, String::new())).1;
            text.push_str(line);
            text.push('\n');
        }
        result.pieces.extend(open.map(|(class, text)| Piece { class, text: Markup::text(&text) }));
        result.cut_to(PIECES);
        Some(result)
    }

    fn close(&mut self, open: &mut Option<(ChangeTag, String)>) {
        if let Some((tag, text)) = open.take() {
            let class = if tag == ChangeTag::Insert { "add" } else { "del" };
            self.pieces.push(Piece { class, text: Markup::text(&text) });
        }
    }

    /// Writes the equal lines down, only those near a change.
    fn flush_same(&mut self, same: &mut Vec<String>, is_end: bool) {
        if same.is_empty() {
            return;
        }
        let is_start = self.pieces.is_empty();
        let head = if is_start { 0 } else { CONTEXT.min(same.len()) };
        let tail = if is_end { 0 } else { CONTEXT.min(same.len() - head) };
        let hidden = same.len() - head - tail;
        if hidden <= 1 {
            self.pieces.push(Piece { class: "same", text: Markup::text(&same.concat()) });
        } else {
            self.push_lines(&same[..head]);
            let words = format!("  … {} equal lines\n", whole(hidden as u64));
            self.pieces.push(Piece { class: "gap", text: Markup::text(&words) });
            self.push_lines(&same[same.len() - tail..]);
        }
        same.clear();
    }

    fn push_lines(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.pieces.push(Piece { class: "same", text: Markup::text(&lines.concat()) });
        }
    }

    fn cut_to(&mut self, pieces: usize) {
        if self.pieces.len() > pieces {
            self.cut = Some(format!("{pieces} of {} pieces shown", self.pieces.len()));
            self.pieces.truncate(pieces);
        }
    }

    /// Keeps what the page has room for.
    pub(crate) fn bound(&mut self, space: &mut Space) {
        if !space.take_elements(self.pieces.len()) {
            self.cut_to(1);
        }
    }
}

/// Returns what a line of a patch is; headers are shown like gaps.
fn patch_class(line: &str) -> &'static str {
    let headers = ["***", "@@", "diff --git ", "index ", "--- ", "+++ "];
    match line.as_bytes().first() {
        _ if headers.iter().any(|header| line.starts_with(header)) => "gap",
        Some(b'+') => "add",
        Some(b'-') => "del",
        _ => "same",
    }
}

fn line(tag: ChangeTag, text: &str) -> String {
    let sign = match tag {
        ChangeTag::Insert => '+',
        ChangeTag::Delete => '-',
        ChangeTag::Equal => ' ',
    };
    format!("{sign} {}\n", text.trim_end_matches(['\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let diff = TextDiff::new(before, after);
        diff.pieces.iter().map(|piece| format!("{}:{}", piece.class, piece.text)).collect()
    }

    #[test]
    fn changes_stand_between_a_few_equal_lines() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        assert_eq!(
            shown(before, &before.replace('5', "five")),
            "same:  1\n  2\n  3\n  4\ndel:- 5\nadd:+ five\nsame:  6\n  7\n  8\n  9\n"
        );
        let long: String = (0..30).map(|n| format!("{n}\n")).collect();
        assert_eq!(
            shown(&long, &format!("{long}end\n")),
            "gap:  … 27 equal lines\nsame:  27\n  28\n  29\nadd:+ end\n"
        );
    }

    #[test]
    fn markup_in_a_difference_stays_text() {
        assert_eq!(shown("<b>\n", "<i>\n"), "del:- &lt;b&gt;\nadd:+ &lt;i&gt;\n");
    }

    #[test]
    fn a_huge_difference_says_what_is_missing() {
        let diff = TextDiff::new(&"a\n".repeat(300 << 10), "b");
        assert!(diff.pieces.is_empty() && diff.cut.is_some());
    }
}
