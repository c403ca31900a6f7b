//! Cuts a growing file into lines, and leaves a line alone that is still being written.

use std::io::{self, BufRead, BufReader, Read};

const BUFFER_BYTES: usize = 256 << 10;
/// A row is held in memory as a whole; what is longer than this is passed over and named. It is far above
/// the longest row seen in real files and far below what a machine holds.
const ROW_LIMIT_BYTES: usize = 256 << 20;
/// A row over this size takes its memory along; a copy of a smaller one is cheaper than a new buffer.
const TAKEN_FROM_BYTES: usize = 1 << 20;

/// Reads lines from a place in a file.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    offset: u64,
    number: u64,
    line: Vec<u8>,
    limit_bytes: usize,
    /// Whether nothing was read yet and a line was taken before.
    resumes: bool,
}

/// What was found on a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Nothing but space.
    Blank,
    /// A row.
    Row {
        /// The line's number, from 1.
        number: u64,
        /// The byte after it.
        read_to: u64,
        /// Its bytes, without the line break.
        bytes: Vec<u8>,
    },
    /// A row that is too long to be held.
    TooLong {
        /// The line's number.
        number: u64,
        /// The byte after it.
        read_to: u64,
        /// How long it is.
        len: u64,
        /// How long it may be.
        limit_bytes: usize,
    },
    /// The end of the file, in the middle of a row.
    Unfinished {
        /// The line's number.
        number: u64,
    },
}

impl<R: Read> Lines<R> {
    /// Reads on at byte `offset`, after line `number`.
    pub(crate) fn new(file: R, offset: u64, number: u64) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, file),
            offset,
            number,
            line: Vec::new(),
            limit_bytes: ROW_LIMIT_BYTES,
            resumes: number > 0,
        }
    }

    /// Returns the next line, or nothing at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let (len, is_whole) = self.read_line()?;
        if len == 0 {
            return Ok(None);
        }
        self.offset += len;
        // After a last row without line break was taken, the break that follows it begins the next reading.
        let ends_row_before = std::mem::take(&mut self.resumes) && is_whole && self.line.is_empty();
        if ends_row_before {
            return Ok(Some(Line::Blank));
        }
        self.number += 1;
        Ok(Some(self.line_of(len, is_whole)))
    }

    /// Says what the line is that was just read.
    fn line_of(&mut self, len: u64, is_whole: bool) -> Line {
        let (number, read_to) = (self.number, self.offset);
        let is_too_long = len > self.limit_bytes as u64;
        if is_too_long {
            // A longer row may still be being written: it is passed over when its end is there.
            let limit_bytes = self.limit_bytes;
            return if is_whole {
                Line::TooLong { number, read_to, len, limit_bytes }
            } else {
                Line::Unfinished { number }
            };
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.line.iter().all(u8::is_ascii_whitespace) {
            return Line::Blank;
        }
        if !is_whole && serde_json::from_slice::<serde::de::IgnoredAny>(&self.line).is_err() {
            return Line::Unfinished { number };
        }
        Line::Row { number, read_to, bytes: self.take_line() }
    }

    fn take_line(&mut self) -> Vec<u8> {
        if self.line.len() < TAKEN_FROM_BYTES {
            return self.line.clone();
        }
        let mut line = std::mem::take(&mut self.line);
        line.shrink_to_fit();
        line
    }

    /// Reads up to the next line break, which is not kept. Returns how many bytes were passed, and whether a
    /// line break was the last. Of a line over the limit nothing is kept.
    fn read_line(&mut self) -> io::Result<(u64, bool)> {
        self.line.clear();
        let mut len = 0;
        loop {
            let bytes = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let line_break = memchr::memchr(b'\n', bytes);
            let content = &bytes[..line_break.unwrap_or(bytes.len())];
            let passed = content.len() + usize::from(line_break.is_some());
            len += passed as u64;
            if len <= self.limit_bytes as u64 {
                self.line.extend_from_slice(content);
            } else {
                self.line = Vec::new();
            }
            self.reader.consume(passed);
            if line_break.is_some() || passed == 0 {
                return Ok((len, line_break.is_some()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, offset: u64, number: u64) -> Vec<(u64, u64, String)> {
        read_within(ROW_LIMIT_BYTES, text, offset, number)
    }

    fn read_within(limit_bytes: usize, text: &str, offset: u64, number: u64) -> Vec<(u64, u64, String)> {
        let mut lines = Lines::new(&text.as_bytes()[offset as usize..], offset, number);
        lines.limit_bytes = limit_bytes;
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            match line {
                Line::Row { number, read_to, bytes } => {
                    found.push((number, read_to, String::from_utf8(bytes).expect("it is text")));
                }
                Line::TooLong { number, read_to, len, .. } => {
                    found.push((number, read_to, format!("{len} bytes")));
                }
                Line::Unfinished { number } => found.push((number, 0, "unfinished".to_owned())),
                Line::Blank => {}
            }
        }
        found
    }

    #[test]
    fn a_file_is_read_on_where_it_stopped() {
        let row = |number, read_to, text: &str| (number, read_to, text.to_owned());
        assert_eq!(read("{}\r\n[1]\n", 0, 0), [row(1, 4, "{}"), row(2, 8, "[1]")]);
        assert_eq!(read("{}\n{\"a\":", 0, 0), [row(1, 3, "{}"), row(2, 0, "unfinished")]);
        assert_eq!(read("{}\n{\"a\":1}", 0, 0), [row(1, 3, "{}"), row(2, 10, "{\"a\":1}")]);
        // The break after a row that was whole without it is no line of its own.
        assert_eq!(read("{}\n{\"a\":1}\n[2]\n", 10, 2), [row(3, 15, "[2]")]);
        assert_eq!(read("{}\n\n[3]\n", 0, 0), [row(1, 3, "{}"), row(3, 8, "[3]")]);
    }
    #[test]
    fn a_row_over_the_limit_is_passed_over_and_named_when_it_is_whole() {
        let row = |number, read_to, text: &str| (number, read_to, text.to_owned());
        let text = "[1]\n\"too long\"\n[3]\n";
        assert_eq!(read_within(8, text, 0, 0), [row(1, 4, "[1]"), row(2, 15, "11 bytes"), row(3, 19, "[3]")]);
        assert_eq!(read_within(8, &text[..14], 0, 0), [row(1, 4, "[1]"), row(2, 0, "unfinished")]);
        // A row of just the limit, its line break counted, is read.
        assert_eq!(read_within(8, "[1,2,3]\n", 0, 0), [row(1, 8, "[1,2,3]")]);
    }

    #[test]
    fn a_large_row_comes_out_whole_and_the_next_one_too() {
        let large = format!("[\"{}\"]", "x".repeat(2 * TAKEN_FROM_BYTES));
        let found = read(&format!("{large}\n[2]\n"), 0, 0);
        let end = large.len() as u64 + 1;
        assert_eq!(found, [(1, end, large), (2, end + 4, "[2]".to_owned())]);
    }
}
