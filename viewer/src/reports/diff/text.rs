//! The difference as text: what came in and what went, in the words of the parts, without what stands
//! between them.

use std::io;

use agent_core::ChunkKind;
use similar::{ChangeTag, TextDiff};
use store::PromptChunk;

use super::Step;
use super::chunk::readable;
use crate::format::bytes;
use crate::reports::excerpt::Room;
use crate::reports::look::{Ink, Paper};
use crate::reports::plain::printable;

/// Lines around a change that are shown.
const AROUND: usize = 2;

pub(super) fn write(steps: &[Step<'_>], paper: &mut Paper<'_>) -> io::Result<()> {
    let mut same = Sum::default();
    for step in steps {
        match step {
            Step::Same(chunks) => chunks.iter().for_each(|chunk| same.add(chunk)),
            Step::Removed(chunk) | Step::Added(chunk) | Step::Changed(_, chunk) if is_framing(chunk) => {}
            Step::Removed(chunk) => part(&mut same, '-', Ink::Removed, chunk, paper)?,
            Step::Added(chunk) => part(&mut same, '+', Ink::Added, chunk, paper)?,
            Step::Changed(old, new) => changed(&mut same, old, new, paper)?,
        }
    }
    same.write(paper)
}

/// What stands between the parts tells nothing by itself.
fn is_framing(chunk: &PromptChunk) -> bool {
    chunk.kind == ChunkKind::Framing
}

/// Parts that are the same.
#[derive(Default)]
struct Sum {
    parts: usize,
    bytes: usize,
}

impl Sum {
    fn add(&mut self, chunk: &PromptChunk) {
        if !is_framing(chunk) {
            self.parts += 1;
            self.bytes += chunk.bytes.len();
        }
    }

    /// Writes the parts since the last change, and forgets them.
    fn write(&mut self, paper: &mut Paper<'_>) -> io::Result<()> {
        let Self { parts, bytes: size } = std::mem::take(self);
        if parts == 0 {
            return Ok(());
        }
        let parts = if parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") };
        paper.words(2, Some(Ink::Quiet), &format!("{parts} unchanged, {}", bytes(size as u64)))
    }
}

fn part(same: &mut Sum, sign: char, ink: Ink, chunk: &PromptChunk, paper: &mut Paper<'_>) -> io::Result<()> {
    same.write(paper)?;
    heading(sign, ink, chunk, paper)?;
    paper.text(&format!("{sign}   "), Some(ink), &readable(&chunk.bytes), Room::Whole)
}

fn changed(same: &mut Sum, old: &PromptChunk, new: &PromptChunk, paper: &mut Paper<'_>) -> io::Result<()> {
    same.write(paper)?;
    heading('~', Ink::Warning, new, paper)?;
    let (old, new) = (readable(&old.bytes), readable(&new.bytes));
    let diff = TextDiff::from_lines(&old, &new);
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            paper.words(4, Some(Ink::Quiet), "…")?;
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, ink) = match change.tag() {
                ChangeTag::Delete => ("~ - ", Ink::Removed),
                ChangeTag::Insert => ("~ + ", Ink::Added),
                ChangeTag::Equal => ("~   ", Ink::Quiet),
            };
            paper.text_line(sign, Some(ink), change.value().trim_end_matches('\n'), Room::Whole)?;
        }
    }
    Ok(())
}

fn heading(sign: char, ink: Ink, chunk: &PromptChunk, paper: &mut Paper<'_>) -> io::Result<()> {
    let words = [chunk.source.as_deref(), chunk.reason.as_deref()].into_iter().flatten();
    let why: String = words.map(|words| format!(", {}", printable(words))).collect();
    let kind = chunk.kind.as_str().replace('_', " ");
    let line = format!("{sign} {kind}{why} ({})", bytes(chunk.bytes.len() as u64));
    let line = paper.paint(ink, &line);
    paper.line(&line)
}
