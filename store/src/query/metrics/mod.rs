//! Figures over many sessions: money, tasks, tools, models, learning.
//!
//! Each question is asked of one table of facts (calls of models, runs, tool calls, notes of learning), within a
//! [`Scope`] and in [`Group`]s, and its answer is a row of sums a group. What a page shows is computed from
//! these rows, so that a figure and the sessions behind it come from one condition.

mod budgets;
mod learning;
mod models;
mod scope;
mod spend;
mod targets;
mod tasks;
mod tools;
mod zone;

pub use crate::projection::tables::BudgetRow;
pub use budgets::{Budget, Repricing};
pub use learning::{LearningFigures, LearningKind, RecalledInFailure, UnusedSkill};
pub use models::ModelFigures;
pub use scope::{Group, Scope};
pub use spend::{CostStatus, Spend, UnpricedModel};
pub use targets::Targets;
pub use tasks::{Endings, TaskFigures};
pub use tools::{ToolErrors, ToolFigures};
