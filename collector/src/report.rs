//! What an import says of each file.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use store::{SourceCursor, SourceReport};

use crate::files::{Refused, all_below};
use crate::gate::Held;
use crate::{FoundFile, ImportError, Imported, ImportedFile, Importer, Stop};

/// Pieces that are listed for a file; the rest is counted in the store and on its page.
const LISTED_PIECES: u32 = 1000;

/// One file, for scripts: names fixed and versioned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileLine {
    /// The file.
    pub path: String,
    /// Its format; absent when it is none that is known, or when nothing of the file can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
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
    /// The line's number, or the place in the document; absent when the whole file is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why.
    pub reason: String,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, {} sessions, {} rows, {} new events, {} known",
            self.path,
            self.format.as_deref().unwrap_or("unknown format"),
            self.sessions.len(),
            self.rows,
            self.events,
            self.duplicates
        )?;
        for skipped in &self.skipped {
            match skipped.line {
                Some(line) => write!(f, "\n  line {line}: {}", skipped.reason)?,
                None => write!(f, "\n  {}", skipped.reason)?,
            }
        }
        Ok(())
    }
}

/// What an import of several files came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Files of no known format.
    pub not_sessions: u64,
    /// Links to nothing, pipes, sockets and devices in folders.
    pub not_files: u64,
    /// What went wrong, in sentences that name the file.
    pub problems: Vec<String>,
    /// Set when it ended before its last file.
    pub ended: Option<Ended>,
}

/// Why an import ended before its last file, in a sentence that says how far it got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It was told to stop.
    Stopped(String),
    /// Nothing more can be stored for now.
    Full(String),
}

/// Files that may be read before the line of the first of them is told.
const FILES_AHEAD: usize = 8;

/// Brings in files and tells of each.
pub struct Importing<'a> {
    /// What reads them.
    pub importer: &'a Importer,
    /// Ends it soon, also in the middle of a file.
    pub stop: &'a Stop,
    /// Is told how many bytes were read since the last time.
    pub progress: &'a mut dyn FnMut(u64),
    /// Is given a line on each file; when it fails, no further file is read.
    pub emit: &'a mut dyn FnMut(&FileLine) -> io::Result<()>,
    /// What it came to so far.
    pub report: ImportReport,
}

/// A file whose rows are in the journal.
struct ReadFile {
    path: PathBuf,
    file: ImportedFile,
    /// Events that an earlier import stored.
    known_events: u64,
}

