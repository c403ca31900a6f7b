//! Errors of the API, and rows made in the model's place.

use serde_json::{Value, json};

use super::*;

#[test]
fn rows_made_in_the_models_place_are_no_responses() {
    let made = |words: &str| {
        assistant(json!({
            "id": "x", "model": "<synthetic>", "content": [text(words)], "usage": {"input_tokens": 0},
        }))
    };
    check(made("No response requested."), json!([{"claude_code.assistant": {}}]));
    let overloaded = r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error"}} · 1 of 500"#;
    for (words, fields, error) in [
        (
            overloaded,
            json!({"isApiErrorMessage": true}),
            json!({"kind": "overloaded", "http_status": 529, "retryable": true}),
        ),
        (
            "Please run /login · API Error: 401 expired",
            json!({"isApiErrorMessage": true, "error": "authentication_failed"}),
            json!({"kind": "authentication_failed", "http_status": 401, "retryable": false}),
        ),
        (
            "You've hit your session limit · resets 9:50pm in 500 minutes",
            json!({"isApiErrorMessage": true, "error": "rate_limit", "apiErrorStatus": 429}),
            json!({"kind": "rate_limit", "http_status": 429, "retryable": true}),
        ),
        (
            "Log in: 500 ways",
            json!({"isApiErrorMessage": true, "error": "authentication_failed"}),
            json!({"kind": "authentication_failed"}),
        ),
        ("API Error: Connection closed", json!({}), json!({})),
    ] {
        let error = with(error, json!({"message": words}));
        check(with(made(words), fields), json!([{"model.failed": {"error": error}}]));
    }
}

#[test]
fn errors_of_the_api_are_data_in_all_their_shapes() {
    let row = |error: Value| {
        let fields = json!({
            "subtype": "api_error", "error": error, "retryInMs": 534.74, "retryAttempt": 2, "maxRetries": 10,
        });
        with(row("system"), fields)
    };
    let overloaded = json!({"type": "overloaded_error", "message": "Overloaded"});
    for (error, expected) in [
        (json!({}), json!({"kind": "connection", "retryable": true})),
        (
            json!({"status": 401, "error": {"error": {"type": "authentication_error", "message": "no key"}}}),
            json!({
                "kind": "authentication_error", "message": "no key", "http_status": 401, "retryable": false,
            }),
        ),
        (
            json!({"status": 529, "error": {"type": "error", "error": overloaded}}),
            json!({
                "kind": "overloaded_error", "message": "Overloaded", "http_status": 529, "retryable": true,
            }),
        ),
        (
            json!({"message": "cut off", "status": 0, "isNetworkDown": true}),
            json!({"kind": "connection", "message": "cut off", "retryable": true}),
        ),
    ] {
        check(row(error), json!([{"model.failed": {"error": expected, "attempt": 2, "retry_in_ms": 535}}]));
    }
}

#[test]
fn a_refusal_is_a_failure_and_takes_back_what_was_said() {
    let refused = json!({
        "subtype": "model_refusal_fallback", "originalModel": "a", "apiRefusalCategory": "policy",
        "content": "no",
    });
    let failure = json!({"model.failed": {
        "model": "a", "error": {"kind": "refusal", "message": "no", "retryable": false},
    }});
    check(with(row("system"), refused.clone()), json!([failure]));
    let taken_back = with(refused, json!({"retractedMessageUuids": ["r1", "r2"]}));
    check(
        with(row("system"), taken_back),
        json!([{"context.compacted": {"dropped_steps": ["r1", "r2"]}}, failure]),
    );
}
