//! One session as its events build it up: turns, runs, calls, sums.

mod about;
mod calls;
mod carry;
mod copies;
mod edits;
mod ending;
mod history;
mod learning;
mod loading;
mod money;
mod names;
mod parts;
mod place;
mod queue;
mod times;
mod tools;
mod usage;
mod user;
mod writing;

use agent_core::{Body, Event, UsageQuality};
use duckdb::Connection;
use rustc_hash::FxHashMap;

use super::batch::Batch;
use super::kept::KeptRows;
use super::prompt::PromptState;
use super::tables::*;
use super::text::hash64;
use carry::Carry;
pub(crate) use copies::RETOLD;
use ending::LastThing;
pub(super) use place::Place;
pub(crate) use queue::DELIVERED;

/// What a session holds in memory besides its row.
pub(super) struct Session {
    pub(super) row: SessionRow,
    carry: Carry,
    written: bool,
    changed: bool,
    /// The parent's name (or that of the session of which this is a copy), hashed, by which it is found.
    parent: Option<u64>,
    /// The turn of each event, by its identity.
    ids: FxHashMap<u64, u32>,
    /// The turn in which each fact came last.
    facts: FxHashMap<u64, u32>,
    /// The highest revision of each event that was amended.
    revisions: FxHashMap<u64, u64>,
    /// Where each step came in, to find where a branch leaves.
    steps: FxHashMap<u64, u64>,
    responses: FxHashMap<u64, (u32, u32)>,
    /// The number of the last call with each id.
    call_numbers: FxHashMap<u64, u32>,
    /// Whether the event at hand names its turn itself.
    in_native_turn: bool,
    /// Whether the event at hand only tells again what came before.
    is_retold: bool,
    /// Where the message stands that came in by the event at hand, which tells only that it did.
    brought_in: Option<Place>,
    prompt: PromptState,
    runs: KeptRows<u32, RunRow>,
    turns: KeptRows<u32, TurnRow>,
    calls: KeptRows<(u32, u32), ModelCallRow>,
    tools: KeptRows<u32, ToolCallRow>,
}

/// What applying an event needs besides the session.
pub(super) struct Context<'a> {
    pub(super) batch: &'a mut Batch,
    pub(super) database: &'a Connection,
}

/// What the ancestors of a session know of an event that comes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    /// They have the event itself.
    pub(super) event: bool,
    /// They have its fact.
    pub(super) fact: bool,
    /// Its turn in the parent, when that is the ancestor that has it.
    pub(super) parent_turn: Option<u32>,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// It is kept.
    Stored,
    /// It was known already.
    Duplicate,
}

/// How an event stands to what the session has.
enum Novelty {
    New,
    /// A later revision of what is known; the turn is that of the earlier one.
    Amendment(u32),
    Known,
}

impl Session {
    pub(super) fn new(session_key: u32, name: &str) -> Self {
        let row = SessionRow {
            session_key,
            session: name.to_owned(),
            models: "[]".to_owned(),
            tools: "[]".to_owned(),
            tags: "[]".to_owned(),
            status: "unknown".to_owned(),
            end_reason: "unknown".to_owned(),
            usage_quality: UsageQuality::Missing.as_str().to_owned(),
            ..Default::default()
        };
        Self::with_row(row, Carry { replaying: true, ..Default::default() }, false)
    }

    fn with_row(row: SessionRow, carry: Carry, written: bool) -> Self {
        Self {
            parent: carry.copy_of.as_deref().or(row.parent.as_deref()).map(hash64),
            row,
            carry,
            written,
            changed: !written,
            ids: FxHashMap::default(),
            facts: FxHashMap::default(),
            revisions: FxHashMap::default(),
            steps: FxHashMap::default(),
            responses: FxHashMap::default(),
            call_numbers: FxHashMap::default(),
            in_native_turn: false,
            is_retold: false,
            brought_in: None,
            prompt: PromptState::default(),
            runs: KeptRows::default(),
            turns: KeptRows::default(),
            calls: KeptRows::default(),
            tools: KeptRows::default(),
        }
    }

    /// Returns how many events are kept.
    pub(super) fn event_count(&self) -> u32 {
        self.carry.next_event
    }

    /// Has the session written again, though no event of it came.
    pub(super) fn refresh(&mut self) {
        self.changed = true;
    }

    /// Counts a piece of its source that could not be read.
    pub(super) fn refused(&mut self) {
        self.changed = true;
        self.row.events_refused += 1;
    }

    /// Returns what it has of an event, as an ancestor of the session that the event came in for.
    pub(super) fn knows(&self, id: u64, fact: Option<u64>) -> Shared {
        let by_id = self.ids.get(&id).copied();
        let by_fact = fact.and_then(|fact| self.facts.get(&fact).copied());
        Shared { event: by_id.is_some(), fact: by_fact.is_some(), parent_turn: by_id.or(by_fact) }
    }

