//! One session as its events build it up: turns, runs, calls, sums.

mod calls;
mod ending;
mod place;
mod tools;

use std::sync::Arc;

use agent_core::{Body, ChunkKind, Event, Origin, ParentKind, SessionStarted, Timestamp, Usage, UsageQuality};
use duckdb::Connection;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::kept::KeptRows;
use super::prompt::{NewPart, PartPlace, PromptCarry, PromptState};
use super::tables::*;
use super::text::{hash64, preview};
use ending::LastThing;
pub(super) use place::Place;

/// The small part of a session's state, kept as JSON in its row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Carry {
    next_event: u32,
    next_tool_call: u32,
    turn: u32,
    turn_responded: bool,
    turn_native: Option<String>,
    /// The first event of a turn that has no row yet.
    turn_first_event: Option<u32>,
    run: u32,
    run_turns: u32,
    run_responded: bool,
    /// The call of the current turn, and whether pieces without a response id still belong to it.
    call: u32,
    response_open: bool,
    /// Whether the last call has no usage yet and nothing came since that begins another.
    awaits_usage: bool,
    /// Whether costs were reported with calls; then a total of the session adds nothing.
    costs_by_call: bool,
    model: Option<String>,
    provider: Option<String>,
    usage_so_far: Option<Usage>,
    last_thing: LastThing,
    quality_counts: [u32; 5],
    titled: bool,
    compacted: bool,
    /// Whether the events of the parent are still being replayed at the start of a child.
    replaying: bool,
    last_step: Option<u64>,
    ended: Option<(String, String)>,
    prompt: PromptCarry,
}

/// The ids and facts that a child shares with its ancestors.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    pub(super) ids: FxHashSet<u64>,
    pub(super) facts: FxHashSet<u64>,
}

/// What the projection holds in memory of one session.
pub(super) struct Session {
    pub(super) row: SessionRow,
    carry: Carry,
    written: bool,
    changed: bool,
    ids: FxHashSet<u64>,
    facts: FxHashSet<u64>,
    /// Where each step came in, to find where a branch leaves.
    steps: FxHashMap<u64, u64>,
    responses: FxHashMap<u64, (u32, u32)>,
    inherited: Option<Arc<Inherited>>,
    prompt: PromptState,
    runs: KeptRows<u32, RunRow>,
    turns: KeptRows<u32, TurnRow>,
    calls: KeptRows<(u32, u32), ModelCallRow>,
    tools: KeptRows<u64, ToolCallRow>,
}

/// What applying an event needs besides the session.
pub(super) struct Context<'a> {
    pub(super) batch: &'a mut Batch,
    pub(super) database: &'a Connection,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// It is kept.
    Stored,
    /// It was known already.
    Duplicate,
}

impl Session {
    pub(super) fn new(session_key: u32, name: &str) -> Self {
        let row = SessionRow {
            session_key,
            session: name.to_owned(),
            models: "[]".to_owned(),
            tools: "[]".to_owned(),
            status: "unknown".to_owned(),
            end_reason: "unknown".to_owned(),
            usage_quality: UsageQuality::Missing.as_str().to_owned(),
            ..Default::default()
        };
        Self::with_row(row, Carry { replaying: true, ..Default::default() }, false)
    }

    fn with_row(row: SessionRow, carry: Carry, written: bool) -> Self {
        Self {
            row,
            carry,
            written,
            changed: true,
            ids: FxHashSet::default(),
            facts: FxHashSet::default(),
            steps: FxHashMap::default(),
            responses: FxHashMap::default(),
            inherited: None,
            prompt: PromptState::default(),
            runs: KeptRows::default(),
            turns: KeptRows::default(),
            calls: KeptRows::default(),
            tools: KeptRows::default(),
        }
    }

    /// Loads a session as an earlier batch left it.
    pub(super) fn load(database: &Connection, row: SessionRow) -> Result<Self, super::ProjectionError> {
        let carry = serde_json::from_str(&row.carry).map_err(|cause| super::ProjectionError::Carry {
            session: row.session.clone(),
            cause,
        })?;
        let mut session = Self::with_row(row, carry, true);
        session.changed = false;
        place::load_sets(&mut session, database)?;
        Ok(session)
    }

