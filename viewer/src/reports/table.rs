//! Text for terminals: columns, short figures, and nothing that a terminal would obey.

use std::fmt::Write;

use agent_core::Timestamp;

/// Columns of text, each as wide as its widest cell.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(super) fn finish(self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "{cell:width$}  ").expect("writing to a string does not fail");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Returns the text without what a terminal would obey: control characters become visible or a space.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => ' ',
            '\u{0}'..='\u{1F}' => char::from_u32(0x2400 + c as u32).unwrap_or('?'),
            '\u{7F}'..='\u{9F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
            c => c,
        })
        .collect()
}

/// Like [`printable`], but keeps line breaks and tabs.
pub(super) fn printable_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(printable).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Writes a count shortly: 1234 as `1.2k`.
pub(super) fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// Writes an instant in the machine's zone, to the minute.
pub(super) fn local_time(ts: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(ts.micros()) {
        Ok(instant) => {
            instant.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
        }
        Err(_) => ts.to_string(),
    }
}
