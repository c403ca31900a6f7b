//! Random journals: a few sessions with every kind of event that the projection computes with.

use agent_core::{
    Block, Body, ChunkDefined, ChunkKind, ChunkUse, ContextAdded, ContextCompacted, EndReason, Ended, Event,
    EventId, Json, KeptHistory, LearningNote, ModelFailed, ModelResponded, Origin, ParentKind, ParentLink,
    PicoUsd, PromptAssembled, PromptChange, QueueExit, ScoreRecorded, SessionStarted, SessionTitled, Status,
    Timestamp, ToolCalled, ToolEnded, ToolReported, ToolStatus, TurnStarted, Unqueued, Usage,
    UserInterrupted, UserMessaged,
};
use proptest::prelude::*;

use crate::{Record, RecordKind, Source, SourceId};

/// The records of a journal.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) records: Vec<Record>,
    kinds: Vec<String>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.kinds).finish()
    }
}

/// One thing that happens in a session.
#[derive(Clone, Debug)]
enum Act {
    Say(Said),
    /// An event that came before comes again.
    Again(prop::sample::Index),
    /// An event that came before is amended, by an event of the same type.
    Amend(prop::sample::Index, Said),
    /// The first events of a session are copied to a new one.
    Fork {
        first: usize,
    },
    /// A source of a session is opened; with a parent the session is its child.
    Source {
        child_of: Option<u8>,
    },
    BadRow,
    UnknownSource,
}

#[derive(Clone, Debug)]
enum Said {
    User {
        origin: Option<Origin>,
        after: Option<u8>,
    },
    Piece {
        response: Option<u8>,
        words: usize,
        calls: bool,
        tokens: Option<u64>,
        so_far: Option<u64>,
        ends: bool,
    },
    Failed,
    Called(u8),
    Result {
        call: u8,
        status: Option<ToolStatus>,
    },
    Context {
        slot: Option<u8>,
    },
    Compacted {
        dropped: Option<u8>,
        /// Steps that stay, and the one behind which they stand.
        kept: Option<(u8, u8)>,
    },
    Interrupted,
    TurnStarted,
    Chunk(u8),
    Prompt {
        keep: u32,
        add: Vec<u8>,
    },
    Ended {
        of_run: bool,
        said: bool,
    },
    Queued(u8),
    Joined(u8),
    Left {
        how: QueueExit,
        named: Option<u8>,
        all: bool,
    },
    Learned(bool),
    Asked(u8),
    Scored,
    Titled,
}

fn said() -> impl Strategy<Value = Said> {
    let origin = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Origin::Injected)),
        1 => Just(Some(Origin::Agent)),
        1 => Just(Some(Origin::CompactSummary)),
    ];
    let status = prop_oneof![
        Just(None),
        Just(Some(ToolStatus::Succeeded)),
        Just(Some(ToolStatus::Failed)),
        Just(Some(ToolStatus::Rejected)),
    ];
    let piece = (
        prop::option::of(0_u8..4),
        prop_oneof![Just(0_usize), 1_usize..200],
        any::<bool>(),
        prop::option::of(0_u64..20),
        prop::option::weighted(0.2, 0_u64..4),
        any::<bool>(),
    );
    prop_oneof![
        4 => (origin, prop::option::of(0_u8..20)).prop_map(|(origin, after)| Said::User { origin, after }),
        8 => piece.prop_map(|(response, words, calls, tokens, so_far, ends)| Said::Piece {
            response, words, calls, tokens, so_far, ends,
        }),
        1 => Just(Said::Failed),
        5 => (0_u8..5).prop_map(Said::Called),
        5 => (0_u8..5, status).prop_map(|(call, status)| Said::Result { call, status }),
        3 => prop::option::of(0_u8..4).prop_map(|slot| Said::Context { slot }),
        1 => (prop::option::of(0_u8..5), prop::option::of((0_u8..30, 0_u8..40)))
            .prop_map(|(dropped, kept)| Said::Compacted { dropped, kept }),
        1 => Just(Said::Interrupted),
        1 => Just(Said::TurnStarted),
        1 => (0_u8..5).prop_map(Said::Chunk),
        2 => (0_u32..4, prop::collection::vec(0_u8..5, 0..3)).prop_map(|(keep, add)| Said::Prompt { keep, add }),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(of_run, said)| Said::Ended { of_run, said }),
        4 => (0_u8..3).prop_map(Said::Queued),
        1 => (0_u8..3).prop_map(Said::Joined),
        4 => left(),
        1 => any::<bool>().prop_map(Said::Learned),
        2 => (0_u8..5).prop_map(Said::Asked),
        1 => Just(Said::Scored),
        1 => Just(Said::Titled),
    ]
}

