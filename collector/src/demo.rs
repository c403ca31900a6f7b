//! Example sessions: a small scripted agent really works in a throw-away folder and is recorded.
//!
//! Only the model's words (and one failure of the model) are scripted. What the tools print, their exit
//! codes, all times, and the prompts are what really happened.

mod agent;
mod project;
mod request;
mod stories;
mod tools;

use std::path::{Path, PathBuf};
use std::{fs, io};

use agent_core::{EventId, RecorderError};

use project::Scratch;

/// Says why the example sessions could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A file or folder cannot be used.
    #[error("cannot {action} {path}: {cause}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The shell cannot be started.
    #[error("cannot run `sh -c {command:?}`: {cause}")]
    Shell {
        /// What it was to run.
        command: String,
        /// The system's answer.
        cause: io::Error,
    },
    /// An event cannot be written.
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    /// A script asks for something that is not there.
    #[error("the script is wrong: {0}")]
    Script(String),
}

/// Runs the example agent and writes its sessions into `folder`, which is made when it is not there.
///
/// Returns the files. Files that an earlier call wrote are left as they are and returned: writing them again
/// would tell a second story in the same place. A file appears under its name only when it is whole.
pub fn write_demo(folder: &Path) -> Result<Vec<PathBuf>, DemoError> {
    fs::create_dir_all(folder).map_err(failed("make", folder))?;
    let known: Vec<PathBuf> =
        stories::FILES.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    if !known.is_empty() {
        return Ok(known);
    }
    let scratch = Scratch::make()?;
    // The end of a UUIDv7 is random: sessions of two demos do not share a name.
    let id = EventId::new_v7().to_string();
    let suffix = &id[id.len() - 8..];
    stories::tell_all(&scratch, suffix)?;
    stories::FILES.iter().map(|name| put_in_place(&scratch.path(name), &folder.join(name))).collect()
}

fn put_in_place(from: &Path, to: &Path) -> Result<PathBuf, DemoError> {
    let partial = to.with_extension("partial");
    fs::copy(from, &partial).map_err(failed("write", &partial))?;
    fs::rename(&partial, to).map_err(failed("write", to))?;
    Ok(to.to_owned())
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> DemoError + 'a {
    move |cause| DemoError::Io { action, path: path.to_owned(), cause }
}
