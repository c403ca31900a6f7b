//! Assistant rows: pieces of responses, and the calls of tools in them.

use agent_core::{
    Block, Body, ErrorInfo, Json, ModelFailed, ModelResponded, ToolCalled, ToolEnded, ToolStatus, Usage,
    UsageQuality,
};
use serde_json::value::RawValue;

use super::wire::{BlockWire, MessageWire, RowWire, UsageWire, read};
use super::{Writer, copy, learning};

/// The model's name in rows that Claude Code makes itself.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let Some(message) = writer.read::<MessageWire<'_>>(wire.message, "message") else { return };
    let blocks = blocks(writer, message.content);
    if message.model.as_deref() == Some(SYNTHETIC) || wire.is_api_error_message == Some(true) {
        return synthetic(writer, wire, &blocks);
    }
    let response_id = message.id.clone().or_else(|| wire.request_id.clone()).or_else(|| wire.uuid.clone());
    let (usage, service_tier) = usage(writer, message.usage);
    let content = content(writer, &blocks, message.content);
    let quality = match (usage.is_empty(), &message.stop_reason) {
        (true, _) => UsageQuality::Missing,
        (false, Some(_)) => UsageQuality::Final,
        (false, None) => UsageQuality::Partial,
    };
    writer.take_back(wire.supersedes_uuids);
    writer.push(
        response_id.clone(),
        Body::ModelResponded(ModelResponded {
            provider: message.model.as_deref().and_then(provider).map(str::to_owned),
            model: message.model,
            response_id,
            request_id: wire.request_id.clone(),
            content,
            finish_reason: message.stop_reason,
            usage,
            usage_quality: Some(quality),
            service_tier,
            ..Default::default()
        }),
    );
    for (at, wire_block) in blocks.iter().enumerate() {
        match wire_block.kind.as_deref() {
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => tool_called(writer, wire_block, at),
            _ if is_result(wire_block) => provider_result(writer, wire_block),
            _ => {}
        }
    }
}

/// Returns who serves a model, which has prices of its own there; nothing for models of others, which go by endpoints
/// that no row names.
fn provider(model: &str) -> Option<&'static str> {
    match model {
        // The names of Bedrock: `anthropic.claude-...`, and with a region before it.
        model if model.contains("anthropic.") => Some("aws.bedrock"),
        model if model.starts_with("claude") || model.contains("anthropic") => Some("anthropic"),
        _ => None,
    }
}

fn tool_called(writer: &mut Writer<'_>, block: &BlockWire<'_>, at: usize) {
    let call_id = call_id(writer, block, at);
    let name = block.name.clone().unwrap_or_default();
    let called = ToolCalled {
        call_id: call_id.clone(),
        name: name.clone(),
        input: copy(block.input),
        ..Default::default()
    };
    writer.push(Some(call_id.clone()), Body::ToolCalled(called));
    if let Some(input) = block.input {
        learning::of_call(writer, &name, &call_id, input);
    }
}

/// A call without an id (seen in sanitised files) gets one from its row.
fn call_id(writer: &Writer<'_>, block: &BlockWire<'_>, at: usize) -> String {
    block.id.clone().unwrap_or_else(|| writer.name_of(&at.to_string()))
}

/// The result of a tool that the provider runs stands in the response itself.
fn provider_result(writer: &mut Writer<'_>, block: &BlockWire<'_>) {
    let Some(call_id) = block.tool_use_id.clone() else { return };
    let failed = block.content.is_some_and(is_provider_error);
    let mut ended = ToolEnded {
        call_id: call_id.clone(),
        status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Succeeded }),
        output: copy(block.content),
        ..Default::default()
    };
    ended.other.insert("within_response".to_owned(), true.into());
    writer.push(Some(call_id), Body::ToolEnded(ended));
}

/// Returns whether the result of a tool at the provider is an error: an object of a type such as
/// `web_search_tool_result_error`. Pages that were found may hold that word too.
fn is_provider_error(content: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct KindWire {
        #[serde(rename = "type")]
        kind: String,
    }
    content.get().starts_with('{')
        && read::<KindWire>(Some(content)).is_some_and(|wire| wire.kind.ends_with("_tool_result_error"))
}

/// Rows that Claude Code wrote in the model's place: an error of the API, or a remark. No call was made.
fn synthetic(writer: &mut Writer<'_>, wire: &RowWire<'_>, blocks: &[BlockWire<'_>]) {
    let text = blocks.iter().filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n");
    let is_error = wire.is_api_error_message == Some(true) || text.starts_with("API Error");
    if !is_error {
        return;
    }
    let http_status = wire.api_error_status.or_else(|| http_status(&text));
    writer.push(
        None,
        Body::ModelFailed(ModelFailed {
            error: api_error(Some(text), http_status, read(wire.error)),
            ..Default::default()
        }),
    );
}

/// Returns the HTTP status that stands behind the words "API Error: ", where there is one.
fn http_status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("API Error: ")?;
    let word = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    word.parse().ok().filter(|status| (400..=599).contains(status))
}