fn left() -> impl Strategy<Value = Said> {
    let how = prop_oneof![
        4 => Just(QueueExit::Delivered),
        1 => Just(QueueExit::Repeated),
        1 => Just(QueueExit::Withdrawn),
    ];
    let named = prop::option::weighted(0.3, 0_u8..3);
    (how, named, prop::bool::weighted(0.1)).prop_map(|(how, named, all)| Said::Left { how, named, all })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => said().prop_map(Act::Say),
        2 => any::<prop::sample::Index>().prop_map(Act::Again),
        1 => (any::<prop::sample::Index>(), said()).prop_map(|(of, said)| Act::Amend(of, said)),
        1 => (1_usize..12).prop_map(|first| Act::Fork { first }),
        1 => prop::option::of(0_u8..4).prop_map(|child_of| Act::Source { child_of }),
        1 => Just(Act::BadRow),
        1 => Just(Act::UnknownSource),
    ]
}

/// How an event is told: by whom and with which names.
#[derive(Clone, Debug)]
struct Manner {
    session: u8,
    in_row: bool,
    has_step: bool,
    fact: Option<u8>,
    turn: Option<u8>,
    seq: Option<u64>,
}

fn manner() -> impl Strategy<Value = Manner> {
    (
        0_u8..4,
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::option::weighted(0.4, 0_u8..30),
        prop::option::weighted(0.1, 0_u8..3),
        prop::option::weighted(0.3, 1_u64..40),
    )
        .prop_map(|(session, in_row, has_step, fact, turn, seq)| Manner {
            session,
            in_row,
            has_step,
            fact,
            turn,
            seq,
        })
}

pub(super) fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec((manner(), act()), 1..50).prop_map(|acts| Writer::default().write(&acts))
}

/// One script with everything in it, for tests that need no randomness.
pub(super) fn of_all_kinds() -> Script {
    let manner =
        |session| Manner { session, in_row: false, has_step: true, fact: None, turn: None, seq: None };
    let piece =
        Said::Piece { response: None, words: 50, calls: true, tokens: Some(9), so_far: None, ends: true };
    let says = [
        Said::User { origin: None, after: None },
        Said::Context { slot: Some(0) },
        piece.clone(),
        Said::Called(1),
        Said::Result { call: 1, status: Some(ToolStatus::Failed) },
        Said::Chunk(1),
        Said::Prompt { keep: 0, add: vec![1] },
        piece,
        Said::Queued(1),
        Said::Left { how: QueueExit::Delivered, named: None, all: false },
        Said::Compacted { dropped: None, kept: Some((2, 99)) },
        Said::Learned(true),
        Said::Scored,
    ];
    let acts: Vec<_> = says.into_iter().map(|said| (manner(0), Act::Say(said))).collect();
    let more = [
        (manner(1), Act::Fork { first: 3 }),
        (manner(2), Act::Source { child_of: Some(0) }),
        (manner(2), Act::BadRow),
    ];
    Writer::default().write(&acts.into_iter().chain(more).collect::<Vec<_>>())
}

#[derive(Default)]
struct Writer {
    records: Vec<Record>,
    kinds: Vec<String>,
    events: Vec<Event>,
    /// The last source of each session.
    sources: std::collections::BTreeMap<String, u32>,
    forks: usize,
}

impl Writer {
    fn write(mut self, acts: &[(Manner, Act)]) -> Script {
        for (manner, act) in acts {
            self.act(manner, act);
        }
        Script { records: self.records, kinds: self.kinds }
    }

    fn act(&mut self, manner: &Manner, act: &Act) {
        let session = format!("s{}", manner.session);
        self.kinds.push(format!("{session}: {act:?} {manner:?}"));
        match act {
            Act::Say(said) => {
                let event = self.event(manner, &session, body(said));
                let event = self.follow(event, said);
                self.push(event, manner.in_row);
            }
            Act::Again(of) if !self.events.is_empty() => {
                let event = self.events[of.index(self.events.len())].clone();
                self.push(event, manner.in_row);
            }
            Act::Amend(of, said) if !self.events.is_empty() => {
                let mut event = self.events[of.index(self.events.len())].clone();
                event.rev += 1;
                let amended = body(said);
                if amended.name() == event.body.name() {
                    event.body = amended;
                }
                self.push(event, manner.in_row);
            }
            Act::Fork { first } => self.fork(&session, *first, manner.in_row),
            Act::Source { child_of } => {
                self.open_source(&session, child_of.map(|parent| format!("s{parent}")))
            }
            Act::BadRow => {
                let source = self.source(&session);
                self.record(RecordKind::Row, source, b"no event");
            }
            Act::UnknownSource => self.record(RecordKind::Row, 900, b"{}"),
            Act::Again(_) | Act::Amend(..) => {}
        }
    }

