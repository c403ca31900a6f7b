//! kill -9 at any moment loses nothing that was acknowledged and counts nothing twice.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Program, event, eventually, session, write};

const ROUNDS: u64 = 20;

#[test]
fn killed_while_importing() {
    let program = Program::new();
    let mut turns = 0;
    for file in 0..30 {
        let name = format!("s-{file:02}");
        turns += 200;
        write(&program.files().join(format!("{name}.jsonl")), &session(&name, 200));
    }
    let files = program.files();
    let files = files.to_str().expect("it is text");
    for round in 0..ROUNDS {
        let mut child = program.command(&["import", files]).spawn().expect("the binary starts");
        std::thread::sleep(Duration::from_millis(10 + 37 * round % 400));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    program.json(&["import", files]);
    let sessions = program.json(&["sessions"]);
    assert_eq!(sessions.len(), 30);
    let sum = |name: &str| sessions.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    assert_eq!((sum("turns"), sum("tool_calls"), sum("output_tokens")), (turns, turns, turns * 5));
    let stored: u64 = sessions.iter().filter_map(|row| row["events"]["stored"].as_u64()).sum();
    assert_eq!(stored, turns * 4);
    let received: u64 = sessions.iter().filter_map(|row| row["events"]["received"].as_u64()).sum();
    assert_eq!(received, stored, "a row was taken in twice");
    assert!(program.run(&["rebuild"]).status.success());
    assert_eq!(program.json(&["sessions"]), sessions);
    assert!(program.run(&["journal", "verify"]).status.success());
}

#[test]
fn killed_while_events_come_in() {
    let program = Program::new();
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut up = program.up(&[]);
        for number in 0..5 + round % 4 {
            let text =
                event("s-live", round * 100 + number, "user.messaged", &json!({"text": number.to_string()}));
            let (status, answer) = up.post(text.as_bytes(), &[]);
            assert_eq!(status, 200, "{answer}");
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            assert_eq!(answer["accepted"], 1);
            acknowledged += 1;
        }
        let pid = up.child.id().to_string();
        assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill runs").success());
        up.child.wait().expect("it ends");
    }
    let rows = eventually("all events", || {
        let rows = program.json(&["show", "s-live"]);
        (rows.len() as u64 >= acknowledged).then_some(rows)
    });
    assert_eq!(rows.len() as u64, acknowledged);
    let session = &program.json(&["sessions"])[0];
    assert_eq!(session["events"]["stored"], acknowledged);
    assert_eq!(session["events"]["duplicate"], 0);
}
