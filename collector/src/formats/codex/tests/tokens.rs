//! Reports of tokens in each shape.

use agent_core::{Body, Usage};
use serde_json::json;

use super::{notice, only};

fn usage(uncached: u64, read: u64, write: Option<u64>, output: u64, reasoning: u64) -> Usage {
    Usage {
        uncached_input: Some(uncached),
        cache_read: Some(read),
        cache_write_5m: write,
        cache_write_1h: None,
        output: Some(output),
        reasoning: Some(reasoning),
    }
}

#[test]
fn nested_token_counts_become_disjoint_buckets() {
    let call = json!({"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 15,
        "output_tokens": 20, "reasoning_output_tokens": 8, "total_tokens": 120});
    let session = json!({"input_tokens": 1000, "cached_input_tokens": 600, "output_tokens": 200,
        "reasoning_output_tokens": 80, "total_tokens": 1200});
    let count = only(&notice(json!({"type": "token_count",
        "info": {"last_token_usage": call, "total_token_usage": session}})));
    let record = only(&json!({"timestamp": "2026-01-02T03:04:05Z", "type": "token_usage_record",
        "payload": {"response_id": "resp_1", "usage": call, "thread_token_usage": session}}));
    for event in [&count, &record] {
        let Body::ModelResponded(piece) = &event.body else { panic!("{event:?}") };
        assert_eq!(piece.usage, usage(25, 60, Some(15), 20, 8));
        assert_eq!(piece.usage_so_far, Some(usage(400, 600, None, 200, 80)));
        assert!(piece.last_piece && piece.response_id.is_none());
        assert_eq!(piece.usage_raw.as_ref(), Some(&call));
    }
    assert_eq!(record.fact.as_deref(), Some("resp_1"));
}

#[test]
fn missing_usage_is_missing() {
    for info in [json!(null), json!({}), json!({"last_token_usage": {"input_tokens": 0, "output_tokens": 0}})]
    {
        let event = only(&notice(json!({"type": "token_count", "info": info})));
        assert_eq!(event.body.name(), "codex.token_count", "{info}");
    }
    let older = [
        json!({"type": "token_count", "info": {"prompt": 14, "completion": 9}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 14, "output_tokens": 9}}),
    ];
    for payload in older {
        let event = only(&notice(payload));
        let Body::ModelResponded(piece) = event.body else { panic!("{event:?}") };
        assert_eq!(piece.usage, Usage { uncached_input: Some(14), output: Some(9), ..Usage::default() });
        assert_eq!(piece.usage_so_far, None);
    }
    // Zeros of the call with a grown sum: the sum is what counts, and it is kept.
    let grown = only(&notice(json!({"type": "token_count", "info": {
        "last_token_usage": {"input_tokens": 0, "output_tokens": 0},
        "total_token_usage": {"input_tokens": 5, "output_tokens": 1}}})));
    let Body::ModelResponded(piece) = grown.body else { panic!("{grown:?}") };
    assert_eq!(piece.usage_so_far.and_then(|usage| usage.prompt()), Some(5));
}
