//! The store as its users see it: what events mean, prompts that come back, and bad days.

mod bad_days;
mod figures;
mod meaning;
mod money;
mod prompts;
mod rebuild;
mod support;
