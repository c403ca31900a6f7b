//! Cuts one JSON document into records without holding it whole.
//!
//! Record 1 is the header: the top-level object without its long arrays. Then each element of the long
//! arrays is a record, wrapped so that it tells its array: `{"messages":<element>}`. Last come the closing
//! values, each wrapped alike. A document that is itself an array has no header; its elements are wrapped
//! under the empty key: `{"":<element>}`.
//!
//! A record keeps its number when the document grows, so that an unchanged one is known again: the arrays
//! and, after them, the closing values each have a lane, and of `n` lanes the `k`-th (from 0) gives its `i`-th
//! record (from 0) the number `2 + i * n + k`. So the numbers do not rise in the order of the records.

mod scan;

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

use scan::{Scanner, Stop};

use crate::formats::DocumentShape;

/// The number of the header's record.
pub const HEADER: u64 = 1;

/// What came of reading a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DocumentEnd {
    /// How many records were given out.
    pub records: u64,
    /// What kept the rest of the document from being read, where something did.
    pub fault: Option<DocumentFault>,
}

/// What is wrong with a document, and where. What is whole before it (and, for an array, after it) is read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    /// The document is only half written.
    #[error("the document ends in the middle of {inside}, which begins at byte {offset}")]
    Torn {
        /// Where the unfinished part begins.
        offset: u64,
        /// What is unfinished.
        inside: String,
    },
    /// The text is not JSON.
    #[error("not JSON at byte {offset}: {expected} was expected")]
    Malformed {
        /// The place.
        offset: u64,
        /// What should stand there.
        expected: &'static str,
    },
    /// Something stands after the document.
    #[error("more follows after the document's end at byte {offset}")]
    Trailing {
        /// The document's end.
        offset: u64,
    },
    /// A record is too long to be held.
    #[error("the record at byte {offset} is longer than {limit_bytes} bytes")]
    TooLong {
        /// Where it begins.
        offset: u64,
        /// The limit.
        limit_bytes: usize,
    },
}

/// Returns how many lanes of numbers a document of this shape has; a document that is an array has as many.
fn lanes(shape: &DocumentShape) -> u64 {
    (shape.arrays.len() + shape.closing.len()).max(1) as u64
}

/// Returns the place in its array, from 0, of the element whose record has this number.
pub(crate) fn index_of(shape: &DocumentShape, number: u64) -> u64 {
    number.saturating_sub(2) / lanes(shape)
}

fn number_of(shape: &DocumentShape, lane: usize, index: u64) -> u64 {
    2 + index * lanes(shape) + lane as u64
}

/// What takes a record: its number and its bytes.
pub type TakeRecord<'a, E> = dyn FnMut(u64, &[u8]) -> Result<(), E> + 'a;

/// Reads the document in `file` from its beginning and gives each record's number and bytes to `take`.
///
/// Two passes: the first collects the header and the places of the arrays, the second gives out their
/// elements; the memory needed is that of the largest record. Bad JSON is no error but a
/// [`DocumentEnd::fault`]. A writer that replaces the document meanwhile shows itself as a fault, or as
/// records that cannot be read; the next reading mends that.
///
/// # Errors
/// When reading fails, or when `take` does.
pub fn read_document<F, E>(
    file: &mut F,
    shape: &DocumentShape,
    take: &mut TakeRecord<'_, E>,
) -> Result<DocumentEnd, E>
where
    F: Read + Seek,
    E: From<io::Error>,
{
    file.seek(SeekFrom::Start(0))?;
    let outline = Outline::read(&mut *file, shape)?;
    let mut end = DocumentEnd { records: 0, fault: outline.fault };
    let mut give = |number: u64, record: &[u8]| {
        end.records += 1;
        take(number, record)
    };
    if let Some(header) = &outline.header {
        give(HEADER, header)?;
    }
    let mut element_fault = None;
    for (array, key) in keys(shape, outline.is_array).enumerate() {
        let mut index = 0;
        // A key that stands twice in one object is read twice.
        for place in outline.arrays.iter().filter(|place| place.array == array) {
            file.seek(SeekFrom::Start(place.offset))?;
            let mut elements =
                Elements { scanner: Scanner::new(&mut *file, place.offset), key, begun: false };
            loop {
                match elements.next_record(index) {
                    Ok(Some(record)) => give(number_of(shape, array, index), &record)?,
                    Ok(None) => break,
                    Err(stop) => {
                        element_fault.get_or_insert(stop.fault()?);
                        break;
                    }
                }
                index += 1;
            }
        }
    }
    if let Some(header) = &outline.header {
        for (closing, range) in &outline.closing {
            let record = wrap(shape.closing[*closing], &header[range.clone()]);
            give(number_of(shape, shape.arrays.len() + closing, 0), &record)?;
        }
    }
    // The fault at an element is the nearer to the point: the first pass sees only that its array is torn.
    end.fault = element_fault.or(end.fault);
    Ok(end)
}

