//! One record of the journal: what came in, verbatim, and where it came from.

use crate::SourceId;

/// The place of a record in the journal: its ordinal, from 1. 0 is before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Position(pub u64);

impl Position {
    /// Returns the place of the record after this one.
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A source was opened; the bytes are a [`crate::Source`] as JSON.
    Source,
    /// A row of a source, verbatim.
    Row,
    /// A piece of a source that is no row; the bytes are the reason, a line break, and the piece.
    Unread,
    /// How far a source has been read, where no row tells it; no bytes.
    Cursor,
    /// One of our own events, as JSON.
    Event,
    /// The record was erased on request; only its digest is left.
    Erased,
}

impl RecordKind {
    const fn code(self) -> u8 {
        match self {
            Self::Source => 1,
            Self::Row => 2,
            Self::Unread => 3,
            Self::Cursor => 4,
            Self::Event => 5,
            Self::Erased => 6,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Source,
            2 => Self::Row,
            3 => Self::Unread,
            4 => Self::Cursor,
            5 => Self::Event,
            6 => Self::Erased,
            _ => return None,
        })
    }

    /// Returns the word for it in `journal cat`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Row => "row",
            Self::Unread => "unread",
            Self::Cursor => "cursor",
            Self::Event => "event",
            Self::Erased => "erased",
        }
    }
}

/// One record, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: RecordKind,
    /// The source it came from; 0 for our own events.
    pub source: SourceId,
    /// The row's number in its source, from 1; 0 where there is none.
    pub number: u64,
    /// How far the source has been read when this record is in: a byte offset, or a count of records for
    /// documents that are written anew.
    pub read_to: u64,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Set in the kind's byte when the content is the hash of a blob.
const BLOB_FLAG: u8 = 0x80;

/// A record as it stands in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoded<'a> {
    pub(super) kind: RecordKind,
    pub(super) source: SourceId,
    pub(super) number: u64,
    pub(super) read_to: u64,
    /// The content, or the hash of the blob that holds it.
    pub(super) content: &'a [u8],
    pub(super) is_blob: bool,
}

impl Encoded<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.kind.code() | if self.is_blob { BLOB_FLAG } else { 0 });
        write_varint(u64::from(self.source.0), out);
        write_varint(self.number, out);
        write_varint(self.read_to, out);
        write_varint(self.content.len() as u64, out);
        out.extend_from_slice(self.content);
    }

    /// Reads the record at the start of `bytes`; returns it and its length.
    pub(super) fn read(bytes: &[u8]) -> Option<(Encoded<'_>, usize)> {
        let (&code, mut rest) = bytes.split_first()?;
        let kind = RecordKind::from_code(code & !BLOB_FLAG)?;
        let source = SourceId(u32::try_from(read_varint(&mut rest)?).ok()?);
        let number = read_varint(&mut rest)?;
        let read_to = read_varint(&mut rest)?;
        let len = usize::try_from(read_varint(&mut rest)?).ok()?;
        let content = rest.get(..len)?;
        let used = bytes.len() - rest.len() + len;
        Some((Encoded { kind, source, number, read_to, content, is_blob: code & BLOB_FLAG != 0 }, used))
    }
}

fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

impl Record {
    /// Returns the record as one line of JSON: content that is UTF-8 as `text`, else in `base64`.
    pub fn to_json_line(&self, position: Position) -> String {
        use base64::Engine;
        let mut line = serde_json::json!({"position": position.0, "kind": self.kind.as_str()});
        if self.source.0 > 0 {
            line["source"] = self.source.0.into();
            line["read_to"] = self.read_to.into();
        }
        if self.number > 0 {
            line["row"] = self.number.into();
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => line["text"] = text.into(),
            Err(_) => {
                line["base64"] = base64::engine::general_purpose::STANDARD.encode(&self.bytes).into();
            }
        }
        line.to_string()
    }
}
