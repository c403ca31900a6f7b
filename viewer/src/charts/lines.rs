//! A ratio over days.

use super::scale::{cut_rows, shown_labels};
use crate::format::{known, percent};

const HEIGHT: f64 = 100.0;
const STEP: f64 = 10.0;

/// A line over days, from 0 to 100 %, with a target.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) title: &'static str,
    pub(crate) width: f64,
    /// The points of each stretch without a gap, as SVG has them.
    pub(crate) stretches: Vec<String>,
    /// Days with a figure between days without one.
    pub(crate) points: Vec<(f64, f64, String)>,
    /// The height of the target line.
    pub(crate) target_y: f64,
    pub(crate) target: String,
    pub(crate) labels: Vec<String>,
    pub(crate) rows: Vec<(String, String)>,
    pub(crate) cut: Option<String>,
    pub(crate) csv: String,
}

impl Lines {
    /// `days` are the days with their ratios, absent where there is none.
    pub(crate) fn new(title: &'static str, days: &[(String, Option<f64>)], target: f64, csv: String) -> Self {
        let mut stretches: Vec<String> = Vec::new();
        let mut open = false;
        for (at, (_, ratio)) in days.iter().enumerate() {
            let Some(ratio) = ratio else {
                open = false;
                continue;
            };
            let point = format!("{},{:.2}", middle(at), height(*ratio));
            match stretches.last_mut().filter(|_| open) {
                Some(stretch) => {
                    stretch.push(' ');
                    stretch.push_str(&point);
                }
                None => stretches.push(point),
            }
            open = true;
        }
        let points = days.iter().enumerate().filter_map(|(at, (day, ratio))| {
            let ratio = (*ratio)?;
            Some((middle(at), height(ratio), format!("{day}: {}", percent(ratio))))
        });
        let with_ratio = days.iter().filter(|(_, ratio)| ratio.is_some());
        let mut rows: Vec<_> = with_ratio.map(|(day, ratio)| (day.clone(), known(*ratio, percent))).collect();
        let cut = cut_rows(&mut rows);
        Self {
            title,
            width: (days.len() as f64 * STEP).max(STEP),
            stretches,
            points: points.collect(),
            target_y: height(target),
            target: percent(target),
            labels: shown_labels(days.len()).into_iter().map(|at| days[at].0.clone()).collect(),
            rows,
            cut,
            csv,
        }
    }
}

fn middle(at: usize) -> f64 {
    at as f64 * STEP + STEP / 2.0
}

fn height(ratio: f64) -> f64 {
    HEIGHT - ratio.clamp(0.0, 1.0) * HEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_without_a_figure_is_a_gap() {
        let days = [Some(0.5), Some(1.0), None, Some(0.0)].map(|ratio| ("d".to_owned(), ratio));
        let lines = Lines::new("", &days, 0.6, String::new());
        assert_eq!(lines.stretches, ["5,50.00 15,0.00", "35,100.00"]);
        assert_eq!((lines.points.len(), lines.target_y), (3, 40.0));
        assert_eq!(lines.rows.len(), 3);
    }
}