/// Returns the keys under which elements are wrapped.
fn keys(shape: &DocumentShape, is_array: bool) -> impl Iterator<Item = &'static str> {
    if is_array { [""].iter() } else { shape.arrays.iter() }.copied()
}

fn wrap(key: &str, value: &[u8]) -> Vec<u8> {
    let mut record = opening(key);
    record.extend_from_slice(value);
    record.push(b'}');
    record
}

fn opening(key: &str) -> Vec<u8> {
    format!("{{\"{key}\":").into_bytes()
}

/// What the first pass finds.
#[derive(Default)]
struct Outline {
    /// Whether the document is an array.
    is_array: bool,
    /// The header's bytes, when the document is an object.
    header: Option<Vec<u8>>,
    /// The long arrays, in the order of the document.
    arrays: Vec<Place>,
    /// The closing values: which of them, and where they stand in the header.
    closing: Vec<(usize, Range<usize>)>,
    fault: Option<DocumentFault>,
}

/// Where a long array begins.
struct Place {
    array: usize,
    offset: u64,
}

impl Outline {
    fn read(source: impl Read, shape: &DocumentShape) -> io::Result<Self> {
        let mut outline = Self::default();
        let mut scanner = Scanner::new(source, 0);
        scanner.skip_mark()?;
        let result = outline.document(&mut scanner, shape);
        if let Some(header) = &mut outline.header {
            header.push(b'}');
        }
        if let Err(stop) = result {
            outline.fault = Some(stop.fault()?);
        }
        Ok(outline)
    }

    fn document(&mut self, scanner: &mut Scanner<impl Read>, shape: &DocumentShape) -> Result<(), Stop> {
        match scanner.skip_space()? {
            Some(b'{') => {
                self.header = Some(b"{".to_vec());
                scanner.pass();
                self.members(scanner, shape)?;
            }
            Some(b'[') => {
                self.is_array = true;
                self.arrays.push(Place { array: 0, offset: scanner.offset() });
                scanner.value(None)?;
            }
            Some(_) => return Err(scanner.expected("an object or an array")),
            None => return Err(scanner.torn("nothing: it is empty")),
        }
        let offset = scanner.offset();
        match scanner.skip_space()? {
            None => Ok(()),
            Some(_) => Err(Stop::Fault(DocumentFault::Trailing { offset })),
        }
    }

    /// Reads the members of the top-level object up to its closing brace.
    fn members(&mut self, scanner: &mut Scanner<impl Read>, shape: &DocumentShape) -> Result<(), Stop> {
        if scanner.skip_space()? == Some(b'}') {
            scanner.pass();
            return Ok(());
        }
        loop {
            if scanner.skip_space()? != Some(b'"') {
                return Err(self.missing(scanner, "a key"));
            }
            let mut key = Vec::new();
            scanner.value(Some(&mut key))?;
            if scanner.skip_space()? != Some(b':') {
                return Err(self.missing(scanner, "a colon"));
            }
            scanner.pass();
            let first = scanner.skip_space()?;
            self.member(scanner, shape, &key, first)?;
            match scanner.skip_space()? {
                Some(b',') => scanner.pass(),
                Some(b'}') => {
                    scanner.pass();
                    return Ok(());
                }
                _ => return Err(self.missing(scanner, "a comma or a closing brace")),
            }
        }
    }

