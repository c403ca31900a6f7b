//! kill -9 at any moment loses nothing that was acknowledged and counts nothing twice.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// Rows of the file that is interrupted, each of about 20 KB: so much that it is not read in a moment.
const LONG_ROWS: u64 = 3000;

fn write_long_file(program: &Program) -> std::path::PathBuf {
    let path = program.files().join("long.jsonl");
    let text = "all work and no play ".repeat(1000);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    for number in 0..LONG_ROWS {
        let line = event("s-long", number, "user.messaged", &json!({"text": format!("{number} {text}")}));
        file.write_all(line.as_bytes()).expect("written");
    }
    path
}

/// Sends SIGINT once the first rows are in the journal; returns the exit code and what was said.
fn interrupt(program: &Program, mut child: Child) -> (Option<i32>, String) {
    eventually("the first rows", || {
        let files = std::fs::read_dir(program.data().join("journal")).ok()?;
        let bytes: u64 = files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        (bytes > 1000).then_some(())
    });
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    let told = Instant::now();
    let code = eventually("the end", || child.try_wait().expect("it is a child")).code();
    // It takes a fraction of a second; a machine that builds at the same time is given some more.
    assert!(told.elapsed() < Duration::from_secs(5), "it took {:?}", told.elapsed());
    let mut said = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
    (code, said)
}

/// Checks that all rows are there, each taken in once.
fn all_came_in_once(program: &Program) {
    let session = &program.json(&["sessions"])[0];
    assert_eq!(session["events"]["stored"], LONG_ROWS);
    assert_eq!(session["events"]["received"], LONG_ROWS, "a row was read twice");
}

#[test]
fn an_import_that_is_interrupted_in_a_file_goes_on_there() {
    let program = Program::new();
    let path = write_long_file(&program);
    let path = path.to_str().expect("it is text");
    let child = program.command(&["import", path]).stderr(Stdio::piped()).spawn().expect("it starts");
    let (code, said) = interrupt(&program, child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("long.jsonl") && said.contains("bytes are safe"), "{said}");
    assert!(said.contains("goes on there"), "{said}");
    let again = &program.json(&["import", path])[0];
    assert_eq!(again["rows"], LONG_ROWS);
    all_came_in_once(&program);
}

#[test]
fn a_first_load_that_is_interrupted_in_a_file_goes_on_there() {
    let program = Program::new();
    write_long_file(&program);
    let files = program.files();
    let watch = files.to_str().expect("it is text");
    let up = ["up", "--no-homes", "--viewer", "127.0.0.1:0", "--intake", "127.0.0.1:0", "--watch", watch];
    let child = program.command(&up).stderr(Stdio::piped()).spawn().expect("it starts");
    let (code, said) = interrupt(&program, child);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("long.jsonl") && said.contains("the next start goes on there"), "{said}");
    let up = program.up(&["--watch", watch]);
    assert_eq!(up.interrupt(), Some(0));
    all_came_in_once(&program);
}
