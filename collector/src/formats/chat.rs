//! The pieces of OpenAI chat messages that several formats keep: content, tool calls, usage.

use agent_core::{Json, ToolCalled, Usage, UsageQuality};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use store::Unread;

use super::misfit;

/// One entry of `tool_calls`.
#[derive(Deserialize)]
pub(super) struct ToolCall {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) function: Option<Function>,
}

impl ToolCall {
    /// Returns the call that it is; `id` and `name` stand where it has none.
    pub(super) fn call(&self, id: impl FnOnce() -> String, name: impl FnOnce() -> String) -> Call {
        let native_id = self.id.clone().filter(|id| !id.is_empty());
        let function = self.function.as_ref();
        let call = ToolCalled {
            call_id: native_id.clone().unwrap_or_else(id),
            name: function.and_then(|function| function.name.clone()).unwrap_or_else(name),
            input: function.and_then(Function::input),
            ..ToolCalled::default()
        };
        Call { native_id, call }
    }
}

/// A call that a response asks for.
pub(super) struct Call {
    /// The provider's id, where there is one.
    pub(super) native_id: Option<String>,
    pub(super) call: ToolCalled,
}

impl Call {
    /// Returns a call that stands only in the text of the response: no call is sent beside it.
    pub(super) fn in_text(call_id: String, name: String, input: Option<Json>) -> Self {
        let call = ToolCalled { call_id, name, input, in_text: true, ..ToolCalled::default() };
        Self { native_id: None, call }
    }
}

/// What a [`ToolCall`] calls.
#[derive(Deserialize)]
pub(super) struct Function {
    #[serde(default)]
    pub(super) name: Option<String>,
    /// A JSON string that holds the arguments as the model wrote them, mostly JSON again.
    #[serde(default)]
    pub(super) arguments: Option<Box<RawValue>>,
}

impl Function {
    /// Returns the arguments as JSON: what the string holds where that is JSON, else the string.
    pub(super) fn input(&self) -> Option<Json> {
        let raw = self.arguments.as_deref()?;
        Some(arguments(raw))
    }
}

/// What a run cost in all.
#[derive(Deserialize)]
pub(super) struct ModelStats {
    #[serde(default)]
    pub(super) instance_cost: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) tokens_sent: Option<u64>,
    #[serde(default)]
    pub(super) tokens_received: Option<u64>,
    #[serde(default)]
    pub(super) api_calls: Option<u64>,
    /// What all runs of the process cost, which only SWE-agent before 1.0 wrote.
    #[serde(default)]
    pub(super) total_cost: Option<IgnoredAny>,
}

/// Returns what a string of arguments holds where that is JSON, else the value as it stands.
pub(super) fn arguments(raw: &RawValue) -> Json {
    let as_is = Json::copy(raw);
    as_is.as_text().and_then(|text| Json::parse(text).ok()).unwrap_or(as_is)
}

/// Returns the words of a message's content: a string, or the texts of a list of parts, a line each.
pub(super) fn text_of(content: Option<&RawValue>) -> String {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let Some(raw) = content else { return String::new() };
    match raw.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned()),
        Some(b'[') => {
            let parts: Vec<Part> = serde_json::from_str(raw.get()).unwrap_or_default();
            let texts: Vec<String> = parts.into_iter().filter_map(|part| part.text).collect();
            texts.join("\n")
        }
        Some(b'n') | None => String::new(),
        Some(_) => raw.get().to_owned(),
    }
}

