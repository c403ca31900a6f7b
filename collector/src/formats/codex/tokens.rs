//! What Codex tells of tokens: `token_count` notices, `token_usage_record` rows and two older shapes.
//!
//! Codex counts in nested figures (cached and written tokens are part of the input, reasoning is part of the
//! output) and keeps a running sum; the events carry disjoint figures, of the call and of the session.

use agent_core::{Body, ModelResponded, Usage, UsageQuality};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::draft::{Draft, fact};
use super::wire::{text_of, value_of};

#[derive(Clone, Copy, Default, Deserialize)]
struct Counts {
    #[serde(alias = "prompt")]
    input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
    #[serde(alias = "completion")]
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

impl Counts {
    fn usage(self) -> Usage {
        let part_of_input =
            self.cached_input_tokens.unwrap_or(0).saturating_add(self.cache_write_input_tokens.unwrap_or(0));
        Usage {
            uncached_input: self.input_tokens.map(|input| input.saturating_sub(part_of_input)),
            cache_read: self.cached_input_tokens,
            cache_write_5m: self.cache_write_input_tokens,
            cache_write_1h: None,
            output: self.output_tokens,
            reasoning: self.reasoning_output_tokens,
        }
    }
}

#[derive(Deserialize)]
struct UsageRecord<'a> {
    #[serde(borrow)]
    response_id: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_token_usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    total_token_usage: Option<&'a RawValue>,
    #[serde(borrow)]
    last_token_usage: Option<&'a RawValue>,
}

/// Maps a `token_usage_record`, which tells of one response before the `token_count` with the same figures.
pub(super) fn usage_record(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let record: UsageRecord<'_> = serde_json::from_str(payload)?;
    report(draft, record.usage, record.thread_token_usage, text_of(record.response_id))
}

/// Maps the `info` of a `token_count`; a null one tells of rate limits only.
pub(super) fn token_count(draft: &mut Draft<'_>, info: Option<&RawValue>) -> serde_json::Result<()> {
    let Some(info) = info else { return Ok(()) };
    let both: Info<'_> = serde_json::from_str(info.get())?;
    match (both.last_token_usage, both.total_token_usage) {
        // The shape before there were running sums: `{"prompt": 1420, "completion": 910}`.
        (None, None) => report(draft, Some(info), None, None),
        (last, total) => report(draft, last, total, None),
    }
}

/// Maps the `usage` of an older `turn.completed`.
pub(super) fn turn_usage(draft: &mut Draft<'_>, usage: Option<&RawValue>) -> serde_json::Result<()> {
    report(draft, usage, None, None)
}

fn report(
    draft: &mut Draft<'_>,
    of_call: Option<&RawValue>,
    of_session: Option<&RawValue>,
    response: Option<String>,
) -> serde_json::Result<()> {
    let usage = counts(of_call)?.usage();
    let so_far = of_session.map(|raw| counts(Some(raw))).transpose()?.map(Counts::usage);
    if !counts_anything(usage) && !so_far.is_some_and(counts_anything) {
        return Ok(());
    }
    let named_by_content = || fact("usage", &[&vector(so_far.unwrap_or(usage))]);
    let name = response.unwrap_or_else(named_by_content);
    draft.push(
        name,
        Body::ModelResponded(ModelResponded {
            usage,
            // Codex writes usage when the response is complete, and never a finish reason.
            usage_quality: Some(UsageQuality::Final),
            usage_raw: value_of(of_call),
            usage_so_far: so_far.filter(|so_far| !so_far.is_empty()),
            last_piece: true,
            ..ModelResponded::default()
        }),
    );
    Ok(())
}

fn counts(raw: Option<&RawValue>) -> serde_json::Result<Counts> {
    raw.map_or(Ok(Counts::default()), |raw| serde_json::from_str(raw.get()))
}

fn counts_anything(usage: Usage) -> bool {
    [usage.prompt(), usage.output].into_iter().flatten().any(|tokens| tokens > 0)
}

fn vector(usage: Usage) -> String {
    format!(
        "{:?}/{:?}/{:?}/{:?}/{:?}",
        usage.uncached_input, usage.cache_read, usage.cache_write_5m, usage.output, usage.reasoning
    )
}
