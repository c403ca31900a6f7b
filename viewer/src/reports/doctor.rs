//! `dashcam doctor`: how the data folder is, and what is wrong with it.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;
use store::Store;

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
    unread: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable_now: Vec<UnreadableFile>,
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
        unread: report.unread,
        unreadable_now: unreadable(store),
    };
    notes.faulty |= !line.unreadable_now.is_empty();
    if report.missing > 0 {
        notes.lines.push(format!("{} numbered events never came in", report.missing));
    }
    match style {
        Style::Json => json_line(out, &line)?,
        Style::Text(_) => write_text(store, &line, out)?,
    }
    Ok(notes)
}

fn unreadable(store: &Store) -> Vec<UnreadableFile> {
    let named =
        |(path, reason): (PathBuf, String)| UnreadableFile { path: path.display().to_string(), reason };
    store.unreadable().into_iter().map(named).collect()
}

fn write_text(store: &Store, line: &DoctorLine, out: &mut dyn Write) -> Result<(), ReportError> {
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
    for source in store.sources(20)?.iter().filter(|source| source.unread > 0) {
        writeln!(out, "              {} unread in {}", source.unread, printable(&source.path))?;
        for piece in store
            .source_report(store::SourceId(source.source_id), 5)?
            .into_iter()
            .flat_map(|report| report.unread)
        {
            writeln!(out, "                line {}: {}", piece.row, printable(&piece.reason))?;
        }
    }
    for file in &line.unreadable_now {
        writeln!(out, "not read now  {}", printable(&file.reason))?;
    }
    Ok(())
}