    /// Takes in one event. `shared` is what its ancestors know of it, when it has any.
    pub(super) fn apply(
        &mut self,
        event: &Event,
        place: Place,
        shared: Option<Shared>,
        context: &mut Context<'_>,
    ) -> duckdb::Result<Applied> {
        self.changed = true;
        self.row.events_received += 1;
        self.row.position = place.position;
        self.is_retold = false;
        self.brought_in = None;
        if let Some(shared) = shared
            && self.is_replayed(event, shared)
        {
            self.row.events_duplicate += 1;
            self.count_seq(event);
            self.take_over(event, place, shared, context);
            return Ok(Applied::Duplicate);
        }
        let turn = match self.novelty(event) {
            Novelty::New => self.take_in(event, place, context)?,
            Novelty::Amendment(turn) => self.amend(event, turn, place, context)?,
            Novelty::Known => {
                self.row.events_duplicate += 1;
                return Ok(Applied::Duplicate);
            }
        };
        self.count_seq(event);
        self.keep(event, turn, place, context)?;
        Ok(Applied::Stored)
    }

    /// Returns whether the event is one of the ancestors': ids are theirs anywhere, facts only while the
    /// replay at the start goes on, since the same words may well be said again later.
    fn is_replayed(&mut self, event: &Event, shared: Shared) -> bool {
        if shared.event {
            return true;
        }
        if event.fact.is_some() {
            self.carry.replaying &= shared.fact;
        }
        event.fact.is_some() && self.carry.replaying
    }

    fn novelty(&self, event: &Event) -> Novelty {
        let base = event.id.hash64();
        let first = self.ids.get(&base).map(|&turn| (0, turn));
        let last = self.revisions.get(&base).and_then(|&rev| {
            let turn = self.ids.get(&super::identity_of(base, rev))?;
            Some((rev, *turn))
        });
        match last.or(first) {
            None => Novelty::New,
            Some((rev, turn)) if event.rev > rev => Novelty::Amendment(turn),
            Some(_) => Novelty::Known,
        }
    }

    /// A number that is missing among those that came in is a loss.
    fn count_seq(&mut self, event: &Event) {
        let Some(seq) = event.seq else { return };
        self.carry.numbered += 1;
        let emitted = self.row.events_emitted.unwrap_or(0).max(seq);
        self.row.events_emitted = Some(emitted);
        self.row.events_missing = Some(emitted.saturating_sub(self.carry.numbered));
    }

    /// Writes down that the event is in, and where.
    fn keep(
        &mut self,
        event: &Event,
        turn: u32,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<()> {
        let id = super::event_identity(event);
        let fact = event.fact.as_deref().map(hash64);
        let step = event.step.as_deref().map(hash64);
        let (event_type, place) = self.taken_as(event, place);
        self.remember(id, event.rev, fact, turn);
        if let Some(step) = step {
            self.steps.insert(step, place.position);
            self.carry.last_step = Some(step);
        }
        if turn < self.carry.turn.number {
            self.load_turn(turn, context.database)?;
        }
        self.note_time(event.ts, turn);
        let n = self.carry.next_event;
        self.carry.next_event += 1;
        self.row.events_stored += 1;
        match self.turns.get_mut(turn) {
            Some(row) => row.last_n = row.last_n.max(n),
            None if turn > 0 && turn == self.carry.turn.number => {
                self.carry.turn.first_event.get_or_insert(n);
            }
            None => {}
        }
        context.batch.events.push(EventRow {
            session_key: self.row.session_key,
            n,
            ts: event.ts,
            event_type: event_type.to_owned(),
            turn,
            position: place.position,
            sub: place.sub,
            id,
            rev: event.rev,
            fact,
            step,
        });
        Ok(())
    }

    /// Returns the type and the place that stand in the tables for an event: it may only tell again what
    /// another told, or bring in a message that waited.
    fn taken_as<'a>(&self, event: &'a Event, place: Place) -> (&'a str, Place) {
        match self.brought_in {
            Some(message) => (DELIVERED, message),
            None if self.is_retold => (RETOLD, place),
            None => (event.body.name(), place),
        }
    }

    /// Keeps in memory by what an event is known again.
    fn remember(&mut self, id: u64, rev: u64, fact: Option<u64>, turn: u32) {
        self.ids.insert(id, turn);
        if let Some(fact) = fact {
            self.facts.insert(fact, turn);
        }
        if rev > 0 {
            let highest = self.revisions.entry(super::base_of(id, rev)).or_default();
            *highest = rev.max(*highest);
        }
    }

