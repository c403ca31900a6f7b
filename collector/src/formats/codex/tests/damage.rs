//! Rows that cannot be read, or not wholly.

use agent_core::SessionStarted;

use super::{brief, map_row, source};

#[test]
fn damage_is_named_and_the_rest_kept() {
    let source = source(SessionStarted::default());
    let cases = [
        // (row, events, parts unread)
        // A time that is none is no damage of the row: the event has no time.
        (r#"{"timestamp":"t","type":"event_msg","payload":{"type":"x"}}"#, vec!["codex.x"], 0),
        (
            r#"{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":"many"}}}}"#,
            vec!["codex.event_msg"],
            1,
        ),
        (r#"{"type":"response_item","payload":7}"#, vec!["codex.response_item"], 1),
        (r#"{"record_type":"state"}{"record_type":"state"}"#, vec!["codex.state", "codex.state"], 0),
        (r#"{"type":"response_item","pay"#, vec![], 1),
    ];
    for (row, expected, unread) in cases {
        let mapped = map_row(&source, 1, row);
        assert_eq!(mapped.events.iter().map(brief).collect::<Vec<_>>(), expected, "{row}");
        assert_eq!(mapped.unread.len(), unread, "{row}: {:?}", mapped.unread);
    }
    let twice = map_row(&source, 1, r#"{"record_type":"state"}{"record_type":"state"}"#).events;
    assert_ne!(twice[0].id, twice[1].id);
}
