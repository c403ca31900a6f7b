//! Random secrets and files that only their owner reads.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Returns 32 bytes from the system's source of randomness.
pub fn random_bytes() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file that only its owner can read, whole or not at all.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
