//! What to do about an error that the system gave.

use std::error::Error;
use std::io::{self, ErrorKind};

use store::StoreError;

use crate::full_disk;

/// Returns what to do about an error, where that is known.
pub fn on(error: &anyhow::Error) -> Option<String> {
    full_disk::advice(error).or_else(|| error.chain().find_map(of_cause))
}

fn of_cause(cause: &(dyn Error + 'static)) -> Option<String> {
    match cause.downcast_ref() {
        Some(StoreError::Io { cause, .. }) => of_folder(cause.kind()),
        _ => of_address(cause.downcast_ref::<io::Error>()?.kind()),
    }
}

fn of_folder(kind: ErrorKind) -> Option<String> {
    let words = match kind {
        ErrorKind::PermissionDenied => {
            "the data folder must be yours to write in; run as the user who made it, or give another one with --data DIR"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "the data folder is on a disk that only reads; give one elsewhere with --data DIR"
        }
        _ => return None,
    };
    Some(words.to_owned())
}

fn of_address(kind: ErrorKind) -> Option<String> {
    let words = match kind {
        ErrorKind::AddrInUse => {
            "another program, perhaps another dashcam, has this address; end it, or give another port with --viewer or --intake (port 0 takes a free one)"
        }
        _ => return None,
    };
    Some(words.to_owned())
}