impl Importing<'_> {
    /// Brings in the file or all session files below a folder. One bad file does not stop the others; when
    /// the import is to end, [`ImportReport::ended`] is set and further paths are left alone.
    pub fn path(&mut self, path: &Path) -> io::Result<()> {
        let mut refused = Vec::new();
        let files = all_below(path, &mut |at, why| refused.push(self::refused(at, at == path, why)));
        for refused in refused {
            self.refused(refused)?;
        }
        let named_file = path.is_file();
        // The next file is read while the tables still take in the one before: its line waits for them.
        let mut waiting = VecDeque::new();
        for (at, file) in files.iter().enumerate() {
            match self.read(&file.path) {
                Ok(Some(read)) => waiting.push_back(read),
                Ok(None) => self.not_a_session(file, named_file)?,
                Err(error) if error.is_of_the_file() => self.unreadable(&file.path, &error)?,
                Err(error) => self.end(&error, files.len() - at - 1),
            }
            if waiting.len() > FILES_AHEAD
                && let Some(read) = waiting.pop_front()
            {
                self.tell(&read)?;
            }
            if self.report.ended.is_some() {
                break;
            }
        }
        waiting.iter().try_for_each(|read| self.tell(read))
    }

    fn not_a_session(&mut self, file: &FoundFile, is_named: bool) -> io::Result<()> {
        let reason = if file.bytes == 0 { "it is empty" } else { "it is of no known session format" };
        if is_named {
            self.report.problems.push(format!("{}: {reason}", file.path.display()));
        } else {
            self.report.not_sessions += 1;
        }
        (self.emit)(&unread_line(&file.path, reason))
    }

    fn unreadable(&mut self, path: &Path, error: &ImportError) -> io::Result<()> {
        self.report.problems.push(error.to_string());
        let reason = match error {
            ImportError::Io { cause, .. } => format!("it cannot be read: {cause}"),
            other => other.to_string(),
        };
        (self.emit)(&unread_line(path, &reason))
    }

    fn refused(&mut self, refused: RefusedPath) -> io::Result<()> {
        if refused.is_fault {
            self.report.problems.push(format!("{}: {}", refused.path.display(), refused.reason));
        } else {
            self.report.not_files += 1;
        }
        (self.emit)(&unread_line(&refused.path, &refused.reason))
    }

    fn end(&mut self, error: &ImportError, files_left: usize) {
        let words = match files_left {
            0 => error.to_string(),
            _ => format!("{error}; {files_left} more files are left"),
        };
        self.report.ended = Some(match error {
            ImportError::Stopped { .. } => Ended::Stopped(words),
            _ => Ended::Full(words),
        });
    }

    fn read(&mut self, path: &Path) -> Result<Option<ReadFile>, ImportError> {
        let known = match self.importer.store().source_at(&canonical(path)) {
            Some(cursor) => self.report_before(path, &cursor)?,
            None => None,
        };
        let imported = self.importer.import_until(path, self.stop, self.progress)?;
        let Imported::Session(file) = imported else { return Ok(None) };
        let known = known.filter(|known| known.source.source_id == file.source.0);
        let known_events = known.map_or(0, |known| known.source.events);
        Ok(Some(ReadFile { path: path.to_owned(), file, known_events }))
    }

    /// Returns what the tables say of a known file before it is read on.
    fn report_before(&self, path: &Path, cursor: &SourceCursor) -> Result<Option<SourceReport>, ImportError> {
        let path = path.to_owned();
        let fail = |cause| ImportError::Store { path: path.clone(), cause: Box::new(cause) };
        match self.importer.gate().wait_until_projected(cursor.position, self.stop) {
            Ok(()) => self.importer.store().source_report(cursor.id, 0).map_err(fail),
            Err(Held::Store(cause)) => Err(fail(cause)),
            // Nothing of the file was begun; the importer says how far it got before.
            Err(Held::Stopped | Held::Full(_)) => Ok(None),
        }
    }

    /// Tells of a file when the tables have it; when it is time to stop, not of those that they lack.
    fn tell(&mut self, read: &ReadFile) -> io::Result<()> {
        let after = match self.importer.gate().wait_until_projected(read.file.position, self.stop) {
            Ok(()) => self.importer.store().source_report(read.file.source, LISTED_PIECES),
            Err(Held::Store(cause)) => Err(cause),
            Err(Held::Stopped | Held::Full(_)) => {
                let path = read.path.display();
                let words = || format!("{path} is safe, but not yet in the tables: no line for it");
                self.report.ended.get_or_insert_with(|| Ended::Stopped(words()));
                return Ok(());
            }
        };
        match after {
            Ok(Some(after)) => {
                return (self.emit)(&line_of(&read.path, &read.file, &after, read.known_events));
            }
            Ok(None) => {
                let path = read.path.display();
                self.report.problems.push(format!("{path} is not in the tables; run `dashcam rebuild`"));
            }
            Err(cause) => {
                self.report.problems.push(format!("cannot report on {}: {cause}", read.path.display()));
            }
        }
        Ok(())
    }
}

/// Something that was found and cannot be read as a file.
struct RefusedPath {
    path: PathBuf,
    reason: String,
    /// Whether somebody should look at it: who imports a folder does not mean each pipe in it.
    is_fault: bool,
}

fn refused(path: &Path, is_named: bool, why: Refused<'_>) -> RefusedPath {
    let (reason, is_fault) = match why {
        Refused::Unreadable(error) => (format!("it cannot be read: {error}"), true),
        Refused::DeadLink => ("it is a link to nothing".to_owned(), is_named),
        Refused::Special => ("it is no file but a pipe, a socket or a device".to_owned(), is_named),
    };
    RefusedPath { path: path.to_owned(), reason, is_fault }
}

/// Returns the line of a file that nothing was read of.
fn unread_line(path: &Path, reason: &str) -> FileLine {
    FileLine {
        path: path.display().to_string(),
        format: None,
        sessions: Vec::new(),
        rows: 0,
        events: 0,
        duplicates: 0,
        skipped: vec![Skipped { line: None, reason: reason.to_owned() }],
    }
}

fn line_of(path: &Path, file: &ImportedFile, report: &SourceReport, known_events: u64) -> FileLine {
    let mut skipped: Vec<Skipped> = report
        .unread
        .iter()
        .map(|piece| Skipped { line: Some(piece.row), reason: piece.reason.clone() })
        .collect();
    if let Some(line) = file.unfinished_row {
        skipped.push(Skipped {
            line: Some(line),
            reason: "the file ends in the middle of this row; it is read when it is whole".to_owned(),
        });
    }
    FileLine {
        path: path.display().to_string(),
        format: Some(file.format.clone()),
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
