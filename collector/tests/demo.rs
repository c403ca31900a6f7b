//! Writes the example sessions, imports them and compares what the store says with what the files say.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use agent_core::{Body, Event, Fidelity, PromptChange, Timestamp};
use collector::demo::write_demo;
use collector::{Imported, Importer};
use serde_json::Value;
use store::{SessionFilter, SessionRow, Store};
use tempfile::TempDir;

/// The example sessions, written and imported.
struct Demo {
    _folder: TempDir,
    files: Vec<PathBuf>,
    store: Store,
}

fn demo() -> Demo {
    let folder = TempDir::new().expect("a temporary folder");
    let files = write_demo(&folder.path().join("demo")).expect("the demo is written");
    let store = Store::open(&folder.path().join("data"), collector::mappers()).expect("the store opens");
    let importer = Importer::new(store.clone());
    for file in &files {
        match importer.import(file, &mut |_| {}).expect("the file is imported") {
            Imported::Session(imported) => {
                assert_eq!((imported.format.as_str(), imported.unfinished_row), ("dashcam", None));
            }
            Imported::NotASession => panic!("{} is no session", file.display()),
        }
    }
    store.wait_until_projected(store.journal().last()).expect("the tables catch up");
    Demo { _folder: folder, files, store }
}

impl Demo {
    fn events(&self, name: &str) -> Vec<Event> {
        let file = self.files.iter().find(|file| file.ends_with(name)).expect("the file is there");
        events(file)
    }

    fn session(&self, prefix: &str) -> SessionRow {
        self.store.session(prefix).expect("the session is there")
    }
}

fn events(file: &Path) -> Vec<Event> {
    let text = fs::read(file).expect("the file can be read");
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| Event::from_json(line).expect("each line is an event"))
        .collect()
}

/// Puts the bodies together from the events alone, in the order of their requests.
fn bodies(events: &[Event]) -> Vec<Vec<u8>> {
    let mut chunks = HashMap::new();
    let mut list: Vec<String> = Vec::new();
    let mut bodies = Vec::new();
    for event in events {
        match &event.body {
            Body::ChunkDefined(chunk) => {
                let text = chunk.text.clone().expect("the demo's chunks are text");
                assert_eq!(chunks.insert(chunk.hash.clone(), text), None, "a chunk is written once");
            }
            Body::PromptAssembled(prompt) => {
                let before = std::mem::take(&mut list);
                for change in &prompt.changes {
                    match change {
                        PromptChange::Keep { from, to } => {
                            list.extend_from_slice(&before[*from as usize..*to as usize]);
                        }
                        PromptChange::Add(uses) => list.extend(uses.iter().map(|used| used.hash.clone())),
                    }
                }
                let body: String = list.iter().map(|hash| chunks[hash].as_str()).collect();
                bodies.push(body.into_bytes());
            }
            _ => {}
        }
    }
    bodies
}

