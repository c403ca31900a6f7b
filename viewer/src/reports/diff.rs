//! `dashcam diff`: what changed in the prompt from one turn to another.

use std::io::Write;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff, capture_diff_slices};
use store::{Prompt, PromptChunk, SessionRow, Store};

use super::look::Paper;
use super::prompt::why_none;
use super::{Notes, ReportError, Style, find, json_line};

mod chunk;
mod text;

/// One step of the way from the earlier prompt to the later one.
#[derive(Serialize)]
struct DiffLine<'a> {
    /// `same`, `added` or `removed`.
    change: &'static str,
    /// How many chunks: more than one only for `same`.
    chunks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(super) fn write(
    store: &Store,
    session: &str,
    turn: u32,
    against: Option<u32>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let row = find::session(store, session)?;
    let Some(new) = prompt_of(store, &row, turn)? else { return none(store, &row, turn) };
    let before = match against {
        Some(before) => Some(before),
        None => store.prompt_before(row.session_key, turn)?.map(|(before, _)| before),
    };
    let mut notes = Notes::default();
    let old = match before {
        Some(before) => match prompt_of(store, &row, before)? {
            Some(old) => old,
            None => return none(store, &row, before),
        },
        None => Prompt { chunks: Vec::new(), ..new.clone() },
    };
    notes.lines.push(match before {
        Some(before) => {
            format!("turn {before} ({}) to turn {turn} ({})", old.fidelity.as_str(), new.fidelity.as_str())
        }
        None => format!(
            "turn {turn} ({}) has the first prompt of the session: all of it is new",
            new.fidelity.as_str()
        ),
    });
    let steps = steps(&old, &new);
    match style {
        Style::Json => steps.iter().try_for_each(|step| json_line(out, &step.line()))?,
        Style::Text(look) => text::write(&steps, &mut Paper::new(look, out)?)?,
    }
    Ok(notes)
}

/// Returns the prompt of the turn's first call; nothing when it has none.
fn prompt_of(store: &Store, session: &SessionRow, turn: u32) -> Result<Option<Prompt>, ReportError> {
    find::turn(store, session, turn)?;
    let call = store.prompt_calls(session.session_key, turn)?.first().copied();
    Ok(call.map(|call| store.prompt(session.session_key, turn, call)).transpose()?)
}

fn none(store: &Store, session: &SessionRow, turn: u32) -> Result<Notes, ReportError> {
    Ok(Notes { lines: vec![why_none(store, session, turn)?], faulty: true })
}

enum Step<'a> {
    Same(&'a [PromptChunk]),
    Removed(&'a PromptChunk),
    Added(&'a PromptChunk),
    Changed(&'a PromptChunk, &'a PromptChunk),
}

fn steps<'a>(old: &'a Prompt, new: &'a Prompt) -> Vec<Step<'a>> {
    let hashes =
        |prompt: &'a Prompt| prompt.chunks.iter().map(|chunk| chunk.hash.as_str()).collect::<Vec<_>>();
    let (old_hashes, new_hashes) = (hashes(old), hashes(new));
    let mut steps = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old_hashes, &new_hashes) {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        let (was, is) = (&old.chunks[old_range], &new.chunks[new_range]);
        match tag {
            DiffTag::Equal => steps.push(Step::Same(is)),
            _ => {
                let paired = was.len().min(is.len());
                for (was, is) in was.iter().zip(is) {
                    if was.kind == is.kind && was.source == is.source {
                        steps.push(Step::Changed(was, is));
                    } else {
                        steps.extend([Step::Removed(was), Step::Added(is)]);
                    }
                }
                steps.extend(was[paired..].iter().map(Step::Removed));
                steps.extend(is[paired..].iter().map(Step::Added));
            }
        }
    }
    steps
}

impl Step<'_> {
    fn line(&self) -> DiffLine<'_> {
        let one = |change, chunk: &'_ PromptChunk, text| DiffLine {
            change,
            chunks: 1,
            kind: Some(chunk.kind.as_str()),
            source: None,
            bytes: chunk.bytes.len(),
            hash: None,
            text: Some(text),
        };
        match self {
            Self::Same(chunks) => DiffLine {
                change: "same",
                chunks: chunks.len(),
                kind: None,
                source: None,
                bytes: chunks.iter().map(|chunk| chunk.bytes.len()).sum(),
                hash: None,
                text: None,
            },
            Self::Removed(chunk) => DiffLine {
                source: chunk.source.as_deref(),
                hash: Some(&chunk.hash),
                ..one("removed", chunk, words(chunk))
            },
            Self::Added(chunk) => DiffLine {
                source: chunk.source.as_deref(),
                hash: Some(&chunk.hash),
                ..one("added", chunk, words(chunk))
            },
            Self::Changed(old, new) => DiffLine {
                source: new.source.as_deref(),
                hash: Some(&new.hash),
                ..one("changed", new, unified(old, new))
            },
        }
    }
}

fn words(chunk: &PromptChunk) -> String {
    String::from_utf8_lossy(&chunk.bytes).into_owned()
}

fn unified(old: &PromptChunk, new: &PromptChunk) -> String {
    let (old, new) = (words(old), words(new));
    let diff = TextDiff::from_lines(&old, &new);
    diff.iter_all_changes()
        .filter(|change| change.tag() != ChangeTag::Equal)
        .map(|change| {
            format!(
                "{}{}",
                if change.tag() == ChangeTag::Delete { '-' } else { '+' },
                change.value().trim_end_matches('\n')
            )
        })
        .collect::<Vec<_>>()
        .join("\n")
}
