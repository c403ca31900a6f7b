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
        ("failed_model_calls", json!(0)),
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
    assert_eq!(bad.status.code(), Some(2));
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
fn a_fresh_link_lets_one_browser_in_once() {
    let program = with_session(1);
    let none = program.run(&["link"]);
    assert_eq!(none.status.code(), Some(3));
    let up = program.up(&[]);
    let output = program.run(&["link"]);
    let link = String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned();
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    assert_eq!(program.json(&["link"]).len(), 1);
    let status = || {
        let agent = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build();
        ureq::Agent::from(agent).get(&link).call().expect("an answer").status().as_u16()
    };
    assert_eq!(status(), 303);
    assert_eq!(status(), 401);
    drop(up);
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

/// A script gets a line on each file that was looked at; a person is told of the rest on standard error.
#[test]
fn import_gives_a_line_for_every_file() {
    let program = Program::new();
    let files = program.files();
    let at = |name: &str| files.join(name).to_str().expect("it is text").to_owned();
    write(&files.join("good.jsonl"), &(session("s-one", 1) + "12345\n"));
    write(&files.join("empty.jsonl"), "");
    write(&files.join("notes.txt"), "hello");
    std::os::unix::fs::symlink(files.join("nothing"), files.join("link")).expect("a link");
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("it runs").success());

    let lines = program.json(&["import", files.to_str().expect("it is text")]);
    let told = |name: &str| -> Value {
        let path = at(name);
        lines.iter().find(|line| line["path"] == path.as_str()).cloned().unwrap_or_default()
    };
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (name, reason) in [
        ("empty.jsonl", "it is empty"),
        ("notes.txt", "it is of no known session format"),
        ("link", "it is a link to nothing"),
        ("pipe", "it is no file but a pipe, a socket or a device"),
    ] {
        let expected = json!({
            "path": at(name), "sessions": [], "rows": 0, "events": 0, "duplicates": 0,
            "skipped": [{"reason": reason}],
        });
        assert_eq!(told(name), expected);
        let named = program.run(&["--json", "import", &at(name)]);
        assert_eq!(crate::program::json_lines(&named.stdout), [expected]);
        assert_eq!(named.status.code(), Some(1), "{name}");
        let as_text = program.run(&["import", &at(name)]);
        assert!(as_text.stdout.is_empty(), "{name}");
        assert!(String::from_utf8_lossy(&as_text.stderr).contains(reason), "{name}");
    }
    let good = told("good.jsonl");
    assert_eq!((&good["format"], &good["rows"], &good["events"]), (&json!("dashcam"), &json!(5), &json!(4)));
    assert_eq!(good["skipped"], json!([{"line": 5, "reason": "not a JSON object but a number: \"12345\""}]));

    let as_text = program.run(&["import", files.to_str().expect("it is text")]);
    assert_eq!(String::from_utf8_lossy(&as_text.stdout).lines().count(), 2);
    let said = String::from_utf8_lossy(&as_text.stderr).into_owned();
    assert!(said.contains("2 files are of no known session format"), "{said}");

    let doctor = program.run(&["--json", "doctor"]);
    assert_eq!(doctor.status.code(), Some(1), "a piece could not be read");
    let line = &crate::program::json_lines(&doctor.stdout)[0];
    assert_eq!((&line["unread"], &line["lost_records"]), (&json!(1), &json!(0)));
    assert_eq!(
        line["unread_pieces"],
        json!([{
            "path": at("good.jsonl"), "line": 5, "reason": "not a JSON object but a number: \"12345\"",
        }])
    );
    let as_text = program.run(&["doctor"]);
    let text = String::from_utf8_lossy(&as_text.stdout).into_owned();
    assert!(text.contains("line 5: not a JSON object but a number"), "{text}");
}

#[test]
fn words_that_make_no_sense_end_with_2() {
    let program = with_session(1);
    for (arguments, words) in [
        (&["sessions", "--from", "soon"][..], "\"soon\" is no time"),
        (&["sessions", "--from", "2026-11-30", "--to", "2026-11-29"], "is not before"),
        (&["--tz", "Mars/Base", "sessions"], "no time zone Mars/Base"),
        (&["--json", "--tz", "Mars/Base", "show", "s-one"], "no time zone Mars/Base"),
        (&["sessions", "--limit", "0"], "whole number from 1 on"),
    ] {
        let output = program.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_rebuild_of_nothing_is_told_what_fills_the_folder() {
    let program = Program::new();
    let output = program.run(&["rebuild"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`dashcam import PATH` fills it"));
    assert!(!program.data().exists());
}

#[test]
fn an_address_that_is_taken_is_told_with_the_way_out() {
    let program = with_session(1);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = program.run(&["up", "--no-homes", "--viewer", &address, "--intake", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("give another port with --viewer or --intake"), "{said}");
}

/// Three sessions of five records each, a byte of the second one's rows is flipped.
#[test]
fn lost_records_are_counted_by_rebuild_and_named_by_doctor() {
    let program = Program::new();
    let file = program.data().join("journal/00000000000000000001.journal");
    let mut ends = Vec::new();
    for name in ["one", "two", "three"] {
        let path = program.files().join(name);
        write(&path, &session(name, 1));
        program.json(&["import", path.to_str().expect("it is text")]);
        ends.push(std::fs::read(&file).expect("it is read").len());
    }
    assert_eq!(program.json(&["rebuild"]), [json!({"records": 15, "lost_records": 0})]);
    let mut bytes = std::fs::read(&file).expect("it is read");
    bytes[ends[1] - 60] ^= 1;
    std::fs::write(&file, bytes).expect("it is written");

    let output = program.run(&["--json", "rebuild"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("made the tables again from 11 records\n"), "{said}");
    assert!(said.contains("dashcam: the journal has lost 4 records of 15: "), "{said}");
    assert!(said.contains("dashcam: error: the journal has lost records"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains("store::"), "{said}");
    assert_eq!(crate::program::json_lines(&output.stdout), [json!({"records": 15, "lost_records": 4})]);

    let output = program.run(&["--json", "doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let line = &crate::program::json_lines(&output.stdout)[0];
    assert_eq!((&line["unread"], &line["lost_records"]), (&json!(0), &json!(4)));
    assert_eq!((&line["losses"][0]["first_record"], &line["losses"][0]["records"]), (&json!(7), &json!(4)));
    let text = String::from_utf8_lossy(&program.run(&["doctor"]).stdout).into_owned();
    assert!(text.contains("lost          4 records of the journal"), "{text}");
    assert!(text.contains("records 7 to 10: "), "{text}");
}
