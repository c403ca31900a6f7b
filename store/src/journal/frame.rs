//! A commit as it stands on disk: a header, then the digests and the records, compressed.
//!
//! The hash of a commit covers the digests of its records and the hash of the commit before, so that the
//! chain still holds when a record is erased and its digest kept. Digests are keyed: without the journal's
//! key nobody can confirm a guess of an erased record.

use super::record::{Encoded, Position};

/// The size of a header in bytes.
pub(super) const HEADER_LEN: usize = 4 + 8 + 4 + 4 + 4 + 32 + 32 + 4;
pub(super) const MAGIC: [u8; 4] = *b"DCf1";
/// 128 bits of a keyed BLAKE3: enough against chance and guessing, half the room.
pub(super) const DIGEST_LEN: usize = 16;
/// Level 1 compresses session files at several times the speed of the import.
const ZSTD_LEVEL: i32 = 1;
/// No frame is larger than this; a header that says more is damaged.
const MAX_RAW_LEN: u32 = 1 << 30;

/// The hash of a commit, which the next one names.
pub(super) type CommitHash = [u8; 32];

/// The head of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) first: Position,
    pub(super) count: u32,
    pub(super) stored_len: u32,
    pub(super) raw_len: u32,
    pub(super) before: CommitHash,
    pub(super) hash: CommitHash,
}

impl Header {
    pub(super) fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.first.0.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.stored_len.to_le_bytes());
        bytes.extend_from_slice(&self.raw_len.to_le_bytes());
        bytes.extend_from_slice(&self.before);
        bytes.extend_from_slice(&self.hash);
        let check = check_of(&bytes);
        bytes.extend_from_slice(&check);
        bytes.try_into().expect("the fields add up to the header's length")
    }

    /// Reads a header; nothing when it is damaged or none.
    pub(super) fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let (fields, check) = bytes.split_at(HEADER_LEN - 4);
        if fields[..4] != MAGIC || check_of(fields) != check {
            return None;
        }
        let u32_at = |at: usize| u32::from_le_bytes(fields[at..at + 4].try_into().expect("four bytes"));
        let header = Self {
            first: Position(u64::from_le_bytes(fields[4..12].try_into().expect("eight bytes"))),
            count: u32_at(12),
            stored_len: u32_at(16),
            raw_len: u32_at(20),
            before: fields[24..56].try_into().expect("32 bytes"),
            hash: fields[56..88].try_into().expect("32 bytes"),
        };
        (header.raw_len <= MAX_RAW_LEN && header.count > 0).then_some(header)
    }

    /// Returns the position of the last record.
    pub(super) fn last(&self) -> Position {
        Position(self.first.0 + u64::from(self.count) - 1)
    }
}

fn check_of(fields: &[u8]) -> [u8; 4] {
    blake3::hash(fields).as_bytes()[..4].try_into().expect("four bytes")
}

/// Gathers the records of a commit.
pub(super) struct FrameBuilder {
    key: [u8; 32],
    digests: Vec<u8>,
    records: Vec<u8>,
    count: u32,
}

impl FrameBuilder {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key, digests: Vec::new(), records: Vec::new(), count: 0 }
    }

    /// Adds a record.
    pub(super) fn push(&mut self, record: &Encoded<'_>) {
        let start = self.records.len();
        record.write(&mut self.records);
        self.digests.extend_from_slice(&digest(&self.key, &self.records[start..]));
        self.count += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns header and body as they go to disk, and is empty again.
    pub(super) fn finish(
        &mut self,
        first: Position,
        before: CommitHash,
        out: &mut Vec<u8>,
    ) -> std::io::Result<Header> {
        let hash = commit_hash(&self.key, first, self.count, &before, &self.digests);
        let mut raw = std::mem::take(&mut self.digests);
        raw.append(&mut self.records);
        let stored = zstd::bulk::compress(&raw, ZSTD_LEVEL)?;
        let too_long = |_| std::io::Error::other("a commit is longer than 4 GiB");
        let header = Header {
            first,
            count: std::mem::take(&mut self.count),
            stored_len: u32::try_from(stored.len()).map_err(too_long)?,
            raw_len: u32::try_from(raw.len()).map_err(too_long)?,
            before,
            hash,
        };
        out.extend_from_slice(&header.to_bytes());
        out.extend_from_slice(&stored);
        Ok(header)
    }
}

/// A commit read back, its hash verified.
#[derive(Debug)]
pub(super) struct Frame {
    first: Position,
    raw: Vec<u8>,
    /// Where each record begins in `raw`.
    starts: Vec<u32>,
}

impl Frame {
    /// Decompresses and verifies a commit; the error says what does not hold.
    pub(super) fn open(key: &[u8; 32], header: &Header, stored: &[u8]) -> Result<Self, String> {
        let raw =
            zstd::bulk::decompress(stored, header.raw_len as usize).map_err(|error| error.to_string())?;
        let digests_len = header.count as usize * DIGEST_LEN;
        let (digests, records) = raw.split_at_checked(digests_len).ok_or("it is shorter than its digests")?;
        if commit_hash(key, header.first, header.count, &header.before, digests) != header.hash {
            return Err("its hash does not fit its digests".to_owned());
        }
        let mut starts = Vec::with_capacity(header.count as usize);
        let mut at = 0;
        for kept in digests.chunks_exact(DIGEST_LEN) {
            let (record, len) = Encoded::read(&records[at..]).ok_or("a record in it cannot be read")?;
            let erased = record.kind == super::record::RecordKind::Erased;
            if !erased && digest(key, &records[at..at + len]) != *kept {
                return Err(format!(
                    "record {} does not fit its digest",
                    header.first.0 + starts.len() as u64
                ));
            }
            starts.push(u32::try_from(digests_len + at).map_err(|_| "it is too long")?);
            at += len;
        }
        Ok(Self { first: header.first, raw, starts })
    }

    /// Returns the bytes of the commit, decompressed.
    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns the record at `position`, when it is in this commit.
    pub(super) fn get(&self, position: Position) -> Option<Encoded<'_>> {
        let index = usize::try_from(position.0.checked_sub(self.first.0)?).ok()?;
        let start = *self.starts.get(index)? as usize;
        Encoded::read(&self.raw[start..]).map(|(record, _)| record)
    }
}

fn digest(key: &[u8; 32], record: &[u8]) -> [u8; DIGEST_LEN] {
    blake3::keyed_hash(key, record).as_bytes()[..DIGEST_LEN].try_into().expect("the hash is longer")
}

fn commit_hash(
    key: &[u8; 32],
    first: Position,
    count: u32,
    before: &CommitHash,
    digests: &[u8],
) -> CommitHash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(before);
    hasher.update(&first.0.to_le_bytes());
    hasher.update(&count.to_le_bytes());
    hasher.update(digests);
    *hasher.finalize().as_bytes()
}
