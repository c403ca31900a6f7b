//! The throw-away folder that the example agent works in.

use std::fs;
use std::path::{Path, PathBuf};

use agent_core::EventId;

use super::{DemoError, failed};

/// A folder of its own for one demo; it goes when this is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn make() -> Result<Self, DemoError> {
        let folder = std::env::temp_dir().join(format!("dashcam-demo-{}", EventId::new_v7()));
        // Not `create_dir_all`: a folder that is there already is somebody else's.
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a project with these files.
    pub(super) fn project(&self, name: &str, files: &[(&str, &str)]) -> Result<PathBuf, DemoError> {
        let project = self.path(name);
        for (path, content) in files {
            write(&project.join(path), content)?;
        }
        Ok(project)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left lies in the system's folder for such things, which the system empties.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file and makes the folders that it needs.
pub(super) fn write(path: &Path, content: &str) -> Result<(), DemoError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
    }
    fs::write(path, content).map_err(failed("write", path))
}

pub(super) fn read(path: &Path) -> Result<String, DemoError> {
    fs::read_to_string(path).map_err(failed("read", path))
}
