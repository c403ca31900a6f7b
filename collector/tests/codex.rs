//! Reads real Codex rollouts and compares the sums with those of an independent program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_core::{Block, Body, Event, ModelResponded, ToolEnded, ToolStatus, Usage};
use collector::formats::{self, Format, Layout};
use serde_json::{Value, json};
use store::{Mapped, Row, Source};

/// The first bytes of a file by which it is known.
const HEAD_BYTES: usize = 256 << 10;

fn codex() -> Box<dyn Format> {
    formats::all().into_iter().find(|format| format.format() == "codex").expect("the format is listed")
}

/// Returns the rollouts of the corpus; nothing, with a word of it, where there is no corpus.
fn rollouts() -> Vec<PathBuf> {
    let corpus = std::env::var_os("DASHCAM_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    let Ok(entries) = fs::read_dir(corpus.join("codex")) else {
        eprintln!("skipped: no corpus at {}", corpus.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths
}

fn open(format: &dyn Format, path: &Path, bytes: &[u8]) -> Source {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    assert_eq!(format.sniff(head), Some(Layout::Lines), "{}", path.display());
    let described = format.describe(path, head);
    Source {
        format: "codex".into(),
        path: path.to_string_lossy().into_owned(),
        session: described.session,
        about: described.about,
        first_row: String::new(),
        is_document: false,
    }
}

/// Returns the rows as a journal would give them: blank lines are none.
fn rows(bytes: &[u8]) -> Vec<Row<'_>> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    lines
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .map(|(at, bytes)| Row { number: at as u64 + 1, bytes })
        .collect()
}

fn map(format: &dyn Format, source: &Source, row: Row<'_>) -> Mapped {
    let mut out = Mapped::default();
    format.map(source, row, &mut out);
    out
}

/// Counts the events of one file under the names that the independent program uses.
#[derive(Default)]
struct Sums {
    calls: u64,
    results: u64,
    failed: u64,
    /// The exit codes in order, and the sum of the times that the tools ran.
    codes: Vec<i64>,
    wall_ms: u64,
    reports: u64,
    /// What was told of ends beside the results, and how much of it was bad news.
    ends: u64,
    bad_ends: u64,
    /// Messages for the screen.
    copies: u64,
    interrupts: u64,
    compactions: u64,
    steps_back: u64,
    answers: u64,
    tokens: Usage,
    models: BTreeSet<String>,
    last_so_far: Option<Usage>,
}

impl Sums {
    fn take(&mut self, event: &Event) {
        match &event.body {
            Body::ToolCalled(_) => self.calls += 1,
            Body::ToolEnded(ended) => {
                self.results += 1;
                let failed = ended.status == Some(ToolStatus::Failed);
                self.failed += u64::from(failed);
                self.codes.extend(ended.exit_code);
                self.wall_ms += ended.duration_ms.unwrap_or(0);
                check_words(ended, failed);
            }
            Body::ToolReported(report) => {
                self.ends += 1;
                self.bad_ends += u64::from(report.status == Some(ToolStatus::Failed));
            }
            Body::UserMessaged(message) => self.copies += u64::from(message.is_copy),
            Body::UserInterrupted(_) => self.interrupts += 1,
            Body::ContextCompacted(compacted) => {
                self.compactions += u64::from(compacted.is_full());
                self.steps_back += u64::from(compacted.dropped_requests.unwrap_or(0));
            }
            Body::TurnStarted(started) => self.models.extend(started.model.clone()),
            Body::ModelResponded(piece) if piece.last_piece => self.report(piece),
            // A copy for the screen counts only where the message itself is missing.
            Body::ModelResponded(piece) if piece.is_copy => self.copies += 1,
            Body::ModelResponded(piece) => {
                self.answers +=
                    u64::from(piece.content.iter().any(|block| matches!(block, Block::Text { .. })));
            }
            _ => {}
        }
    }

    fn report(&mut self, piece: &ModelResponded) {
        // The same sum twice is one report.
        if piece.usage_so_far.is_some() && piece.usage_so_far == self.last_so_far {
            return;
        }
        self.reports += 1;
        self.tokens = self.tokens.plus(piece.usage);
        self.last_so_far = piece.usage_so_far.or(self.last_so_far);
    }

    fn told(&self) -> Value {
        json!({
            "calls": self.calls, "results": self.results, "failed": self.failed, "reports": self.reports,
            "codes": self.codes, "wall_ms": self.wall_ms, "ends": self.ends, "bad_ends": self.bad_ends,
            "copies": self.copies, "steps_back": self.steps_back,
            "interrupts": self.interrupts, "compactions": self.compactions, "answers": self.answers,
            "prompt": self.tokens.prompt().unwrap_or(0), "cached": self.tokens.cache_read.unwrap_or(0),
            "written": self.tokens.cache_write().unwrap_or(0), "output": self.tokens.output.unwrap_or(0),
            "reasoning": self.tokens.reasoning.unwrap_or(0), "models": self.models,
        })
    }
}

/// A failure is told in the output's own words and not in those of the runtime above it; a success has none.
fn check_words(ended: &ToolEnded, failed: bool) {
    let words = ended.error.as_ref().and_then(|error| error.message.as_deref());
    assert_eq!(words.is_some(), failed, "{ended:?}");
    let heads = ["Chunk ID", "Wall time", "Process exited", "Script completed", "Exit code", "Output:", "["];
    assert!(!words.is_some_and(|words| heads.iter().any(|head| words.starts_with(head))), "{words:?}");
}

#[test]
fn sums_agree_with_an_independent_reading() {
    let paths = rollouts();
    if paths.is_empty() {
        return;
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/codex.py");
    let output = Command::new("python3").arg(program).args(&paths).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected: Vec<Value> = output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("one object a line"))
        .collect();
    assert_eq!(expected.len(), paths.len());

    let format = codex();
    for (path, expected) in paths.iter().zip(expected) {
        let bytes = fs::read(path).expect("the file can be read");
        let source = open(&*format, path, &bytes);
        let mut sums = Sums::default();
        for row in rows(&bytes) {
            map(&*format, &source, row).events.iter().for_each(|event| sums.take(event));
        }
        assert_eq!(sums.told(), expected, "{}", path.display());
    }
}

#[test]
fn every_row_means_something_whatever_the_order() {
    let format = codex();
    for path in rollouts() {
        let bytes = fs::read(&path).expect("the file can be read");
        let source = open(&*format, &path, &bytes);
        let rows = rows(&bytes);
        let forward: Vec<Mapped> = rows.iter().map(|row| map(&*format, &source, *row)).collect();
        let mut ids = BTreeSet::new();
        for (row, mapped) in rows.iter().zip(&forward).rev() {
            let again = map(&*format, &source, *row);
            assert_eq!(again.events, mapped.events, "{} row {}", path.display(), row.number);
            assert!(!mapped.events.is_empty(), "{} row {}", path.display(), row.number);
            // What the fixtures had trimmed away is the only thing that cannot be read.
            let trimmed = |reason: &str| reason.contains("[trimmed for fixture]");
            assert!(mapped.unread.iter().all(|unread| trimmed(&unread.0)), "{:?}", mapped.unread);
            assert!(mapped.events.iter().all(|event| ids.insert(event.id.to_string())), "{}", path.display());
        }
    }
}

/// What Codex wrote itself tells each message twice; the fixtures had their texts trimmed away.
#[test]
fn each_message_for_the_screen_has_the_fact_of_one_for_the_model() {
    let format = codex();
    let recorded = |path: &&PathBuf| !path.to_string_lossy().contains("fixture");
    for path in rollouts().iter().filter(recorded) {
        let bytes = fs::read(path).expect("the file can be read");
        let source = open(&*format, path, &bytes);
        let (mut copies, mut others) = (Vec::new(), Vec::new());
        for event in rows(&bytes).into_iter().flat_map(|row| map(&*format, &source, row).events) {
            let told = match &event.body {
                Body::UserMessaged(message) if message.is_copy => &mut copies,
                Body::ModelResponded(piece) if piece.is_copy => &mut copies,
                Body::UserMessaged(_) | Body::ModelResponded(_) => &mut others,
                _ => continue,
            };
            told.push(event.fact);
        }
        assert!(!copies.is_empty(), "{}", path.display());
        assert!(copies.iter().all(|fact| others.contains(fact)), "{}", path.display());
    }
}

#[test]
fn a_longer_snapshot_repeats_the_events_of_a_shorter_one() {
    let format = codex();
    let paths = rollouts();
    let find = |mark: &str| paths.iter().find(|path| path.to_string_lossy().contains(mark));
    let (Some(early), Some(late)) = (find("earlier-snapshot"), find("later-snapshot")) else {
        return;
    };
    let read = |path: &Path| -> Vec<Event> {
        let bytes = fs::read(path).expect("the file can be read");
        let source = open(&*format, path, &bytes);
        rows(&bytes).into_iter().flat_map(|row| map(&*format, &source, row).events).collect()
    };
    let (early, late) = (read(early), read(late));
    assert!(late.len() > early.len());
    assert_eq!(early[..], late[..early.len()]);
}
