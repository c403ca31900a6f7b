//! The data folder, and the process that has it.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, bail};
use store::{Store, StoreError};

use crate::cli::Common;
use crate::running::Running;

/// Returns the data folder: as typed, else the platform's.
pub fn folder(common: &Common) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &common.data {
        return Ok(folder.clone());
    }
    let home = || std::env::home_dir().context("there is no home folder; give --data DIR");
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support/dashcam"));
    }
    match std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => Ok(PathBuf::from(folder).join("dashcam")),
        None => Ok(home()?.join(".local/share/dashcam")),
    }
}

/// Opens the data folder in this process.
pub fn open(common: &Common) -> anyhow::Result<Store> {
    Ok(Store::open(&folder(common)?, collector::mappers())?)
}

/// Returns the data folder, which must be there with a journal in it.
pub fn filled_folder(common: &Common) -> anyhow::Result<PathBuf> {
    let folder = folder(common)?;
    match fs::metadata(folder.join("journal")) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(StoreError::Io { action: "look into", path: folder, cause: error }.into())
        }
        Ok(journal) if journal.is_dir() => Ok(folder),
        _ => bail!("{} holds no data yet; `dashcam up` or `dashcam import PATH` fills it", folder.display()),
    }
}

/// The way to the data: the folder itself, or the process that has it.
pub enum Reached {
    /// Nobody else has it.
    Store(Store),
    /// A Dashcam runs on it.
    Running(Running),
}

/// Opens the data folder to read it, or finds the Dashcam that runs on it. A folder that is not there is an
/// error, not made.
pub fn reach(common: &Common) -> anyhow::Result<Reached> {
    let folder = filled_folder(common)?;
    match Store::open(&folder, collector::mappers()) {
        Ok(store) => {
            store.wait_until_projected(store.journal().last())?;
            Ok(Reached::Store(store))
        }
        Err(StoreError::InUse { .. }) => Ok(Reached::Running(Running::find(&folder)?)),
        Err(error) => Err(error.into()),
    }
}
