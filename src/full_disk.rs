//! What to do when a disk is full.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use viewer::reports::ReportError;

/// Returns what to do about an error that comes from a full disk; nothing for any other.
pub fn advice(error: &anyhow::Error) -> Option<String> {
    let is_of_answer = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(ReportError::Write(error)) => error.kind() == ErrorKind::StorageFull,
        _ => {
            cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::StorageFull)
        }
    };
    if error.chain().any(is_of_answer) {
        let target = target_of_output().map_or_else(String::new, |path| format!(" ({})", path.display()));
        return Some(format!(
            "what standard output is written to{target} is full; make room there, or write elsewhere"
        ));
    }
    // DuckDB gives the system's words only, and errors of the journal carry their cause in words.
    format!("{error:#}").contains("No space left on device").then(|| {
        "the disk with the data folder is full; make room on it, or give a folder on another disk with --data DIR"
            .to_owned()
    })
}

/// Returns the file that standard output is written to, where the system tells.
fn target_of_output() -> Option<PathBuf> {
    fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_absolute())
}
