//! One file of the journal, and where each commit stands in it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::frame::{CommitHash, Frame, HEADER_LEN, Header};
use super::record::Position;

const FILE_MAGIC: &[u8; 16] = b"dashcam journal\x01";

/// One file of the journal.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Where the next commit goes: the end of the last whole one.
    pub(super) len: u64,
    index: Vec<(Position, u64)>,
    pub(super) last: Option<Header>,
}

/// What stands after the last whole commit of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Clean,
    /// This many bytes that are no whole commit.
    Torn(u64),
}

impl Segment {
    /// Returns the name of the file whose first record is at `first`.
    pub(super) fn file_name(first: Position) -> String {
        format!("{:020}.journal", first.0)
    }

    /// Makes a new file for the records from `first` on.
    pub(super) fn create(folder: &Path, first: Position) -> Result<Self, JournalError> {
        let path = folder.join(Self::file_name(first));
        let fail = |cause| JournalError::Io { action: "create", path: path.clone(), cause };
        let file = File::options().create_new(true).read(true).write(true).open(&path).map_err(fail)?;
        file.write_all_at(FILE_MAGIC, 0).map_err(fail)?;
        file.sync_all().map_err(fail)?;
        // The folder's entry must be safe too, or a crash loses the whole file.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(fail)?;
        Ok(Self { len: FILE_MAGIC.len() as u64, path, file, index: Vec::new(), last: None })
    }

    /// Opens the file and walks over its headers.
    pub(super) fn open(path: &Path) -> Result<(Self, Tail), JournalError> {
        let fail = |cause| JournalError::Io { action: "open", path: path.to_owned(), cause };
        let file = File::options().read(true).write(true).open(path).map_err(fail)?;
        let file_len = file.metadata().map_err(fail)?.len();
        let mut magic = [0; FILE_MAGIC.len()];
        file.read_exact_at(&mut magic, 0).map_err(fail)?;
        if magic != *FILE_MAGIC {
            return Err(JournalError::NotAJournal { path: path.to_owned() });
        }
        let mut segment =
            Self { path: path.to_owned(), len: FILE_MAGIC.len() as u64, index: Vec::new(), last: None, file };
        segment.walk(file_len).map_err(fail)?;
        let tail = if segment.len == file_len { Tail::Clean } else { Tail::Torn(file_len - segment.len) };
        Ok((segment, tail))
    }

    fn walk(&mut self, file_len: u64) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, self.file.try_clone()?);
        reader.seek(SeekFrom::Start(self.len))?;
        let mut bytes = [0; HEADER_LEN];
        while self.len + HEADER_LEN as u64 <= file_len {
            reader.read_exact(&mut bytes)?;
            let Some(header) = Header::from_bytes(&bytes) else { break };
            let end = self.len + HEADER_LEN as u64 + u64::from(header.stored_len);
            if end > file_len {
                break;
            }
            reader.seek_relative(i64::from(header.stored_len))?;
            self.took(header, end);
        }
        Ok(())
    }

    /// Notes that a commit stands at the end of the file, up to `end`.
    pub(super) fn took(&mut self, header: Header, end: u64) {
        self.index.push((header.first, self.len));
        self.len = end;
        self.last = Some(header);
    }

    /// Drops the last commit from the index and cuts the file back to before it.
    pub(super) fn cut_last(&mut self) -> Result<(), JournalError> {
        if let Some((_, offset)) = self.index.pop() {
            self.len = offset;
            self.last = match self.index.last() {
                Some(&(_, before)) => Some(self.header_at(before)?),
                None => None,
            };
        }
        self.cut_to_len()
    }

    /// Cuts off what stands after the last whole commit.
    pub(super) fn cut_to_len(&self) -> Result<(), JournalError> {
        self.file
            .set_len(self.len)
            .and_then(|()| self.file.sync_all())
            .map_err(|cause| JournalError::Io { action: "cut", path: self.path.clone(), cause })
    }

    /// Returns where the commit that holds `position` stands, if it is in this file.
    pub(super) fn find(&self, position: Position) -> Option<u64> {
        let after = self.index.partition_point(|&(first, _)| first <= position);
        let (_, offset) = *self.index.get(after.checked_sub(1)?)?;
        (position <= self.last.as_ref()?.last()).then_some(offset)
    }

    /// Returns the offsets of all commits from the last to the first.
    pub(super) fn offsets_backwards(&self) -> impl Iterator<Item = u64> + '_ {
        self.index.iter().rev().map(|&(_, offset)| offset)
    }

    pub(super) fn last_hash(&self) -> Option<CommitHash> {
        self.last.as_ref().map(|header| header.hash)
    }

    fn header_at(&self, offset: u64) -> Result<Header, JournalError> {
        let mut bytes = [0; HEADER_LEN];
        self.file
            .read_exact_at(&mut bytes, offset)
            .map_err(|cause| JournalError::Io { action: "read", path: self.path.clone(), cause })?;
        Header::from_bytes(&bytes).ok_or_else(|| self.damaged(offset, "its header is damaged".to_owned()))
    }

    /// Reads and verifies the commit at `offset`.
    pub(super) fn read_frame(&self, key: &[u8; 32], offset: u64) -> Result<(Header, Frame), JournalError> {
        let header = self.header_at(offset)?;
        let mut stored = vec![0; header.stored_len as usize];
        self.file
            .read_exact_at(&mut stored, offset + HEADER_LEN as u64)
            .map_err(|cause| JournalError::Io { action: "read", path: self.path.clone(), cause })?;
        let frame = Frame::open(key, &header, &stored).map_err(|what| self.damaged(offset, what))?;
        Ok((header, frame))
    }

    fn damaged(&self, offset: u64, what: String) -> JournalError {
        JournalError::Damaged { path: self.path.clone(), offset, what }
    }
}
