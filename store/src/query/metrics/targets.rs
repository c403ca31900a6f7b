//! What figures should reach.

use serde::{Deserialize, Serialize};

/// What figures should reach; each may be set anew in `config.toml`, under `[targets]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Targets {
    /// The share of tasks that are completed: more than this. 0.8 unless set.
    pub success_ratio: f64,
    /// The mean duration of a task in milliseconds: less than this. 60 s unless set.
    pub duration_ms: f64,
    /// The mean turns of a task: fewer than this. 8 unless set.
    pub turns: f64,
    /// The share of tasks that the user asks for once more: less than this. 0.1 unless set.
    pub retry_ratio: f64,
    /// The share of the input read from the cache: more than this. 0.6 unless set.
    pub cache_hit_ratio: f64,
}

impl Default for Targets {
    fn default() -> Self {
        Self { success_ratio: 0.8, duration_ms: 60_000.0, turns: 8.0, retry_ratio: 0.1, cache_hit_ratio: 0.6 }
    }
}
