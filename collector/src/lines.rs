//! Cuts a growing file into lines, and leaves a line alone that is still being written.

use std::io::{self, BufRead, BufReader, Read};

const BUFFER_BYTES: usize = 256 << 10;

/// Reads lines from a place in a file.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    offset: u64,
    number: u64,
    line: Vec<u8>,
    /// Whether nothing was read yet and a line was taken before.
    resumes: bool,
}

/// What was found on a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Nothing but space.
    Blank,
    /// A row.
    Row {
        /// The line's number, from 1.
        number: u64,
        /// The byte after it.
        read_to: u64,
        /// Its bytes, without the line break.
        bytes: &'a [u8],
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
            resumes: number > 0,
        }
    }

    /// Returns the next line, or nothing at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let len = self.reader.read_until(b'\n', &mut self.line)?;
        if len == 0 {
            return Ok(None);
        }
        self.offset += len as u64;
        let is_whole = self.line.last() == Some(&b'\n');
        // After a last row without line break was taken, the break that follows it begins the next reading.
        let ends_row_before = std::mem::take(&mut self.resumes) && self.line == b"\n";
        if ends_row_before {
            return Ok(Some(Line::Blank));
        }
        self.number += 1;
        let bytes = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(Line::Blank));
        }
        if !is_whole && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err() {
            return Ok(Some(Line::Unfinished { number: self.number }));
        }
        Ok(Some(Line::Row { number: self.number, read_to: self.offset, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, offset: u64, number: u64) -> Vec<(u64, u64, String)> {
        let mut lines = Lines::new(&text.as_bytes()[offset as usize..], offset, number);
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            match line {
                Line::Row { number, read_to, bytes } => {
                    found.push((number, read_to, String::from_utf8_lossy(bytes).into_owned()));
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
}
