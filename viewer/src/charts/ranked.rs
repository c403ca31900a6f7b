//! Bars that lie, the longest first.

/// Bars with their words.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<RankedRow>,
    /// What is not shown, in words.
    pub(crate) more: Option<String>,
    pub(crate) csv: String,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RankedRow {
    pub(crate) name: String,
    /// Where it leads, if anywhere.
    pub(crate) href: Option<String>,
    pub(crate) words: String,
    pub(crate) detail: String,
    pub(crate) figure: f64,
    /// Of the longest bar, in percent; set by [`Ranked::new`].
    pub(crate) share: f64,
}

impl Ranked {
    /// Shows the first `most` rows, which must come in order.
    pub(crate) fn new(title: &'static str, mut rows: Vec<RankedRow>, most: usize, csv: String) -> Self {
        let count = rows.len();
        rows.truncate(most);
        let longest = rows.iter().map(|row| row.figure).fold(0.0, f64::max);
        for row in &mut rows {
            row.share = if longest > 0.0 { row.figure / longest * 100.0 } else { 0.0 };
        }
        let more = (count > most).then(|| format!("{most} of {count} shown"));
        Self { title, rows, more, csv }
    }
}
