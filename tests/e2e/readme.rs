//! The commands of the README are run, so that they cannot go stale.

use std::process::Command;

use crate::program::{Program, session, write};

const README: &str = include_str!("../../README.md");

/// Returns the lines of all shell blocks.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).collect()
}

#[test]
fn make_has_the_targets() {
    let targets: Vec<&str> = commands().into_iter().filter_map(|line| line.strip_prefix("make ")).collect();
    assert_eq!(targets, ["up", "test"]);
    for target in targets.into_iter().chain(["build"]) {
        let folder = env!("CARGO_MANIFEST_DIR");
        let made = Command::new("make").args(["-n", "-C", folder, target]).output().expect("make runs");
        assert!(made.status.success(), "{target}: {}", String::from_utf8_lossy(&made.stderr));
    }
}

#[test]
fn the_subcommands_answer() {
    let program = Program::new();
    let path = program.files().join("one.jsonl");
    write(&path, &session("SESSION", 17));
    program.json(&["import", path.to_str().expect("it is text")]);
    let mut run = 0;
    for line in commands().into_iter().filter_map(|line| line.strip_prefix("dashcam ")) {
        // Words in double quotes are one argument, as a shell has it.
        let arguments: Vec<&str> = line
            .split('"')
            .enumerate()
            .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
            .collect();
        let output = program.run(&arguments);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        run += 1;
    }
    assert_eq!(run, 4);
}

#[test]
fn help_names_every_subcommand() {
    let program = Program::new();
    let help = String::from_utf8_lossy(&program.run(&["--help"]).stdout).into_owned();
    for word in ["up", "import", "sessions", "show", "prompt", "diff", "rebuild", "doctor", "journal", "demo"]
    {
        assert!(help.lines().any(|line| line.trim_start().starts_with(word)), "{word} is not in\n{help}");
    }
}