    /// Takes from an ancestor's event what goes on in the child: its place in the prompt, and the sums so far.
    fn take_over(&mut self, event: &Event, place: Place, shared: Shared, context: &mut Context<'_>) {
        match &event.body {
            Body::ModelResponded(piece) if piece.usage_so_far.is_some() => {
                self.carry.response.so_far = piece.usage_so_far;
            }
            Body::TurnStarted(turn) => self.set_defaults(turn),
            Body::ContextCompacted(compacted) => {
                self.settle_waiting(context.batch);
                self.make_room(event, compacted);
            }
            Body::MessageQueued(message) => self.queued(message, place),
            Body::MessageUnqueued(unqueued) => self.take_over_unqueued(unqueued, place),
            Body::UserMessaged(message) => {
                if self.was_delivered(message) {
                    return;
                }
                self.tell_queue(message);
                self.settle_waiting(context.batch);
            }
            _ => {}
        }
        if let Some(retold) = self.told_before(event) {
            self.retell(event, &retold, 1, place, context.batch);
            return;
        }
        if let (Body::UserMessaged(message), Some(after)) = (&event.body, &event.after)
            && message.starts_run()
        {
            self.carry.inherited_requests.push((hash64(after), place.position));
        }
        if let Some(turn) = shared.parent_turn {
            self.shares_turn(turn);
        }
        self.add_parts(event, 1, place, context.batch);
    }

    /// Takes in what an event says and returns its turn.
    fn take_in(&mut self, event: &Event, place: Place, context: &mut Context<'_>) -> duckdb::Result<u32> {
        self.follow_native_turn(event);
        if let Some(retold) = self.told_before(event) {
            self.is_retold = true;
            let turn = self.carry.turn.number;
            self.retell(event, &retold, turn, place, context.batch);
            return Ok(turn);
        }
        self.forget_report(&event.body);
        let turn = match &event.body {
            Body::RunStarted(run) => {
                self.start_run(run.task.as_deref().unwrap_or_default(), event.ts);
                self.input_turn()
            }
            Body::TurnStarted(defaults) => {
                self.set_defaults(defaults);
                self.next_call_begins()
            }
            Body::ModelRequested(_) | Body::PromptAssembled(_) => {
                self.carry.response.awaits_usage = false;
                self.next_call_begins()
            }
            Body::UserMessaged(message) if self.was_delivered(message) => {
                self.is_retold = true;
                return Ok(self.carry.turn.number);
            }
            Body::UserMessaged(message) => {
                self.settle_waiting(context.batch);
                self.user_messaged(event, message)
            }
            Body::MessageQueued(message) => {
                self.queued(message, place);
                self.carry.turn.number
            }
            Body::MessageUnqueued(unqueued) => self.unqueued(event, unqueued, place),
            Body::UserInterrupted(_) => self.interrupted(context)?,
            Body::ModelResponded(piece) => {
                let Some(turn) = self.model_responded(event, piece, context)? else {
                    return Ok(self.carry.turn.number);
                };
                turn
            }
            Body::ModelFailed(failure) => self.model_failed(event, failure, context),
            Body::ToolCalled(call) => self.tool_called(event, call, place, context)?,
            Body::ToolEnded(end) => {
                self.settle_asked(end, context.batch);
                self.tool_ended(event, end, place, context)?
            }
            Body::ToolReported(report) => self.tool_reported(event, report, context)?,
            Body::ContextCompacted(compacted) => {
                self.settle_waiting(context.batch);
                self.compacted(event, compacted)
            }
            Body::ContextAdded(_)
            | Body::ChunkDefined(_)
            | Body::MemoryRecalled(_)
            | Body::SkillListed(_) => self.input_turn(),
            body => {
                self.take_words(event, body);
                self.carry.turn.number
            }
        };
        self.add_parts(event, turn, place, context.batch);
        self.note_learning(event, turn, place, context.batch);
        self.note_edit(event, turn, place, context.batch);
        Ok(turn)
    }

    /// Takes in what is said of the session and its runs as a whole.
    fn take_words(&mut self, event: &Event, body: &Body) {
        match body {
            Body::SessionStarted(about) => self.describe(about),
            Body::SessionTitled(titled) => self.take_title(event, titled),
            Body::SessionEnded(ended) => self.session_ended(ended),
            Body::RunEnded(ended) => self.run_ended(ended),
            Body::UserRetried(_) => self.asked_again(),
            _ => {}
        }
    }

    /// Takes in a later revision of an event: figures and results take its place, and nothing begins by it.
    /// What stands in the prompt stays as it was first seen.
    fn amend(
        &mut self,
        event: &Event,
        turn: u32,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<u32> {
        match &event.body {
            Body::ModelResponded(piece) => self.amend_response(event, turn, piece, context)?,
            Body::ToolEnded(end) => self.amend_result(event, end, place, context)?,
            body => self.take_words(event, body),
        }
        Ok(turn)
    }
}