    /// Says that the session shares the beginning of its history with others.
    pub(super) fn inherit(&mut self, inherited: Arc<Inherited>) {
        self.inherited = Some(inherited);
    }

    pub(super) fn has_inherited(&self) -> bool {
        self.inherited.is_some()
    }

    /// Returns the ids and facts that are the session's own.
    pub(super) fn own(&self) -> Inherited {
        Inherited { ids: self.ids.clone(), facts: self.facts.clone() }
    }

    /// Returns the turn that the session has reached.
    pub(super) fn turn(&self) -> u32 {
        self.carry.turn
    }

    /// Returns how many events are kept.
    pub(super) fn event_count(&self) -> u32 {
        self.carry.next_event
    }

    /// Counts a piece of its source that could not be read.
    pub(super) fn refused(&mut self) {
        self.changed = true;
        self.row.events_refused += 1;
    }

    /// Takes in one event.
    pub(super) fn apply(&mut self, event: &Event, place: Place, context: &mut Context<'_>) -> duckdb::Result<Applied> {
        self.changed = true;
        self.row.events_received += 1;
        self.row.position = place.position;
        if let Some(seq) = event.seq {
            self.row.events_emitted = self.row.events_emitted.max(Some(seq));
        }
        let id = super::event_identity(event);
        let fact = event.fact.as_deref().map(hash64);
        if self.is_replayed(id, fact) {
            self.row.events_duplicate += 1;
            self.take_over(event, place, context);
            return Ok(Applied::Duplicate);
        }
        if !self.ids.insert(id) {
            self.row.events_duplicate += 1;
            return Ok(Applied::Duplicate);
        }
        let step = event.step.as_deref().map(hash64);
        let turn = self.take_in(event, place, context)?;
        self.facts.extend(fact);
        self.note_time(event.ts, turn);
        if let Some(step) = step {
            self.steps.insert(step, place.position);
            self.carry.last_step = Some(step);
        }
        let n = self.carry.next_event;
        self.carry.next_event += 1;
        if turn > 0 && !self.turns.contains(turn) && self.carry.turn_first_event.is_none() {
            self.carry.turn_first_event = Some(n);
        }
        if let Some(row) = self.turns.get_mut(turn) {
            row.last_n = row.last_n.max(n);
        }
        context.batch.events.push(EventRow {
            session_key: self.row.session_key,
            n,
            ts: event.ts,
            event_type: event.body.name().to_owned(),
            turn,
            position: place.position,
            sub: place.sub,
            id,
            fact,
            step,
        });
        self.row.events_stored += 1;
        Ok(Applied::Stored)
    }

    /// Returns whether the event is one of the ancestors': ids are theirs anywhere, facts only while the
    /// replay at the start goes on, since the same words may well be said again later.
    fn is_replayed(&mut self, id: u64, fact: Option<u64>) -> bool {
        let Some(inherited) = &self.inherited else { return false };
        if inherited.ids.contains(&id) {
            return true;
        }
        if let Some(fact) = fact
            && self.carry.replaying
        {
            self.carry.replaying = inherited.facts.contains(&fact);
            return self.carry.replaying;
        }
        false
    }

    /// Takes from an ancestor's event what goes on in the child: its place in the prompt, and the sums so far.
    fn take_over(&mut self, event: &Event, place: Place, context: &mut Context<'_>) {
        match &event.body {
            Body::ModelResponded(piece) if piece.usage_so_far.is_some() => {
                self.carry.usage_so_far = piece.usage_so_far;
            }
            Body::TurnStarted(turn) => self.set_defaults(turn),
            _ => {}
        }
        self.add_parts(event, 1, place, context.batch);
    }

