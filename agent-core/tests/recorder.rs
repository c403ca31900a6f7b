//! What the recorder writes: whole, in order, and the same bytes back.

#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use agent_core::{
    Body, ChunkKind, Event, LeftOut, PromptPart, Recorder, SessionStarted, Timestamp, TsQuality, UserMessaged,
};
use proptest::prelude::*;
use support::{Prompts, events, lines};
use tempfile::TempDir;

/// Tells the test's own program to be the writer that gets killed, and where it writes.
const WRITER_FILE: &str = "DASHCAM_TEST_WRITER_FILE";

fn said(text: &str) -> Body {
    Body::UserMessaged(UserMessaged { text: text.to_owned(), ..Default::default() })
}

fn part<'a>(bytes: &'a [u8], source: Option<&'a str>) -> PromptPart<'a> {
    PromptPart { bytes, kind: ChunkKind::History, source, reason: None, tokens: None }
}

#[test]
fn events_come_back_as_they_were_recorded() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    let mut recorder = Recorder::open(&file, "s").unwrap();
    let about = SessionStarted { agent: Some("a".to_owned()), ..Default::default() };
    let first = recorder.record(Body::SessionStarted(about.clone())).unwrap();
    recorder.set_run(Some("r1".to_owned()));
    recorder.set_turn(Some("t1".to_owned()));
    let ts = Timestamp::from_micros(1_764_604_800_123_456);
    recorder.record_at(ts, said("two\nlines \u{0} \u{1F600}")).unwrap();
    recorder.set_turn(None);
    recorder.record(said("")).unwrap();

    let events = events(&file);
    assert_eq!(events.len(), 3);
    assert_eq!((events[0].id, &events[0].body), (first, &Body::SessionStarted(about)));
    assert_eq!((events[1].ts, events[1].ts_quality), (Some(ts), TsQuality::Reported));
    assert_eq!(events[1].body, said("two\nlines \u{0} \u{1F600}"));
    let places: Vec<_> =
        events.iter().map(|event| (event.seq, event.run.as_deref(), event.turn.as_deref())).collect();
    assert_eq!(
        places,
        [(Some(1), None, None), (Some(2), Some("r1"), Some("t1")), (Some(3), Some("r1"), None)]
    );
    assert!(events.iter().all(|event| event.session == "s" && event.source.as_deref() == Some("recorder")));
}

#[test]
fn a_reopened_file_goes_on_and_its_torn_line_is_closed() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    let mut recorder = Recorder::open(&file, "s").unwrap();
    recorder.record(said("one")).unwrap();
    recorder.record_prompt(&[part(b"kept", None)], Vec::new()).unwrap();
    drop(recorder);
    let torn = br#"{"v":1,"id":"0190b0a0-0000-7000-8000-0000"#;
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(torn).unwrap();

    let mut recorder = Recorder::open(&file, "s").unwrap();
    recorder.record_prompt(&[part(b"kept", None), part(b"new", None)], Vec::new()).unwrap();
    drop(recorder);

    let lines = lines(&file);
    assert_eq!(lines[3], torn);
    let whole: Vec<Event> = lines.iter().filter_map(|line| Event::from_json(line).ok()).collect();
    let told: Vec<_> = whole.iter().map(|event| (event.seq.unwrap(), event.body.name())).collect();
    assert_eq!(
        told,
        [
            (1, "user.messaged"),
            (2, "chunk.defined"),
            (3, "prompt.assembled"),
            // The chunk `kept` needs no second writing.
            (4, "chunk.defined"),
            (5, "prompt.assembled"),
        ]
    );
    let mut prompts = Prompts::default();
    let bodies: Vec<_> = whole.iter().filter_map(|event| prompts.take(event)).collect();
    assert_eq!(bodies, [b"kept".to_vec(), b"keptnew".to_vec()]);
}

#[test]
fn a_last_line_that_lacks_only_its_break_is_whole() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    Recorder::open(&file, "s").unwrap().record(said("one")).unwrap();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    Recorder::open(&file, "s").unwrap().record(said("two")).unwrap();
    let seqs: Vec<_> = events(&file).iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [Some(1), Some(2)]);
}

#[test]
fn two_sessions_in_one_file_do_not_share_numbers_or_chunks() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    let mut first = Recorder::open(&file, "first").unwrap();
    first.record_prompt(&[part(b"same", None)], Vec::new()).unwrap();
    let mut second = Recorder::open(&file, "second").unwrap();
    second.record_prompt(&[part(b"same", None)], Vec::new()).unwrap();
    let events = events(&file);
    let told: Vec<_> =
        events.iter().map(|event| (event.session.as_str(), event.seq.unwrap(), event.body.name())).collect();
    assert_eq!(
        told,
        [
            ("first", 1, "chunk.defined"),
            ("first", 2, "prompt.assembled"),
            ("second", 1, "chunk.defined"),
            ("second", 2, "prompt.assembled"),
        ]
    );
}

