//! `up` follows what is written to the folders that it watches.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::program::{Program, eventually, session, write};

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
