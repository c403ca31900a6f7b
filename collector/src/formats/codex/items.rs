//! The items of the conversation with the model: what it saw, said and asked for.

use agent_core::{Block, Body, ChunkKind, ContextAdded, Json, ToolCalled, ToolEnded, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::draft::{Draft, fact};
use super::media::{decoded_bytes, without_base64};
use super::messages;
use super::notices;
use super::outputs::{self, Outcome};
use super::skills;
use super::wire::{Item, text_of, value_of, words_of};

/// Names the kind of item that an event was, where the kind of event does not tell: a prompt that is put
/// together again has the same items.
pub(super) const ITEM: &str = "item";

/// Marks the end of a tool that the provider ran: the response goes on after it, and what stands in the
/// prompt is the item of the call alone.
const WITHIN_RESPONSE: &str = "within_response";

/// The tool that runs the model's scripts.
const SCRIPTS: &str = "exec";

/// Maps one item. An item of an unknown kind maps to an event that only keeps it in reach.
pub(super) fn map(draft: &mut Draft<'_>, payload: &str) -> serde_json::Result<()> {
    let item: Item<'_> = serde_json::from_str(payload)?;
    draft.set_step(words_of(item.id));
    let kind = text_of(item.kind);
    match kind.as_deref() {
        Some("message") | None => messages::message(draft, &item),
        Some("agent_message") => messages::agent_message(draft, &item),
        Some("reasoning") => reasoned(draft, &item),
        Some(
            "function_call" | "custom_tool_call" | "tool_call" | "local_shell_call" | "tool_search_call",
        ) => called(draft, &item),
        Some("custom_tool_call_output") if is_note(&item) => noted(draft, &item),
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            ended(draft, &item, item.output);
        }
        Some("function_result" | "tool_result") => ended(draft, &item, item.result.or(item.output)),
        Some("tool_search_output") => searched(draft, &item),
        Some("web_search_call") => ran_at_provider(draft, &item, "web_search", item.action),
        Some("image_generation_call") => {
            ran_at_provider(draft, &item, "image_generation", item.revised_prompt);
        }
        // Some builds write it as an item; it is told to the screen, and no part of the prompt.
        Some("collab_tool_call") => notices::event_msg(draft, payload)?,
        Some(other) => draft.other(other, None),
    }
    Ok(())
}

fn reasoned(draft: &mut Draft<'_>, item: &Item<'_>) {
    // The summary is what the provider shows; open models give the reasoning itself.
    let mut words = messages::texts(item.summary);
    words.extend(item.content.into_iter().flat_map(|content| messages::texts(Some(content))));
    let text = words.join("\n\n");
    let cipher = item.encrypted_content.map_or("", RawValue::get);
    let name = match (text.is_empty(), cipher.is_empty(), item.id) {
        // Two of these say nothing by which to tell them apart.
        (true, true, Some(id)) => fact("reasoning", &[id.get()]),
        _ => fact("reasoning", &[&text, cipher]),
    };
    let hidden = text.is_empty();
    draft.push(name, messages::piece(vec![Block::Reasoning { text, hidden }]));
}

/// Maps a call of a tool: a piece of the response, and the call.
fn called(draft: &mut Draft<'_>, item: &Item<'_>) {
    let call_id = call_id(draft, item);
    let name = tool_name(item);
    let command = item.arguments.or(item.input).or(item.action);
    let skill_reader = name != "apply_patch";
    call(draft, item, &call_id, name, command.map(as_written));
    if let Some(command) = command
        && skill_reader
    {
        let text = Json::copy(command).to_display();
        skills::read(draft, &call_id, &text);
    }
}

fn call(draft: &mut Draft<'_>, item: &Item<'_>, call_id: &str, name: String, input: Option<Json>) {
    let block = Block::ToolUse { call_id: call_id.to_owned(), name: name.clone() };
    draft.push(call_id.to_owned(), messages::piece(vec![block]));
    let other = native(&[(ITEM, item.kind), ("namespace", item.namespace)]);
    let called = ToolCalled { call_id: call_id.to_owned(), name, input, other, ..ToolCalled::default() };
    draft.push(call_id.to_owned(), Body::ToolCalled(called));
}

/// Returns the fields that say something, under the given names.
pub(super) fn native(fields: &[(&str, Option<&RawValue>)]) -> Map<String, Value> {
    let said = |(name, raw): &(&str, Option<&RawValue>)| {
        words_of(*raw).map(|words| ((*name).to_owned(), Value::String(words)))
    };
    fields.iter().filter_map(said).collect()
}

/// Returns the name by which call and result find each other. A row without one stands alone: to guess by
/// nearness would tie results to wrong calls.
fn call_id(draft: &Draft<'_>, item: &Item<'_>) -> String {
    words_of(item.call_id).or_else(|| words_of(item.id)).unwrap_or_else(|| draft.row_name())
}

