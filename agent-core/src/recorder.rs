//! Writes a trajectory file: one event a line, each chunk of a prompt once.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashSet;

use crate::{
    Body, ChunkDefined, ChunkKind, ChunkUse, Event, EventId, LeftOut, PromptAssembled, PromptChange,
    Timestamp,
};

/// Says what went wrong with a trajectory file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} the trajectory {path}: {cause}")]
pub struct RecorderError {
    action: &'static str,
    path: PathBuf,
    cause: io::Error,
}

/// One part of a prompt, in the order of the request's bytes.
#[derive(Clone, Debug)]
pub struct PromptPart<'a> {
    /// The slice of the request body.
    pub bytes: &'a [u8],
    /// What it is.
    pub kind: ChunkKind,
    /// Where it comes from.
    pub source: Option<&'a str>,
    /// Why it is in front of the model.
    pub reason: Option<&'a str>,
    /// Its size in tokens, where it was counted.
    pub tokens: Option<u64>,
}

/// Writes the events of one session to a file.
///
/// Each event goes to the file by one write of one whole line, so that a killed process leaves whole lines
/// and at most one torn one. A file that is there already is gone on with: its torn end is closed by a line
/// break and `seq` goes on after the last one in it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// use agent_core::{Body, Recorder, UserMessaged};
/// let mut recorder = Recorder::open(&folder.path().join("run.jsonl"), "session-1")?;
/// recorder.record(Body::UserMessaged(UserMessaged { text: "mend the test".into(), ..Default::default() }))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
    session: String,
    run: Option<String>,
    turn: Option<String>,
    next_seq: u64,
    defined: FxHashSet<String>,
    last_prompt: Vec<ChunkUse>,
    /// Whether a write failed and may have left the beginning of a line.
    is_torn: bool,
}

impl Recorder {
    /// Opens or makes the file at `path` to record `session` in it.
    pub fn open(path: &Path, session: impl Into<String>) -> Result<Self, RecorderError> {
        let fail = |action| move |cause| RecorderError { action, path: path.to_owned(), cause };
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(path).map_err(fail("open"))?;
        let mut recorder = Self {
            next_seq: 1,
            defined: FxHashSet::default(),
            file: file.try_clone().map_err(fail("open"))?,
            path: path.to_owned(),
            session: session.into(),
            run: None,
            turn: None,
            last_prompt: Vec::new(),
            is_torn: false,
        };
        recorder.catch_up(&file).map_err(fail("read"))?;
        close_torn_line(&mut file).map_err(fail("write"))?;
        Ok(recorder)
    }

    /// Sets the run that the next events belong to.
    pub fn set_run(&mut self, run: Option<String>) {
        self.run = run;
    }

    /// Sets the turn that the next events belong to.
    pub fn set_turn(&mut self, turn: Option<String>) {
        self.turn = turn;
    }

    /// Records what happened now and returns the event's id.
    pub fn record(&mut self, body: Body) -> Result<EventId, RecorderError> {
        self.record_at(Timestamp::now(), body)
    }

    /// Records what happened at `ts` and returns the event's id.
    pub fn record_at(&mut self, ts: Timestamp, body: Body) -> Result<EventId, RecorderError> {
        let mut event = Event::new(EventId::new_v7(), self.session.clone(), body).at(Some(ts));
        event.run.clone_from(&self.run);
        event.turn.clone_from(&self.turn);
        event.seq = Some(self.next_seq);
        event.source = Some("recorder".to_owned());
        let torn_end = if self.is_torn { "\n" } else { "" };
        let line = format!("{torn_end}{}\n", event.to_json());
        self.is_torn = true;
        self.file.write_all(line.as_bytes()).map_err(|cause| RecorderError {
            action: "write",
            path: self.path.clone(),
            cause,
        })?;
        self.is_torn = false;
        self.next_seq += 1;
        Ok(event.id)
    }

    /// Records a prompt: the chunks that are new, then the list as a change to the prompt before.
    ///
    /// The parts' bytes, one after the other, are the request body. Returns the body's hash in hex.
    pub fn record_prompt(
        &mut self,
        parts: &[PromptPart<'_>],
        left_out: Vec<LeftOut>,
    ) -> Result<String, RecorderError> {
        let mut body = blake3::Hasher::new();
        let mut uses = Vec::with_capacity(parts.len());
        for part in parts {
            body.update(part.bytes);
            let hash = blake3::hash(part.bytes).to_hex().to_string();
            if !self.defined.contains(&hash) {
                self.record(Body::ChunkDefined(define(&hash, part.bytes)))?;
                self.defined.insert(hash.clone());
            }
            uses.push(ChunkUse {
                hash,
                kind: part.kind,
                source: part.source.map(str::to_owned),
                reason: part.reason.map(str::to_owned),
                tokens: part.tokens,
                tokens_basis: part.tokens.map(|_| "counted".to_owned()),
            });
        }
        let body_hash = body.finalize().to_hex().to_string();
        let changes = changes_between(&self.last_prompt, &uses);
        self.record(Body::PromptAssembled(PromptAssembled {
            body_hash: body_hash.clone(),
            changes,
            left_out,
            ..Default::default()
        }))?;
        self.last_prompt = uses;
        Ok(body_hash)
    }

    /// Reads what the file holds of this session: the next `seq` and the chunks that need no second writing.
    fn catch_up(&mut self, file: &File) -> io::Result<()> {
        let mut reader = BufReader::new(file);
        reader.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            // A line that is no event is the torn end of an earlier process; the reader of the file reports it.
            if let Ok(event) = Event::from_json(&line)
                && event.session == self.session
            {
                self.next_seq = self.next_seq.max(event.seq.unwrap_or(0) + 1);
                if let Body::ChunkDefined(chunk) = event.body {
                    self.defined.insert(chunk.hash);
                }
            }
            line.clear();
        }
        Ok(())
    }
}

fn close_torn_line(file: &mut File) -> io::Result<()> {
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(len - 1))?;
    file.read_exact(&mut last)?;
    if last[0] == b'\n' { Ok(()) } else { file.write_all(b"\n") }
}

fn define(hash: &str, bytes: &[u8]) -> ChunkDefined {
    match std::str::from_utf8(bytes) {
        Ok(text) => ChunkDefined { hash: hash.to_owned(), text: Some(text.to_owned()), ..Default::default() },
        Err(_) => {
            ChunkDefined { hash: hash.to_owned(), base64: Some(STANDARD.encode(bytes)), ..Default::default() }
        }
    }
}

/// Returns `new` as a change to `old`: what they share at their start and at their end is kept.
fn changes_between(old: &[ChunkUse], new: &[ChunkUse]) -> Vec<PromptChange> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let suffix =
        old[prefix..].iter().rev().zip(new[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    let mut changes = Vec::new();
    let keep = |from: usize, to: usize| {
        let bound = |n: usize| u32::try_from(n).expect("a prompt has fewer than 2^32 chunks");
        (from < to).then(|| PromptChange::Keep { from: bound(from), to: bound(to) })
    };
    changes.extend(keep(0, prefix));
    if prefix + suffix < new.len() {
        changes.push(PromptChange::Add(new[prefix..new.len() - suffix].to_vec()));
    }
    changes.extend(keep(old.len() - suffix, old.len()));
    changes
}
