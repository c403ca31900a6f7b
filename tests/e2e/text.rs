//! What the subcommands print for a person at a terminal, and what they say when they cannot.

use std::process::Output;

use serde_json::{Value, json};

use crate::command_line::with_session;
use crate::program::{Program, event, session, write};

/// Imports the events of one session.
fn with_events(name: &str, events: &[(&str, Value)]) -> Program {
    let program = Program::new();
    let path = program.files().join("one.jsonl");
    let lines: String =
        (1..).zip(events).map(|(number, (kind, data))| event(name, number, kind, data)).collect();
    write(&path, &lines);
    program.json(&["import", path.to_str().expect("it is text")]);
    program
}

/// Returns what it wrote, which must be text with nothing in it that a terminal obeys.
fn plain(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("it is text");
    let obeyed = |char: char| char.is_control() && char != '\n' && char != '\t';
    assert!(!text.contains(obeyed), "{text:?}");
    text
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn call(id: &str, name: &str, input: Value) -> (&'static str, Value) {
    ("tool.called", json!({"call_id": id, "name": name, "input": input}))
}

/// Two turns; in the first, two calls whose results come in the other order, one of them in the second turn.
fn two_turns() -> Program {
    let numbers: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    with_events(
        "s-two",
        &[
            ("checkpoint.saved", json!({})),
            ("user.messaged", json!({"text": "please look\n"})),
            (
                "model.responded",
                json!({
                    "response_id": "r-1", "model": "m-1-20260101", "finish_reason": "tool_use",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "call_id": "a", "name": "Bash"},
                        {"type": "tool_use", "call_id": "b", "name": "Edit"},
                        {"type": "tool_use", "call_id": "c", "name": "Read"},
                    ],
                    "usage": {"uncached_input": 1200, "output": 5}, "usage_quality": "partial",
                }),
            ),
            call("a", "Bash", json!({"command": "make test", "timeout": 5})),
            call("b", "Edit", json!({"file_path": "a.rs", "old_string": "x = 1", "new_string": "x = 2"})),
            call("c", "Read", json!({"file_path": "b.rs"})),
            ("tool.ended", json!({"call_id": "b", "status": "rejected", "output": "not now"})),
            (
                "tool.ended",
                json!({
                    "call_id": "a", "status": "failed", "exit_code": 2, "duration_ms": 2100, "output": numbers,
                }),
            ),
            (
                "model.responded",
                json!({
                    "response_id": "r-2", "model": "m-1-20260101", "finish_reason": "stop",
                    "content": [{"type": "text", "text": "It failed."}],
                }),
            ),
            ("tool.ended", json!({"call_id": "c", "status": "cancelled", "output": "broken off"})),
        ],
    )
}

#[test]
fn show_is_a_transcript_with_results_under_their_calls() {
    let program = two_turns();
    let output = program.run(&["show", "s-two"]);
    let text = plain(&output);
    // 19 characters of text and names, 35, 62 and 20 of inputs: 136 / 4 = 34 tokens.
    let expected = "\
── turn 1 · 2026-11-30 15:00:02 · 8.0 s · m-1 · in 1.2k · out ≥ 5 (est. 34)
15:00:02 user
    please look
15:00:03 assistant
    I look.
15:00:04 Bash  make test
    timeout: 5
    FAILED, exit code 2, 2.1 s
    │ line 1
    │ line 2
    │ line 3
    │ line 4
    │ line 5
    │ line 6
    │ line 7
    │ line 8
    │ line 9
    │ line 10
    │ line 11
    │ line 12
    │ … 20 of 30 lines shown
    │ line 23
    │ line 24
    │ line 25
    │ line 26
    │ line 27
    │ line 28
    │ line 29
    │ line 30
15:00:05 Edit  a.rs
    - x = 1
    + x = 2
    rejected, 2.0 s
    │ not now
15:00:06 Read  b.rs
    cancelled, 4.0 s
    │ broken off

── turn 2 · 2026-11-30 15:00:09 · 0 ms · m-1 · out — (est. 3)
15:00:09 assistant
    It failed.
";
    let (heading, turns) = text.split_once("\n\n").expect("a heading");
    assert_eq!(turns, expected);
    assert!(
        heading.contains("Mon 2026-11-30 15:00:01 to Mon 2026-11-30 15:00:10 (9.0 s), times in UTC"),
        "{heading}"
    );
    assert!(heading.contains("2 turns, 3 tool calls, 1 FAILED, 1 rejected, 1 cancelled"), "{heading}");
    assert!(heading.contains("first error in turn 1"), "{heading}");
    assert_eq!(told(&output), "dashcam: 1 event that keeps the books is not shown; --all shows it\n");

    let all = plain(&program.run(&["show", "s-two", "--all"]));
    assert!(all.contains("\n15:00:01 checkpoint.saved (event 0)\n"), "{all}");
}

