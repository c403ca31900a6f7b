//! `/sessions/{session}/events/{n}/text`: all that an event says, as plain text.

use agent_core::{Block, Body, Json};
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::Value;

use super::raw::plain;
use crate::AppState;
use crate::errors::PageError;

/// Shows the words of an event.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((session, n)): Path<(String, u32)>,
) -> Result<Response, PageError> {
    let text = state
        .ask(move |store| {
            let key = store.session(&session)?.session_key;
            store.event_numbered(key, n).map(|full| text_of(&full.event.body))
        })
        .await?;
    Ok(plain(text.into_bytes()))
}

/// Returns what an event says, in words where it has words and as JSON where not.
pub(super) fn text_of(body: &Body) -> String {
    match body {
        Body::UserMessaged(message) => {
            let media = message.media.iter().map(block_text);
            std::iter::once(message.text.clone())
                .filter(|text| !text.is_empty())
                .chain(media)
                .collect::<Vec<_>>()
                .join("\n")
        }
        Body::ModelResponded(piece) => piece.content.iter().map(block_text).collect::<Vec<_>>().join("\n\n"),
        Body::ToolCalled(call) => call.input.as_ref().map_or_else(String::new, json_text),
        Body::ToolEnded(end) => end.output.as_ref().map_or_else(String::new, output_text),
        Body::ContextAdded(added) => added.content.as_ref().map_or_else(String::new, output_text),
        Body::ContextCompacted(compacted) => {
            compacted.replacement.as_ref().map_or_else(String::new, output_text)
        }
        Body::ChunkDefined(chunk) => chunk.text.clone().or_else(|| chunk.base64.clone()).unwrap_or_default(),
        other => json_text(&other.data()),
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text { text } | Block::Reasoning { text, hidden: false } => text.clone(),
        Block::Reasoning { text, hidden: true } if !text.is_empty() => text.clone(),
        Block::Reasoning { .. } => "[reasoning that the provider keeps to itself]".to_owned(),
        Block::ToolUse { call_id, name } => format!("[calls {name}, {call_id}]"),
        Block::Media { .. } => format!("[{}]", media_words(block)),
        Block::Other { value } => value.to_json(),
    }
}

/// Returns what a picture or file is, in words.
pub(crate) fn media_words(block: &Block) -> String {
    match block {
        Block::Media { media_type, bytes } => {
            let kind = if media_type.is_empty() { "picture or file" } else { media_type };
            format!("{kind}, {}", crate::format::bytes(*bytes))
        }
        _ => String::new(),
    }
}

/// Returns JSON laid out for reading; a string as its content.
pub(super) fn json_text(json: &Json) -> String {
    json.as_text().unwrap_or_else(|| {
        let value: Result<Value, _> = serde_json::from_str(json.get());
        value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.get().to_owned())
    })
}

/// Returns what a tool gave back: its text, or the texts of a list of content blocks, or JSON.
pub(crate) fn output_text(output: &Json) -> String {
    if let Some(text) = output.as_text() {
        return text;
    }
    let value = output.to_value();
    let texts = match &value {
        Value::Array(blocks) => blocks.iter().map(content_block).collect::<Option<Vec<String>>>(),
        other => content_block(other).map(|text| vec![text]),
    };
    texts.map_or_else(|| json_text(output), |texts| texts.join("\n"))
}

/// Returns the text of a content block of an API; nothing when the value is none.
fn content_block(block: &Value) -> Option<String> {
    match block.get("type")?.as_str()? {
        "text" | "input_text" | "output_text" => Some(block.get("text")?.as_str()?.to_owned()),
        "image" | "input_image" => {
            let media_type = block.pointer("/source/media_type").or_else(|| block.get("media_type"));
            let data = block.pointer("/source/data").and_then(Value::as_str);
            let size = data.map_or_else(String::new, |data| {
                format!(", {} in base64", crate::format::bytes(data.len() as u64))
            });
            Some(format!("[{}{size}]", media_type.and_then(Value::as_str).unwrap_or("picture")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_blocks_become_their_text() {
        let check = |json: &str, expected: &str| {
            assert_eq!(output_text(&Json::parse(json.to_owned()).expect("it is JSON")), expected, "{json}");
        };
        check(r#""a\nb""#, "a\nb");
        check(
            r#"[{"type":"text","text":"a"},{"type":"image","source":{"media_type":"image/png","data":"AAAA"}}]"#,
            "a\n[image/png, 4 B in base64]",
        );
        check(
            r#"[{"type":"text","text":"a"},{"type":"new"}]"#,
            "[\n  {\n    \"text\": \"a\",\n    \"type\": \"text\"\n  },\n  {\n    \"type\": \"new\"\n  }\n]",
        );
        check("null", "null");
    }
}
