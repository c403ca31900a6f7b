//! A store in a folder of its own, and a short way to tell it what happened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_core::{
    Block, Body, ContextAdded, ContextCompacted, EndReason, Ended, Event, EventId, Json, KeptHistory,
    LearningNote, ModelFailed, ModelResponded, Origin, ParentKind, ParentLink, PicoUsd, QueueExit,
    RunStarted, SessionStarted, SessionTitled, Status, Timestamp, ToolCalled, ToolEnded, ToolReported,
    ToolStatus, TurnStarted, Unqueued, Usage, UsageQuality, UserEdited, UserInterrupted, UserMessaged,
    UserRetried,
};
use store::{Mapped, Mapper, Mappers, Record, RecordKind, Row, SessionRow, Source, SourceId, Store, Unread};

/// Rows that are our own events.
pub struct EventRows;

impl Mapper for EventRows {
    fn format(&self) -> &'static str {
        "events"
    }

    fn version(&self) -> u32 {
        1
    }

    fn map(&self, _: &Source, row: Row<'_>, out: &mut Mapped) {
        match Event::from_json(row.bytes) {
            Ok(event) => out.events.push(event),
            Err(error) => out.unread.push(Unread(error.to_string())),
        }
    }
}

pub fn mappers() -> Mappers {
    Mappers::new(vec![Box::new(EventRows)])
}

pub fn open(folder: &Path) -> Store {
    Store::open(folder, mappers()).expect("the store opens")
}

pub fn event_record(event: &Event) -> Record {
    let bytes = event.to_json().into_bytes();
    Record { kind: RecordKind::Event, source: SourceId(0), number: 0, read_to: 0, bytes }
}

pub fn row(source: SourceId, number: u64, bytes: &[u8]) -> Record {
    Record { kind: RecordKind::Row, source, number, read_to: number * 100, bytes: bytes.to_vec() }
}

pub fn source_of(session: &str, path: &str) -> Source {
    Source {
        format: "events".to_owned(),
        path: path.to_owned(),
        session: session.to_owned(),
        about: SessionStarted { agent: Some("tester".to_owned()), ..Default::default() },
        first_row: String::new(),
        is_document: false,
    }
}

/// A user's message of `session`, told the `n`th.
pub fn message(session: &str, n: u64) -> Event {
    let body = Body::UserMessaged(UserMessaged { text: format!("message {n}"), ..Default::default() });
    Event::new(EventId::derived(&[session.as_bytes(), &n.to_le_bytes()]), session, body)
}

/// Appends the records and waits until the tables hold them.
pub fn take_in(store: &Store, records: Vec<Record>) {
    let committed = store.append(records).expect("it is written");
    store.wait_until_projected(committed.last).expect("it is projected");
}

/// Returns all rows of all tables of a store that is not open, as text.
pub fn dump(folder: &Path) -> Vec<String> {
    let connection = duckdb::Connection::open(folder.join("dashcam.duckdb")).expect("it opens");
    let names = "SELECT schema_name || '.' || table_name FROM duckdb_tables() ORDER BY 1";
    let mut statement = connection.prepare(names).expect("SQL");
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("tables")
        .map(|name| name.expect("a name"))
        .collect();
    let mut lines = Vec::new();
    for table in tables {
        let sql = format!("SELECT CAST(t AS VARCHAR) FROM {table} t ORDER BY 1");
        let mut statement = connection.prepare(&sql).expect("SQL");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        lines.extend(rows.map(|row| format!("{table} {}", row.expect("text"))));
    }
    lines
}