    fn event(&self, manner: &Manner, session: &str, body: Body) -> Event {
        let n = self.events.len();
        let id = EventId::derived(&[b"random", &n.to_le_bytes()]);
        let ts = Timestamp::from_micros(1_700_000_000_000_000 + (n as i64 * 37 % 50) * 1_000_000);
        let mut event = Event::new(id, session, body).at(Some(ts));
        event.step = manner.has_step.then(|| format!("step {n}"));
        event.fact = manner.fact.map(|fact| format!("fact {fact}"));
        event.turn = manner.turn.map(|turn| format!("turn {turn}"));
        event.seq = manner.seq;
        event
    }

    fn follow(&self, mut event: Event, said: &Said) -> Event {
        if let Said::User { after: Some(back), .. } = said {
            let before = self.events.len().checked_sub(usize::from(*back) + 1).map(|at| &self.events[at]);
            event.after = before.and_then(|before| before.step.clone());
        }
        event
    }

    fn fork(&mut self, of: &str, first: usize, in_row: bool) {
        self.forks += 1;
        let name = format!("fork {}", self.forks);
        let copied: Vec<Event> =
            self.events.iter().filter(|event| event.session == of).take(first).cloned().collect();
        for mut event in copied {
            event.session.clone_from(&name);
            self.push(event, in_row);
        }
        let told = Manner { session: 0, in_row, has_step: true, fact: None, turn: None, seq: None };
        let event = self.event(&told, &name, body(&Said::User { origin: None, after: None }));
        self.push(event, in_row);
    }

    fn push(&mut self, event: Event, in_row: bool) {
        let bytes = event.to_json();
        if in_row {
            let source = self.source(&event.session.clone());
            self.record(RecordKind::Row, source, bytes.as_bytes());
        } else {
            self.record(RecordKind::Event, 0, bytes.as_bytes());
        }
        self.events.push(event);
    }

    fn source(&mut self, session: &str) -> u32 {
        if let Some(&source) = self.sources.get(session) {
            return source;
        }
        self.open_source(session, None);
        self.sources[session]
    }

    fn open_source(&mut self, session: &str, parent: Option<String>) {
        let number =
            1 + self.records.iter().filter(|record| record.kind == RecordKind::Source).count() as u32;
        let parent = parent.filter(|parent| parent != session);
        let parent = parent.map(|session| ParentLink { session, kind: ParentKind::Subagent, call_id: None });
        let source = Source {
            format: "events".to_owned(),
            path: format!("/{session}"),
            session: session.to_owned(),
            about: SessionStarted { parent, agent: Some("tester".to_owned()), ..Default::default() },
            first_row: String::new(),
            is_document: false,
        };
        self.sources.insert(session.to_owned(), number);
        self.record(RecordKind::Source, number, &serde_json::to_vec(&source).expect("JSON"));
    }

    fn record(&mut self, kind: RecordKind, source: u32, bytes: &[u8]) {
        let number = self.records.len() as u64;
        self.records.push(Record {
            kind,
            source: SourceId(source),
            number,
            read_to: number,
            bytes: bytes.to_vec(),
        });
    }
}

fn hash(chunk: u8) -> String {
    blake3::hash(&[chunk]).to_hex().to_string()
}

