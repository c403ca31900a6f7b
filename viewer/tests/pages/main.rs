//! The pages over a real store in a folder of its own.
#![allow(clippy::unwrap_used, reason = "a test that meets an error is to fail")]

mod access;
mod app;
mod costs;
mod figures;
mod hostile;
mod live;
mod overview;
mod reading;
mod said;
mod sizes;
mod turn;
