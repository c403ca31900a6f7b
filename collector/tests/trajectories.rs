//! Reads real trajectories of mini-swe-agent and SWE-agent and compares the sums with those of independent
//! programs.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "trajectories/prompts.rs"]
mod prompts;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_core::{Block, Body, ChunkKind, Event, ToolStatus};
use collector::document::read_document;
use collector::formats::{self, Format, Layout};
use serde_json::{Value, json};
use store::{Mapped, Row, Source};

/// The first bytes of a file by which it is known.
const HEAD_BYTES: usize = 256 << 10;

fn format(name: &str) -> Box<dyn Format> {
    formats::all().into_iter().find(|format| format.format() == name).expect("the format is listed")
}

/// Returns the corpus; nothing, with a word of it, where there is none.
fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("DASHCAM_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    if !corpus.is_dir() {
        eprintln!("skipped: no corpus at {}", corpus.display());
        return None;
    }
    Some(corpus)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn head_of(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(HEAD_BYTES);
    bytes
}

/// Reads a whole file into events, in order; every row must give some and none may be unreadable.
fn events(format: &dyn Format, path: &Path) -> Vec<Event> {
    let head = head_of(path);
    let Some(Layout::Document(shape)) = format.sniff(&head) else { panic!("not known: {}", path.display()) };
    let described = format.describe(path, &head);
    let source = Source {
        format: format.format().to_owned(),
        path: path.to_string_lossy().into_owned(),
        session: described.session,
        about: described.about,
        first_row: String::new(),
        is_document: true,
    };
    let mut events = Vec::new();
    let end = read_document(&mut File::open(path).unwrap(), shape, &mut |number, bytes| {
        let mut out = Mapped::default();
        format.map(&source, Row { number, bytes }, &mut out);
        assert_eq!(out.unread, [], "row {number}");
        assert!(!out.events.is_empty(), "row {number}");
        let mut again = Mapped::default();
        format.map(&source, Row { number, bytes }, &mut again);
        assert_eq!(out.events, again.events, "row {number}");
        events.append(&mut out.events);
        Ok::<(), io::Error>(())
    })
    .unwrap();
    assert_eq!(end.fault, None);
    let mut ids = BTreeSet::new();
    for event in &events {
        // What is elided from the prompt is told again by each later step.
        let is_told_again = matches!(event.body, Body::ContextCompacted(_));
        assert!(ids.insert(event.id) || is_told_again, "each event has an id of its own: {event:?}");
    }
    events
}