#[derive(Default, Deserialize)]
struct WireUsage {
    // The chat API says prompt and completion, the responses API input and output; some proxies write both.
    prompt_tokens: Option<u64>,
    input_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    output_tokens: Option<u64>,
    prompt_tokens_details: Option<InputDetails>,
    input_tokens_details: Option<InputDetails>,
    completion_tokens_details: Option<OutputDetails>,
    output_tokens_details: Option<OutputDetails>,
    /// DeepSeek's name for the cached tokens.
    prompt_cache_hit_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_creation_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

/// Reads a usage object of the OpenAI shape, where all input stands in one figure of which the cached
/// tokens are a part, and reasoning is a part of the output.
///
/// When the parts are more than the whole the source does not follow that rule; then the uncached input is
/// left out and the disagreement is named.
pub(super) fn usage_of(raw: &RawValue, unread: &mut Vec<Unread>) -> Usage {
    let wire: WireUsage = match serde_json::from_str(raw.get()) {
        Ok(wire) => wire,
        Err(error) => {
            unread.push(Unread(format!("usage: {}", misfit::words(&error))));
            return Usage::default();
        }
    };
    let input_details = wire.prompt_tokens_details.or(wire.input_tokens_details).unwrap_or_default();
    let output_details = wire.completion_tokens_details.or(wire.output_tokens_details).unwrap_or_default();
    let input = wire.prompt_tokens.or(wire.input_tokens);
    let cache_read =
        input_details.cached_tokens.or(wire.prompt_cache_hit_tokens).or(wire.cache_read_input_tokens);
    let cache_write = input_details.cache_creation_tokens.or(wire.cache_creation_input_tokens);
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let uncached_input = input.and_then(|input| {
        let rest = input.checked_sub(cached);
        if rest.is_none() {
            unread.push(Unread(format!("usage: {cached} cached tokens of {input} input tokens")));
        }
        rest
    });
    Usage {
        uncached_input,
        cache_read,
        cache_write_5m: cache_write,
        output: wire.completion_tokens.or(wire.output_tokens),
        reasoning: output_details.reasoning_tokens,
        ..Usage::default()
    }
}

/// Returns how far the usage of a whole response can be trusted.
pub(super) fn quality(usage: &Usage, finish_reason: Option<&str>) -> UsageQuality {
    match (usage.is_empty(), finish_reason) {
        (true, _) => UsageQuality::Missing,
        (false, Some(_)) => UsageQuality::Final,
        (false, None) => UsageQuality::Partial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn content_is_a_string_or_parts() {
        for (content, text) in [
            (r#""a\nb""#, "a\nb"),
            (r#"[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]"#, "a\nb"),
            ("null", ""),
            ("7", "7"),
        ] {
            assert_eq!(text_of(Some(&raw(content))), text, "{content}");
        }
    }

    #[test]
    fn arguments_are_json_where_they_can_be() {
        for (arguments_text, json) in
            [(r#""{\"a\":1}""#, r#"{"a":1}"#), (r#""{torn""#, r#""{torn""#), ("{}", "{}")]
        {
            assert_eq!(arguments(&raw(arguments_text)).get(), json);
        }
    }

    #[test]
    fn usage_is_split_into_disjoint_buckets() {
        let deepseek = r#"{"prompt_tokens":1835,"completion_tokens":97,"prompt_tokens_details":{"cached_tokens":320},
            "completion_tokens_details":null,"prompt_cache_hit_tokens":320}"#;
        let responses = r#"{"input_tokens":10,"output_tokens":9,"input_tokens_details":{"cached_tokens":4},
            "output_tokens_details":{"reasoning_tokens":5}}"#;
        let anthropic = r#"{"prompt_tokens":100,"completion_tokens":1,"cache_read_input_tokens":60,
            "cache_creation_input_tokens":30}"#;
        let odd = r#"{"prompt_tokens":5,"completion_tokens":1,"cache_read_input_tokens":60}"#;
        for (text, uncached, read, write, output, reasoning, complaints) in [
            (deepseek, Some(1515), Some(320), None, Some(97), None, 0),
            (responses, Some(6), Some(4), None, Some(9), Some(5), 0),
            (anthropic, Some(10), Some(60), Some(30), Some(1), None, 0),
            (odd, None, Some(60), None, Some(1), None, 1),
            ("{}", None, None, None, None, None, 0),
            ("7", None, None, None, None, None, 1),
        ] {
            let mut unread = Vec::new();
            let usage = usage_of(&raw(text), &mut unread);
            let expected = Usage {
                uncached_input: uncached,
                cache_read: read,
                cache_write_5m: write,
                output,
                reasoning,
                ..Usage::default()
            };
            assert_eq!((usage, unread.len()), (expected, complaints), "{text}");
        }
    }
}
