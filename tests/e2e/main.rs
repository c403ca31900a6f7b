//! End-to-end tests: they drive the real binary as a user would.

mod browser;
mod command_line;
mod event_api;
mod kill;
mod money;
mod program;
mod readme;
mod text;
mod watching;
