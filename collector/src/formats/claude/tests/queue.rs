//! What comes in while the agent works.

use serde_json::json;

use super::*;

const CAME_IN: &str = "message that came in while the agent worked";

#[test]
fn a_queued_message_is_a_persons_or_the_runtimes() {
    let queued =
        |fields: Value| attachment(with(json!({"type": "queued_command", "prompt": "stop"}), fields));
    let not_typed = |text: &str, source: &str| {
        json!([{"user.messaged": {
            "origin": "injected", "text": text, "kind": "insight", "source": source, "reason": CAME_IN,
            "joins_run": true,
        }}])
    };
    check(
        queued(json!({"commandMode": "prompt"})),
        json!([{"user.messaged": {"text": "stop", "reason": CAME_IN, "joins_run": true}}]),
    );
    let pictured = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        text("this"),
    ]);
    check(
        queued(json!({"commandMode": "prompt", "prompt": pictured})),
        json!([{"user.messaged": {
            "text": "this", "media": [{"type": "media", "media_type": "image/png", "bytes": 3}],
            "reason": CAME_IN, "joins_run": true,
        }}]),
    );
    check(queued(json!({"commandMode": "task-notification"})), not_typed("stop", "task-notification"));
    check(
        queued(json!({"commandMode": "prompt", "origin": {"kind": "coordinator"}})),
        not_typed("stop", "coordinator"),
    );
    let news = "<task-notification>done</task-notification>";
    check(
        queued(json!({"commandMode": "prompt", "prompt": news})),
        json!([{"user.messaged": {
            "origin": "injected", "text": news, "kind": "state", "source": "background task",
            "reason": "news of a background task", "joins_run": true,
        }}]),
    );
}

#[test]
fn the_rows_of_the_queue_say_what_waits_and_what_left() {
    let row = |operation: &str, fields: Value| {
        with(with(row("queue-operation"), json!({"operation": operation})), fields)
    };
    let stop = json!({"text": "stop", "reason": CAME_IN, "joins_run": true});
    let named = json!({"content": "stop"});
    check(row("enqueue", named.clone()), json!([{"message.queued": stop}]));
    check(
        row("enqueue", json!({"content": [text("st"), text("op")]})),
        json!([{"message.queued": {
            "text": "st\n\nop", "reason": CAME_IN, "joins_run": true,
        }}]),
    );
    check(row("enqueue", json!({})), json!([{"message.queued": {}}]));
    let news = "<task-notification>done</task-notification>";
    check(
        row("enqueue", json!({"content": news})),
        json!([{"message.queued": {
            "origin": "injected", "text": news, "kind": "state", "source": "background task",
            "reason": "news of a background task", "joins_run": true,
        }}]),
    );
    for (operation, fields, left) in [
        ("remove", json!({}), json!({"how": "delivered"})),
        ("remove", named.clone(), json!({"how": "delivered", "message": stop})),
        (
            "remove",
            json!({"reason": "absorbed_mid_turn", "commandUuid": "d1"}),
            json!({"how": "delivered", "delivery": "d1"}),
        ),
        ("remove", json!({"reason": "cancelled"}), json!({"how": "withdrawn"})),
        ("dequeue", json!({}), json!({"how": "repeated"})),
        ("popAll", named.clone(), json!({"how": "withdrawn", "message": stop})),
        ("popAll", json!({}), json!({"how": "withdrawn", "all": true})),
    ] {
        check(row(operation, fields), json!([{"message.unqueued": left}]));
    }
    check(row("newOne", json!({"content": "stop"})), json!([{"claude_code.queue_operation.new_one": {}}]));
}
