//! One file of the journal, and where each commit stands in it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::frame::{CommitHash, Frame, HEADER_LEN, Header, MAGIC};
use super::record::Position;

pub(super) const FILE_MAGIC: &[u8; 16] = b"dashcam journal\x01";

/// One file of the journal.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Where the next commit goes: the end of the last whole one.
    pub(super) len: u64,
    /// The first record and the offset of each commit. Where headers are damaged it is the first record that
    /// is lost, and the offset of what cannot be read.
    index: Vec<(Position, u64)>,
    first: Position,
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
        let begun = file.write_all_at(FILE_MAGIC, 0).and_then(|()| file.sync_all());
        // The folder's entry must be safe too, or a crash loses the whole file.
        if let Err(cause) = begun.and_then(|()| File::open(folder)?.sync_all()) {
            // It holds nothing yet, and would be in the way of the next attempt.
            let _ = fs::remove_file(&path);
            return Err(fail(cause));
        }
        Ok(Self { len: FILE_MAGIC.len() as u64, path, file, index: Vec::new(), first, last: None })
    }

    /// Opens the file whose first record is at `first` and walks over its headers.
    pub(super) fn open(path: &Path, first: Position, key: &[u8; 32]) -> Result<(Self, Tail), JournalError> {
        let fail = |cause| JournalError::Io { action: "open", path: path.to_owned(), cause };
        let file = File::options().read(true).write(true).open(path).map_err(fail)?;
        let file_len = file.metadata().map_err(fail)?.len();
        let mut magic = [0; FILE_MAGIC.len()];
        file.read_exact_at(&mut magic, 0).map_err(fail)?;
        if magic != *FILE_MAGIC {
            return Err(JournalError::NotAJournal { path: path.to_owned() });
        }
        let mut segment = Self {
            path: path.to_owned(),
            len: FILE_MAGIC.len() as u64,
            index: Vec::new(),
            first,
            last: None,
            file,
        };
        segment.walk(file_len, key).map_err(fail)?;
        let tail = if segment.len == file_len { Tail::Clean } else { Tail::Torn(file_len - segment.len) };
        Ok((segment, tail))
    }

    fn walk(&mut self, file_len: u64, key: &[u8; 32]) -> io::Result<()> {
        loop {
            self.walk_whole(file_len)?;
            let Some(offset) = self.next_commit(file_len, key)? else { return Ok(()) };
            self.note_loss(offset);
        }
    }

    /// Walks up to the first header that is none, or whose commit is not all there.
    fn walk_whole(&mut self, file_len: u64) -> io::Result<()> {
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

    /// Searches behind a place that is no commit for one that holds: when there is one, the place is damaged;
    /// else the file's end is torn.
    fn next_commit(&self, file_len: u64, key: &[u8; 32]) -> io::Result<Option<u64>> {
        let mut rest = vec![0; usize::try_from(file_len - self.len).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut rest, self.len)?;
        Ok(memchr::memmem::find_iter(&rest, &MAGIC)
            .map(|at| self.len + at as u64)
            .find(|&offset| offset > self.len && self.is_later_commit(key, offset)))
    }

    fn is_later_commit(&self, key: &[u8; 32], offset: u64) -> bool {
        self.read_frame(key, offset).is_ok_and(|(header, _)| header.first >= self.next_record())
    }

    /// Returns the position that follows the last commit.
    fn next_record(&self) -> Position {
        self.last.as_ref().map_or(self.first, |last| last.last().next())
    }

    /// Notes that what stands from the last whole commit to `end` cannot be read.
    pub(super) fn note_loss(&mut self, end: u64) {
        self.index.push((self.next_record(), self.len));
        self.len = end;
    }

    /// Notes that a commit stands at the end of the file, up to `end`.
    pub(super) fn took(&mut self, header: Header, end: u64) {
        self.index.push((header.first, self.len));
        self.len = end;
        self.last = Some(header);
    }

    /// Drops the last commit from the index and cuts the file back to before it. Its bytes are kept beside the
    /// file: should they have been whole once, somebody may still get at them.
    pub(super) fn cut_last(&mut self) -> Result<(), JournalError> {
        let end = self.len;
        self.last = None;
        while let Some((_, offset)) = self.index.pop() {
            self.len = offset;
            // Places that are no commit go with the commit behind them.
            let Some(&(_, before)) = self.index.last() else { break };
            match self.header_at(before) {
                Ok(header) => {
                    self.last = Some(header);
                    break;
                }
                Err(JournalError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.keep_beside(self.len, end)?;
        self.cut_to_len()
    }

    fn keep_beside(&self, from: u64, to: u64) -> Result<(), JournalError> {
        let path = self.path.with_extension(format!("cut-at-{from}"));
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
        self.file
            .read_exact_at(&mut bytes, from)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|cause| JournalError::Io { action: "keep what is cut off in", path, cause })
    }

    /// Cuts off what stands after the last whole commit.
    pub(super) fn cut_to_len(&self) -> Result<(), JournalError> {
        self.file.set_len(self.len).and_then(|()| self.file.sync_all()).map_err(|cause| JournalError::Io {
            action: "cut",
            path: self.path.clone(),
            cause,
        })
    }

    /// Returns where the commit stands that holds `position`, or held it, when that is in this file.
    pub(super) fn find(&self, position: Position) -> Option<u64> {
        let after = self.index.partition_point(|&(first, _)| first <= position);
        self.index.get(after.checked_sub(1)?).map(|&(_, offset)| offset)
    }

    /// Returns the first record of the commit behind the one that `position` is in.
    pub(super) fn first_after(&self, position: Position) -> Option<Position> {
        let after = self.index.partition_point(|&(first, _)| first <= position);
        self.index.get(after).map(|&(first, _)| first)
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
        self.read_at(&mut bytes, offset, offset)?;
        Header::from_bytes(&bytes).ok_or_else(|| self.damaged(offset, "its header is damaged".to_owned()))
    }

    /// Reads and verifies the commit at `offset`.
    pub(super) fn read_frame(&self, key: &[u8; 32], offset: u64) -> Result<(Header, Frame), JournalError> {
        let header = self.header_at(offset)?;
        let mut stored = vec![0; header.stored_len as usize];
        self.read_at(&mut stored, offset + HEADER_LEN as u64, offset)?;
        let frame = Frame::open(key, &header, &stored).map_err(|what| self.damaged(offset, what))?;
        Ok((header, frame))
    }

    /// Reads bytes at `from` of the commit at `offset`.
    fn read_at(&self, bytes: &mut [u8], from: u64, offset: u64) -> Result<(), JournalError> {
        self.file.read_exact_at(bytes, from).map_err(|cause| match cause.kind() {
            io::ErrorKind::UnexpectedEof => {
                self.damaged(offset, "the file ends in the middle of it".to_owned())
            }
            _ => JournalError::Io { action: "read", path: self.path.clone(), cause },
        })
    }

    fn damaged(&self, offset: u64, what: String) -> JournalError {
        JournalError::Damaged { path: self.path.clone(), offset, what }
    }
}
