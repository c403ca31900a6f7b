//! Contents that are too large for a frame, by their hash.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::JournalError;

/// A content over this size is kept as a blob.
pub(super) const BLOB_FROM: usize = 8 << 20;
/// Bytes of a blob that are read at one time.
const READ_BYTES: usize = 128 << 10;

/// A folder of compressed files named by the BLAKE3 hash of their content.
#[derive(Clone, Debug)]
pub(super) struct Blobs(PathBuf);

impl Blobs {
    pub(super) fn in_folder(journal: &Path) -> Self {
        Self(journal.join("blobs"))
    }

    /// Keeps `content` safely and returns its hash.
    pub(super) fn put(&self, content: &[u8]) -> io::Result<[u8; 32]> {
        let hash = blake3::hash(content);
        let path = self.path(&hash);
        if path.exists() {
            return Ok(*hash.as_bytes());
        }
        fs::create_dir_all(&self.0)?;
        let unfinished = path.with_extension("unfinished");
        compress(content, fs::File::create(&unfinished)?)?.sync_all()?;
        fs::rename(&unfinished, &path)?;
        fs::File::open(&self.0)?.sync_all()?;
        Ok(*hash.as_bytes())
    }

    /// Returns the content with `hash`, verified.
    pub(super) fn get(&self, hash: &[u8]) -> Result<Vec<u8>, JournalError> {
        let lost = |path: &Path, what: String| JournalError::BlobLost { path: path.to_owned(), what };
        let hash: [u8; 32] =
            hash.try_into().map_err(|_| lost(&self.0, "its name is not 32 bytes".to_owned()))?;
        let hash = blake3::Hash::from_bytes(hash);
        let path = self.path(&hash);
        let content = fs::File::open(&path).and_then(decompress).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => lost(&path, "there is no such file".to_owned()),
            // What the system says is no word on the content; the rest is the decompressor's.
            _ if cause.raw_os_error().is_some() => {
                JournalError::Io { action: "read", path: path.clone(), cause }
            }
            _ => lost(&path, cause.to_string()),
        })?;
        if blake3::hash(&content) == hash {
            Ok(content)
        } else {
            Err(lost(&path, "its content does not fit its name".to_owned()))
        }
    }

    fn path(&self, hash: &blake3::Hash) -> PathBuf {
        self.0.join(format!("{}.zst", hash.to_hex()))
    }
}

/// Compresses straight into the file: a second copy of so large a content is not held.
fn compress(content: &[u8], file: fs::File) -> io::Result<fs::File> {
    let mut encoder = zstd::stream::Encoder::new(file, 1)?;
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.write_all(content)?;
    encoder.finish()
}

/// Decompresses into memory of just the right size; a buffer that grows may reach twice that. What is stored is
/// read piece by piece: pictures hardly shrink, and would be held twice.
fn decompress(file: fs::File) -> io::Result<Vec<u8>> {
    let mut stored = BufReader::with_capacity(READ_BYTES, file);
    let len = zstd::zstd_safe::get_frame_content_size(stored.fill_buf()?).ok().flatten();
    let mut content = Vec::new();
    // What a damaged head says is not believed: then the buffer grows as it is filled.
    if let Some(len) = len.and_then(|len| usize::try_from(len).ok())
        && content.try_reserve_exact(len).is_err()
    {
        content = Vec::new();
    }
    zstd::stream::Decoder::with_buffer(stored)?.read_to_end(&mut content)?;
    Ok(content)
}
