//! Steps through JSON text byte by byte, knowing strings and nesting and nothing more.

use std::io::{self, Read};

use super::DocumentFault;

/// A record is held in memory as a whole; what is longer than this is refused by name. It is far above the
/// largest element seen in real files (some MiB) and far below what a machine holds.
const RECORD_LIMIT_BYTES: usize = 256 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// Why a scan stopped: reading failed, or the text is not as it should be.
#[derive(Debug)]
pub(super) enum Stop {
    Io(io::Error),
    Fault(DocumentFault),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Stop {
    /// Returns the fault; a failure to read stays an error.
    pub(super) fn fault(self) -> io::Result<DocumentFault> {
        match self {
            Self::Io(error) => Err(error),
            Self::Fault(fault) => Ok(fault),
        }
    }
}

/// Reads forward, with one byte to look ahead.
pub(super) struct Scanner<R> {
    source: R,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// Where the buffer's first byte stands in the source.
    base: u64,
}

impl<R: Read> Scanner<R> {
    /// Returns a scanner over `source`, whose next byte stands at `base`.
    pub(super) fn new(source: R, base: u64) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), at: 0, end: 0, base }
    }

    /// Returns where the next byte stands.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns the bytes at hand, at least one unless the source has ended.
    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.base += self.end as u64;
            (self.at, self.end) = (0, 0);
            self.end = loop {
                match self.source.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => break result?,
                }
            };
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// Returns the next byte without passing it.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.fill()?.first().copied())
    }

    /// Passes the byte that `peek` returned.
    pub(super) fn pass(&mut self) {
        debug_assert!(self.at < self.end, "pass follows a peek that found a byte");
        self.at += 1;
    }

    /// Passes a byte order mark, when the text begins with one.
    pub(super) fn skip_mark(&mut self) -> io::Result<()> {
        if self.fill()?.starts_with(b"\xEF\xBB\xBF") {
            self.at += 3;
        }
        Ok(())
    }

    /// Passes white space and returns the byte after it.
    pub(super) fn skip_space(&mut self) -> io::Result<Option<u8>> {
        loop {
            let next = self.peek()?;
            match next {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.pass(),
                _ => return Ok(next),
            }
        }
    }

    /// Passes one value, which begins at the next byte, and appends its bytes to `out` when given.
    pub(super) fn value(&mut self, out: Option<&mut Vec<u8>>) -> Result<(), Stop> {
        match self.peek()? {
            Some(b'{' | b'[' | b'"') => self.enclosed(out),
            Some(b'}' | b']' | b',' | b':') => Err(self.expected("a value")),
            Some(_) => self.bare(out),
            None => Err(self.torn("a value")),
        }
    }

    /// Passes an object, an array or a string: up to the byte that closes it.
    fn enclosed(&mut self, mut out: Option<&mut Vec<u8>>) -> Result<(), Stop> {
        let start = self.offset();
        let mut state = Enclosed::default();
        loop {
            let bytes = self.fill()?;
            if bytes.is_empty() {
                return Err(Stop::Fault(DocumentFault::Torn { offset: start, inside: "a value".to_owned() }));
            }
            let (len, closed) = state.advance(bytes);
            keep(&mut out, &bytes[..len], start)?;
            self.at += len;
            if closed {
                return Ok(());
            }
        }
    }

    /// Passes a number or a word: up to a byte that can stand in neither.
    fn bare(&mut self, mut out: Option<&mut Vec<u8>>) -> Result<(), Stop> {
        let start = self.offset();
        loop {
            let bytes = self.fill()?;
            if bytes.is_empty() {
                return Err(Stop::Fault(DocumentFault::Torn { offset: start, inside: "a value".to_owned() }));
            }
            let end = bytes.iter().position(|byte| b",]}: \t\r\n".contains(byte));
            let len = end.unwrap_or(bytes.len());
            keep(&mut out, &bytes[..len], start)?;
            self.at += len;
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Returns the fault that something else stands here than `what`.
    pub(super) fn expected(&self, what: &'static str) -> Stop {
        Stop::Fault(DocumentFault::Malformed { offset: self.offset(), expected: what })
    }

    /// Returns the fault that the source ended inside `what`.
    pub(super) fn torn(&self, what: &str) -> Stop {
        Stop::Fault(DocumentFault::Torn { offset: self.offset(), inside: what.to_owned() })
    }
}

fn keep(out: &mut Option<&mut Vec<u8>>, bytes: &[u8], start: u64) -> Result<(), Stop> {
    let Some(out) = out else { return Ok(()) };
    if out.len() + bytes.len() > RECORD_LIMIT_BYTES {
        return Err(Stop::Fault(DocumentFault::TooLong { offset: start, limit_bytes: RECORD_LIMIT_BYTES }));
    }
    out.extend_from_slice(bytes);
    Ok(())
}

/// Where the scan of an object, array or string stands.
#[derive(Default)]
struct Enclosed {
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

impl Enclosed {
    /// Returns how many of `bytes` belong to the value, and whether the last of them closes it.
    fn advance(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.after_backslash {
                self.after_backslash = false;
                at += 1;
                continue;
            }
            if self.in_string {
                let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
                    return (bytes.len(), false);
                };
                at += found + 1;
                self.after_backslash = bytes[at - 1] == b'\\';
                self.in_string = self.after_backslash;
            } else {
                match bytes[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth -= 1,
                    _ => {}
                }
                at += 1;
            }
            if self.depth == 0 && !self.in_string {
                return (at, true);
            }
        }
        (bytes.len(), false)
    }
}
