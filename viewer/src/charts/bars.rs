//! Stacked bars over days.

use super::scale::{cut_rows, round_top, shown_labels};

/// Series that have a colour of their own; the rest are one, called "other".
const SERIES: usize = 8;
/// The height of the plot in its own units.
const HEIGHT: f64 = 100.0;
/// The width of a bar with the gap behind it.
const STEP: f64 = 10.0;
/// The width of the gap.
const GAP: f64 = 1.5;

/// One series: a figure a bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) figures: Vec<f64>,
}

/// Stacked bars, ready to be drawn.
#[derive(Debug)]
pub(crate) struct Bars {
    pub(crate) title: &'static str,
    /// The width of the plot in its own units.
    pub(crate) width: f64,
    pub(crate) marks: Vec<Mark>,
    /// Words of the axis from the top down.
    pub(crate) axis: [String; 3],
    /// Words below it.
    pub(crate) labels: Vec<String>,
    pub(crate) legend: Vec<(usize, String)>,
    /// The table beside it: headings, and rows of words.
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<String>)>,
    /// What is said of rows that are not shown.
    pub(crate) cut: Option<String>,
    /// Where the same figures are as CSV.
    pub(crate) csv: String,
}

/// A piece of a bar.
#[derive(Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) colour: usize,
    pub(crate) title: String,
    /// The sessions behind the bar.
    pub(crate) href: String,
}

impl Bars {
    /// `days` are the bars with the addresses of their sessions; `show` writes a figure.
    pub(crate) fn new(
        title: &'static str,
        days: &[(String, String)],
        series: Vec<Series>,
        show: impl Fn(f64) -> String,
        csv: String,
    ) -> Self {
        let series = largest_first(series, days.len());
        let totals: Vec<f64> =
            (0..days.len()).map(|at| series.iter().map(|one| one.figures[at]).sum()).collect();
        let top = round_top(totals.iter().copied().fold(0.0, f64::max));
        let mut marks = Vec::new();
        for (at, (day, href)) in days.iter().enumerate() {
            let mut below = 0.0;
            for (colour, one) in series.iter().enumerate().filter(|(_, one)| one.figures[at] > 0.0) {
                let height = one.figures[at] / top * HEIGHT;
                marks.push(Mark {
                    x: at as f64 * STEP,
                    y: HEIGHT - below - height,
                    width: STEP - GAP,
                    height,
                    colour,
                    title: format!("{day}: {} {}", one.name, show(one.figures[at])),
                    href: href.clone(),
                });
                below += height;
            }
        }
        let with_figures = days.iter().enumerate().filter(|(at, _)| totals[*at] > 0.0);
        let rows = with_figures.map(|(at, (day, _))| {
            let figures = series.iter().map(|one| show(one.figures[at])).chain([show(totals[at])]);
            (day.clone(), figures.collect())
        });
        let mut rows: Vec<_> = rows.collect();
        let cut = cut_rows(&mut rows);
        Self {
            title,
            width: (days.len() as f64 * STEP).max(STEP),
            marks,
            axis: [show(top), show(top / 2.0), show(0.0)],
            labels: shown_labels(days.len()).into_iter().map(|at| days[at].0.clone()).collect(),
            legend: series.iter().map(|one| one.name.clone()).enumerate().collect(),
            headings: series.iter().map(|one| one.name.clone()).chain(["all".to_owned()]).collect(),
            rows,
            cut,
            csv,
        }
    }
}

/// Returns the largest series in order, and the sum of the rest.
fn largest_first(mut series: Vec<Series>, days: usize) -> Vec<Series> {
    let sum = |one: &Series| one.figures.iter().sum::<f64>();
    series.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    if series.len() <= SERIES {
        return series;
    }
    let rest = series.split_off(SERIES);
    let mut other = Series { name: format!("{} others", rest.len()), figures: vec![0.0; days] };
    for one in rest {
        for (sum, more) in other.figures.iter_mut().zip(one.figures) {
            *sum += more;
        }
    }
    series.push(other);
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stand_on_each_other_and_the_largest_comes_first() {
        let days = [("1".to_owned(), "/a".to_owned()), ("2".to_owned(), "/b".to_owned())];
        let series = vec![
            Series { name: "small".to_owned(), figures: vec![1.0, 0.0] },
            Series { name: "large".to_owned(), figures: vec![3.0, 5.0] },
        ];
        let bars = Bars::new("", &days, series, |figure| format!("{figure}"), String::new());
        // The axis ends at 5: 3 of it are 60 of 100, and the small piece stands on them.
        let places: Vec<_> =
            bars.marks.iter().map(|mark| (mark.x, mark.y, mark.height, mark.colour)).collect();
        assert_eq!(places, [(0.0, 40.0, 60.0, 0), (0.0, 20.0, 20.0, 1), (10.0, 0.0, 100.0, 0)]);
        assert_eq!(bars.rows[0], ("1".to_owned(), vec!["3".to_owned(), "1".to_owned(), "4".to_owned()]));
        assert_eq!(bars.axis, ["5", "2.5", "0"]);
    }

    #[test]
    fn what_has_no_colour_is_one_series() {
        let series = (0..11).map(|n| Series { name: n.to_string(), figures: vec![f64::from(n)] }).collect();
        let shown = largest_first(series, 1);
        assert_eq!((shown.len(), shown[8].name.as_str(), shown[8].figures[0]), (9, "3 others", 3.0));
    }
}
