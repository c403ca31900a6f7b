//! `dashcam doctor`: how the data folder is, and what is wrong with it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;
use store::{Loss, SourceId, Store};

use super::plain::printable;
use super::{Notes, ReportError, Style, json_line};

#[derive(Serialize)]
struct DoctorLine {
    data: String,
    records: u64,
    journal_bytes: u64,
    torn_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_records: Option<u64>,
    lag_records: u64,
    sessions: u64,
    events: Counts,
    sources: u64,
    /// Pieces of session files, and events, that could not be read; what is lost is not among them.
    unread: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_pieces: Vec<Piece>,
    lost_records: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    losses: Vec<LossLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable_now: Vec<UnreadableFile>,
}

/// Pieces and losses that are listed; the rest is counted.
const LISTED: usize = 100;
/// The same in text.
const LISTED_IN_TEXT: usize = 20;

/// A piece that could not be read.
#[derive(Serialize)]
struct Piece {
    /// The session file; absent for an event that an agent sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The line in it, or the place in a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    reason: String,
}

/// Records that the journal has lost, one after the other.
#[derive(Serialize)]
struct LossLine {
    first_record: u64,
    records: u64,
    reason: String,
}

/// A followed file or folder that cannot be read for now.
#[derive(Serialize)]
struct UnreadableFile {
    path: String,
    reason: String,
}

#[derive(Serialize)]
struct Counts {
    received: u64,
    stored: u64,
    duplicate: u64,
    missing: u64,
}

pub(super) fn write(
    store: &Store,
    verify: bool,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let mut notes = Notes::default();
    let verified = if verify {
        match store.journal().verify() {
            Ok(records) => Some(records),
            Err(error) => {
                notes.faulty = true;
                notes.lines.push(format!("the journal does not hold: {error}"));
                None
            }
        }
    } else {
        None
    };
    let report = store.report()?;
    let losses = store.losses()?;
    let line = DoctorLine {
        data: store.folder().display().to_string(),
        records: store.journal().last().0,
        journal_bytes: store.journal().bytes_on_disk(),
        torn_bytes: store.torn_bytes(),
        verified_records: verified,
        lag_records: store.lag(),
        sessions: report.sessions,
        events: Counts {
            received: report.events + report.duplicates,
            stored: report.events,
            duplicate: report.duplicates,
            missing: report.missing,
        },
        sources: report.sources,
        unread: report.unread.saturating_sub(losses.len() as u64),
        unread_pieces: unread_pieces(store)?,
        lost_records: losses.iter().map(Loss::records).sum(),
        losses: losses.iter().take(LISTED).map(loss_line).collect(),
        unreadable_now: unreadable(store),
    };
    notes.faulty |= !line.unreadable_now.is_empty() || line.unread > 0 || line.lost_records > 0;
    if report.missing > 0 {
        notes.lines.push(format!("{} numbered events never came in", report.missing));
    }
    match style {
        Style::Json => json_line(out, &line)?,
        Style::Text(_) => write_text(&line, out)?,
    }
    Ok(notes)
}

fn unread_pieces(store: &Store) -> Result<Vec<Piece>, ReportError> {
    let mut paths = BTreeMap::new();
    let mut pieces = Vec::new();
    for piece in store.unread(LISTED as u32)? {
        let path = match paths.entry(piece.source_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let report = store.source_report(SourceId(piece.source_id), 0)?;
                place.insert(report.map(|report| report.source.path))
            }
        };
        let line = Some(piece.row).filter(|&row| row > 0);
        pieces.push(Piece { path: path.clone(), line, reason: piece.reason });
    }
    Ok(pieces)
}

fn loss_line(loss: &Loss) -> LossLine {
    LossLine { first_record: loss.first.0, records: loss.records(), reason: loss.reason.clone() }
}

fn unreadable(store: &Store) -> Vec<UnreadableFile> {
    let named =
        |(path, reason): (PathBuf, String)| UnreadableFile { path: path.display().to_string(), reason };
    store.unreadable().into_iter().map(named).collect()
}

fn write_text(line: &DoctorLine, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "data folder   {}", line.data)?;
    writeln!(out, "journal       {} records, {} bytes on disk", line.records, line.journal_bytes)?;
    if line.torn_bytes > 0 {
        writeln!(
            out,
            "              {} bytes of an unfinished commit were cut off at the start",
            line.torn_bytes
        )?;
    }
    match line.verified_records {
        Some(records) => writeln!(out, "              {records} records verified, the chain holds")?,
        None => writeln!(out, "              not verified (use --verify)")?,
    }
    writeln!(out, "tables        {} records behind the journal", line.lag_records)?;
    writeln!(out, "sessions      {}", line.sessions)?;
    let events = &line.events;
    writeln!(
        out,
        "events        {} received, {} stored, {} duplicate, {} missing",
        events.received, events.stored, events.duplicate, events.missing
    )?;
    writeln!(out, "sources       {}, with {} pieces that could not be read", line.sources, line.unread)?;
    write_pieces(line, out)?;
    write_losses(line, out)?;
    for file in &line.unreadable_now {
        writeln!(out, "not read now  {}", printable(&file.reason))?;
    }
    Ok(())
}

fn write_pieces(line: &DoctorLine, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut path_before = None;
    for piece in line.unread_pieces.iter().take(LISTED_IN_TEXT) {
        if path_before != Some(&piece.path) {
            let path = piece.path.as_deref().map_or_else(|| "events that were sent".to_owned(), printable);
            writeln!(out, "              {path}")?;
        }
        path_before = Some(&piece.path);
        let place = piece.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        writeln!(out, "                {place}{}", printable(&piece.reason))?;
    }
    if line.unread > LISTED_IN_TEXT as u64 {
        writeln!(out, "              … {LISTED_IN_TEXT} of {} shown", line.unread)?;
    }
    Ok(())
}

fn write_losses(line: &DoctorLine, out: &mut dyn Write) -> Result<(), ReportError> {
    if line.lost_records > 0 {
        writeln!(out, "lost          {} records of the journal", line.lost_records)?;
    }
    for loss in line.losses.iter().take(LISTED_IN_TEXT) {
        let reason = printable(&loss.reason);
        let last = loss.first_record + loss.records - 1;
        match loss.records {
            1 => writeln!(out, "              record {last}: {reason}")?,
            _ => writeln!(out, "              records {} to {last}: {reason}", loss.first_record)?,
        }
    }
    Ok(())
}
