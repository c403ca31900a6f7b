//! Recorded prompts come back byte by byte, rebuilt ones are JSON, and neither costs much room.

use std::path::Path;

use agent_core::{
    Body, ChunkKind, Event, Fidelity, LeftOut, ModelResponded, PromptPart, Recorder, ToolEnded, UserMessaged,
};
use proptest::prelude::*;
use store::{Prompt, Store};

use crate::support::{Tale, event_record, open, take_in};

/// Returns what a recorder wrote, as events.
fn recorded(folder: &Path, write: impl FnOnce(&mut Recorder)) -> Vec<Event> {
    let path = folder.join("run.jsonl");
    let mut recorder = Recorder::open(&path, "s").expect("it opens");
    write(&mut recorder);
    let text = std::fs::read(&path).expect("a file");
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Event::from_json(line).expect("an event")).collect()
}

fn answer() -> Body {
    Body::ModelResponded(ModelResponded { last_piece: true, ..Default::default() })
}

fn part(bytes: &[u8], kind: ChunkKind) -> PromptPart<'_> {
    PromptPart { bytes, kind, source: None, reason: None, tokens: None }
}

fn record_prompts(recorder: &mut Recorder, prompts: &[Vec<(Vec<u8>, usize)>]) {
    for prompt in prompts {
        let kinds = [ChunkKind::System, ChunkKind::History, ChunkKind::Framing];
        let parts: Vec<_> = prompt.iter().map(|(bytes, kind)| part(bytes, kinds[kind % 3])).collect();
        recorder.record_prompt(&parts, Vec::new()).expect("it is written");
        recorder.record(answer()).expect("it is written");
    }
}

fn prompt(store: &Store, turn: u32) -> Prompt {
    store.prompt(store.session("s").expect("it is there").session_key, turn, 1).expect("a prompt")
}