#[test]
fn show_gives_one_turn_in_full() {
    let text = plain(&two_turns().run(&["show", "s-two", "--turn", "1"]));
    for number in 1..=30 {
        assert!(text.contains(&format!("    │ line {number}\n")), "{text}");
    }
    assert!(!text.contains("It failed."), "{text}");
    assert!(text.contains("dashcam prompt s-two 1"), "{text}");
}

#[test]
fn what_a_session_holds_is_never_obeyed_by_the_terminal() {
    let hostile = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31mb\rc\u{202e}d";
    let program = with_events(
        "s-hostile",
        &[
            (
                "session.started",
                json!({"agent": hostile, "user": hostile, "project": hostile, "title": hostile}),
            ),
            ("user.messaged", json!({"text": hostile})),
            (
                "model.responded",
                json!({
                    "response_id": "r-1", "model": hostile, "finish_reason": "tool_use",
                    "content": [{"type": "text", "text": hostile}, {"type": "reasoning", "text": hostile}],
                }),
            ),
            call(
                "a",
                hostile,
                json!({"command": hostile, hostile: hostile, "more": format!("{hostile}\n2")}),
            ),
            (
                "tool.ended",
                json!({
                    "call_id": "a", "status": "failed", "output": hostile,
                    "error": {"kind": hostile, "message": format!("other {hostile}")},
                }),
            ),
            (
                "context.added",
                json!({"kind": "memory", "source": hostile, "reason": hostile, "content": hostile}),
            ),
            ("model.failed", json!({"error": {"kind": hostile, "message": hostile}})),
            ("hostile.\u{1b}[2J", json!({})),
        ],
    );
    let shown = "a␛]0;owned␇␛[2JU+009B31mb␍cU+202Ed";
    for arguments in [
        &["show", "s-hostile"][..],
        &["show", "s-hostile", "--all"],
        &["show", "s-hostile", "--turn", "1"],
        &["diff", "s-hostile", "1"],
        &["sessions"],
    ] {
        for columns in ["60", "0"] {
            let output =
                program.command(arguments).env("COLUMNS", columns).output().expect("the binary starts");
            assert!(output.status.success(), "{}", told(&output));
            let text = plain(&output);
            assert!(text.contains("␛"), "{arguments:?}: {text}");
            if columns == "0" && arguments[0] != "sessions" {
                assert!(text.contains(shown), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn text_is_no_wider_than_the_terminal() {
    let program = with_session(7);
    for columns in [60, 80, 140] {
        for arguments in [&["sessions"][..], &["show", "s-one"], &["diff", "s-one", "3"]] {
            if columns == 60 && arguments[0] == "sessions" {
                continue;
            }
            let output = program
                .command(arguments)
                .env("COLUMNS", columns.to_string())
                .output()
                .expect("the binary starts");
            for line in plain(&output).lines() {
                assert!(line.chars().count() <= columns, "{line}");
            }
        }
    }
}

#[test]
fn times_are_shown_in_the_zone_by_both_ways_to_the_data() {
    let program = with_session(1);
    let arguments = ["--tz", "Asia/Kolkata", "show", "s-one"];
    let alone = plain(&program.run(&arguments));
    // 15:00:01 UTC is 20:30:01 in India.
    assert!(alone.contains("Mon 2026-11-30 20:30:01"), "{alone}");
    assert!(alone.contains("\n20:30:01 user\n"), "{alone}");
    assert_eq!(alone.matches("Asia/Kolkata").count(), 1, "{alone}");
    let list = plain(&program.run(&["--tz", "Asia/Kolkata", "sessions"]));
    assert!(list.contains("LAST (Asia/Kolkata)") && list.contains("Mon 2026-11-30 20:30 "), "{list}");

    let _up = program.up(&[]);
    assert_eq!(plain(&program.run(&arguments)), alone);
}

#[test]
fn sessions_as_text_tell_how_they_ended() {
    let program = two_turns();
    let list = plain(&program.run(&["sessions"]));
    let (heading, row) = list.split_once('\n').expect("a heading");
    let words = |line: &str| {
        line.split("  ")
            .filter(|word| !word.is_empty())
            .map(|word| word.trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(heading),
        [
            "SESSION",
            "LAST (UTC)",
            "ENDED",
            "TURNS",
            "TOOLS",
            "ERRORS",
            "NOT RUN",
            "IN",
            "OUT",
            "EST. OUT",
            "COST",
            "USER",
            "AGENT",
            "PROJECT",
            "TITLE"
        ]
    );
    assert_eq!(
        words(row),
        [
            "s-two",
            "Mon 2026-11-30 15:00",
            "unknown",
            "2",
            "3",
            "1",
            "2",
            "1.2k",
            "≥ 5",
            "37",
            // The source names no model.
            "unpriced",
            "—",
            "—",
            "—",
            "please look"
        ]
    );
    let line = &program.json(&["sessions"])[0];
    assert_eq!(
        (&line["failed_tool_calls"], &line["rejected_tool_calls"], &line["cancelled_tool_calls"]),
        (&json!(3), &json!(1), &json!(1))
    );
    // The 34 of the first response, and 10 characters of the second, rounded up.
    assert_eq!(line["estimated_output_tokens"], 37);
}

#[test]
fn users_are_found_in_capitals_and_small_letters() {
    let program = with_events(
        "s-ann",
        &[("session.started", json!({"user": "Ann"})), ("user.messaged", json!({"text": "hi"}))],
    );
    for (user, count) in [("ann", 1), ("ANN", 1), ("an", 0)] {
        assert_eq!(program.json(&["sessions", "--user", user]).len(), count, "{user}");
    }
}

#[test]
fn names_and_numbers_that_fit_nothing_are_answered_with_those_that_do() {
    let program = with_session(3);
    let path = program.files().join("two.jsonl");
    write(&path, &session("s-other", 1));
    program.json(&["import", path.to_str().expect("it is text")]);
    let check = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = program.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", told(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for word in words {
            assert!(told(&output).contains(word), "{arguments:?}: {}", told(&output));
        }
    };
    check(&["show", "s-"], 3, &["s- fits 2 sessions", "\n  s-one  2026-11-30 15:00  request 0\n", "s-other"]);
    check(&["show", "other"], 3, &["no session other", "\n  s-other  "]);
    check(&["show", "zzz"], 3, &["no session zzz", "the newest are", "s-one", "s-other"]);
    check(&["show", "s-one", "--turn", "9"], 3, &["no turn 9 in s-one, which has turns 1 to 3"]);
    check(&["prompt", "s-other", "2"], 3, &["no turn 2 in s-other, which has turn 1 only"]);
    check(&["diff", "s-one", "2", "7"], 3, &["no turn 7 in s-one, which has turns 1 to 3"]);
    check(
        &["prompt", "s-one", "2", "--call", "2"],
        3,
        &["no call 2 in turn 2: its only call of a model is 1"],
    );
    for bad in [&["show", "s-one", "--turn", "abc"][..], &["prompt", "s-one", "0"], &["diff", "s-one", "-1"]]
    {
        check(bad, 2, &[]);
    }
    check(&["show", "s-one", "--turn", "abc"], 2, &["'abc'", "a whole number from 1 on"]);
}

#[test]
fn a_turn_without_a_model_call_has_no_prompt_and_says_why() {
    let program = with_session(2);
    let path = program.files().join("more.jsonl");
    write(&path, &event("s-one", 31, "user.messaged", &json!({"text": "and now?"})));
    program.json(&["import", path.to_str().expect("it is text")]);
    for arguments in [&["prompt", "s-one", "3"][..], &["diff", "s-one", "3"], &["diff", "s-one", "1", "3"]] {
        let output = program.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(
            told(&output).contains("came after the last answer, and nothing was sent"),
            "{}",
            told(&output)
        );
    }
    let text = plain(&program.run(&["show", "s-one"]));
    assert!(
        text.contains("── turn 3 · 2026-11-30 15:00:31 · 0 ms · not answered\n15:00:31 user\n    and now?\n"),
        "{text}"
    );
}

#[test]
fn all_of_the_first_prompt_is_new() {
    let output = with_session(2).run(&["diff", "s-one", "1"]);
    assert_eq!(plain(&output), "+ user (34 B)\n+   request 0\n");
    assert!(told(&output).contains("turn 1 (partial) has the first prompt of the session: all of it is new"));
}

#[test]
fn diff_as_text_leaves_out_what_stands_between_the_parts() {
    let output = with_session(3).run(&["diff", "s-one", "3"]);
    let text = plain(&output);
    assert!(!text.contains("framing"), "{text}");
    assert!(text.contains("\n+   request 2\n"), "{text}");
    assert!(!text.contains("request 1\n"), "{text}");
    assert_eq!(told(&output), "dashcam: turn 2 (partial) to turn 3 (partial)\n");
}

#[test]
fn a_file_is_no_data_folder_and_a_full_target_is_named() {
    let program = with_session(1);
    let file = program.files().join("one.jsonl");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dashcam"));
    let output = command.arg("--data").arg(&file).arg("sessions").output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(told(&output).contains("is a file; it must be a folder"), "{}", told(&output));

    let full = std::fs::File::options().write(true).open("/dev/full").expect("the system has it");
    let output = program.command(&["show", "s-one"]).stdout(full).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(3));
    let told = told(&output);
    assert!(told.contains("cannot write the answer") && told.contains("(/dev/full) is full"), "{told}");
}