fn body(said: &Said) -> Body {
    match said {
        Said::User { origin, after } => Body::UserMessaged(UserMessaged {
            origin: *origin,
            text: "do it".to_owned(),
            is_copy: after.is_some_and(|after| after % 2 == 1),
            ..Default::default()
        }),
        Said::Piece { response, words, calls, tokens, so_far, ends } => {
            Body::ModelResponded(piece(*response, *words, *calls, *tokens, *so_far, *ends))
        }
        Said::Failed => Body::ModelFailed(ModelFailed::default()),
        Said::Called(call) => Body::ToolCalled(ToolCalled {
            call_id: format!("c{call}"),
            name: format!("tool{}", call % 3),
            input: Json::parse(format!("{{\"path\":\"{}\"}}", "p".repeat(usize::from(*call) * 40))).ok(),
            ..Default::default()
        }),
        Said::Result { call, status } if call % 4 == 3 => Body::ToolReported(ToolReported {
            call_id: format!("c{}", call - 1),
            status: *status,
            ..Default::default()
        }),
        Said::Result { call, status } => Body::ToolEnded(ToolEnded {
            call_id: format!("c{call}"),
            status: *status,
            output: Some(Json::string("the output")),
            ..Default::default()
        }),
        Said::Context { slot } => Body::ContextAdded(ContextAdded {
            slot: slot.map(|slot| ["system", "tools", "world", "plan"][usize::from(slot)].to_owned()),
            content: Some(Json::string("context")),
            ..Default::default()
        }),
        Said::Compacted { dropped, kept } => Body::ContextCompacted(ContextCompacted {
            kept: kept.map(|(step, behind)| KeptHistory {
                steps: vec![format!("step {step}"), format!("step {}", step + 1)],
                span: None,
                behind: Some(format!("step {behind}")),
            }),
            dropped_calls: dropped.map(|call| vec![format!("c{call}")]),
            placeholder: dropped.filter(|call| call % 2 == 0).map(|_| Json::string("cleared")),
            dropped_steps: dropped.map(|call| vec![format!("step {}", u32::from(call) * 3)]),
            dropped_requests: dropped.filter(|call| call % 3 == 1).map(u32::from),
            replacement: dropped.is_none().then(|| Json::string("summary")),
            ..Default::default()
        }),
        Said::Interrupted => Body::UserInterrupted(UserInterrupted::default()),
        Said::TurnStarted => {
            Body::TurnStarted(TurnStarted { model: Some("model of turn".to_owned()), ..Default::default() })
        }
        Said::Chunk(chunk) => Body::ChunkDefined(ChunkDefined {
            hash: hash(*chunk),
            text: Some((*chunk as char).to_string()),
            ..Default::default()
        }),
        Said::Prompt { keep, add } => Body::PromptAssembled(prompt(*keep, add)),
        Said::Ended { of_run, said } => {
            let ended = Ended {
                status: said.then_some(Status::Failed),
                end_reason: said.then_some(EndReason::Budget),
                ..Default::default()
            };
            if *of_run { Body::RunEnded(ended) } else { Body::SessionEnded(ended) }
        }
        Said::Joined(words) => Body::UserMessaged(waiting(*words)),
        Said::Queued(words) => Body::MessageQueued(waiting(*words)),
        Said::Left { how, named, all } => Body::MessageUnqueued(Unqueued {
            how: Some(*how),
            message: named.map(waiting),
            all: *all,
            ..Default::default()
        }),
        Said::Learned(memory) => {
            let note = LearningNote { key: "key".to_owned(), ..Default::default() };
            if *memory { Body::MemoryRecalled(note) } else { Body::SkillMatched(note) }
        }
        Said::Asked(call) => Body::SkillMatched(LearningNote {
            key: "asked".to_owned(),
            call_id: Some(format!("c{call}")),
            when_done: true,
            ..Default::default()
        }),
        Said::Scored => Body::ScoreRecorded(ScoreRecorded { name: "works".to_owned(), ..Default::default() }),
        Said::Titled => {
            Body::SessionTitled(SessionTitled { title: "a title".to_owned(), ..Default::default() })
        }
    }
}

fn waiting(words: u8) -> UserMessaged {
    UserMessaged { text: format!("wait {words}"), joins_run: true, ..Default::default() }
}

fn piece(
    response: Option<u8>,
    words: usize,
    calls: bool,
    tokens: Option<u64>,
    so_far: Option<u64>,
    ends: bool,
) -> ModelResponded {
    let text = Block::Text { text: "w".repeat(words) };
    let tool = Block::ToolUse { call_id: "c1".to_owned(), name: "tool1".to_owned() };
    let usage =
        |tokens| Usage { uncached_input: Some(tokens * 10), output: Some(tokens), ..Default::default() };
    ModelResponded {
        response_id: response.map(|id| format!("r{id}")),
        content: [(words > 0).then_some(text), calls.then_some(tool)].into_iter().flatten().collect(),
        usage: tokens.map(usage).unwrap_or_default(),
        usage_so_far: so_far.map(|tokens| usage(tokens * 100)),
        finish_reason: ends.then(|| "end_turn".to_owned()),
        last_piece: ends,
        is_copy: words % 5 == 1,
        reported_cost_usd: (tokens == Some(7)).then_some(PicoUsd(1_000_000)),
        ..Default::default()
    }
}

fn prompt(keep: u32, add: &[u8]) -> PromptAssembled {
    let uses = add.iter().map(|&chunk| ChunkUse {
        hash: hash(chunk),
        kind: ChunkKind::History,
        source: None,
        reason: None,
        tokens: None,
        tokens_basis: None,
    });
    PromptAssembled {
        body_hash: "0".repeat(64),
        changes: vec![PromptChange::Keep { from: 0, to: keep }, PromptChange::Add(uses.collect())],
        ..Default::default()
    }
}