    /// Takes in what an event says and returns its turn.
    fn take_in(&mut self, event: &Event, place: Place, context: &mut Context<'_>) -> duckdb::Result<u32> {
        self.follow_native_turn(event);
        let turn = match &event.body {
            Body::SessionStarted(about) => {
                self.describe(about);
                self.carry.turn
            }
            Body::SessionTitled(titled) => {
                self.row.title = Some(preview(&titled.title));
                self.carry.titled = true;
                self.carry.turn
            }
            Body::SessionEnded(ended) => {
                self.session_ended(ended);
                self.carry.turn
            }
            Body::RunStarted(run) => {
                self.start_run(run.task.as_deref().unwrap_or_default(), event.ts);
                self.input_turn()
            }
            Body::RunEnded(ended) => {
                self.run_ended(ended);
                self.carry.turn
            }
            Body::TurnStarted(defaults) => {
                self.set_defaults(defaults);
                self.input_turn()
            }
            Body::UserMessaged(message) => self.user_messaged(event, message),
            Body::UserInterrupted(_) => self.interrupted(),
            Body::ModelResponded(piece) => self.model_responded(event, piece, context)?,
            Body::ModelFailed(failure) => self.model_failed(event, failure, context),
            Body::ToolCalled(call) => self.tool_called(event, call, place),
            Body::ToolEnded(end) => self.tool_ended(event, end, place, context)?,
            Body::ContextCompacted(compacted) => {
                self.row.compactions += 1;
                self.carry.response_open = false;
                self.carry.awaits_usage = false;
                self.prompt.compact(&mut self.carry.prompt, compacted.dropped_calls.as_deref());
                let turn = self.input_turn();
                self.carry.compacted = true;
                turn
            }
            Body::ContextAdded(_)
            | Body::ChunkDefined(_)
            | Body::PromptAssembled(_)
            | Body::ModelRequested(_)
            | Body::MemoryRecalled(_)
            | Body::SkillListed(_) => self.input_turn(),
            _ => self.carry.turn,
        };
        self.add_parts(event, turn, place, context.batch);
        self.note_learning(event, turn, place, context.batch);
        Ok(turn)
    }

    /// Merges what is said of the session: a later word on a field counts.
    pub(super) fn describe(&mut self, about: &SessionStarted) {
        self.changed = true;
        let row = &mut self.row;
        let fields = [
            (&mut row.agent, &about.agent),
            (&mut row.agent_version, &about.agent_version),
            (&mut row.user, &about.user),
            (&mut row.project, &about.project),
            (&mut row.cwd, &about.cwd),
            (&mut row.git_branch, &about.git_branch),
            (&mut row.permission_mode, &about.permission_mode),
        ];
        for (kept, said) in fields {
            if said.is_some() {
                kept.clone_from(said);
            }
        }
        if let Some(title) = &about.title {
            row.title = Some(preview(title));
            self.carry.titled = true;
        }
        if let Some(parent) = &about.parent {
            row.parent = Some(parent.session.clone());
            row.parent_kind = Some(parent.kind.as_str().to_owned());
            row.parent_call.clone_from(&parent.call_id);
        }
    }

    /// Says that the session goes on from `parent`, which it was found to share its beginning with.
    pub(super) fn fork_of(&mut self, parent: &str, parent_turn: u32) {
        self.changed = true;
        self.row.parent = Some(parent.to_owned());
        self.row.parent_kind = Some(ParentKind::Fork.as_str().to_owned());
        self.row.parent_turn = Some(parent_turn);
    }

    /// Sets the format that the session was first read from.
    pub(super) fn set_source(&mut self, source: &str) {
        self.row.source.get_or_insert_with(|| source.to_owned());
    }

    fn set_defaults(&mut self, turn: &agent_core::TurnStarted) {
        for (kept, said) in [
            (&mut self.carry.model, &turn.model),
            (&mut self.carry.provider, &turn.provider),
            (&mut self.row.permission_mode, &turn.permission_mode),
        ] {
            if said.is_some() {
                kept.clone_from(said);
            }
        }
    }

    fn user_messaged(&mut self, event: &Event, message: &agent_core::UserMessaged) -> u32 {
        self.carry.response_open = false;
        self.carry.awaits_usage = false;
        if message.starts_run() {
            if message.origin != Some(Origin::Agent) {
                self.follow_branch(event);
            }
            self.start_run(&message.text, event.ts);
            if !self.carry.titled && self.row.title.is_none() {
                self.row.title = Some(preview(&message.text)).filter(|title| !title.is_empty());
            }
            self.carry.last_thing = LastThing::Request;
        }
        let turn = self.input_turn();
        self.ensure_turn(event.ts);
        if message.starts_run()
            && let Some(row) = self.turns.get_mut(turn)
            && row.user_preview.is_none()
        {
            row.user_preview = Some(preview(&message.text));
        }
        turn
    }

