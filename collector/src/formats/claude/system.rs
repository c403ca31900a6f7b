//! System rows: compaction, errors of the API, output of local commands.

use agent_core::{Body, ContextCompacted, Json, KeptHistory, ModelFailed, Origin};

use super::Writer;
use super::assistant::api_error;
use super::label::{Label, label};
use super::user::message;
use super::wire::{CompactWire, ErrorWire, PreservedWire, RowWire, SegmentWire, millis, read};

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    match wire.subtype.as_deref() {
        Some("compact_boundary") => compacted(writer, wire),
        Some("microcompact_boundary") => microcompacted(writer, wire),
        Some("api_error" | "error") => failed(writer, wire),
        Some("api_refusal" | "model_refusal_fallback") => refused(writer, wire),
        Some("local_command") => local_command(writer, wire),
        _ => {}
    }
}

fn compacted(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let metadata: CompactWire = writer.read(wire.compact_metadata, "compactMetadata").unwrap_or_default();
    let kept = kept(metadata.preserved_messages, metadata.preserved_segment);
    writer.push(
        None,
        Body::ContextCompacted(ContextCompacted {
            trigger: metadata.trigger,
            tokens_before: metadata.pre_tokens,
            tokens_after: metadata.post_tokens,
            kept,
            ..Default::default()
        }),
    );
}

/// Returns what of the history stays, where the row names any of it.
fn kept(messages: Option<PreservedWire>, segment: Option<SegmentWire>) -> Option<KeptHistory> {
    if let Some(messages) = messages
        && let Some(steps) = messages.all_uuids.or(messages.uuids).filter(|steps| !steps.is_empty())
    {
        return Some(KeptHistory { steps, span: None, behind: messages.anchor_uuid });
    }
    let segment = segment?;
    let span = segment.head_uuid.zip(segment.tail_uuid)?;
    Some(KeptHistory { steps: Vec::new(), span: Some(span), behind: segment.anchor_uuid })
}

/// What the client sends in the place of a result that it cleared.
const CLEARED: &str = "[Old tool result content cleared]";

fn microcompacted(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let metadata: CompactWire =
        writer.read(wire.microcompact_metadata, "microcompactMetadata").unwrap_or_default();
    let after =
        metadata.pre_tokens.zip(metadata.tokens_saved).map(|(before, saved)| before.saturating_sub(saved));
    writer.push(
        None,
        Body::ContextCompacted(ContextCompacted {
            trigger: metadata.trigger,
            tokens_before: metadata.pre_tokens,
            tokens_after: after,
            dropped_calls: Some(metadata.compacted_tool_ids.unwrap_or_default()),
            placeholder: Some(Json::string(CLEARED)),
            dropped_steps: metadata.cleared_attachments.filter(|steps| !steps.is_empty()),
            ..Default::default()
        }),
    );
}

fn failed(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let error: ErrorWire<'_> = read(wire.error).unwrap_or_default();
    let inner: ErrorWire<'_> = read(error.error).unwrap_or_default();
    let innermost: ErrorWire<'_> = read(inner.error).unwrap_or_default();
    let message = error.message.or(inner.message).or(innermost.message);
    let kind = innermost.kind.or(error.kind).or(inner.kind);
    let status = error.status.filter(|&status| status > 0);
    let mut info = api_error(message, status, kind);
    // A row that names the next attempt says itself that trying again can help.
    info.retryable = info.retryable.or(wire.retry_in_ms.map(|_| true));
    info.kind.get_or_insert_with(|| "connection".to_owned());
    writer.push(
        None,
        Body::ModelFailed(ModelFailed {
            error: info,
            attempt: wire.retry_attempt.and_then(millis).and_then(|attempt| u32::try_from(attempt).ok()),
            retry_in_ms: wire.retry_in_ms.and_then(millis),
            ..Default::default()
        }),
    );
}

fn refused(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let said: Option<String> = read(wire.content);
    let message = wire.api_refusal_explanation.clone().or(said);
    let mut info = api_error(message, None, Some("refusal".to_owned()));
    info.retryable = Some(false);
    // The words that came before the refusal were of the call that failed, and no part of its prompt.
    writer.take_back(wire.retracted_message_uuids);
    writer.push(
        None,
        Body::ModelFailed(ModelFailed {
            model: wire.original_model.clone(),
            error: info,
            ..Default::default()
        }),
    );
}

fn local_command(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let Some(text) = read::<String>(wire.content) else { return };
    // A request to the model stands in a row of the user's: what is here was carried out by the client.
    let label = match label(Origin::Command, &text) {
        label if label.typed.is_none() && label.reason.is_none() => Label::plain(Origin::CommandOutput),
        label => label,
    };
    writer.push(None, message(label, text, Vec::new()));
}
