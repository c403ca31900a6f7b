//! The days of the week by the hours of the day.

/// The names of the days, Monday first.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Shades beside the empty one.
const SHADES: f64 = 5.0;

/// A table of cells.
#[derive(Debug)]
pub(crate) struct Heat {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<(&'static str, Vec<Cell>)>,
    pub(crate) csv: String,
}

/// One hour of one day of the week.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// 0 for nothing, to 5.
    pub(crate) shade: u8,
    pub(crate) title: String,
}

impl Heat {
    /// `figures` are by day (Monday first) and hour.
    pub(crate) fn new(
        title: &'static str,
        figures: &[[f64; 24]; 7],
        show: impl Fn(f64) -> String,
        csv: String,
    ) -> Self {
        let largest = figures.iter().flatten().copied().fold(0.0, f64::max);
        let cell = |day: &str, hour: usize, figure: f64| Cell {
            shade: if figure > 0.0 { (figure / largest * SHADES).ceil().clamp(1.0, SHADES) as u8 } else { 0 },
            title: format!("{day} {hour:02}:00 to {:02}:00: {}", hour + 1, show(figure)),
        };
        let rows = DAYS.iter().zip(figures).map(|(day, hours)| {
            (*day, hours.iter().enumerate().map(|(hour, figure)| cell(day, hour, *figure)).collect())
        });
        Self { title, rows: rows.collect(), csv }
    }
}