#[test]
fn sessions_tell_their_stories() {
    let demo = demo();
    let all = demo.store.sessions(&SessionFilter::default(), Timestamp::now()).expect("a list").sessions;
    assert_eq!(all.len(), 4);
    for file in &demo.files {
        let events = events(file);
        let session = demo.session(&events[0].session);
        assert_eq!(session.events_emitted, Some(events.len() as u64), "{}", file.display());
        assert_eq!((session.events_duplicate, session.events_refused), (0, 0));
        assert_eq!(
            (session.models.as_str(), session.agent.as_deref()),
            (r#"["scripted"]"#, Some("dashcam-demo"))
        );
        assert_eq!(session.usage_quality, "estimated");
    }
    // Turns, runs, model calls, failed ones, tool calls, failed ones, interrupts, compactions, first error.
    for (prefix, figures, first_error, end) in [
        ("demo-mended-test-", [6, 1, 6, 0, 7, 1, 0, 0], Some(1), ("completed", "done")),
        ("demo-broken-code-", [12, 2, 12, 0, 13, 5, 1, 0], Some(2), ("cancelled", "user_interrupt")),
        ("demo-team-work-", [7, 1, 7, 1, 7, 1, 0, 1], Some(3), ("completed", "needs_user")),
    ] {
        let row = demo.session(prefix);
        let counted = [
            row.turns,
            row.runs,
            row.model_calls,
            row.failed_model_calls,
            row.tool_calls,
            row.failed_tool_calls,
            row.interrupts,
            row.compactions,
        ];
        assert_eq!(counted, figures, "{prefix}");
        assert_eq!(row.first_error_turn, first_error, "{prefix}");
        assert_eq!((row.status.as_str(), row.end_reason.as_str()), end, "{prefix}");
    }
}

#[test]
fn every_prompt_comes_back_byte_for_byte() {
    let demo = demo();
    for file in &demo.files {
        let events = events(file);
        let expected = bodies(&events);
        let key = demo.session(&events[0].session).session_key;
        let mut prompts = Vec::new();
        for turn in 1..=demo.store.last_turn(key).expect("a turn") {
            for call in demo.store.prompt_calls(key, turn).expect("calls") {
                let prompt = demo.store.prompt(key, turn, call).expect("a prompt");
                assert_eq!(prompt.fidelity, Fidelity::Exact, "{} turn {turn} call {call}", file.display());
                assert_eq!((prompt.missing.len(), prompt.damaged.as_ref()), (0, None));
                prompts.push(prompt.body());
            }
        }
        assert_eq!(prompts.len(), expected.len(), "{}", file.display());
        for (prompt, expected) in prompts.iter().zip(&expected) {
            assert_eq!(String::from_utf8_lossy(prompt), String::from_utf8_lossy(expected));
            let body: Value = serde_json::from_slice(prompt).expect("the body is JSON");
            let roles: Vec<_> =
                body["messages"].as_array().expect("messages").iter().map(|m| &m["role"]).collect();
            assert!(roles.iter().step_by(2).all(|role| *role == "user"), "{roles:?}");
            assert!(roles.iter().skip(1).step_by(2).all(|role| *role == "assistant"), "{roles:?}");
            assert!(body["system"].is_array() && body["tools"].is_array());
        }
    }
}

#[test]
fn turns_have_their_native_keys_and_a_retry_is_a_second_call() {
    let demo = demo();
    for (prefix, last) in [("demo-mended-test-", 6), ("demo-broken-code-", 12), ("demo-team-work-", 7)] {
        let key = demo.session(prefix).session_key;
        let turns = demo.store.turns(key, 1, last + 1).expect("turns");
        let keys: Vec<_> = turns.iter().map(|turn| turn.native.clone()).collect();
        let expected: Vec<_> = (1..=last).map(|turn| Some(format!("t{turn}"))).collect();
        assert_eq!(keys, expected, "{prefix}");
    }
    let key = demo.session("demo-team-work-").session_key;
    let calls = demo.store.model_calls(key, 3, 3).expect("calls");
    let failed: Vec<_> = calls.iter().map(|call| (call.call, call.failed)).collect();
    assert_eq!(failed, [(1, true), (2, false)]);
    let turn = demo.store.turn(key, 5).expect("a turn");
    assert!(turn.compacted, "the context was compacted before turn 5");
}

#[test]
fn the_cause_of_the_broken_code_stands_in_the_prompt() {
    let demo = demo();
    let key = demo.session("demo-broken-code-").session_key;
    let prompt = demo.store.prompt(key, 2, 1).expect("a prompt");
    let memory = prompt.chunks.iter().find(|chunk| chunk.kind.as_str() == "memory").expect("a memory");
    assert_eq!(memory.source.as_deref(), Some("notes/project.md"));
    assert!(String::from_utf8_lossy(&memory.bytes).contains("Tests live in spec/"));
    let calls = demo.store.tool_calls(key, 1, 12).expect("calls");
    let told: Vec<_> = calls
        .iter()
        .filter(|call| call.status.as_deref() != Some("succeeded"))
        .map(|call| (call.turn, call.name.as_str(), call.status.as_deref().unwrap_or("none")))
        .collect();
    assert_eq!(
        told,
        [
            (2, "shell", "failed"),
            (8, "shell", "failed"),
            (9, "edit_file", "failed"),
            (11, "shell", "failed"),
            (12, "write_file", "cancelled"),
        ]
    );
    let tests = calls.iter().find(|call| call.turn == 8).expect("the run of the tests");
    assert_eq!(tests.exit_code, Some(1));
    let output = tests.output_preview.as_deref().expect("an output");
    assert!(output.contains("FAIL two coffees cost 5.00: got 450, want 500"), "{output}");
}

#[test]
fn the_helper_hangs_on_its_parent() {
    let demo = demo();
    let parent = demo.session("demo-team-work-");
    assert_eq!(parent.parent, None);
    let children = demo
        .store
        .sessions(
            &SessionFilter { parent: Some(parent.session.clone()), ..Default::default() },
            Timestamp::now(),
        )
        .expect("a list")
        .sessions;
    let child = &children[0];
    assert_eq!(children.len(), 1);
    assert_eq!(child.session, format!("{}/helper", parent.session));
    assert_eq!(
        (child.parent_kind.as_deref(), child.parent_call.as_deref()),
        (Some("subagent"), Some("call-2"))
    );
    assert_eq!((child.turns, child.tool_calls, child.failed_tool_calls), (3, 2, 0));
    let refused = demo.store.tool_calls(parent.session_key, 6, 6).expect("calls");
    assert_eq!(refused[0].status.as_deref(), Some("rejected"));
}

#[test]
fn what_the_scripts_say_is_what_happened() {
    let demo = demo();
    let output = |file: &str, call_id: &str| {
        demo.events(file)
            .into_iter()
            .find_map(|event| match event.body {
                Body::ToolEnded(end) if end.call_id == call_id => end.output?.as_text(),
                _ => None,
            })
            .expect("the call ended")
    };
    assert_eq!(
        output("mended-test.jsonl", "call-2"),
        "FAIL greet.sh Ada: got 'Hello, name!', want 'Hello, Ada!'\n"
    );
    assert_eq!(output("mended-test.jsonl", "call-5"), "ok greet.sh Ada\n");
    assert_eq!(output("team-work.jsonl", "call-3"), "bin/clean.sh has no test\nbin/stamp.sh has no test\n");
    let tests = output("team-work.jsonl", "call-4");
    assert!(tests.starts_with("ok tests/count.sh\nok tests/greet.sh\n"), "{tests}");
    assert_eq!(output("team-work-helper.jsonl", "call-1"), "clean.sh\ncount.sh\ngreet.sh\nstamp.sh\n");
}

#[test]
fn a_second_writing_and_a_second_import_add_nothing() {
    let demo = demo();
    let before: Vec<_> = demo.files.iter().map(|file| fs::read(file).expect("the file")).collect();
    let folder = demo.files[0].parent().expect("a folder");
    assert_eq!(write_demo(folder).expect("the demo is there"), demo.files);
    let after: Vec<_> = demo.files.iter().map(|file| fs::read(file).expect("the file")).collect();
    assert!(before == after);
    assert_eq!(fs::read_dir(folder).expect("the folder").count(), 4);
    let importer = Importer::new(demo.store.clone());
    for file in &demo.files {
        match importer.import(file, &mut |_| {}).expect("the file is imported") {
            Imported::Session(imported) => assert_eq!(imported.new_rows, 0),
            Imported::NotASession => panic!("{} is no session", file.display()),
        }
    }
}
