//! Finds the files below the places that were named.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that may hold a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last changed.
    pub modified: SystemTime,
}

/// Why something below a place is no file that can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused<'a> {
    /// The system gives an error.
    Unreadable(&'a io::Error),
    /// A link leads to nothing.
    DeadLink,
    /// A pipe, socket or device: reading it could wait for ever, or give no end.
    Special,
}

/// Returns the files at or below `path`, the oldest first, so that a session comes before what goes on from
/// it. Links to folders are not followed, and folders in which agents keep what is no session are passed by.
/// What cannot be read is given to `refused`.
pub fn files_below(path: &Path, refused: &mut dyn FnMut(&Path, &io::Error)) -> Vec<FoundFile> {
    let dead = io::Error::from(io::ErrorKind::NotFound);
    all_below(path, &mut |path, why| match why {
        Refused::Unreadable(error) => refused(path, error),
        Refused::DeadLink => refused(path, &dead),
        Refused::Special => {}
    })
}

/// Does what [`files_below`] does, and tells also of what is no file.
pub(crate) fn all_below(path: &Path, refused: &mut dyn FnMut(&Path, Refused<'_>)) -> Vec<FoundFile> {
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(path) = folders.pop() {
        if let Err(error) = look(&path, &mut found, &mut folders, refused) {
            let is_dead = error.kind() == io::ErrorKind::NotFound && path.is_symlink();
            refused(&path, if is_dead { Refused::DeadLink } else { Refused::Unreadable(&error) });
        }
    }
    found.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    found
}

fn look(
    path: &Path,
    found: &mut Vec<FoundFile>,
    folders: &mut Vec<PathBuf>,
    refused: &mut dyn FnMut(&Path, Refused<'_>),
) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        found.push(FoundFile { path: path.to_owned(), bytes: metadata.len(), modified });
        return Ok(());
    }
    if !metadata.is_dir() {
        refused(path, Refused::Special);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() && entry.path().is_dir() => {}
            Ok(_) if holds_no_sessions(&entry.path()) => {}
            Ok(_) => folders.push(entry.path()),
            // It may be gone again; what else is in the folder is looked at all the same.
            Err(error) => refused(&entry.path(), Refused::Unreadable(&error)),
        }
    }
    Ok(())
}

/// Returns whether a path is a folder of results that Claude Code keeps beside a session, whose folder has
/// the session's id for its name. There can be thousands of files in it.
fn holds_no_sessions(path: &Path) -> bool {
    let session = || path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    path.ends_with("tool-results") && session().is_some_and(is_uuid)
}

/// Returns whether a text has the form of a UUID.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_beside_a_session_are_passed_by() {
        let folder = tempfile::tempdir().unwrap();
        let session = "66666666-0000-4000-8000-00000000000a";
        let paths = [
            format!("{session}.jsonl"),
            format!("{session}/subagents/agent-1.jsonl"),
            format!("{session}/tool-results/toolu_1.txt"),
            "mine/tool-results/run.jsonl".to_owned(),
            "tool-results/run.jsonl".to_owned(),
        ];
        for path in &paths {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let found = |below: &Path| {
            let mut refused = |path: &Path, error: &io::Error| panic!("{}: {error}", path.display());
            let found = files_below(below, &mut refused).into_iter();
            let relative = found.map(|file| file.path.strip_prefix(folder.path()).unwrap().to_owned());
            let mut names: Vec<String> = relative.map(|path| path.display().to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(found(folder.path()), [&*paths[0], &*paths[1], &*paths[3], &*paths[4]]);
        // Who names the folder means it.
        assert_eq!(found(&folder.path().join(session).join("tool-results")), [&*paths[2]]);
    }
}