#[test]
fn what_was_left_out_is_recorded_with_the_prompt() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    let left_out = vec![LeftOut { source: "call-1".into(), reason: "trimmed".into(), tokens: Some(900) }];
    let mut recorder = Recorder::open(&file, "s").unwrap();
    let hash = recorder.record_prompt(&[part(b"ab", None), part(b"c", None)], left_out.clone()).unwrap();
    let Body::PromptAssembled(prompt) = events(&file).pop().unwrap().body else { panic!("a prompt is last") };
    assert_eq!(prompt.left_out, left_out);
    assert_eq!(prompt.body_hash, hash);
    // BLAKE3 of "abc", as b3sum gives it.
    assert_eq!(hash, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
}

/// Being killed at any moment leaves whole lines and at most one torn one, and the next writer goes on.
#[test]
fn a_killed_writer_leaves_whole_lines() {
    if let Some(file) = std::env::var_os(WRITER_FILE) {
        write_until_killed(Path::new(&file));
    }
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("run.jsonl");
    for round in 0..8 {
        let known = fs::metadata(&file).map_or(0, |about| about.len());
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_writer_leaves_whole_lines"])
            .env(WRITER_FILE, &file)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for_growth(&file, known + 20_000);
        // Different rounds end at different moments of the writer's loop.
        std::thread::sleep(Duration::from_micros(700 * round));
        writer.kill().unwrap();
        assert!(!writer.wait().unwrap().success(), "the writer ended before it was killed");
        check_killed_file(&file, round as usize + 1);
    }
}

fn write_until_killed(file: &Path) -> ! {
    let mut recorder = Recorder::open(file, "s").unwrap();
    let mut n = 0;
    loop {
        n += 1;
        // Lines of very different lengths, a few of them long.
        let text = "x".repeat((n * 7919) % 4000 * if n % 16 == 0 { 40 } else { 1 });
        recorder.record(said(&text)).unwrap();
        let numbered = format!("part {n}");
        recorder.record_prompt(&[part(b"head", None), part(numbered.as_bytes(), None)], Vec::new()).unwrap();
    }
}

fn wait_for_growth(file: &Path, len: u64) {
    for _ in 0..2000 {
        if fs::metadata(file).is_ok_and(|about| about.len() >= len) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the writer did not write");
}

/// Checks the file after `kills` killed writers: at most one torn line each, only at the places where a
/// writer ended, and no number is missing or given twice.
fn check_killed_file(file: &Path, kills: usize) {
    let bytes = fs::read(file).unwrap();
    let mut whole = Vec::new();
    let mut torn = 0;
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match Event::from_json(line) {
            Ok(event) => whole.push(event),
            Err(_) => torn += 1,
        }
    }
    assert!(torn <= kills, "{torn} torn lines after {kills} kills");
    let seqs: Vec<u64> = whole.iter().map(|event| event.seq.unwrap()).collect();
    let expected: Vec<u64> = (1..=whole.len() as u64).collect();
    assert_eq!(seqs, expected);
}

/// The parts of a few prompts: bytes of any kind, with repeats.
fn prompt_lists() -> impl Strategy<Value = Vec<Vec<(Vec<u8>, Option<String>)>>> {
    let bytes = prop_oneof![
        3 => prop::sample::select(vec![b"[".to_vec(), b",".to_vec(), b"hello".to_vec(), Vec::new()]),
        2 => prop::collection::vec(any::<u8>(), 0..12),
        1 => any::<String>().prop_map(String::into_bytes),
    ];
    let part = (bytes, prop::option::of(prop::sample::select(vec!["a".to_owned(), "b".to_owned()])));
    prop::collection::vec(prop::collection::vec(part, 0..10), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changes_give_back_every_list_and_every_body(lists in prompt_lists(), reopened_at in 0_usize..8) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("run.jsonl");
        let mut recorder = Recorder::open(&file, "s").unwrap();
        for (n, list) in lists.iter().enumerate() {
            if n == reopened_at {
                recorder = Recorder::open(&file, "s").unwrap();
            }
            let parts: Vec<_> = list.iter().map(|(bytes, source)| part(bytes, source.as_deref())).collect();
            let hash = recorder.record_prompt(&parts, Vec::new()).unwrap();
            let body: Vec<u8> = list.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
            prop_assert_eq!(hash, blake3::hash(&body).to_hex().to_string());
        }
        let mut prompts = Prompts::default();
        let mut rebuilt = Vec::new();
        for event in events(&file) {
            if prompts.take(&event).is_some() {
                rebuilt.push(prompts.parts());
            }
        }
        prop_assert_eq!(rebuilt, lists);
    }

    /// A prompt that grows at its end costs what is new.
    #[test]
    fn a_growing_prompt_lists_only_what_is_new(texts in prop::collection::vec(any::<[u8; 6]>(), 1..12)) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("run.jsonl");
        let mut recorder = Recorder::open(&file, "s").unwrap();
        for n in 1..=texts.len() {
            let mut parts: Vec<_> = texts[..n].iter().map(|text| part(text, None)).collect();
            parts.push(part(b"end", None));
            recorder.record_prompt(&parts, Vec::new()).unwrap();
        }
        let listed: usize = events(&file).iter().map(support::listed_parts).sum();
        // Each text once, and the end once.
        prop_assert_eq!(listed, texts.len() + 1);
    }
}
