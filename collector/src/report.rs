//! What an import says of each file.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ImportError, Imported, ImportedFile, Importer, files_below};

/// Pieces that are listed for a file; the rest is counted in the store and on its page.
const LISTED_PIECES: u32 = 1000;

/// One file, for scripts: names fixed and versioned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileLine {
    /// The file.
    pub path: String,
    /// Its format.
    pub format: String,
    /// The sessions in it.
    pub sessions: Vec<String>,
    /// Its rows.
    pub rows: u64,
    /// Events that are new by this import.
    pub events: u64,
    /// Events that were known: from another copy, or from an earlier import of this file.
    pub duplicates: u64,
    /// What could not be read.
    pub skipped: Vec<Skipped>,
}

/// A piece that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The line's number, or the place in the document.
    pub line: u64,
    /// Why.
    pub reason: String,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, {} sessions, {} rows, {} new events, {} known",
            self.path,
            self.format,
            self.sessions.len(),
            self.rows,
            self.events,
            self.duplicates
        )?;
        for skipped in &self.skipped {
            write!(f, "\n  line {}: {}", skipped.line, skipped.reason)?;
        }
        Ok(())
    }
}

/// What an import of several files came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Files of no known format.
    pub not_sessions: u64,
    /// What went wrong, in sentences that name the file.
    pub problems: Vec<String>,
}

/// Brings in the file or all session files below a folder, and gives a line on each to `emit`. One bad file
/// does not stop the others.
pub fn import_path(
    importer: &Importer,
    path: &Path,
    progress: &mut dyn FnMut(u64),
    emit: &mut dyn FnMut(&FileLine) -> io::Result<()>,
    report: &mut ImportReport,
) -> io::Result<()> {
    let named_file = path.is_file();
    let files = files_below(path, &mut |path, error| {
        report.problems.push(format!("cannot read {}: {error}", path.display()));
    });
    // The next file is read while the tables still take in the one before: its line waits for them.
    let mut waiting = VecDeque::new();
    for file in files {
        match read_one(importer, &file.path, progress) {
            Ok(Some(read)) => waiting.push_back(read),
            Ok(None) if named_file => {
                let reason = if file.bytes == 0 { "it is empty" } else { "it is of no known session format" };
                report.problems.push(format!("{}: {reason}", path.display()));
                emit(&unread_line(path, reason))?;
            }
            Ok(None) => report.not_sessions += 1,
            Err(error) => report.problems.push(error.to_string()),
        }
        if waiting.len() > FILES_AHEAD
            && let Some(read) = waiting.pop_front()
        {
            tell(importer, &read, emit, report)?;
        }
    }
    waiting.iter().try_for_each(|read| tell(importer, read, emit, report))
}

/// Files that may be read before the line of the first of them is told.
const FILES_AHEAD: usize = 8;

/// A file whose rows are in the journal.
struct ReadFile {
    path: PathBuf,
    file: ImportedFile,
    /// Events that an earlier import stored.
    known_events: u64,
}

fn read_one(
    importer: &Importer,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<ReadFile>, ImportError> {
    let store = importer.store();
    let known = match store.source_at(&canonical(path)) {
        Some(cursor) => store
            .wait_until_projected(cursor.position)
            .and_then(|()| store.source_report(cursor.id, 0))
            .map_err(|cause| ImportError::Store { path: path.to_owned(), cause: Box::new(cause) })?,
        None => None,
    };
    let Imported::Session(file) = importer.import(path, progress)? else { return Ok(None) };
    let known = known.filter(|known| known.source.source_id == file.source.0);
    let known_events = known.map_or(0, |known| known.source.events);
    Ok(Some(ReadFile { path: path.to_owned(), file, known_events }))
}

/// Tells of a file when the tables have it.
fn tell(
    importer: &Importer,
    read: &ReadFile,
    emit: &mut dyn FnMut(&FileLine) -> io::Result<()>,
    report: &mut ImportReport,
) -> io::Result<()> {
    let store = importer.store();
    let after = store
        .wait_until_projected(read.file.position)
        .and_then(|()| store.source_report(read.file.source, LISTED_PIECES));
    match after {
        Ok(Some(after)) => emit(&line_of(&read.path, &read.file, &after, read.known_events)),
        Ok(None) => {
            report
                .problems
                .push(format!("{} is not in the tables; run `dashcam rebuild`", read.path.display()));
            Ok(())
        }
        Err(cause) => {
            report.problems.push(format!("cannot report on {}: {cause}", read.path.display()));
            Ok(())
        }
    }
}

/// Returns the line of a file that nothing was read of.
fn unread_line(path: &Path, reason: &str) -> FileLine {
    FileLine {
        path: path.display().to_string(),
        format: "unknown".to_owned(),
        sessions: Vec::new(),
        rows: 0,
        events: 0,
        duplicates: 0,
        skipped: vec![Skipped { line: 0, reason: reason.to_owned() }],
    }
}

fn line_of(path: &Path, file: &ImportedFile, report: &store::SourceReport, known_events: u64) -> FileLine {
    let mut skipped: Vec<Skipped> =
        report.unread.iter().map(|piece| Skipped { line: piece.row, reason: piece.reason.clone() }).collect();
    if let Some(line) = file.unfinished_row {
        skipped.push(Skipped {
            line,
            reason: "the file ends in the middle of this row; it is read when it is whole".to_owned(),
        });
    }
    FileLine {
        path: path.display().to_string(),
        format: file.format.clone(),
        sessions: report.sessions.clone(),
        rows: report.source.rows,
        events: report.source.events - known_events,
        duplicates: report.source.duplicates + known_events,
        skipped,
    }
}

fn canonical(path: &Path) -> String {
    std::fs::canonicalize(path)
        .map_or_else(|_| path.to_string_lossy().into_owned(), |path| path.to_string_lossy().into_owned())
}
