//! Why a file was not brought in, or not to its end.

use std::fmt;
use std::io;
use std::path::PathBuf;

use store::StoreError;

use crate::Full;

/// Says why a file could not be brought in, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The store did not take it.
    #[error("cannot store what is in {path}: {cause}")]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: Box<StoreError>,
    },
    /// There is no room for more.
    #[error("{path} waits, {reached} of it are safe: {full}")]
    Full {
        /// The file.
        path: PathBuf,
        /// What of it is safe.
        reached: Reached,
        /// Why.
        full: Full,
    },
    /// It was told to stop; the next import of the file goes on where this one ended.
    #[error("stopped in {path}: {reached} are safe")]
    Stopped {
        /// The file.
        path: PathBuf,
        /// What of it is safe.
        reached: Reached,
    },
}

impl ImportError {
    /// Returns whether the file itself is at fault: when it is not, other files fare no better for now.
    pub fn is_of_the_file(&self) -> bool {
        matches!(self, Self::Io { .. })
    }
}

/// How far a file has been brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Of a file of lines.
    Bytes {
        /// Bytes that are safe.
        read: u64,
        /// Bytes of the file.
        of: u64,
    },
    /// Of a document: records that are safe.
    Records(u64),
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes { read, of } => write!(f, "{read} of {of} bytes"),
            Self::Records(records) => write!(f, "{records} records"),
        }
    }
}
