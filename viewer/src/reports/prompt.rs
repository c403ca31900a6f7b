//! `dashcam prompt`.

use std::io::Write;

use serde::Serialize;
use store::{Prompt, PromptChunk, SessionRow, Store};

use super::plain::printable;
use super::{Notes, ReportError, Style, find, json_line};

#[derive(Serialize)]
struct PromptLine<'a> {
    fidelity: &'static str,
    missing: &'a [String],
    body_hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<&'a str>,
    chunks: Vec<ChunkLine<'a>>,
    left_out: &'a [agent_core::LeftOut],
}

#[derive(Serialize)]
struct ChunkLine<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_basis: Option<&'a str>,
    hash: &'a str,
}

pub(super) fn write(
    store: &Store,
    session: &str,
    turn: u32,
    call: u32,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let row = find::session(store, session)?;
    find::turn(store, &row, turn)?;
    let calls = store.prompt_calls(row.session_key, turn)?;
    if calls.is_empty() {
        return Ok(Notes { lines: vec![why_none(store, &row, turn)?], faulty: true });
    }
    if !calls.contains(&call) {
        return Err(ReportError::NoCall { turn, call, known: calls });
    }
    let prompt = store.prompt(row.session_key, turn, call)?;
    match style {
        Style::Json => json_line(out, &line(&prompt))?,
        Style::Text(_) => {
            for chunk in &prompt.chunks {
                out.write_all(&chunk.bytes)?;
            }
        }
    }
    let mut notes = Notes { faulty: prompt.damaged.is_some(), ..Default::default() };
    notes.lines.push(fidelity_note(&prompt));
    notes.lines.extend(prompt.damaged.iter().map(|what| format!("damaged: {what}")));
    Ok(notes)
}

/// Says why a turn has no prompt.
pub(super) fn why_none(store: &Store, session: &SessionRow, turn: u32) -> Result<String, ReportError> {
    let row = store.turn(session.session_key, turn)?;
    let asked = row.responded || row.failed_model_calls > 0;
    Ok(match (asked, session.turns) {
        (true, _) => format!("the source does not tell what was sent to the model in turn {turn}"),
        (false, 0) => format!("turn {turn} has no prompt: no model was called in the session"),
        (false, _) => format!(
            "turn {turn} has no prompt: no model was called in it (what stands there came after the last answer, and nothing was sent)"
        ),
    })
}

fn fidelity_note(prompt: &Prompt) -> String {
    let fidelity = prompt.fidelity.as_str();
    if prompt.missing.is_empty() {
        format!("fidelity: {fidelity}")
    } else {
        let missing: Vec<String> = prompt.missing.iter().map(|what| printable(what)).collect();
        format!("fidelity: {fidelity}; the source lacks {}", missing.join(", "))
    }
}

fn line(prompt: &Prompt) -> PromptLine<'_> {
    fn chunk(chunk: &PromptChunk) -> ChunkLine<'_> {
        ChunkLine {
            kind: chunk.kind.as_str(),
            source: chunk.source.as_deref(),
            reason: chunk.reason.as_deref(),
            bytes: chunk.bytes.len(),
            tokens: chunk.tokens,
            tokens_basis: chunk.tokens_basis.as_deref(),
            hash: &chunk.hash,
        }
    }
    PromptLine {
        fidelity: prompt.fidelity.as_str(),
        missing: &prompt.missing,
        body_hash: &prompt.body_hash,
        damaged: prompt.damaged.as_deref(),
        chunks: prompt.chunks.iter().map(chunk).collect(),
        left_out: &prompt.left_out,
    }
}
