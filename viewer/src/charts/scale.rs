//! Axes: round numbers at which to draw a line.

/// Returns the top of an axis that holds `largest`: 1, 2 or 5 times a power of ten.
pub(super) fn round_top(largest: f64) -> f64 {
    if !largest.is_finite() || largest <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(largest.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|top| *top >= largest * 0.999_999)
        .unwrap_or(largest)
}

/// Returns which of `count` labels there is room for, also on a narrow screen: the first, the last, and some between.
pub(super) fn shown_labels(count: usize) -> Vec<usize> {
    const MOST: usize = 5;
    if count <= MOST {
        return (0..count).collect();
    }
    (0..MOST).map(|at| at * (count - 1) / (MOST - 1)).collect()
}

/// Rows of a table beside a chart.
const TABLE_ROWS: usize = 60;

/// Leaves the last rows of a table, and returns what is said of those that are gone: the CSV has them all.
pub(super) fn cut_rows<T>(rows: &mut Vec<T>) -> Option<String> {
    let all = rows.len();
    rows.drain(..all.saturating_sub(TABLE_ROWS));
    (all > TABLE_ROWS)
        .then(|| format!("the last {TABLE_ROWS} of {all} days with figures shown; the CSV has all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_are_round_and_high_enough() {
        for (largest, top) in
            [(0.0, 1.0), (0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (34.0, 50.0), (0.00012, 0.0002), (5e9, 5e9)]
        {
            assert!((round_top(largest) - top).abs() < top * 1e-9, "{largest} {}", round_top(largest));
        }
    }

    #[test]
    fn the_first_and_the_last_label_are_shown() {
        assert_eq!(shown_labels(3), [0, 1, 2]);
        assert_eq!(shown_labels(30), [0, 7, 14, 21, 29]);
    }
}
