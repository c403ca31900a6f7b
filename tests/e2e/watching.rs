//! `up` follows what is written to the folders that it watches.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Program, event, eventually, session, write};

fn turns(program: &Program, name: &str) -> Option<u64> {
    program
        .json(&["sessions"])
        .iter()
        .find(|row| row["session"] == name)
        .and_then(|row| row["turns"].as_u64())
}

#[test]
fn appended_lines_new_folders_and_renames_are_seen() {
    let program = Program::new();
    let files = program.files();
    let path = files.join("a.jsonl");
    write(&path, &session("s-a", 1));
    let up = program.up(&["--watch", files.to_str().expect("it is text")]);
    eventually("what was there", || (turns(&program, "s-a") == Some(1)).then_some(()));

    let longer = session("s-a", 3);
    let mut file = OpenOptions::new().append(true).open(&path).expect("it opens");
    let rest = &longer[session("s-a", 1).len()..];
    // A line that is half written is left alone until it is whole.
    let half = rest.len() - 20;
    file.write_all(&rest.as_bytes()[..half]).expect("written");
    eventually("the whole lines", || (turns(&program, "s-a") == Some(3)).then_some(()));
    assert_eq!(program.json(&["sessions"])[0]["events"]["stored"], 11);
    file.write_all(&rest.as_bytes()[half..]).expect("written");
    eventually("the last line", || (program.json(&["sessions"])[0]["events"]["stored"] == 12).then_some(()));

    let folder = files.join("new/deep");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder.join("b.jsonl"), &session("s-b", 2));
    eventually("a file in a new folder", || (turns(&program, "s-b") == Some(2)).then_some(()));

    fs::rename(&path, files.join("renamed.jsonl")).expect("renamed");
    write(&path, &session("s-c", 1));
    eventually("another file in its place", || (turns(&program, "s-c") == Some(1)).then_some(()));
    assert_eq!(turns(&program, "s-a"), Some(3));
    assert_eq!(up.interrupt(), Some(0));
}

#[test]
fn a_truncated_file_is_read_anew_and_a_restart_goes_on() {
    let program = Program::new();
    let files = program.files();
    let watch = files.to_str().expect("it is text").to_owned();
    let path = files.join("a.jsonl");
    write(&path, &session("s-a", 2));
    let up = program.up(&["--watch", &watch]);
    eventually("what was there", || (turns(&program, "s-a") == Some(2)).then_some(()));
    write(&path, &session("s-a", 1));
    write(&path, &session("s-a", 5));
    eventually("the new content", || (turns(&program, "s-a") == Some(5)).then_some(()));
    assert_eq!(up.interrupt(), Some(0));

    write(&path, &session("s-a", 6));
    let _up = program.up(&["--watch", &watch]);
    eventually("what came meanwhile", || (turns(&program, "s-a") == Some(6)).then_some(()));
    assert_eq!(program.json(&["sessions"])[0]["events"]["stored"], 24);
}

#[test]
fn an_interrupt_while_it_loads_ends_it() {
    let program = Program::new();
    let files = program.files();
    for file in 0..300 {
        let name = format!("s-{file}");
        write(&files.join(format!("{name}.jsonl")), &session(&name, 20));
    }
    let watch = files.to_str().expect("it is text").to_owned();
    let mut child = program
        .command(&[
            "up",
            "--no-homes",
            "--viewer",
            "127.0.0.1:0",
            "--intake",
            "127.0.0.1:0",
            "--watch",
            &watch,
        ])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the binary starts");
    eventually("the first files", || program.data().join("running.json").exists().then_some(()));
    let pid = child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    assert!(killed.success());
    eventually("the end", || child.try_wait().expect("it is a child"));
    // What was read is there, and the next start goes on.
    let _up = program.up(&["--watch", &watch]);
    eventually("all sessions", || (program.json(&["sessions"]).len() == 300).then_some(()));
}

/// Returns how many events of a session are stored.
fn stored(program: &Program, name: &str) -> Option<u64> {
    let sessions = program.json(&["sessions"]);
    sessions.iter().find(|row| row["session"] == name).and_then(|row| row["events"]["stored"].as_u64())
}

/// Returns lines of a session, `count` of them from line `first` on.
fn lines(name: &str, first: u64, count: u64) -> String {
    (first..first + count)
        .map(|number| event(name, number, "user.messaged", &json!({"text": format!("message {number}")})))
        .collect()
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).expect("it opens");
    file.write_all(text.as_bytes()).expect("written");
}

fn comes_to(program: &Program, name: &str, count: u64) {
    eventually(&format!("{count} events of {name}"), || {
        let found = stored(program, name);
        assert!(found <= Some(count), "{name} has {found:?} events");
        (found == Some(count)).then_some(())
    });
}

