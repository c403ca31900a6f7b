//! Columns of text.

use unicode_width::UnicodeWidthStr;

/// Columns of text, each as wide as its widest cell.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The heading of a column, and how its cells stand.
#[derive(Clone, Debug)]
pub(super) struct Column {
    heading: String,
    is_figure: bool,
}

impl Column {
    /// Returns a column of words.
    pub(super) fn words(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), is_figure: false }
    }

    /// Returns a column of figures, which end under each other.
    pub(super) fn figures(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), is_figure: true }
    }
}

impl Table {
    pub(super) const fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row of printable cells.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the lines, the headings first.
    pub(super) fn lines(self) -> Vec<String> {
        let headings = self.columns.iter().map(|column| column.heading.clone()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(headings).chain(self.rows).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0))
            .collect();
        rows.iter().map(|row| line(row, &self.columns, &widths)).collect()
    }
}

fn line(cells: &[String], columns: &[Column], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, column), width) in cells.iter().zip(columns).zip(widths) {
        let space = " ".repeat(width - cell.width());
        let (before, after) = if column.is_figure { (space.as_str(), "") } else { ("", space.as_str()) };
        line.extend([before, cell, after, "  "]);
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_by_what_is_seen() {
        let mut table = Table::new(vec![Column::words("A"), Column::figures("N"), Column::words("B")]);
        table.row(vec!["漢字".to_owned(), "7".to_owned(), "x".to_owned()]);
        table.row(vec!["é".to_owned(), "≥ 12".to_owned(), "y".to_owned()]);
        assert_eq!(table.lines(), ["A        N  B", "漢字     7  x", "é     ≥ 12  y"]);
    }
}