/// Prompts that share parts, as an agent's do: each is a list of choices from one set of chunks.
fn prompts() -> impl Strategy<Value = Vec<Vec<(Vec<u8>, usize)>>> {
    let text = "\\PC{0,12}".prop_map(String::into_bytes);
    let chunk = prop_oneof![text, prop::collection::vec(any::<u8>(), 0..12)];
    let chunks = prop::collection::vec((chunk, 0_usize..3), 1..8);
    chunks.prop_flat_map(|chunks| {
        let choice = prop::sample::select(chunks);
        prop::collection::vec(prop::collection::vec(choice, 0..10), 1..6)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn recorded_prompts_come_back_byte_by_byte(prompts in prompts()) {
        let folder = tempfile::tempdir().expect("a folder");
        let events = recorded(folder.path(), |recorder| record_prompts(recorder, &prompts));
        let store = open(&folder.path().join("data"));
        take_in(&store, events.iter().map(event_record).collect());
        for (turn, expected) in (1..).zip(&prompts) {
            let found = prompt(&store, turn);
            let body: Vec<u8> = expected.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
            prop_assert_eq!(found.body(), body);
            prop_assert_eq!(found.fidelity, Fidelity::Exact);
            prop_assert_eq!(found.damaged, None);
            prop_assert_eq!(found.chunks.len(), expected.len());
        }
    }
}

#[test]
fn parts_come_back_with_what_was_said_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let left_out = LeftOut { source: "turn 1".to_owned(), reason: "trimmed".to_owned(), tokens: Some(9) };
    let events = recorded(folder.path(), |recorder| {
        let memory = PromptPart {
            source: Some("notes.md"),
            reason: Some("asked for"),
            tokens: Some(3),
            ..part(b"remember", ChunkKind::Memory)
        };
        recorder
            .record_prompt(&[memory, part(b"ask", ChunkKind::User)], vec![left_out.clone()])
            .expect("written");
        recorder.record(answer()).expect("written");
    });
    let store = open(&folder.path().join("data"));
    take_in(&store, events.iter().map(event_record).collect());
    let found = prompt(&store, 1);
    assert_eq!(found.left_out, [left_out]);
    let memory = &found.chunks[0];
    assert_eq!(
        (memory.kind, memory.source.as_deref(), memory.reason.as_deref()),
        (ChunkKind::Memory, Some("notes.md"), Some("asked for"))
    );
    assert_eq!((memory.tokens, memory.tokens_basis.as_deref()), (Some(3), Some("counted")));
    // "ask" is three bytes, about one token.
    assert_eq!(
        (found.chunks[1].tokens, found.chunks[1].tokens_basis.as_deref()),
        (Some(1), Some("estimated"))
    );
}

/// A prompt of few parts is summed by us and a long one by DuckDB: both are held against a count of the parts that
/// were written.
#[test]
fn a_summary_counts_the_parts_however_many_they_are() {
    for count in [6_usize, 198, 199, 200, 900] {
        let folder = tempfile::tempdir().expect("a folder");
        let one: Vec<_> = (0..count).map(|n| (format!("part {n}").into_bytes(), n)).collect();
        // The second prompt lacks a piece in the middle, and has one that is new and stands twice.
        let mut two = one.clone();
        two.remove(count / 2);
        two.extend([(b"new".to_vec(), 0), (b"new".to_vec(), 0)]);
        let events = recorded(folder.path(), |recorder| record_prompts(recorder, &[one, two.clone()]));
        let store = open(&folder.path().join("data"));
        take_in(&store, events.iter().map(event_record).collect());
        let session = store.session("s").expect("it is there");
        let summary = store.prompt_summary(session.session_key, 2, None, 2, 2).expect("it is read");
        let summary = summary.expect("a prompt");
        assert_eq!(summary.part_count as usize, two.len(), "{count}");
        assert_eq!(summary.all.as_ref().map(Vec::len), (two.len() <= 200).then_some(two.len()), "{count}");
        for (at, kind) in ["system", "history", "framing"].into_iter().enumerate() {
            let of_kind: Vec<_> = two.iter().filter(|(_, number)| number % 3 == at).collect();
            let bytes: usize = of_kind.iter().map(|(bytes, _)| bytes.len()).sum();
            let sum = summary.kinds.iter().find(|sum| sum.kind == kind).expect(kind);
            assert_eq!((sum.parts, sum.bytes), (of_kind.len() as u64, bytes as u64), "{count} {kind}");
            assert_eq!(
                (sum.new_parts, sum.new_bytes),
                if at == 0 { (1, 3) } else { (0, 0) },
                "{count} {kind}"
            );
        }
        assert_eq!((summary.first.len(), summary.last.len(), summary.new.len()), (2, 2, 1), "{count}");
        assert_eq!(summary.last[1].bytes, 3, "{count}");
        let small = store.small_prompt(&session, 2, &summary).expect("it is read");
        assert_eq!(small.map(|prompt| prompt.fidelity), summary.all.is_some().then_some(Fidelity::Exact));
    }
}

/// Two prompts of two parts each, the first part the same.
fn two_prompts(folder: &Path) -> Vec<Event> {
    recorded(folder, |recorder| {
        for text in [&b"one"[..], b"two"] {
            let parts = [part(b"system", ChunkKind::System), part(text, ChunkKind::User)];
            recorder.record_prompt(&parts, Vec::new()).expect("written");
            recorder.record(answer()).expect("written");
        }
    })
}

#[test]
fn a_missing_chunk_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = two_prompts(folder.path());
    events.retain(
        |event| !matches!(&event.body, Body::ChunkDefined(chunk) if chunk.text.as_deref() == Some("two")),
    );
    let store = open(&folder.path().join("data"));
    take_in(&store, events.iter().map(event_record).collect());
    assert_eq!(prompt(&store, 1).fidelity, Fidelity::Exact);
    let found = prompt(&store, 2);
    assert_eq!(found.fidelity, Fidelity::Partial);
    assert_eq!(found.missing, [format!("chunk {}", blake3::hash(b"two").to_hex())]);
    assert_eq!(found.body(), b"system");
    assert!(found.damaged.is_some());
}

#[test]
fn bytes_that_are_not_what_was_recorded_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = two_prompts(folder.path());
    for event in &mut events {
        if let Body::ChunkDefined(chunk) = &mut event.body
            && chunk.text.as_deref() == Some("two")
        {
            chunk.text = Some("too".to_owned());
        }
    }
    let store = open(&folder.path().join("data"));
    take_in(&store, events.iter().map(event_record).collect());
    let found = prompt(&store, 2);
    assert_eq!((found.body(), found.fidelity), (b"systemtoo".to_vec(), Fidelity::Partial));
    let expected = blake3::hash(b"systemtwo").to_hex().to_string();
    assert!(found.damaged.expect("it is reported").contains(&expected));
}

/// The change that a prompt is written as goes from the prompt before it; when that is lost, no wrong prompt
/// is shown as the true one.
#[test]
fn a_lost_prompt_makes_the_next_one_no_false_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut events = two_prompts(folder.path());
    let first =
        events.iter().position(|event| matches!(event.body, Body::PromptAssembled(_))).expect("a prompt");
    events.remove(first);
    let store = open(&folder.path().join("data"));
    take_in(&store, events.iter().map(event_record).collect());
    let found = prompt(&store, 2);
    assert_eq!((found.body(), found.fidelity), (b"two".to_vec(), Fidelity::Partial));
    assert!(found.damaged.is_some());
}

