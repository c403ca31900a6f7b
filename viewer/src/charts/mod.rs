//! Charts as views for `charts.html`: marks in SVG that stretches, words in HTML that does not, a table beside each.
//!
//! A chart that has no data has no marks; what is not known is a gap and never 0.

mod bars;
mod heat;
mod lines;
mod ranked;
mod scale;

pub(crate) use bars::{Bars, Series};
pub(crate) use heat::Heat;
pub(crate) use lines::Lines;
pub(crate) use ranked::{Ranked, RankedRow};