    /// Takes one member: a long array by its place, anything else into the header.
    fn member(
        &mut self,
        scanner: &mut Scanner<impl Read>,
        shape: &DocumentShape,
        key: &[u8],
        first: Option<u8>,
    ) -> Result<(), Stop> {
        let name: String = serde_json::from_slice(key).unwrap_or_default();
        if first == Some(b'[')
            && let Some(array) = shape.arrays.iter().position(|array| *array == name)
        {
            self.arrays.push(Place { array, offset: scanner.offset() });
            return scanner.value(None);
        }
        let header = self.header.get_or_insert_default();
        let whole = header.len();
        if whole > 1 {
            header.push(b',');
        }
        header.extend_from_slice(key);
        header.push(b':');
        let start = header.len();
        if let Err(stop) = scanner.value(Some(header)) {
            header.truncate(whole);
            return Err(stop);
        }
        if let Some(closing) = shape.closing.iter().position(|closing| *closing == name) {
            self.closing.push((closing, start..header.len()));
        }
        Ok(())
    }

    /// Returns why `what` is not at the next byte: the document ended, or something else stands there.
    fn missing(&self, scanner: &mut Scanner<impl Read>, what: &'static str) -> Stop {
        match scanner.peek() {
            Ok(Some(_)) => scanner.expected(what),
            Ok(None) => scanner.torn("the object"),
            Err(error) => Stop::Io(error),
        }
    }
}

/// Steps through the elements of one array.
struct Elements<R> {
    scanner: Scanner<R>,
    key: &'static str,
    begun: bool,
}

impl<R: Read> Elements<R> {
    /// Returns the record of the next element, `index`; nothing when the array is closed.
    fn next_record(&mut self, index: u64) -> Result<Option<Vec<u8>>, Stop> {
        let scanner = &mut self.scanner;
        let separator = if self.begun { b',' } else { b'[' };
        match scanner.skip_space()? {
            Some(b']') if self.begun => return Ok(None),
            Some(byte) if byte == separator => scanner.pass(),
            Some(_) if self.begun => return Err(scanner.expected("a comma or a closing bracket")),
            // Only a file replaced between the passes comes here.
            Some(_) => return Err(scanner.expected("an opening bracket")),
            None => return Err(scanner.torn(&format!("the array `{}`", self.key))),
        }
        if !self.begun {
            self.begun = true;
            if scanner.skip_space()? == Some(b']') {
                return Ok(None);
            }
        }
        scanner.skip_space()?;
        let mut record = opening(self.key);
        scanner.value(Some(&mut record)).map_err(|stop| match stop {
            Stop::Fault(DocumentFault::Torn { offset, .. }) => Stop::Fault(DocumentFault::Torn {
                offset,
                inside: format!("element {index} of the array `{}`", self.key),
            }),
            other => other,
        })?;
        record.push(b'}');
        Ok(Some(record))
    }
}

/// What the first bytes of a document show, for telling its format and its session.
pub(crate) struct DocumentHead {
    /// Whether the document is an array.
    pub(crate) is_array: bool,
    /// The header as far as it is whole; empty for an array.
    pub(crate) header: Vec<u8>,
    /// The long arrays that begin here, in the document's order, each with the place of its bracket.
    pub(crate) begun: Vec<(&'static str, usize)>,
    /// The records of the elements that are whole, by the key of their array.
    pub(crate) elements: Vec<(&'static str, Vec<u8>)>,
}

impl DocumentHead {
    /// Reads the first bytes of a file; nothing when they are no JSON document's beginning, or the
    /// beginning of several values.
    pub(crate) fn read(head: &[u8], shape: &DocumentShape) -> Option<Self> {
        let outline = Outline::read(head, shape).ok()?;
        let torn = matches!(outline.fault, None | Some(DocumentFault::Torn { .. }));
        if !torn || (outline.header.is_none() && !outline.is_array) {
            return None;
        }
        let mut elements = Vec::new();
        let keys: Vec<&'static str> = keys(shape, outline.is_array).collect();
        read_document(&mut Cursor::new(head), shape, &mut |number, record| {
            let lane = number.checked_sub(2).map(|place| (place % lanes(shape)) as usize);
            if let Some(key) = lane.and_then(|lane| keys.get(lane)) {
                elements.push((*key, record.to_vec()));
            }
            Ok::<(), io::Error>(())
        })
        .ok()?;
        let begun = outline.arrays.iter().map(|place| (keys[place.array], place.offset as usize)).collect();
        let header = outline.header.unwrap_or_default();
        Some(Self { is_array: outline.is_array, header, begun, elements })
    }
}

#[cfg(test)]
mod tests;