fn independent(program: &str, path: &Path) -> Value {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent").join(program);
    let output = Command::new("python3").arg(&program).arg(path).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn mini_sums(events: &[Event]) -> Value {
    let (mut responses, mut calls, mut results, mut failed, mut patch_chars) = (0, 0, 0, 0, 0);
    let (mut input, mut cached, mut output, mut picousd) = (0, 0, 0, 0_i128);
    let (mut response_ids, mut first_second, mut exit, mut title) = (BTreeSet::new(), None, None, None);
    for event in events {
        match &event.body {
            Body::SessionStarted(started) => title = started.title.clone(),
            Body::ModelResponded(answer) => {
                responses += 1;
                response_ids.extend(answer.response_id.clone());
                input += answer.usage.prompt().unwrap_or(0);
                cached += answer.usage.cache_read.unwrap_or(0);
                output += answer.usage.output.unwrap_or(0);
                picousd += answer.reported_cost_usd.map_or(0, |cost| cost.0);
                first_second = first_second.or(event.ts.map(|ts| ts.micros() / 1_000_000));
            }
            Body::ToolCalled(_) => calls += 1,
            Body::ToolEnded(ended) => {
                results += 1;
                failed += usize::from(ended.status == Some(ToolStatus::Failed));
            }
            Body::ArtifactProduced(patch) => patch_chars += chars(patch.text.as_deref().unwrap_or("")),
            Body::SessionEnded(ended) => exit = ended.detail.clone(),
            _ => {}
        }
    }
    json!({
        "responses": responses, "calls": calls, "results": results, "failed": failed,
        "input": input, "cached": cached, "output": output, "picousd": picousd as i64,
        "response_ids": response_ids.len(), "first_second": first_second,
        "exit": exit, "patch_chars": patch_chars, "title": title,
    })
}

#[test]
fn mini_swe_agent_sums_agree() {
    let Some(corpus) = corpus() else { return };
    let format = format("mini-swe-agent");
    let paths = files(&corpus.join("mini-swe-agent"));
    assert!(!paths.is_empty());
    for path in paths {
        let events = events(&*format, &path);
        assert_eq!(mini_sums(&events), independent("mini_swe_agent.py", &path), "{}", path.display());
    }
}

fn swe_sums(events: &[Event]) -> Value {
    let (mut responses, mut calls, mut results, mut milliseconds) = (0, 0, 0, 0);
    let (mut result_chars, mut response_chars, mut task_chars, mut patch_chars) = (0, 0, 0, 0);
    let (mut names, mut demonstrations, mut ended) = (Vec::new(), 0, None);
    for event in events {
        match &event.body {
            Body::UserMessaged(task) => task_chars += chars(&task.text),
            Body::ContextAdded(part) => demonstrations += usize::from(part.kind == Some(ChunkKind::Insight)),
            Body::ModelResponded(answer) => {
                responses += 1;
                for block in &answer.content {
                    if let Block::Text { text } = block {
                        response_chars += chars(text);
                    }
                }
            }
            Body::ToolCalled(call) => {
                calls += 1;
                names.push(call.name.clone());
            }
            Body::ToolEnded(result) => {
                results += 1;
                result_chars += chars(&result.output.as_ref().unwrap().as_text().unwrap());
                milliseconds += result.duration_ms.unwrap_or(0);
            }
            Body::ArtifactProduced(patch) => patch_chars += chars(patch.text.as_deref().unwrap_or("")),
            Body::SessionEnded(end) => ended = Some(end.clone()),
            _ => {}
        }
    }
    names.sort();
    let ended = ended.unwrap_or_default();
    let cost = ended.reported_cost_usd;
    json!({
        "responses": responses, "calls": calls, "results": results, "result_chars": result_chars,
        "response_chars": response_chars, "names": names, "milliseconds": milliseconds,
        "task_chars": task_chars, "demonstrations": demonstrations,
        "exit": ended.detail, "patch_chars": patch_chars, "picousd": cost.map(|cost| cost.0 as i64),
        "tokens_sent": ended.usage.uncached_input, "tokens_received": ended.usage.output,
    })
}

#[test]
fn swe_agent_sums_agree() {
    let Some(corpus) = corpus() else { return };
    let format = format("swe-agent");
    let paths = files(&corpus.join("swe-agent"));
    assert!(!paths.is_empty());
    for path in paths {
        let events = events(&*format, &path);
        assert_eq!(swe_sums(&events), independent("swe_agent.py", &path), "{}", path.display());
    }
}

#[test]
fn every_call_of_a_step_meets_its_result() {
    let Some(corpus) = corpus() else { return };
    for name in ["mini-swe-agent", "swe-agent"] {
        let format = format(name);
        for path in files(&corpus.join(name)) {
            let (mut called, mut ended) = (BTreeSet::new(), BTreeSet::new());
            for event in events(&*format, &path) {
                match event.body {
                    Body::ToolCalled(call) => assert!(called.insert(call.call_id)),
                    Body::ToolEnded(end) => assert!(ended.insert(end.call_id)),
                    _ => {}
                }
            }
            let unknown: Vec<_> = ended.difference(&called).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
            // The command that submits ends the agent of 2.x before a result is written.
            assert!(called.len() - ended.len() <= 1, "{}", path.display());
        }
    }
}

#[test]
fn no_file_of_another_agent_is_taken() {
    let Some(corpus) = corpus() else { return };
    let ours = ["dashcam", "mini-swe-agent", "swe-agent"];
    for folder in files(&corpus).into_iter().filter(|path| path.is_dir()) {
        for path in files(&folder).into_iter().filter(|path| path.is_file()) {
            let owner = folder.file_name().unwrap().to_string_lossy();
            for name in ours.iter().filter(|name| **name != owner) {
                assert_eq!(format(name).sniff(&head_of(&path)), None, "{name} takes {}", path.display());
            }
        }
    }
}
