//! Conditions of a question in SQL, with their parameters.

use agent_core::Timestamp;
use duckdb::types::Value;

/// Conditions that must all hold. What users write goes into parameters only.
#[derive(Clone, Default)]
pub(super) struct Conditions {
    conditions: Vec<String>,
    parameters: Vec<Value>,
}

impl Conditions {
    pub(super) fn add(&mut self, condition: &str, parameters: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.to_owned());
        self.parameters.extend(parameters);
    }

    pub(super) fn equal(&mut self, column: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(&format!("{column} = ?"), [Value::Text(value.to_owned())]);
        }
    }

    /// The column is a JSON list of names.
    pub(super) fn name_in(&mut self, column: &str, name: Option<&str>) {
        if let Some(name) = name {
            let quoted = serde_json::to_string(name).expect("a string is JSON");
            self.add(&format!("contains({column}, ?)"), [Value::Text(quoted)]);
        }
    }

    /// Returns the conditions for a `WHERE`.
    pub(super) fn sql(&self) -> String {
        if self.conditions.is_empty() { "true".to_owned() } else { self.conditions.join(" AND ") }
    }

    /// Returns the parameters in the order of their conditions.
    pub(super) fn into_parameters(self) -> Vec<Value> {
        self.parameters
    }
}

pub(super) fn timestamp(ts: Timestamp) -> Value {
    Value::Timestamp(duckdb::types::TimeUnit::Microsecond, ts.micros())
}
