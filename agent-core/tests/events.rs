//! Events of every version are read, and what this version does not know is kept.

#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod support;

use std::collections::BTreeSet;

use agent_core::{Body, Event, EventError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// One event of each type of version 1, written by hand.
const SAMPLES_V1: &str = include_str!("samples/v1.jsonl");

fn samples() -> impl Iterator<Item = (&'static str, Event)> {
    SAMPLES_V1.lines().map(|line| (line, Event::from_json(line.as_bytes()).expect(line)))
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn read(event: &Value) -> Result<Event, EventError> {
    Event::from_json(event.to_string().as_bytes())
}

#[test]
fn samples_of_version_1_are_read_and_written_equal() {
    for (line, event) in samples() {
        assert_eq!(value(&event.to_json()), value(line));
        assert_eq!(Event::from_json(event.to_json().as_bytes()).unwrap(), event);
    }
}

#[test]
fn samples_cover_every_type_and_understand_all_but_the_invented() {
    let mut names = BTreeSet::new();
    for (line, event) in samples() {
        if matches!(event.body, Body::Other { .. }) {
            assert_eq!(event.body.name(), "later.invented");
            continue;
        }
        names.insert(event.body.name().to_owned());
        // What is not a payload of free fields has a word for each of them.
        let free = data_without_known_fields(&event.body);
        assert_eq!(free, Map::new(), "{line}");
    }
    let known: BTreeSet<String> = Body::NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, known);
}

/// Returns the fields of the payloads that the samples write with known fields only.
fn data_without_known_fields(body: &Body) -> Map<String, Value> {
    match body {
        Body::SessionStarted(data) => data.other.clone(),
        Body::SessionTitled(data) => data.other.clone(),
        Body::SessionEnded(data) | Body::RunEnded(data) | Body::TurnEnded(data) => data.other.clone(),
        Body::RunStarted(data) => data.other.clone(),
        Body::BudgetSet(data) => data.other.clone(),
        Body::PriceApplied(data) => data.other.clone(),
        Body::RunResumed(data) => data.other.clone(),
        Body::TurnStarted(data) => data.other.clone(),
        Body::UserMessaged(data) | Body::MessageQueued(data) => data.other.clone(),
        Body::MessageUnqueued(data) => data.other.clone(),
        Body::UserInterrupted(data) => data.other.clone(),
        Body::UserRetried(data) => data.other.clone(),
        Body::UserRated(data) => data.other.clone(),
        Body::UserEdited(data) => data.other.clone(),
        Body::ChunkDefined(data) => data.other.clone(),
        Body::PromptAssembled(data) => data.other.clone(),
        Body::ModelRequested(data) => data.other.clone(),
        Body::ModelResponded(data) => data.other.clone(),
        Body::ModelFailed(data) => data.other.clone(),
        Body::ToolCalled(data) => data.other.clone(),
        Body::ToolAttempted(data) => data.other.clone(),
        Body::ToolEnded(data) => data.other.clone(),
        Body::ToolReported(data) => data.other.clone(),
        Body::ContextAdded(data) => data.other.clone(),
        Body::ContextCompacted(data) => data.other.clone(),
        Body::MemoryWritten(data) | Body::SkillWriteRejected(data) => data.other.clone(),
        Body::ArtifactProduced(data) => data.other.clone(),
        Body::SubagentStarted(data) | Body::SubagentEnded(data) => data.other.clone(),
        Body::ScoreRecorded(data) => data.other.clone(),
        _ => Map::new(),
    }
}

#[test]
fn chunks_of_the_samples_have_their_hashes() {
    let mut prompts = support::Prompts::default();
    let chunks: usize = samples().map(|(_, event)| usize::from(prompts.define(&event))).sum();
    assert_eq!(chunks, 2);
}

#[test]
fn the_model_s_words_are_kept_as_written() {
    let line = SAMPLES_V1.lines().find(|line| line.contains("\"tool.called\"")).unwrap();
    let Body::ToolCalled(call) = Event::from_json(line.as_bytes()).unwrap().body else { panic!("a call") };
    assert_eq!(call.input.unwrap().get(), r#"{"z":1,"a":1.50}"#);
    assert!(Event::from_json(line.as_bytes()).unwrap().to_json().contains(r#"{"z":1,"a":1.50}"#));
}

#[test]
fn what_is_no_event_says_why() {
    let whole = json!({"v": 1, "id": "0190b0a0-0000-7000-8000-000000000001", "session": "s", "type": "user.messaged"});
    assert_eq!(read(&whole).unwrap().body, Body::UserMessaged(Default::default()));
    let without = |key: &str| {
        let mut event = whole.clone();
        event.as_object_mut().unwrap().remove(key);
        read(&event).unwrap_err().to_string()
    };
    for key in ["id", "session", "type"] {
        assert_eq!(without(key), format!("not an event: the field `{key}` is missing"));
    }
    let with = |key: &str, field: Value| {
        let mut event = whole.clone();
        event[key] = field;
        read(&event).unwrap_err().to_string()
    };
    assert_eq!(with("session", json!("")), "not an event: the field `session` is missing");
    assert_eq!(with("v", json!(2)), "event version 2 is newer than 1; a newer dashcam is needed");
    assert!(with("data", json!({"text": 7})).starts_with("not an event: the payload of `user.messaged`"));
    assert!(with("id", json!("seven")).starts_with("not an event: "));
    assert!(Event::from_json(b"{").is_err());
}

/// Any JSON whose numbers are read exactly.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn unknown_types_are_kept_whole(name in "[a-z]{1,8}\\.x_[a-z]{1,8}", data in any_json()) {
        let event = json!({"v": 1, "id": "0190b0a0-0000-7000-8000-000000000001", "session": "s", "type": name, "data": data});
        let read = read(&event).unwrap();
        let is_unknown = matches!(read.body, Body::Other { .. });
        prop_assert!(is_unknown);
        prop_assert_eq!(read.body.name(), event["type"].as_str().unwrap());
        let written = value(&read.to_json());
        // No data and `null` are the same to a reader.
        let expected = if event["data"].is_null() { json!({}) } else { event["data"].clone() };
        prop_assert_eq!(&written["data"], &expected);
    }

    #[test]
    fn unknown_fields_are_kept_in_every_type(
        at in 0..SAMPLES_V1.lines().count(),
        key in "x_[a-z]{0,8}",
        in_data in any_json(),
        in_envelope in any_json(),
    ) {
        let mut event = value(SAMPLES_V1.lines().nth(at).unwrap());
        event[&key] = in_envelope;
        event["data"][&key] = in_data;
        prop_assert_eq!(value(&read(&event).unwrap().to_json()), event);
    }
}
