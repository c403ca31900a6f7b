//! What events mean: short tales with tables that were counted by hand.

mod calls;
mod copies;
mod forks;
mod history;
mod queue;
mod runs;
mod sums;
mod tools;
mod turns;

use crate::support::Tale;

/// Writes down what is there, each in a few words; what is nothing is left out.
struct Line(String);

impl Line {
    fn new(start: String) -> Self {
        Self(start)
    }

    fn number(mut self, name: &str, value: impl Into<Option<u64>>) -> Self {
        if let Some(value) = value.into().filter(|&value| value > 0) {
            self.0 += &format!(" {name}={value}");
        }
        self
    }

    fn flag(mut self, name: &str, value: bool) -> Self {
        if value {
            self.0 += &format!(" {name}");
        }
        self
    }

    fn word(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            self.0 += &format!(" {name}={value}");
        }
        self
    }
}

impl Tale {
    /// Returns the turns of a session: `NUMBER run.RUN_TURN ...`.
    fn turns(&self, session: &str) -> Vec<String> {
        let key = self.session(session).session_key;
        let rows = self.store.turns(key, 1, u32::MAX).expect("turns");
        rows.into_iter()
            .map(|row| {
                Line::new(format!("{} {}.{}", row.turn, row.run, row.run_turn))
                    .word("user", row.user_preview.as_deref())
                    .word("said", row.response_preview.as_deref())
                    .number("in", row.uncached_input_tokens)
                    .number("out", row.output_tokens)
                    .number("calls", u64::from(row.tool_calls))
                    .number("failed", u64::from(row.failed_tool_calls))
                    .number("model-failed", u64::from(row.failed_model_calls))
                    .word("error", row.error_preview.as_deref())
                    .flag("interrupted", row.interrupted)
                    .flag("compacted", row.compacted)
                    .flag("open", !row.responded)
                    .0
            })
            .collect()
    }

    /// Returns the calls of models: `TURN.CALL ...`.
    fn model_calls(&self, session: &str) -> Vec<String> {
        let key = self.session(session).session_key;
        let rows = self.store.model_calls(key, 1, u32::MAX).expect("calls");
        rows.into_iter()
            .map(|row| {
                Line::new(format!("{}.{}", row.turn, row.call))
                    .word("id", row.response_id.as_deref())
                    .word("model", row.model.as_deref())
                    .number("in", row.uncached_input_tokens)
                    .number("cached", row.cache_read_tokens)
                    .number("out", row.output_tokens)
                    .word("end", row.finish_reason.as_deref())
                    .flag("failed", row.failed)
                    .word("is", Some(&row.usage_quality))
                    .0
            })
            .collect()
    }

    /// Returns the calls of tools: `NUMBER TURN NAME ...`.
    fn tools(&self, session: &str) -> Vec<String> {
        let key = self.session(session).session_key;
        let rows = self.store.tool_calls(key, 0, u32::MAX).expect("calls");
        rows.into_iter()
            .map(|row| {
                Line::new(format!("{} turn={} {}", row.call, row.turn, row.name))
                    .word("id", Some(&row.call_id))
                    .word(
                        "input",
                        Some(&row.input_preview).filter(|input| !input.is_empty()).map(String::as_str),
                    )
                    .word("is", row.status.as_deref())
                    .word("gave", row.output_preview.as_deref().filter(|output| !output.is_empty()))
                    .number("ms", row.duration_ms)
                    .0
            })
            .collect()
    }

    /// Returns the runs: `RUN turns FIRST-LAST ...`.
    fn runs(&self, session: &str) -> Vec<String> {
        let key = self.session(session).session_key;
        let rows = self.store.runs(key).expect("runs");
        rows.into_iter()
            .map(|row| {
                Line::new(format!("{} turns {}-{}", row.run, row.first_turn, row.last_turn))
                    .word("task", Some(&row.task_preview))
                    .number("calls", u64::from(row.tool_calls))
                    .number("failed", u64::from(row.failed_tool_calls))
                    .word("is", Some(&row.status))
                    .word("for", Some(&row.end_reason))
                    .0
            })
            .collect()
    }

    /// Returns what stood in the prompt of a call: the texts of its blocks, the names of its tools' calls.
    fn prompt(&self, session: &str, turn: u32, call: u32) -> String {
        let key = self.session(session).session_key;
        let prompt = self.store.prompt(key, turn, call).expect("a prompt");
        let body: serde_json::Value = serde_json::from_slice(&prompt.body()).expect("the body is JSON");
        let mut words: Vec<String> = ["system", "tools"]
            .iter()
            .filter_map(|slot| Some(format!("{slot}:{}", body.get(slot)?.as_str()?)))
            .collect();
        for message in body["messages"].as_array().expect("messages") {
            for block in message["content"].as_array().expect("blocks") {
                words.push(match block["type"].as_str() {
                    Some("text") => block["text"].as_str().expect("text").to_owned(),
                    Some("tool_use") => format!("{}()", block["id"].as_str().expect("an id")),
                    Some("tool_result") => format!(
                        "{}->{}",
                        block["tool_use_id"].as_str().expect("an id"),
                        block["content"].as_str().expect("text")
                    ),
                    other => panic!("what is {other:?}"),
                });
            }
        }
        words.join(" ")
    }
}
