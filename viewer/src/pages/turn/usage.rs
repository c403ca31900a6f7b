//! The tokens of a turn, so that they add up, and its calls of models.

use store::{ModelCallRow, TurnRow};

use crate::format::{UNKNOWN, duration, known, output_tokens, whole};
use crate::markup::one_line;
use crate::pages::session::prompt_tokens;
use crate::pages::{money, words};
use crate::times::{Clock, ShownTime};

/// The tokens and the calls of a turn.
#[derive(Debug)]
pub(crate) struct Usage {
    pub(crate) lines: Vec<Line>,
    pub(crate) quality: String,
    pub(crate) quality_meaning: &'static str,
    pub(crate) calls: Vec<CallLine>,
}

/// One figure.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) class: &'static str,
}

/// One call of a model.
#[derive(Debug)]
pub(crate) struct CallLine {
    pub(crate) number: u32,
    pub(crate) model: String,
    pub(crate) provider: Option<String>,
    pub(crate) started: ShownTime,
    pub(crate) first_token: String,
    pub(crate) duration: String,
    pub(crate) finish: String,
    pub(crate) cost: money::Shown,
    pub(crate) has_failed: bool,
    pub(crate) error: Option<String>,
    pub(crate) response_id: Option<String>,
}

impl Usage {
    pub(super) fn new(row: &TurnRow, calls: &[ModelCallRow], clock: &Clock) -> Self {
        let prompt = prompt_tokens(row);
        let total = prompt.zip(row.output_tokens).map(|(prompt, output)| prompt + output);
        let line = |name, tokens: Option<u64>, class| Line { name, value: known(tokens, whole), class };
        // A sum with a lower bound in it is one too.
        let bound = |name, tokens, class| Line {
            name,
            value: output_tokens(tokens, &row.usage_quality, whole),
            class,
        };
        let estimate = words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality)
            .map(|tokens| Line {
                name: "estimated by its text",
                value: format!("est. {}", whole(tokens)),
                class: "part",
            });
        let lines = [
            line("uncached input", row.uncached_input_tokens, ""),
            line("cache read", row.cache_read_tokens, ""),
            line("cache write", row.cache_write_tokens, ""),
            line("prompt", prompt, "sum"),
            bound("output", row.output_tokens, ""),
        ];
        let last = [line("of which reasoning", row.reasoning_tokens, "part"), bound("total", total, "sum")];
        Self {
            lines: lines.into_iter().chain(estimate).chain(last).collect(),
            quality: one_line(&row.usage_quality),
            quality_meaning: words::usage_quality(&row.usage_quality),
            calls: calls.iter().map(|call| call_line(call, clock)).collect(),
        }
    }
}

fn call_line(call: &ModelCallRow, clock: &Clock) -> CallLine {
    let word = |text: &Option<String>| text.as_deref().map_or_else(|| UNKNOWN.to_owned(), one_line);
    CallLine {
        number: call.call,
        model: word(&call.model),
        provider: call.provider.as_deref().map(one_line),
        started: clock.show(call.started_at),
        first_token: known(call.time_to_first_token_ms, duration),
        duration: known(call.duration_ms, duration),
        finish: word(&call.finish_reason),
        cost: money::of_call(call),
        has_failed: call.failed,
        error: call.error_preview.as_deref().map(one_line),
        response_id: call.response_id.as_deref().map(one_line),
    }
}
