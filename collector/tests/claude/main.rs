//! Imports real and made session files of Claude Code and compares what the store says with what they say.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod copies;
mod damage;
mod prompts;
mod queue;
mod subagents;
mod sums;
mod support;
