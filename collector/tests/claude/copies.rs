//! The same rows from more than one file, or more than once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use store::SessionRow;

use crate::support::{Bench, figures, lines, session};

const COPY: &str = "0c0ffee0-1111-4222-8333-444455556666";

/// What the copy goes on with: a request and its answer.
fn more(session: &str, after: &str) -> Vec<Value> {
    let row = |kind: &str, uuid: &str, after: &str, message: Value| {
        json!({
            "type": kind, "uuid": uuid, "parentUuid": after, "sessionId": session, "isSidechain": false,
            "timestamp": "2031-02-03T04:05:06.000Z", "version": "2.1.40", "message": message,
        })
    };
    let (asked, answered) = ("aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002");
    vec![
        row("user", asked, after, json!({"role": "user", "content": "and now the other way round"})),
        row(
            "assistant",
            answered,
            asked,
            json!({
                "id": "msg_of_the_copy", "role": "assistant", "model": "claude-opus-4-6",
                "content": [{"type": "text", "text": "Turned."}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 7, "cache_read_input_tokens": 11, "output_tokens": 5},
            }),
        ),
    ]
}

/// Returns the file's bytes with all rows said to be of `to`, and the name they had.
fn renamed(path: &Path, to: &str) -> (Vec<u8>, String) {
    let text = fs::read_to_string(path).unwrap();
    let mark = "\"sessionId\":\"";
    let from = text.split(mark).nth(1).unwrap().split('"').next().unwrap().to_owned();
    (text.replace(&format!("{mark}{from}"), &format!("{mark}{to}")).into_bytes(), from)
}

fn last_uuid(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let row = text.lines().rev().find_map(|line| {
        let row: Value = serde_json::from_str(line).ok()?;
        let is_message = matches!(row["type"].as_str(), Some("user" | "assistant" | "system"));
        is_message.then(|| row["uuid"].as_str().map(str::to_owned))?
    });
    row.expect("a row has an id")
}

/// Adds up the numbers of all sessions.
fn sums(rows: &[SessionRow]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for row in rows {
        for (key, value) in figures(row).as_object().unwrap() {
            *sums.entry(key.clone()).or_default() += value.as_u64().unwrap_or(0);
        }
    }
    sums
}

#[test]
fn claude_copies_under_a_new_session_count_nothing_twice() {
    for mark in ["compact_boundary", "v2.0.64", "v2.1.33", "microcompact", "quoted-interrupts"] {
        let Some(path) = session(mark) else { return };
        let (mut copied, original) = renamed(&path, COPY);
        let after = last_uuid(&copied);
        copied.extend(lines(&more(COPY, &after)));
        let mut grown = fs::read(&path).unwrap();
        grown.extend(lines(&more(&original, &after)));

        let whole = Bench::new();
        whole.import(&whole.write(&format!("{original}.jsonl"), &grown));
        let expected = sums(&whole.all());

        for copy_first in [false, true] {
            let bench = Bench::new();
            let of_original = bench.write(&format!("{original}.jsonl"), &fs::read(&path).unwrap());
            let of_copy = bench.write(&format!("{COPY}.jsonl"), &copied);
            let order = if copy_first { [&of_copy, &of_original] } else { [&of_original, &of_copy] };
            order.iter().for_each(|path| drop(bench.import(path)));
            assert_eq!(sums(&bench.all()), expected, "{mark}, copy first: {copy_first}");

            let (older, newer) = if copy_first { (COPY, &*original) } else { (&*original, COPY) };
            let fork = bench.one(newer);
            assert_eq!(fork.parent_kind.as_deref(), Some("fork"), "{mark}");
            assert_eq!(fork.parent.as_deref(), Some(older), "{mark}");
            if !copy_first {
                assert_eq!(fork.turns, 1);
                let last = whole.one(&original);
                let of_fork = bench.prompt(&fork, 1);
                let of_whole = whole.prompt(&last, whole.store.last_turn(last.session_key).unwrap());
                assert_eq!(of_fork, of_whole, "{mark}: the fork's prompt is complete");
            }
        }
    }
}

#[test]
fn claude_snapshots_in_any_order_and_again_give_the_later_ones_figures() {
    let (Some(early), Some(late)) = (session("earlier-snapshot"), session("122msgs_glued")) else { return };
    let expected = figures(&Bench::with(&late).all()[0]);
    for order in [[&early, &late], [&late, &early]] {
        let bench = Bench::new();
        order.iter().for_each(|path| drop(bench.import(path)));
        let rows = bench.all();
        assert_eq!(rows.len(), 1);
        assert_eq!(figures(&rows[0]), expected);
        let stored = rows[0].events_stored;
        order.iter().for_each(|path| assert_eq!(bench.import(path).new_rows, 0));
        assert_eq!(bench.all()[0].events_stored, stored);
        assert_eq!(figures(&bench.all()[0]), expected);
    }
}

#[test]
fn claude_files_that_grow_are_read_on() {
    let (Some(early), Some(late)) = (session("earlier-snapshot"), session("122msgs_glued")) else { return };
    let expected = figures(&Bench::with(&late).all()[0]);
    let bench = Bench::new();
    let path = bench.write("3a782158-6c7c-4d4d-9c73-eae031da5b18.jsonl", &fs::read(&early).unwrap());
    let first = bench.import(&path);
    bench.write("3a782158-6c7c-4d4d-9c73-eae031da5b18.jsonl", &fs::read(&late).unwrap());
    let second = bench.import(&path);
    assert_eq!(second.known_rows, first.new_rows);
    assert_eq!(figures(&bench.all()[0]), expected);
    let events = bench.all()[0].events_stored;
    assert_eq!(events, Bench::with(&late).all()[0].events_stored);
}