    /// When a request follows an earlier step than the last one, the history is cut back to it.
    fn follow_branch(&mut self, event: &Event) {
        let Some(after) = event.after.as_deref().map(hash64) else { return };
        if self.carry.last_step == Some(after) {
            return;
        }
        if let Some(&position) = self.steps.get(&after) {
            self.prompt.rewind(&mut self.carry.prompt, position);
        }
    }

    fn interrupted(&mut self) -> u32 {
        self.row.interrupts += 1;
        self.carry.response_open = false;
        self.carry.last_thing = LastThing::Interrupt;
        if let Some(row) = self.turns.get_mut(self.carry.turn) {
            row.interrupted = true;
        }
        self.carry.turn
    }

    /// Adds what the event puts before the model.
    fn add_parts(&mut self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
        let place = PartPlace {
            session_key: self.row.session_key,
            turn,
            position: place.position,
            sub: place.sub,
        };
        let carry = &mut self.carry.prompt;
        match &event.body {
            Body::ChunkDefined(chunk) => {
                let bytes = chunk_len(chunk);
                self.prompt.define(&chunk.hash, bytes, place, batch);
            }
            Body::PromptAssembled(prompt) => self.prompt.assemble(carry, prompt, place, batch),
            body => {
                let slot = match body {
                    Body::ContextAdded(added) => added.slot.as_deref(),
                    _ => None,
                };
                let part = part_of(body);
                if let Some(part) = part {
                    self.prompt.add(carry, &part, slot, place, batch);
                }
            }
        }
    }

    fn note_learning(&self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
        let name = event.body.name();
        let note = match &event.body {
            Body::MemoryWritten(n) | Body::MemoryRecalled(n) | Body::MemoryRejected(n) | Body::MemoryEvicted(n) => n,
            Body::SkillListed(n)
            | Body::SkillMatched(n)
            | Body::SkillRejected(n)
            | Body::SkillCreated(n)
            | Body::SkillUpdated(n)
            | Body::SkillDeprecated(n)
            | Body::SkillWriteRejected(n) => n,
            Body::ScoreRecorded(score) => {
                batch.scores.push(ScoreRow {
                    session_key: self.row.session_key,
                    turn,
                    ts: event.ts,
                    name: score.name.clone(),
                    label: score.label.clone(),
                    position: place.position,
                });
                return;
            }
            _ => return,
        };
        let session_key = self.row.session_key;
        let (family, what) = name.split_once('.').expect("the names of these types have two words");
        let what = what.to_owned();
        let (key, source, position) = (note.key.clone(), note.source.clone(), place.position);
        if family == "memory" {
            batch.memory_events.push(MemoryEventRow { session_key, turn, ts: event.ts, what, key, source, position });
        } else {
            batch.skill_events.push(SkillEventRow {
                session_key,
                turn,
                ts: event.ts,
                what,
                skill: key,
                source,
                position,
            });
        }
    }

    fn note_time(&mut self, ts: Option<Timestamp>, turn: u32) {
        let Some(ts) = ts else { return };
        let row = &mut self.row;
        row.started_at = Some(row.started_at.map_or(ts, |start| start.min(ts)));
        row.ended_at = row.ended_at.max(Some(ts));
        row.duration_ms = millis_between(row.started_at, row.ended_at);
        for (started_at, ended_at) in [
            self.turns.get_mut(turn).map(|turn| (&mut turn.started_at, &mut turn.ended_at)),
            self.runs.get_mut(self.carry.run).map(|run| (&mut run.started_at, &mut run.ended_at)),
        ]
        .into_iter()
        .flatten()
        {
            *started_at = started_at.or(Some(ts));
            *ended_at = (*ended_at).max(Some(ts));
        }
        if let Some(run) = self.runs.get_mut(self.carry.run) {
            run.duration_ms = millis_between(run.started_at, run.ended_at);
        }
    }

