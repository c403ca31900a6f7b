//! Tables of figures: words for people, exact figures for the CSV.

use agent_core::PicoUsd;

use crate::format::{UNKNOWN, duration, money, percent, whole};

/// Rows shown; the CSV has all.
const ROWS: usize = 50;

/// A table.
#[derive(Debug)]
pub(super) struct Sheet {
    /// Its name in the address of its CSV.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) headings: Vec<&'static str>,
    rows: Vec<Row>,
    pub(super) csv: String,
}

/// A row: what it is of, where that leads, its figures.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) href: Option<String>,
    pub(super) cells: Vec<Cell>,
}

/// One figure.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) words: String,
    exact: String,
}

impl Sheet {
    /// `headings` are those of the name and of the figures.
    pub(super) fn new(
        key: &'static str,
        title: &'static str,
        headings: &[&'static str],
        rows: Vec<Row>,
        csv: String,
    ) -> Self {
        Self { key, title, headings: headings.to_vec(), rows, csv }
    }

    /// Returns the rows that are shown.
    pub(super) fn shown(&self) -> &[Row] {
        &self.rows[..self.rows.len().min(ROWS)]
    }

    /// Says what is not shown.
    pub(super) fn more(&self) -> Option<String> {
        (self.rows.len() > ROWS).then(|| format!("{ROWS} of {} shown; the CSV has all", self.rows.len()))
    }

    /// Returns the headings and all rows with exact figures.
    pub(super) fn csv_rows(&self) -> Vec<Vec<String>> {
        let headings = self.headings.iter().map(|heading| (*heading).to_owned()).collect();
        let row = |row: &Row| {
            let cells = row.cells.iter().map(|cell| cell.exact.clone());
            std::iter::once(row.name.clone()).chain(cells).collect()
        };
        std::iter::once(headings).chain(self.rows.iter().map(row)).collect()
    }
}

/// Returns a count.
pub(super) fn count(number: u64) -> Cell {
    Cell { words: whole(number), exact: number.to_string() }
}

/// Returns a time in milliseconds.
pub(super) fn time(ms: Option<u64>) -> Cell {
    cell(ms, duration, |ms| ms.to_string())
}

/// Returns a share.
pub(super) fn share(ratio: Option<f64>) -> Cell {
    cell(ratio, percent, |ratio| ratio.to_string())
}

/// Returns a mean.
pub(super) fn mean(figure: Option<f64>) -> Cell {
    cell(figure, |figure| format!("{figure:.1}"), |figure| figure.to_string())
}

/// Returns a sum of money; nothing where there is no price.
pub(super) fn cost(amount: Option<PicoUsd>) -> Cell {
    cell(amount, money, |amount| amount.to_string())
}

/// Returns words.
pub(super) fn words(words: String) -> Cell {
    Cell { exact: words.clone(), words }
}

fn cell<T: Copy>(figure: Option<T>, show: impl FnOnce(T) -> String, exact: impl FnOnce(T) -> String) -> Cell {
    Cell {
        words: figure.map_or_else(|| UNKNOWN.to_owned(), show),
        exact: figure.map(exact).unwrap_or_default(),
    }
}