/// Words that end up in JSON in every place where the rebuilt body takes words from events.
fn awkward() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,6}",
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("}]".to_owned()),
        Just("\n\u{0}".to_owned())
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_rebuilt_body_is_json(words in prop::collection::vec((0_u8..7, awkward()), 0..12)) {
        let tale = Tale::new();
        let mut events: Vec<Event> = Vec::new();
        for (n, (what, word)) in words.iter().enumerate() {
            let id = agent_core::EventId::derived(&[b"awkward", &n.to_le_bytes()]);
            events.push(Event::new(id, "s", awkward_body(*what, word)));
        }
        events.push(Event::new(agent_core::EventId::derived(&[b"last"]), "s", answer()));
        take_in(&tale.store, events.iter().map(event_record).collect());
        let session = tale.session("s");
        for call in tale.store.model_calls(session.session_key, 1, u32::MAX).expect("calls") {
            let prompt = tale.store.prompt(session.session_key, call.turn, call.call).expect("a prompt");
            let body = prompt.body();
            let read = serde_json::from_slice::<serde_json::Value>(&body);
            prop_assert!(read.is_ok(), "{} {read:?}", String::from_utf8_lossy(&body));
            prop_assert!(prompt.fidelity != Fidelity::Exact);
        }
    }
}

fn awkward_body(what: u8, word: &str) -> Body {
    use agent_core::{Block, ContextAdded, ContextCompacted, Json, ToolCalled};
    let text = word.to_owned();
    let content = Some(Json::string(word));
    match what {
        0 => Body::UserMessaged(UserMessaged { text, ..Default::default() }),
        1 => Body::ModelResponded(ModelResponded {
            response_id: Some(text.clone()),
            model: Some(text.clone()),
            content: vec![
                Block::Reasoning { text: text.clone(), hidden: true },
                Block::Media { media_type: text.clone(), bytes: 3 },
                Block::other(&Json::parse(format!("{{\"x\":{}}}", Json::string(word).get())).expect("JSON")),
                Block::Text { text },
            ],
            ..Default::default()
        }),
        2 => Body::ToolCalled(ToolCalled {
            call_id: text.clone(),
            name: text,
            input: content,
            ..Default::default()
        }),
        3 => Body::ToolEnded(ToolEnded { call_id: text, ..Default::default() }),
        4 => Body::ContextAdded(ContextAdded {
            slot: Some("system".to_owned()),
            content,
            ..Default::default()
        }),
        5 => {
            Body::ContextAdded(ContextAdded { slot: Some("tools".to_owned()), content, ..Default::default() })
        }
        _ => Body::ContextCompacted(ContextCompacted { replacement: content, ..Default::default() }),
    }
}

/// Words that compress about as badly as prose does, different for each `seed`.
fn prose(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::with_capacity(bytes + 12);
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{:x} ", state & 0xF_FFFF));
    }
    text
}

/// 200 turns, each of which sends 60 KB of system prompt and tools and all that was said before, 4 KB more each
/// time. The database alone takes three blocks of 256 KB and its headers, whatever is in it.
#[test]
fn a_long_session_costs_what_is_new_in_it() {
    const TURNS: u64 = 200;
    let folder = tempfile::tempdir().expect("a folder");
    let system = prose(0, 60_000);
    let mut history: Vec<String> = Vec::new();
    let mut prompt_bytes = 0;
    let mut bodies = Vec::new();
    let events = recorded(folder.path(), |recorder| {
        for turn in 1..=TURNS {
            history.push(prose(turn, 4_000));
            let system = part(system.as_bytes(), ChunkKind::System);
            let said = history.iter().map(|text| part(text.as_bytes(), ChunkKind::History));
            let parts: Vec<_> = std::iter::once(system).chain(said).collect();
            prompt_bytes += parts.iter().map(|part| part.bytes.len() as u64).sum::<u64>();
            bodies.push(recorder.record_prompt(&parts, Vec::new()).expect("written"));
            recorder.record(answer()).expect("written");
        }
    });
    let data = folder.path().join("data");
    {
        let store = open(&data);
        // As they come from an agent: a few at a time.
        for some in events.chunks(16) {
            take_in(&store, some.iter().map(event_record).collect());
        }
        for turn in [1, 100, 200] {
            let found = prompt(&store, turn);
            assert_eq!(found.fidelity, Fidelity::Exact);
            assert_eq!(found.body_hash, bodies[turn as usize - 1]);
        }
    }
    // A data folder has a size of its own, whatever is in it: DuckDB keeps some 3 kB for each column.
    let bare = folder.path().join("bare");
    take_in(&open(&bare), vec![event_record(&events[events.len() - 1])]);
    let on_disk = bytes_in(&data) - bytes_in(&bare);
    assert!(on_disk * 50 <= prompt_bytes, "{on_disk} bytes on disk for prompts of {prompt_bytes} bytes");
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| {
            let about = entry.metadata().expect("metadata");
            if about.is_dir() { bytes_in(&entry.path()) } else { about.len() }
        })
        .sum()
}