/// A store that is told what happened in lines of a few words:
///
/// ```text
/// user TEXT [origin=injected] [after=STEP]     said TEXT [id=r1] [in=1] [cached=2] [out=3] [far=IN/OUT]
/// call ID TOOL [INPUT]                              [tools] [end] [last] [cost=0.01] [model=M] [quality=Q]
/// result ID [STATUS] [TEXT]                    failed TEXT
/// reported ID STATUS [error=TEXT] [code=N] [ms=N]
/// context TEXT [slot=S]                        compacted [TEXT] [dropped=ID] [back=COUNT]
/// asked ID KEY (a memory that the call is to bring)
/// about [agent=A] [version=V] [by=U] [project=P] [tags=A,B]
/// recalled KEY | written KEY | listed SKILL | matched SKILL | write-rejected SKILL
/// retried | edited changed=N
/// queued TEXT [origin=O]                       left HOW [TEXT | all] [delivery=ID]
/// defaults M                                   interrupted | run TEXT | run-ended S | ended S | titled T
/// again LINE | amend LINE ...                  copy SESSION FROM TO
/// ```
///
/// A line is the step `s1`, `s2`, ... of its session, a second after the one before. `turn=K` names its turn,
/// `seq=N` its number, `fact=F` its fact. After a message, `copy` says that it is one for the screen,
/// and `joins` that it came in while the agent worked. A compaction keeps the steps `kept=s1,s2` or `kept=s1..s4`,
/// `behind=STEP`.
pub struct Tale {
    pub store: Store,
    _folder: tempfile::TempDir,
    told: BTreeMap<String, Vec<Event>>,
}

impl Tale {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { store: open(folder.path()), _folder: folder, told: BTreeMap::new() }
    }

    /// Returns a store that was told of one session, `s`.
    pub fn of(lines: &str) -> Self {
        let mut tale = Self::new();
        tale.tell("s", lines);
        tale
    }

    pub fn tell(&mut self, session: &str, lines: &str) {
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut records = Vec::new();
        for line in lines {
            for event in self.events(session, line) {
                records.push(event_record(&event));
                self.told.entry(session.to_owned()).or_default().push(event);
            }
        }
        take_in(&self.store, records);
    }

    /// Closes the store and returns all rows of its tables, as text.
    pub fn close(self) -> Vec<String> {
        let Self { store, _folder: folder, .. } = self;
        drop(store);
        dump(folder.path())
    }

    /// Says that `session` is a part of the work of `parent`.
    pub fn open_child(&self, session: &str, parent: &str) -> SourceId {
        let mut source = source_of(session, &format!("/{session}"));
        let parent = ParentLink { session: parent.to_owned(), kind: ParentKind::Subagent, call_id: None };
        source.about.parent = Some(parent);
        self.store.open_source(&source).expect("it is written")
    }

    pub fn session(&self, name: &str) -> SessionRow {
        self.store.session(name).expect("it is there")
    }

    fn events(&self, session: &str, line: &str) -> Vec<Event> {
        let words = Words::of(line);
        let told = self.told.get(session).map_or(&[][..], |told| told);
        match words.at(0) {
            "copy" => {
                let (from, to): (usize, usize) = (words.number(2), words.number(3));
                let copied = self.told[words.at(1)][from - 1..to].iter().cloned();
                copied.map(|event| Event { session: session.to_owned(), ..event }).collect()
            }
            "again" => vec![told[words.number::<usize>(1) - 1].clone()],
            "amend" => {
                let mut event = told[words.number::<usize>(1) - 1].clone();
                event.rev += 1;
                event.body = body(&Words { plain: words.plain[2..].to_vec(), named: words.named.clone() });
                vec![event]
            }
            _ => vec![self.event(session, told.len() + 1, &words)],
        }
    }

    fn event(&self, session: &str, n: usize, words: &Words<'_>) -> Event {
        let id = EventId::derived(&[session.as_bytes(), &n.to_le_bytes()]);
        let ts = Timestamp::from_micros(1_700_000_000_000_000 + n as i64 * 1_000_000);
        let mut event = Event::new(id, session, body(words)).at(Some(ts));
        event.step = Some(format!("s{n}"));
        event.after = words.named("after").map(str::to_owned);
        event.fact = words.named("fact").map(str::to_owned);
        event.turn = words.named("turn").map(str::to_owned);
        event.seq = words.named("seq").map(|seq| seq.parse().expect("a number"));
        event
    }
}

