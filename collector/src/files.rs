//! Finds the files below the places that were named.

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

/// Returns the files at or below `path`, the oldest first, so that a session comes before what goes on from
/// it. Links to folders are not followed. What cannot be read is given to `refused`.
pub fn files_below(path: &Path, refused: &mut dyn FnMut(&Path, &io::Error)) -> Vec<FoundFile> {
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(path) = folders.pop() {
        if let Err(error) = look(&path, &mut found, &mut folders) {
            refused(&path, &error);
        }
    }
    found.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    found
}

fn look(path: &Path, found: &mut Vec<FoundFile>, folders: &mut Vec<PathBuf>) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        found.push(FoundFile { path: path.to_owned(), bytes: metadata.len(), modified });
        return Ok(());
    }
    if !metadata.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_folder_link = entry.file_type()?.is_symlink() && entry.path().is_dir();
        if !is_folder_link {
            folders.push(entry.path());
        }
    }
    Ok(())
}
