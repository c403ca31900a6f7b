//! What the store says of a turn.

use agent_core::{Status, Timestamp};
use store::{
    FullEvent, ModelCallRow, SessionFilter, SessionRow, Store, StoreError, ToolCallRow, TurnRow, TurnsAround,
};

use super::sent::KnownPrompt;
use super::steps::Found;
use crate::kept::{Keeper, Version};

/// Sub-agents looked through for those that a call started.
const CHILDREN: u32 = 500;

/// A first look: enough to know whether the page is the one that the browser has.
pub(super) struct Look {
    session: SessionRow,
    row: TurnRow,
    /// The position of each sub-agent's last change.
    children: Vec<u64>,
    now: Timestamp,
    /// Whether the session is running and this is the turn that it is at.
    is_growing: bool,
}

impl Look {
    pub(super) fn new(
        store: &Store,
        session: SessionRow,
        row: TurnRow,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let children = store.child_positions(&session.session)?;
        let is_running = session.status_at(now) == Status::Running;
        let is_growing = is_running && row.turn >= store.last_turn(session.session_key)?;
        Ok(Self { session, row, children, now, is_growing })
    }

    /// Returns the version of the page; none where it still grows.
    pub(super) fn version(&self, keeper: &Keeper) -> Option<Version> {
        let children = self.children.iter().copied();
        let facts: Vec<u64> = [u64::from(self.session.session_key), self.session.position]
            .into_iter()
            .chain(children)
            .collect();
        (!self.is_growing).then(|| keeper.version(&facts))
    }
}

/// Most sessions have none, so that these are asked for only where there are some.
fn children_of(store: &Store, session: &str, now: Timestamp) -> Result<Vec<SessionRow>, StoreError> {
    let filter =
        SessionFilter { parent: Some(session.to_owned()), limit: Some(CHILDREN), ..Default::default() };
    Ok(store.sessions(&filter, now)?.sessions)
}

/// All that the page needs.
pub(super) struct Known {
    pub(super) session: SessionRow,
    pub(super) row: TurnRow,
    pub(super) events: Vec<FullEvent>,
    pub(super) tools: Vec<ToolCallRow>,
    pub(super) calls: Vec<ModelCallRow>,
    pub(super) prompt: Option<KnownPrompt>,
    /// For a turn without a prompt: the last one before it that has one.
    pub(super) prompt_before: Option<u32>,
    pub(super) children: Vec<SessionRow>,
    pub(super) around: TurnsAround,
    pub(super) found: Option<Found>,
    pub(super) is_growing: bool,
}

impl Known {
    /// Reads the rest. `attempt` is the call whose prompt is asked for, `words` are those of a search.
    pub(super) fn read(
        store: &Store,
        look: Look,
        attempt: Option<u32>,
        words: Option<String>,
    ) -> Result<Self, StoreError> {
        let Look { session, row, children, now, is_growing } = look;
        let (key, turn) = (session.session_key, row.turn);
        let name = session.session.clone();
        // The prompt's queries and the others are about as dear, and know nothing of each other.
        std::thread::scope(|scope| {
            let whose = session.clone();
            let prompt = scope.spawn(move || KnownPrompt::read(store, &whose, turn, attempt));
            let tools = store.tool_calls(key, turn, turn)?;
            let events = store.turn_events(key, turn)?;
            let calls = store.model_calls(key, turn, turn)?;
            let around = store.turns_around(key, turn)?;
            let children = if children.is_empty() { Vec::new() } else { children_of(store, &name, now)? };
            let found = words.map(|words| Found::read(store, key, words)).transpose()?;
            let prompt = prompt.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let prompt_before = match prompt {
                Some(_) => None,
                None => store.prompt_before(key, turn)?.map(|(turn, _)| turn),
            };
            Ok(Self {
                row,
                events,
                tools,
                calls,
                prompt,
                prompt_before,
                children,
                around,
                found,
                is_growing,
                session,
            })
        })
    }
}
