//! A store of its own for each test, and the corpus.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_core::Timestamp;
use collector::formats::{self, Format};
use collector::{Imported, ImportedFile, Importer};
use serde_json::{Value, json};
use store::{Mapped, Row, SessionFilter, SessionRow, Source, Store};
use tempfile::TempDir;

/// The first bytes of a file by which it is known.
const HEAD_BYTES: usize = 256 << 10;

/// Returns the corpus; nothing, with a word of it, where there is none.
pub(crate) fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("DASHCAM_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    if !corpus.is_dir() {
        eprintln!("skipped: no corpus at {}", corpus.display());
        return None;
    }
    Some(corpus)
}

/// Returns the session files of Claude Code in the corpus.
pub(crate) fn sessions() -> Vec<PathBuf> {
    corpus().map(|corpus| files(&corpus.join("claude-code"))).unwrap_or_default()
}

/// Returns the session whose file name holds `mark`.
pub(crate) fn session(mark: &str) -> Option<PathBuf> {
    sessions().into_iter().find(|path| path.to_string_lossy().contains(mark))
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns what the independent program says of the file.
pub(crate) fn independent(path: &Path) -> Value {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/claude_code.py");
    let output = Command::new("python3").arg(program).arg(path).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A store with a folder for files.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) store: Store,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::open(&folder.path().join("data"), collector::mappers()).unwrap();
        Self { folder, store }
    }

    /// Returns a store that has taken in the file.
    pub(crate) fn with(path: &Path) -> Self {
        let bench = Self::new();
        bench.import(path);
        bench
    }

    /// Returns a store that has taken in a file of these rows.
    pub(crate) fn with_rows(name: &str, rows: &[Value]) -> Self {
        let bench = Self::new();
        bench.import(&bench.write(name, &lines(rows)));
        bench
    }

    /// Writes a file below the bench's folder.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("files").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn import(&self, path: &Path) -> ImportedFile {
        let imported = Importer::new(self.store.clone()).import(path, &mut |_| {}).unwrap();
        self.store.wait_until_projected(self.store.journal().last()).unwrap();
        match imported {
            Imported::Session(file) => file,
            Imported::NotASession => panic!("{} is no session", path.display()),
        }
    }

    /// Returns all sessions, by name.
    pub(crate) fn all(&self) -> Vec<SessionRow> {
        let now = Timestamp::from_micros(0);
        let mut rows = self.store.sessions(&SessionFilter::default(), now).unwrap().sessions;
        rows.sort_by(|a, b| a.session.cmp(&b.session));
        rows
    }

    pub(crate) fn one(&self, name: &str) -> SessionRow {
        self.all().into_iter().find(|row| row.session == name).expect("the session is there")
    }

    /// Returns the prompt of a turn's first call, as text.
    pub(crate) fn prompt(&self, session: &SessionRow, turn: u32) -> String {
        let calls = self.store.prompt_calls(session.session_key, turn).unwrap();
        let prompt = self.store.prompt(session.session_key, turn, calls[0]).unwrap();
        let text = String::from_utf8(prompt.body()).unwrap();
        serde_json::from_str::<Value>(&text).expect("a prompt is JSON");
        text
    }
}

/// Returns the figures of a session under the names of the independent program.
pub(crate) fn figures(row: &SessionRow) -> Value {
    let mut models: Vec<String> = serde_json::from_str(&row.models).unwrap();
    models.sort();
    json!({
        "turns": row.turns, "model_calls": row.model_calls, "failed_model_calls": row.failed_model_calls,
        "tool_calls": row.tool_calls, "failed_tool_calls": row.failed_tool_calls,
        "interrupts": row.interrupts, "compactions": row.compactions, "models": models,
        "uncached": row.uncached_input_tokens.unwrap_or(0), "read": row.cache_read_tokens.unwrap_or(0),
        "write_5m": row.cache_write_5m_tokens.unwrap_or(0),
        "write_1h": row.cache_write_1h_tokens.unwrap_or(0), "output": row.output_tokens.unwrap_or(0),
    })
}

/// Returns the rows as the lines of a file.
pub(crate) fn lines(rows: &[Value]) -> Vec<u8> {
    rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
}

pub(crate) fn claude() -> Box<dyn Format> {
    formats::all().into_iter().find(|format| format.format() == "claude-code").expect("the format is listed")
}

/// Returns the source that a file is.
pub(crate) fn source(format: &dyn Format, path: &Path, bytes: &[u8]) -> Source {
    let described = format.describe(path, &bytes[..bytes.len().min(HEAD_BYTES)]);
    Source {
        format: format.format().to_owned(),
        path: path.to_string_lossy().into_owned(),
        session: described.session,
        about: described.about,
        first_row: String::new(),
        is_document: false,
    }
}

/// Returns what a row means.
pub(crate) fn map(format: &dyn Format, source: &Source, row: Row<'_>) -> Mapped {
    let mut out = Mapped::default();
    format.map(source, row, &mut out);
    out
}

/// Returns the rows of a file.
pub(crate) fn rows(bytes: &[u8]) -> Vec<Row<'_>> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    lines
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .map(|(at, bytes)| Row { number: at as u64 + 1, bytes })
        .collect()
}

/// Returns a head as the importer sees it.
pub(crate) fn head(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(HEAD_BYTES);
    bytes
}