/// The words of a line: plain ones in order, and those with a name.
struct Words<'a> {
    plain: Vec<&'a str>,
    named: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        let (named, plain): (Vec<&str>, Vec<&str>) =
            line.split_whitespace().partition(|word| word.contains('=') && !word.starts_with('{'));
        Self { plain, named: named.into_iter().filter_map(|word| word.split_once('=')).collect() }
    }

    fn at(&self, n: usize) -> &'a str {
        self.plain.get(n).copied().unwrap_or_default()
    }

    fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, n: usize) -> T {
        self.at(n).parse().expect("a number")
    }

    fn has(&self, word: &str) -> bool {
        self.plain.contains(&word)
    }

    fn named(&self, name: &str) -> Option<&'a str> {
        self.named.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn tokens(&self, name: &str) -> Option<u64> {
        self.named(name).map(|value| value.parse().expect("tokens"))
    }
}

fn body(words: &Words<'_>) -> Body {
    let text = words.at(1).to_owned();
    match words.at(0) {
        "user" => Body::UserMessaged(UserMessaged {
            text,
            origin: words.named("origin").map(|origin| Origin::from_word(origin).expect("an origin")),
            is_copy: words.has("copy"),
            joins_run: words.has("joins"),
            ..Default::default()
        }),
        "about" => Body::SessionStarted(SessionStarted {
            agent: words.named("agent").map(str::to_owned),
            agent_version: words.named("version").map(str::to_owned),
            user: words.named("by").map(str::to_owned),
            project: words.named("project").map(str::to_owned),
            tags: words
                .named("tags")
                .map_or_else(Vec::new, |tags| tags.split(',').map(str::to_owned).collect()),
            ..Default::default()
        }),
        "retried" => Body::UserRetried(UserRetried::default()),
        "edited" => {
            Body::UserEdited(UserEdited { lines_changed: words.tokens("changed"), ..Default::default() })
        }
        "recalled" => Body::MemoryRecalled(note(text)),
        "written" => Body::MemoryWritten(note(text)),
        "listed" => Body::SkillListed(note(text)),
        "matched" => Body::SkillMatched(note(text)),
        "write-rejected" => Body::SkillWriteRejected(note(text)),
        "asked" => Body::MemoryRecalled(LearningNote {
            key: words.at(2).to_owned(),
            call_id: Some(text),
            when_done: true,
            ..Default::default()
        }),
        "queued" => Body::MessageQueued(waiting(text, words)),
        "left" => Body::MessageUnqueued(Unqueued {
            how: QueueExit::from_word(&text),
            message: Some(waiting(words.at(2).to_owned(), words)).filter(|message| !message.text.is_empty()),
            delivery: words.named("delivery").map(str::to_owned),
            all: words.has("all"),
            ..Default::default()
        }),
        "said" => Body::ModelResponded(said(text, words)),
        "failed" => {
            let error = agent_core::ErrorInfo { message: Some(text), ..Default::default() };
            Body::ModelFailed(ModelFailed { error, ..Default::default() })
        }
        "call" => Body::ToolCalled(ToolCalled {
            call_id: text,
            name: words.at(2).to_owned(),
            input: Json::parse(words.at(3).to_owned()).ok(),
            ..Default::default()
        }),
        "result" => Body::ToolEnded(ToolEnded {
            call_id: text,
            status: ToolStatus::from_word(words.at(2)),
            output: Some(Json::string(words.at(3))),
            ..Default::default()
        }),
        "reported" => Body::ToolReported(ToolReported {
            call_id: text,
            status: ToolStatus::from_word(words.at(2)),
            error: words
                .named("error")
                .map(|words| agent_core::ErrorInfo { message: Some(words.to_owned()), ..Default::default() }),
            exit_code: words.named("code").map(|code| code.parse().expect("a number")),
            duration_ms: words.tokens("ms"),
            ..Default::default()
        }),
        "context" => Body::ContextAdded(ContextAdded {
            content: Some(Json::string(&text)),
            slot: words.named("slot").map(str::to_owned),
            ..Default::default()
        }),
        "compacted" => Body::ContextCompacted(ContextCompacted {
            replacement: (!text.is_empty()).then(|| Json::string(&text)),
            dropped_calls: words.named("dropped").map(|call| vec![call.to_owned()]),
            kept: words.named("kept").map(|steps| kept(steps, words)),
            dropped_requests: words.named("back").map(|count| count.parse().expect("a number")),
            ..Default::default()
        }),
        "defaults" => Body::TurnStarted(TurnStarted { model: Some(text), ..Default::default() }),
        "interrupted" => Body::UserInterrupted(UserInterrupted::default()),
        "run" => Body::RunStarted(RunStarted { task: Some(text), ..Default::default() }),
        "run-ended" => Body::RunEnded(ended(&text, words)),
        "ended" => Body::SessionEnded(ended(&text, words)),
        "titled" => Body::SessionTitled(SessionTitled { title: text, ..Default::default() }),
        other => panic!("no such word: {other}"),
    }
}

