//! What calls of models cost.
//!
//! A [`PriceTable`] holds dated prices, made from public data (`agent-core/prices`, which has its notices) and
//! from own files. [`PriceTable::cost`] prices the usage of one response. What is easily got wrong:
//!
//! - The buckets of a [`crate::Usage`] are disjoint: what was read from a cache is no input a second time, and
//!   reasoning is a part of the output.
//! - A long context has a price of its own for the WHOLE request: one token past the threshold, and each token
//!   costs more, those before it too. What counts is all input, cached or not.
//! - Batch, flex and priority are prices of their own, not discounts that could be guessed.
//! - A model that the table does not know has no price. It is never priced as one with a similar name.
//!
//! Rates are whole pico-dollars for a million tokens, sums are made in 128 bits, and no figure is ever a float.

mod check;
mod cost;
mod matching;
mod own;
mod rates;
mod table;
mod wire;

pub use check::{Change, Complaint, Difference};
pub use cost::{Billed, Cost, CostStatus};
pub use own::OwnPriceError;
pub use rates::{Bucket, Rates, ServiceTier};
pub use table::{ListedPrice, PriceTable, TableError};
