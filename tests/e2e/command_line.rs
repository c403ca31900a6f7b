//! The subcommands: what they print, and their exit codes.

use serde_json::{Value, json};

use crate::program::{Program, session, write};

/// A Dashcam that has read one session of so many turns.
pub fn with_session(turns: u64) -> Program {
    let program = Program::new();
    let path = program.files().join("one.jsonl");
    write(&path, &session("s-one", turns));
    program.json(&["import", path.to_str().expect("it is text")]);
    program
}

#[test]
fn import_tells_what_it_read_and_reads_nothing_twice() {
    let program = Program::new();
    let path = program.files().join("any-name.txt");
    write(&path, &(session("s-one", 2) + "{\"broken\":\n" + &session("s-one", 3)));
    let first = program.json(&["import", path.to_str().expect("it is text")]);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0]["format"], "dashcam");
    assert_eq!(first[0]["sessions"], json!(["s-one"]));
    // 8 rows of two turns, the broken one, 12 rows of three turns of which 8 are the first two again.
    assert_eq!(first[0]["rows"], 21);
    assert_eq!(first[0]["events"], 12);
    assert_eq!(first[0]["duplicates"], 8);
    assert_eq!(first[0]["skipped"][0]["line"], 9);
    assert!(first[0]["skipped"][0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));

    let again = program.json(&["import", path.to_str().expect("it is text")]);
    assert_eq!(again[0]["events"], 0);
    assert_eq!(again[0]["rows"], 21);

    // A longer copy elsewhere adds what is new in it.
    let copy = program.files().join("copy.jsonl");
    write(&copy, &session("s-one", 4));
    let copied = program.json(&["import", copy.to_str().expect("it is text")]);
    assert_eq!((&copied[0]["events"], &copied[0]["duplicates"]), (&json!(4), &json!(12)));
    assert_eq!(program.json(&["sessions"])[0]["turns"], 4);
}

#[test]
fn sessions_gives_what_is_known_and_nothing_else() {
    let program = with_session(5);
    let rows = program.json(&["sessions"]);
    assert_eq!(rows.len(), 1);
    let row = rows[0].as_object().expect("an object");
    for (name, value) in [
        ("session", json!("s-one")),
        ("source", json!("dashcam")),
        ("models", json!(["m-1"])),
        ("title", json!("request 0")),
        ("started_at", json!("2026-11-30T15:00:01Z")),
        ("ended_at", json!("2026-11-30T15:00:44Z")),
        ("duration_ms", json!(43_000)),
        ("turns", json!(5)),
        ("model_calls", json!(5)),
        ("tool_calls", json!(5)),
        ("failed_tool_calls", json!(1)),
        ("rejected_tool_calls", json!(0)),
        ("cancelled_tool_calls", json!(0)),
        ("interrupts", json!(0)),
        ("compactions", json!(0)),
        ("uncached_input_tokens", json!(50)),
        ("output_tokens", json!(25)),
        ("usage_quality", json!("final")),
        ("events", json!({"received": 20, "stored": 20, "duplicate": 0, "refused": 0})),
    ] {
        assert_eq!(row.get(name), Some(&value), "{name}");
    }
    for unknown in [
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
        "reported_cost_usd",
        "user",
        "parent",
        "estimated_output_tokens",
    ] {
        assert_eq!(row.get(unknown), None, "{unknown}");
    }
}

#[test]
fn sessions_are_found_by_time_user_and_text() {
    let program = with_session(1);
    let count = |arguments: &[&str]| program.json(&[&["sessions"], arguments].concat()).len();
    assert_eq!(count(&["--from", "2026-11-30 15:00", "--to", "2026-11-30 15:01"]), 1);
    assert_eq!(count(&["--from", "2026-11-30 15:01"]), 0);
    assert_eq!(count(&["--to", "2026-11-30T15:00:00Z"]), 0);
    assert_eq!(
        count(&["--tz", "Europe/Berlin", "--from", "2026-11-30 16:00", "--to", "2026-11-30 16:01"]),
        1
    );
    assert_eq!(count(&["--text", "REQUEST 0"]), 1);
    assert_eq!(count(&["--text", "ls 0"]), 1);
    assert_eq!(count(&["--text", "r%quest"]), 0);
    assert_eq!(count(&["--tool", "Bash"]), 1);
    assert_eq!(count(&["--tool", "Bas"]), 0);
    assert_eq!(count(&["--user", "nobody"]), 0);
    assert_eq!(count(&["--status", "unknown"]), 1);
    let bad = program.run(&["sessions", "--from", "soon"]);
    assert_eq!(bad.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("\"soon\" is no time"));
    assert!(bad.stdout.is_empty());
}