fn note(key: String) -> LearningNote {
    LearningNote { key, ..Default::default() }
}

fn waiting(text: String, words: &Words<'_>) -> UserMessaged {
    UserMessaged {
        text,
        origin: words.named("origin").map(|origin| Origin::from_word(origin).expect("an origin")),
        joins_run: true,
        ..Default::default()
    }
}

/// Reads `s1,s2`, or `s1..s4` for all from the one to the other.
fn kept(steps: &str, words: &Words<'_>) -> KeptHistory {
    let span = steps.split_once("..").map(|(first, last)| (first.to_owned(), last.to_owned()));
    let steps = if span.is_some() { Vec::new() } else { steps.split(',').map(str::to_owned).collect() };
    KeptHistory { steps, span, behind: words.named("behind").map(str::to_owned) }
}

fn said(text: String, words: &Words<'_>) -> ModelResponded {
    let mut content = Vec::new();
    if text != "-" {
        content.push(Block::Text { text });
    }
    if words.has("tools") {
        content.push(Block::ToolUse { call_id: "c".to_owned(), name: "t".to_owned() });
    }
    let far = words.named("far").map(|far| {
        let (input, output) = far.split_once('/').expect("IN/OUT");
        let of = |tokens: &str| Some(tokens.parse().expect("tokens"));
        Usage { uncached_input: of(input), output: of(output), ..Default::default() }
    });
    ModelResponded {
        response_id: words.named("id").map(str::to_owned),
        model: words.named("model").map(str::to_owned),
        content,
        usage: Usage {
            uncached_input: words.tokens("in"),
            cache_read: words.tokens("cached"),
            cache_write_5m: words.tokens("written"),
            output: words.tokens("out"),
            ..Default::default()
        },
        usage_so_far: far,
        usage_quality: words
            .named("quality")
            .map(|quality| UsageQuality::from_word(quality).expect("a quality")),
        finish_reason: words.has("end").then(|| "end_turn".to_owned()),
        last_piece: words.has("last"),
        is_copy: words.has("copy"),
        reported_cost_usd: words.named("cost").map(|cost| PicoUsd::from_decimal(cost).expect("money")),
        ..Default::default()
    }
}

fn ended(status: &str, words: &Words<'_>) -> Ended {
    let mut ended = Ended {
        status: Status::from_word(status),
        end_reason: words.named("reason").and_then(EndReason::from_word),
        ..Default::default()
    };
    ended.usage.uncached_input = words.tokens("in");
    ended.usage.output = words.tokens("out");
    if let Some(cost) = words.named("cost") {
        ended.reported_cost_usd = PicoUsd::from_decimal(cost);
    }
    ended
}

/// Returns the only file of the journal.
pub fn journal_file(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder.join("journal"))
        .expect("a folder")
        .map(|entry| entry.expect("a file").path());
    let mut files = files.filter(|path| path.extension().is_some_and(|extension| extension == "journal"));
    let file = files.next().expect("there is one");
    assert!(files.next().is_none(), "there is one only");
    file
}