fn tool_name(item: &Item<'_>) -> String {
    #[derive(Deserialize)]
    struct Function<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
    }
    let nested = value_of::<Function<'_>>(item.function).and_then(|function| function.name);
    let name = words_of(item.name).or_else(|| words_of(nested));
    let by_kind = || match text_of(item.kind).as_deref() {
        Some("local_shell_call") => "local_shell".to_owned(),
        Some("tool_search_call") => "tool_search".to_owned(),
        _ => String::new(),
    };
    match (words_of(item.namespace), name) {
        (Some(namespace), Some(name)) => format!("{namespace}.{name}"),
        (None, Some(name)) => name,
        (_, None) => by_kind(),
    }
}

/// Returns the arguments: JSON inside a text is taken out of it, anything else stays.
fn as_written(raw: &RawValue) -> Json {
    let inner = text_of(Some(raw)).filter(|text| text.trim_start().starts_with(['{', '[']));
    let inner = inner.and_then(|text| RawValue::from_string(text).ok());
    without_base64(inner.as_deref().unwrap_or(raw))
}

fn ended(draft: &mut Draft<'_>, item: &Item<'_>, output: Option<&RawValue>) {
    let outcome = outputs::outcome(output);
    let call_id = call_id_of_result(draft, item);
    push_ended(draft, item, call_id, outcome, output.map(without_base64), words_of(item.name));
}

/// Returns whether the item is what a script said while it ran. It has the call's id, and is not its result.
fn is_note(item: &Item<'_>) -> bool {
    words_of(item.name).as_deref() == Some(SCRIPTS)
        && text_of(item.output).is_some_and(|text| !outputs::has_head(&text))
}

fn noted(draft: &mut Draft<'_>, item: &Item<'_>) {
    let Some(text) = item.output else { return };
    let added = ContextAdded {
        kind: Some(ChunkKind::State),
        source: words_of(item.call_id),
        reason: Some("said by the script while it ran".to_owned()),
        content: Some(Json::copy(text)),
        other: native(&[(ITEM, item.kind), ("call_id", item.call_id)]),
        ..ContextAdded::default()
    };
    let name = fact("note", &[item.call_id.map_or("", RawValue::get), text.get()]);
    draft.push(name, Body::ContextAdded(added));
}

/// Returns the call that a result names; the result's own id is not the call's.
fn call_id_of_result(draft: &Draft<'_>, item: &Item<'_>) -> String {
    words_of(item.call_id).unwrap_or_else(|| draft.row_name())
}

fn searched(draft: &mut Draft<'_>, item: &Item<'_>) {
    let status = outputs::by_word(text_of(item.status).as_deref());
    let outcome = Outcome { status, ..Outcome::default() };
    let call_id = call_id_of_result(draft, item);
    push_ended(draft, item, call_id, outcome, item.tools.map(without_base64), None);
}

/// Maps a tool that the provider runs within the response: call and end are one item.
fn ran_at_provider(draft: &mut Draft<'_>, item: &Item<'_>, name: &str, input: Option<&RawValue>) {
    let call_id = call_id(draft, item);
    call(draft, item, &call_id, name.to_owned(), input.map(Json::copy));
    let status = outputs::by_word(text_of(item.status).as_deref()).or(Some(ToolStatus::Unknown));
    let outcome = Outcome { status, ..Outcome::default() };
    let picture = item.result.map(|result| {
        let bytes = decoded_bytes(result.get());
        Json::of(&[Block::Media { media_type: "image/png".to_owned(), bytes }])
    });
    let mut ended = end(item, call_id.clone(), outcome, picture, Some(name.to_owned()));
    ended.other.insert(WITHIN_RESPONSE.to_owned(), Value::Bool(true));
    draft.push(call_id, Body::ToolEnded(ended));
}

fn push_ended(
    draft: &mut Draft<'_>,
    item: &Item<'_>,
    call_id: String,
    outcome: Outcome,
    output: Option<Json>,
    name: Option<String>,
) {
    let ended = end(item, call_id.clone(), outcome, output, name);
    draft.push(call_id, Body::ToolEnded(ended));
}

fn end(
    item: &Item<'_>,
    call_id: String,
    outcome: Outcome,
    output: Option<Json>,
    name: Option<String>,
) -> ToolEnded {
    ToolEnded {
        call_id,
        status: outcome.status,
        output,
        error: outcome.error,
        exit_code: outcome.exit_code,
        duration_ms: outcome.duration_ms,
        name,
        other: native(&[(ITEM, item.kind)]),
        ..ToolEnded::default()
    }
}
