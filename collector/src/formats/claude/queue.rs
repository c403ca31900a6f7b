//! The queue: what is typed while the agent works waits there, and so do news of background tasks.

use agent_core::{Block, Body, Origin, QueueExit, Unqueued, UserMessaged};
use serde_json::value::RawValue;

use super::Writer;
use super::assistant::{block, blocks};
use super::label::{is_marked, label};
use super::user::user_messaged;
use super::wire::{RowWire, read};

/// Why a message is in front of the model that came in by the queue.
pub(super) const CAME_IN: &str = "message that came in while the agent worked";
/// Why a message left the queue, when it came before the model in the running turn. Versions before 2.1.246
/// give no reason for that.
const ABSORBED: &str = "absorbed_mid_turn";

pub(super) fn map(writer: &mut Writer<'_>, wire: &RowWire<'_>) {
    let operation = wire.operation.as_deref();
    if operation == Some("enqueue") {
        // One without words takes its place in the queue too.
        let message = message(writer, wire.content).unwrap_or_default();
        return writer.push(None, Body::MessageQueued(message));
    }
    let Some(how) = how(operation, wire.reason) else { return };
    let message = message(writer, wire.content);
    // To take all back gives a row for each message, or one without words for all.
    let all = operation == Some("popAll") && message.is_none();
    let delivery = wire.command_uuid.clone();
    writer.push(
        None,
        Body::MessageUnqueued(Unqueued { how: Some(how), message, delivery, all, ..Default::default() }),
    );
}

fn how(operation: Option<&str>, reason: Option<&RawValue>) -> Option<QueueExit> {
    Some(match operation? {
        "remove" if reason.is_none_or(is_absorbed) => QueueExit::Delivered,
        "remove" | "popAll" => QueueExit::Withdrawn,
        // The message begins a turn of its own, with a row of its own.
        "dequeue" => QueueExit::Repeated,
        _ => return None,
    })
}

fn is_absorbed(reason: &RawValue) -> bool {
    read::<String>(Some(reason)).as_deref() == Some(ABSORBED)
}

/// Returns the message in the row.
fn message(writer: &mut Writer<'_>, content: Option<&RawValue>) -> Option<UserMessaged> {
    let (text, media) = words(writer, content);
    if text.is_empty() && media.is_empty() {
        return None;
    }
    let said_by = if is_marked(&text) { Origin::Injected } else { Origin::Human };
    let mut label = label(said_by, &text);
    label.reason.get_or_insert(CAME_IN);
    Some(UserMessaged { joins_run: true, ..user_messaged(label, text, media) })
}

/// Returns the text and the other pieces of a queued message.
pub(super) fn words(writer: &mut Writer<'_>, content: Option<&RawValue>) -> (String, Vec<Block>) {
    let blocks = blocks(writer, content);
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
    let media = blocks.iter().enumerate().filter(|(_, block)| block.text.is_none());
    (texts.join("\n\n"), media.map(|(at, wire)| block(wire, content, at)).collect())
}