#[test]
fn rotated_copied_and_rewritten_files_lose_nothing_and_count_nothing_twice() {
    let program = Program::new();
    let files = program.files();
    let path = files.join("log.jsonl");
    write(&path, &lines("s-one", 1, 3));
    let _up = program.up(&["--watch", files.to_str().expect("it is text")]);
    comes_to(&program, "s-one", 3);

    // Rotation: the old file under another name still grows for a moment.
    fs::rename(&path, files.join("log.1.jsonl")).expect("renamed");
    write(&path, &lines("s-two", 1, 2));
    append(&files.join("log.1.jsonl"), &lines("s-one", 4, 1));
    comes_to(&program, "s-one", 4);
    comes_to(&program, "s-two", 2);

    // Copied and cut to nothing, as log rotation does with files that stay open.
    fs::copy(&path, files.join("log.2.jsonl")).expect("copied");
    write(&path, "");
    append(&path, &lines("s-three", 1, 2));
    comes_to(&program, "s-three", 2);

    // Written anew with the same first row, and longer: where reading had stopped is in the middle of a row.
    let anew = lines("s-three", 1, 1) + &lines("s-three", 100, 9);
    write(&path, &anew);
    comes_to(&program, "s-three", 2 + 9);
    for name in ["s-one", "s-two"] {
        assert_eq!(stored(&program, name), Some(if name == "s-one" { 4 } else { 2 }));
    }
    assert_eq!(program.json(&["doctor"])[0]["unread"], 0);
}

#[test]
fn where_the_system_tells_nothing_changes_are_found_by_looking() {
    let program = Program::new();
    let files = program.files();
    write(&files.join("a.jsonl"), &lines("s-a", 1, 2));
    let up = program.up(&["--poll", "--watch", files.to_str().expect("it is text")]);
    comes_to(&program, "s-a", 2);
    append(&files.join("a.jsonl"), &lines("s-a", 3, 1));
    fs::create_dir_all(files.join("new/deep")).expect("a folder");
    write(&files.join("new/deep/b.jsonl"), &lines("s-b", 1, 2));
    comes_to(&program, "s-a", 3);
    comes_to(&program, "s-b", 2);
    assert_eq!(up.interrupt(), Some(0));
}

#[test]
fn a_folder_that_goes_and_comes_back_is_followed_again() {
    let program = Program::new();
    let files = program.files().join("watched");
    let _up = program.up(&["--watch", files.to_str().expect("it is text")]);
    for round in 0..3 {
        let name = format!("s-{round}");
        fs::create_dir_all(&files).expect("a folder");
        let path = files.join(format!("{name}.jsonl"));
        write(&path, &lines(&name, 1, 2));
        comes_to(&program, &name, 2);
        append(&path, &lines(&name, 3, 1));
        comes_to(&program, &name, 3);
        fs::remove_dir_all(&files).expect("removed");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_read_is_named_by_doctor_until_it_can_be() {
    let program = Program::new();
    let files = program.files();
    write(&files.join("good.jsonl"), &lines("s-good", 1, 2));
    // A file that is there and that nobody, root included, can read from its beginning.
    let bad = files.join("bad.jsonl");
    std::os::unix::fs::symlink("/proc/self/mem", &bad).expect("a link");
    // A link to itself, and one to the folder it is in.
    std::os::unix::fs::symlink("itself", files.join("itself")).expect("a link");
    std::os::unix::fs::symlink(&files, files.join("loop")).expect("a link");
    let _up = program.up(&["--watch", files.to_str().expect("it is text")]);
    comes_to(&program, "s-good", 2);

    let doctor = || {
        let output = program.run(&["--json", "doctor"]);
        let line: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let unreadable = line["unreadable_now"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> = unreadable
            .iter()
            .map(|file| file["path"].as_str().expect("a path").rsplit('/').next().expect("a name").to_owned())
            .collect();
        (output.status.code(), names)
    };
    assert_eq!(doctor(), (Some(1), vec!["bad.jsonl".to_owned(), "itself".to_owned()]));

    fs::remove_file(files.join("itself")).expect("removed");
    fs::remove_file(&bad).expect("removed");
    write(&bad, &lines("s-bad", 1, 2));
    comes_to(&program, "s-bad", 2);
    // What is gone is found out by the next look at all files, which comes every fifteen seconds.
    let until = Instant::now() + Duration::from_secs(40);
    while doctor() != (Some(0), Vec::new()) {
        assert!(Instant::now() < until, "{:?}", doctor());
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn thousands_of_files_are_read_once_each() {
    const FILES: u64 = 3000;
    let program = Program::new();
    let files = program.files();
    for file in 0..FILES {
        let folder = files.join((file % 60).to_string());
        fs::create_dir_all(&folder).expect("a folder");
        write(&folder.join(format!("{file}.jsonl")), &lines(&format!("s-{file}"), 1, 1));
    }
    let _up = program.up(&["--watch", files.to_str().expect("it is text")]);
    let figures = |doctor: &Value| {
        let figure = |name: &str| doctor[name].as_u64();
        (figure("sessions"), figure("sources"), doctor["events"]["received"].as_u64())
    };
    let all = Some(FILES);
    eventually("all sessions", || (figures(&program.json(&["doctor"])[0]) == (all, all, all)).then_some(()));
}

#[test]
fn torn_writes_of_another_process_come_out_whole() {
    let program = Program::new();
    let files = program.files();
    let path = files.join("torn.jsonl");
    write(&path, "");
    let _up = program.up(&["--watch", files.to_str().expect("it is text")]);
    let text = lines("s-torn", 1, 300);
    let mut file = OpenOptions::new().append(true).open(&path).expect("it opens");
    // Pieces of 1 to 400 bytes that end anywhere in a row.
    let mut rest = text.as_bytes();
    let mut len = 1;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(len));
        file.write_all(piece).expect("written");
        (rest, len) = (after, len * 7 % 401);
        std::thread::sleep(Duration::from_millis(1));
    }
    comes_to(&program, "s-torn", 300);
    let doctor = &program.json(&["doctor"])[0];
    assert_eq!((&doctor["unread"], &doctor["events"]["received"]), (&json!(0), &json!(300)));
}
