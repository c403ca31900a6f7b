//! The data folder, and the process that has it.

use std::path::PathBuf;

use anyhow::{Context, bail};
use store::Store;

use crate::cli::Common;

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

/// Opens the data folder to read it: one that is not there is an error, not made.
pub fn open_existing(common: &Common) -> anyhow::Result<Store> {
    let folder = folder(common)?;
    if !folder.join("journal").is_dir() {
        bail!("{} holds no data yet; `dashcam up` or `dashcam import PATH` fills it", folder.display());
    }
    let store = open(common)?;
    store.wait_until_projected(store.journal().last())?;
    Ok(store)
}