#[test]
fn show_prints_events_in_order_and_one_turn_alone() {
    let program = with_session(3);
    let all = program.json(&["show", "s-o"]);
    let kinds: Vec<&str> = all.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(
        kinds[..5],
        ["user.messaged", "model.responded", "tool.called", "tool.ended", "user.messaged"]
    );
    assert_eq!(all.len(), 12);
    let turn = program.json(&["show", "s-one", "--turn", "2"]);
    assert_eq!(turn.len(), 4);
    assert_eq!(turn[0]["data"]["text"], "request 1");
    assert_eq!(turn[3]["turn_number"], 2);

    let missing = program.run(&["show", "s-one", "--turn", "9"]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no turn 9"));
    let unknown = program.run(&["show", "nothing"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no session nothing"));
}

#[test]
fn a_prompt_holds_the_history_and_says_how_exact_it_is() {
    let program = with_session(3);
    let output = program.run(&["prompt", "s-one", "3"]);
    let body: Value = serde_json::from_slice(&output.stdout).expect("the body is JSON");
    let roles: Vec<&str> =
        body["messages"].as_array().expect("messages").iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"][0]["type"], "tool_result");
    assert_eq!(body["messages"][4]["content"][1]["text"], "request 2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("fidelity: partial; the source lacks the system prompt, the tool schemas"),
        "{said}"
    );

    let line = &program.json(&["prompt", "s-one", "3"])[0];
    let bytes: u64 =
        line["chunks"].as_array().expect("chunks").iter().filter_map(|c| c["bytes"].as_u64()).sum();
    assert_eq!(bytes, output.stdout.len() as u64);
}

#[test]
fn diff_shows_what_came_in_since_the_turn_before() {
    let program = with_session(3);
    let lines = program.json(&["diff", "s-one", "3"]);
    let added: Vec<&str> = lines
        .iter()
        .filter(|line| line["change"] == "added")
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert!(added.iter().any(|text| text.contains("request 2")), "{lines:?}");
    assert!(!added.iter().any(|text| text.contains("request 1")), "{lines:?}");
    assert!(lines.iter().any(|line| line["change"] == "same"));
}

#[test]
fn rebuild_gives_equal_answers() {
    let program = with_session(7);
    let before = (program.json(&["sessions"]), program.json(&["show", "s-one"]));
    assert!(program.run(&["rebuild"]).status.success());
    assert_eq!((program.json(&["sessions"]), program.json(&["show", "s-one"])), before);
}

/// The running Dashcam makes them again itself, and goes on.
#[test]
fn rebuild_works_beside_a_running_dashcam() {
    let program = with_session(7);
    let before = program.json(&["sessions"]);
    let up = program.up(&[]);
    assert_eq!(program.json(&["rebuild"])[0]["records"], 1 + 7 * 4);
    assert_eq!(program.json(&["sessions"]), before);
    let later = crate::program::event("s-two", 1, "user.messaged", &serde_json::json!({"text": "more"}));
    assert_eq!(up.post(later.as_bytes(), &[]).0, 200);
    crate::program::eventually("the new session", || {
        (program.json(&["sessions"]).len() == before.len() + 1).then_some(())
    });
}

#[test]
fn the_journal_can_be_read_and_verified() {
    let program = with_session(2);
    let records: Vec<Value> = crate::program::json_lines(&program.run(&["journal", "cat"]).stdout);
    assert_eq!(records.len(), 9);
    assert_eq!(records[0]["kind"], "source");
    assert_eq!(records[8]["position"], 9);
    let verified = program.run(&["journal", "verify"]);
    assert_eq!(String::from_utf8_lossy(&verified.stdout), "9 records hold\n");
    assert!(program.run(&["doctor", "--verify"]).status.success());
}

#[test]
fn an_empty_folder_is_named_and_not_made() {
    let program = Program::new();
    let output = program.run(&["sessions"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("holds no data yet"));
    assert!(!program.data().exists());
}