    /// Puts what changed into the batch.
    pub(super) fn flush(&mut self, batch: &mut Batch) {
        if !self.changed {
            return;
        }
        self.settle_status();
        self.row.carry = serde_json::to_string(&self.carry).expect("the carry has string keys only");
        let key = self.row.session_key;
        if self.written {
            batch.delete::<SessionRow>(&format!("session_key = {key}"));
        }
        batch.sessions.push(self.row.clone());
        self.written = true;
        self.changed = false;
        let (turn, run) = (self.carry.turn, self.carry.run);
        self.runs.flush(
            batch,
            |batch| &mut batch.runs,
            |row| format!("session_key = {key} AND run = {}", row.run),
            |&number, _| number == run,
        );
        self.turns.flush(
            batch,
            |batch| &mut batch.turns,
            |row| format!("session_key = {key} AND turn = {}", row.turn),
            |&number, _| number == turn,
        );
        self.calls.flush(
            batch,
            |batch| &mut batch.model_calls,
            |row| format!("session_key = {key} AND turn = {} AND call = {}", row.turn, row.call),
            |&(number, _), _| number == turn,
        );
        self.tools.flush(
            batch,
            |batch| &mut batch.tool_calls,
            |row| format!("session_key = {key} AND call = {}", row.call),
            |_, row| row.status.is_none(),
        );
    }
}

fn chunk_len(chunk: &agent_core::ChunkDefined) -> u64 {
    match (&chunk.text, &chunk.base64) {
        (Some(text), _) => text.len() as u64,
        // Three bytes stand in four characters, less the padding.
        (None, Some(base64)) => {
            let padding = base64.bytes().rev().take_while(|&byte| byte == b'=').count();
            (base64.len() / 4 * 3).saturating_sub(padding) as u64
        }
        (None, None) => 0,
    }
}

fn millis_between(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<u64> {
    u64::try_from(end?.millis_since(start?)).ok()
}

/// Returns what an event of a transcript puts before the model.
fn part_of(body: &Body) -> Option<NewPart<'_>> {
    Some(match body {
        Body::UserMessaged(message) => NewPart {
            kind: match message.origin {
                None | Some(Origin::Human | Origin::Agent) => ChunkKind::User,
                Some(Origin::CompactSummary) => ChunkKind::History,
                Some(Origin::Injected) => ChunkKind::Insight,
                Some(Origin::Command | Origin::CommandOutput) => ChunkKind::State,
            },
            source: message.origin.map(Origin::as_str),
            reason: None,
            role: "user",
            bytes: message.text.len() as u64 + message.media.iter().map(media_len).sum::<u64>(),
        },
        Body::ModelResponded(piece) if piece.content.iter().any(|block| block.text_len() > 0) => NewPart {
            kind: ChunkKind::History,
            source: None,
            reason: None,
            role: "assistant",
            bytes: piece
                .content
                .iter()
                .filter(|block| !matches!(block, agent_core::Block::ToolUse { .. }))
                .map(|block| block.text_len() as u64)
                .sum(),
        },
        Body::ToolCalled(call) => NewPart {
            kind: ChunkKind::History,
            source: Some(&call.call_id),
            reason: Some("tool call"),
            role: "assistant",
            bytes: (call.name.len() + call.input.as_ref().map_or(0, |input| input.get().len())) as u64,
        },
        Body::ToolEnded(end) => NewPart {
            kind: ChunkKind::ToolResult,
            source: Some(&end.call_id),
            reason: None,
            role: "user",
            bytes: end.output.as_ref().map_or(0, |output| output.get().len()) as u64,
        },
        Body::ContextAdded(added) => NewPart {
            kind: added.kind.unwrap_or(ChunkKind::State),
            source: added.source.as_deref(),
            reason: added.reason.as_deref(),
            role: "system",
            bytes: added.content.as_ref().map_or(0, |content| content.get().len()) as u64,
        },
        Body::ContextCompacted(compacted) => {
            let replacement = compacted.replacement.as_ref()?;
            NewPart {
                kind: ChunkKind::History,
                source: Some("compaction"),
                reason: Some("stands for the history before it"),
                role: "user",
                bytes: replacement.get().len() as u64,
            }
        }
        _ => return None,
    })
}

fn media_len(block: &agent_core::Block) -> u64 {
    match block {
        agent_core::Block::Media { bytes, .. } => *bytes,
        other => other.text_len() as u64,
    }
}