/// Returns an error of the API as data.
pub(super) fn api_error(
    message: Option<String>,
    http_status: Option<u16>,
    kind: Option<String>,
) -> ErrorInfo {
    let kind = kind.or_else(|| {
        let word = match http_status? {
            401 | 403 => "authentication",
            429 => "rate_limit",
            529 => "overloaded",
            400..=499 => "bad_request",
            _ => "server_error",
        };
        Some(word.to_owned())
    });
    ErrorInfo {
        retryable: http_status.map(|status| matches!(status, 408 | 409 | 429 | 500..=599)),
        kind,
        message: message.filter(|message| !message.is_empty()),
        http_status,
        ..Default::default()
    }
}

/// Returns the content blocks of a message; text alone is one block.
///
/// A block that cannot be read is there without its fields, and named as a loss.
pub(super) fn blocks<'a>(writer: &mut Writer<'_>, content: Option<&'a RawValue>) -> Vec<BlockWire<'a>> {
    let Some(content) = content else { return Vec::new() };
    if content.get().starts_with('"') {
        let text: Option<String> = writer.read(Some(content), "content");
        return vec![BlockWire { kind: Some("text".to_owned()), text, ..Default::default() }];
    }
    read(Some(content)).unwrap_or_else(|| {
        let pieces: Vec<&RawValue> = writer.read(Some(content), "content").unwrap_or_default();
        let mut block = |piece: &'a RawValue| writer.read(Some(piece), "content block").unwrap_or_default();
        pieces.into_iter().map(&mut block).collect()
    })
}

/// Returns the pieces of a response. Results in it are told by events of their own.
fn content(writer: &Writer<'_>, blocks: &[BlockWire<'_>], raw: Option<&RawValue>) -> Vec<Block> {
    let pieces = blocks.iter().enumerate().filter(|(_, wire)| !is_result(wire));
    pieces
        .map(|(at, wire)| match wire.kind.as_deref() {
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => Block::ToolUse {
                call_id: call_id(writer, wire, at),
                name: wire.name.clone().unwrap_or_default(),
            },
            _ => block(wire, raw, at),
        })
        .collect()
}

/// Returns whether a block is the result of a tool that the provider ran.
fn is_result(wire: &BlockWire<'_>) -> bool {
    wire.tool_use_id.is_some() && wire.kind.as_deref().is_some_and(|kind| kind.ends_with("_tool_result"))
}

/// Returns a block in the words of the events; it is the one at `at` in the list `raw`.
pub(super) fn block(wire: &BlockWire<'_>, raw: Option<&RawValue>, at: usize) -> Block {
    match wire.kind.as_deref() {
        Some("text") => Block::Text { text: wire.text.clone().unwrap_or_default() },
        Some("thinking") => {
            let text = wire.thinking.clone().unwrap_or_default();
            Block::Reasoning { hidden: text.is_empty(), text }
        }
        Some("redacted_thinking") => Block::Reasoning { text: String::new(), hidden: true },
        Some("image" | "document") => media(wire),
        kind => {
            // Rare, and so read once more: most lists hold no such block.
            let whole = read::<Vec<&RawValue>>(raw).and_then(|list| list.get(at).copied());
            let whole = copy(whole).unwrap_or_else(|| Json::of(&kind));
            Block::other(&whole)
        }
    }
}

/// Returns a picture by its type and size: its bytes stay in the row.
fn media(wire: &BlockWire<'_>) -> Block {
    #[derive(Default, serde::Deserialize)]
    struct SourceWire<'a> {
        media_type: Option<String>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let source: SourceWire<'_> = read(wire.source).unwrap_or_default();
    // Base64 holds three bytes in four characters; the quotes of the JSON string and what fills up the last
    // four are none of them.
    let bytes = source.data.map_or(0, |data| data.get().trim_matches(['"', '=']).len() as u64 * 3 / 4);
    Block::Media { media_type: source.media_type.unwrap_or_default(), bytes }
}

/// Returns the tokens and the way they were served in.
fn usage(writer: &mut Writer<'_>, raw: Option<&RawValue>) -> (Usage, Option<String>) {
    let Some(wire) = writer.read::<UsageWire>(raw, "usage") else { return Default::default() };
    let split = wire.cache_creation.unwrap_or_default();
    // What the split by time to live does not name was written for the shorter one.
    let unnamed = wire
        .cache_creation_input_tokens
        .map(|total| total.saturating_sub(split.ephemeral_1h_input_tokens.unwrap_or(0)));
    let usage = Usage {
        uncached_input: wire.input_tokens,
        cache_read: wire.cache_read_input_tokens,
        cache_write_5m: unnamed.max(split.ephemeral_5m_input_tokens),
        cache_write_1h: split.ephemeral_1h_input_tokens,
        output: wire.output_tokens,
        reasoning: wire.output_tokens_details.and_then(|details| details.thinking_tokens),
    };
    (usage, wire.service_tier)
}
