//! The figures of whole files.

use std::path::Path;
use std::process::Command;

use agent_core::{Body, Event};
use collector::formats;
use serde_json::{Value, json};
use store::{FullEvent, SessionRow, Store, StoreError};

use crate::support::{Bench, claude, corpus, figures, files, head, independent, map, rows, sessions, source};

/// Returns what the rows say of memory and skills, for one session.
fn learning(events: &[Event], session: &str) -> Value {
    let mut found: Vec<(String, String)> = events
        .iter()
        .filter(|event| event.session == session)
        .filter_map(|event| match &event.body {
            Body::MemoryWritten(note)
            | Body::MemoryRecalled(note)
            | Body::SkillListed(note)
            | Body::SkillMatched(note)
            | Body::SkillCreated(note)
            | Body::SkillUpdated(note) => Some((event.body.name().to_owned(), note.key.clone())),
            _ => None,
        })
        .collect();
    found.sort();
    json!(found)
}

/// Returns the turns and the words of what a person said while the agent worked.
fn came_in(store: &Store, session: &SessionRow) -> Value {
    let mut found = Vec::new();
    let take = |full: FullEvent| -> Result<(), StoreError> {
        if let Body::UserMessaged(message) = &full.event.body
            && message.joins_run
            && message.is_request()
        {
            found.push(json!([full.turn, message.text]));
        }
        Ok(())
    };
    store.for_each_event(session.session_key, None, take).unwrap();
    found.into()
}

#[test]
fn claude_figures_agree_with_an_independent_reading() {
    for path in sessions() {
        let bytes = std::fs::read(&path).unwrap();
        let format = claude();
        let source = source(&*format, &path, &bytes);
        let events: Vec<Event> =
            rows(&bytes).into_iter().flat_map(|row| map(&*format, &source, row).events).collect();
        let bench = Bench::with(&path);
        let main = source.session;
        let told: serde_json::Map<String, Value> = bench
            .all()
            .iter()
            .map(|row| {
                let agent = row.session.strip_prefix(&main).expect("a session of the file");
                if !agent.is_empty() {
                    assert_eq!(row.parent.as_deref(), Some(main.as_str()), "{}", path.display());
                    assert_eq!(row.parent_kind.as_deref(), Some("subagent"));
                }
                let mut told = figures(row);
                told["learning"] = learning(&events, &row.session);
                told["came_in"] = came_in(&bench.store, row);
                told["started"] = json!(row.started_at.map(|at| at.micros()));
                told["ended"] = json!(row.ended_at.map(|at| at.micros()));
                (agent.trim_start_matches('/').to_owned(), told)
            })
            .collect();
        let expected = independent(&path);
        for (agent, expected) in expected.as_object().unwrap() {
            assert_eq!(told.get(agent), Some(expected), "{} {agent}", path.display());
        }
        assert_eq!(told.len(), expected.as_object().unwrap().len(), "{}", path.display());
    }
}

#[test]
fn claude_memory_and_skill_events_reach_the_tables() {
    let Some(path) = crate::support::session("base64-image") else { return };
    let bench = Bench::with(&path);
    let row = &bench.all()[0];
    // Two skills were called by the Skill tool; nothing else in the file is of memory or skills.
    let mut skills = Vec::new();
    for turn in 1..=row.turns {
        for event in bench.store.turn_events(row.session_key, turn).unwrap() {
            if let Body::SkillMatched(note) = event.event.body {
                skills.push(note.key);
            }
        }
    }
    assert_eq!(skills, ["superpowers:brainstorming", "superpowers:executing-plans"]);
}

#[test]
fn claude_takes_no_file_of_another_agent_and_no_other_takes_its() {
    let Some(corpus) = corpus() else { return };
    let formats = formats::all();
    for folder in files(&corpus).into_iter().filter(|path| path.is_dir()) {
        let is_claude = folder.ends_with("claude-code");
        for path in files_below(&folder) {
            let head = head(&path);
            let takers: Vec<&str> = formats
                .iter()
                .filter(|format| format.sniff(&head).is_some())
                .map(|format| format.format())
                .collect();
            match is_claude {
                true => assert_eq!(takers, ["claude-code"], "{}", path.display()),
                false => assert!(!takers.contains(&"claude-code"), "{}: {takers:?}", path.display()),
            }
        }
    }
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut refused = |path: &Path, error: &std::io::Error| panic!("{}: {error}", path.display());
    collector::files_below(folder, &mut refused).into_iter().map(|found| found.path).collect()
}

#[test]
fn claude_files_of_the_generator_have_the_sums_that_it_printed() {
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/bench/gen_claude_code.py");
    if !generator.is_file() {
        eprintln!("skipped: no generator at {}", generator.display());
        return;
    }
    let bench = Bench::new();
    let out = bench.write("made/.keep", b"");
    let out = out.parent().unwrap();
    let made = Command::new("python3").arg(&generator).arg(out).args(["3", "1"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let truth: Value = serde_json::from_slice(&made.stdout).unwrap();
    let mut new_rows = 0;
    for path in files_below(&out.join("projects")) {
        new_rows += bench.import(&path).new_rows;
    }
    let mut sum = serde_json::Map::new();
    for row in bench.all() {
        for (key, value) in figures(&row).as_object().unwrap() {
            if let Some(value) = value.as_u64() {
                let before = sum.get(key).and_then(Value::as_u64).unwrap_or(0);
                sum.insert(key.clone(), (before + value).into());
            }
        }
    }
    let told = json!({
        "files": bench.all().len(), "rows": new_rows, "responses": sum["model_calls"],
        "tool_calls": sum["tool_calls"], "failed_tools": sum["failed_tool_calls"],
        "interrupts": sum["interrupts"], "compactions": sum["compactions"],
        "input_tokens": sum["uncached"], "cache_read": sum["read"],
        "cache_creation": sum["write_5m"], "output_tokens": sum["output"],
    });
    assert_eq!(sum["write_1h"], 0);
    assert_eq!(told, truth);
}
