//! What stands in a session's context, event by event, and so in each of its prompts.

use agent_core::{ChunkKind, PromptAssembled, PromptChange};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::ranges::Ranges;
use super::tables::{ChunkRow, PartRow, PromptRow};
use super::text::{estimated_tokens, hash64};

/// The places that stand before all messages, in their order.
const FRONT_SLOTS: [&str; 2] = ["system", "tools"];

/// The part of the state that is small and is kept with the session's row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PromptCarry {
    next_part: u32,
    /// The history as it stands now, for prompts that are rebuilt from a transcript.
    history: Ranges,
    slots: Vec<(String, u32)>,
    /// Each history that a compaction ended, with the number of the first part after it.
    #[serde(default)]
    ended: Vec<(u32, Ranges)>,
    /// The parts that stand for cleared results, with the part of the result.
    #[serde(default)]
    cleared: Vec<(u32, u32)>,
    /// What a compaction kept of the history before it, and the step (hashed) behind which it stands, which
    /// has not come yet.
    #[serde(default)]
    kept: Option<(Option<u64>, Ranges)>,
    /// The list of the last recorded prompt.
    recorded: Ranges,
    /// The recorded prompt that the next call of the model uses.
    pending: Option<Pending>,
    /// The recorded prompt of the last call: an attempt after it in the same turn sends it again.
    sent: Option<(u32, Pending)>,
}

impl PromptCarry {
    /// Returns the number that the next part gets.
    pub(super) fn next_part(&self) -> u32 {
        self.next_part
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pending {
    body_hash: String,
    left_out: Option<String>,
}

/// What was loaded or seen of a session's parts.
#[derive(Debug, Default)]
pub(super) struct PromptState {
    /// By part number: where it came in, and whether a person's message.
    pub(super) parts: Vec<PartMark>,
    /// The part that holds the result of a call, by the hash of the call's id.
    pub(super) results: FxHashMap<u64, u32>,
    /// Recorded parts by what they are, so that the same part gets the same number.
    pub(super) recorded: FxHashMap<u64, u32>,
    /// Chunks by hash: record, event, size.
    pub(super) chunks: FxHashMap<u64, (u64, u16, u64)>,
}

/// What must be known of a part to cut the history back to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartMark {
    pub(super) position: u64,
    pub(super) is_request: bool,
}

/// A part that comes into the context.
pub(super) struct NewPart<'a> {
    pub(super) kind: ChunkKind,
    pub(super) source: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) role: &'static str,
    pub(super) bytes: u64,
}

/// What a part of the user's role is that comes in later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OwnedPart {
    kind: ChunkKind,
    source: Option<String>,
    reason: Option<String>,
    pub(super) bytes: u64,
}

impl From<NewPart<'_>> for OwnedPart {
    fn from(part: NewPart<'_>) -> Self {
        Self {
            kind: part.kind,
            source: part.source.map(str::to_owned),
            reason: part.reason.map(str::to_owned),
            bytes: part.bytes,
        }
    }
}

impl OwnedPart {
    pub(super) fn as_part(&self) -> NewPart<'_> {
        NewPart {
            kind: self.kind,
            source: self.source.as_deref(),
            reason: self.reason.as_deref(),
            role: "user",
            bytes: self.bytes,
        }
    }
}

/// What of the history stays when it is compacted: the parts that came in at these places.
pub(super) struct Kept {
    pub(super) positions: Vec<u64>,
    pub(super) span: Option<(u64, u64)>,
    pub(super) place: KeptPlace,
}

/// Where it stands from then on.
pub(super) enum KeptPlace {
    /// Where the compaction stands.
    Here,
    /// Behind what a step (hashed) puts in that comes after it.
    Behind(u64),
    /// Behind all that comes before the next call.
    Last,
}

impl Kept {
    fn holds(&self, position: u64) -> bool {
        self.positions.contains(&position)
            || self.span.is_some_and(|(first, last)| (first..=last).contains(&position))
    }
}

/// Where and when a part came in.
#[derive(Clone, Copy)]
pub(super) struct PartPlace {
    pub(super) session_key: u32,
    pub(super) turn: u32,
    pub(super) position: u64,
    pub(super) sub: u16,
}

impl PromptState {
    /// Adds a part at the end of the history, or into its slot.
    pub(super) fn add(
        &mut self,
        carry: &mut PromptCarry,
        part: &NewPart<'_>,
        slot: Option<&str>,
        place: PartPlace,
        batch: &mut Batch,
    ) {
        let number = carry.next_part;
        carry.next_part += 1;
        self.note(number, part, place, batch);
        match slot {
            None => carry.history.push(number),
            Some(slot) => put_into_slot(carry, slot, number),
        }
    }

    /// Writes down a part of this number.
    fn note(&mut self, number: u32, part: &NewPart<'_>, place: PartPlace, batch: &mut Batch) {
        batch.parts.push(PartRow {
            session_key: place.session_key,
            part: number,
            kind: part.kind.as_str().to_owned(),
            source: part.source.map(str::to_owned),
            reason: part.reason.map(str::to_owned),
            role: part.role.to_owned(),
            tool_call: None,
            bytes: part.bytes,
            tokens: Some(estimated_tokens(part.bytes)),
            tokens_basis: Some("estimated".to_owned()),
            turn: place.turn,
            position: place.position,
            sub: place.sub,
            hash: None,
        });
        self.parts.push(PartMark { position: place.position, is_request: part.kind == ChunkKind::User });
        if part.kind == ChunkKind::ToolResult
            && let Some(call_id) = part.source
        {
            self.results.insert(hash64(call_id), number);
        }
    }

    /// Takes all history out but what is kept, or only the results of the given calls.
    pub(super) fn compact(
        &self,
        carry: &mut PromptCarry,
        dropped_calls: Option<&[String]>,
        kept: Option<Kept>,
    ) {
        match dropped_calls {
            None => {
                Self::kept_last(carry);
                carry.ended.push((carry.next_part, carry.history.clone()));
                let slots: Vec<u32> = carry.slots.iter().map(|(_, part)| *part).collect();
                let stays = kept.as_ref().map(|kept| self.kept_parts(carry, kept, &slots));
                carry.history.retain(|part| slots.contains(&part));
                match (stays, kept.map(|kept| kept.place)) {
                    (Some(stays), Some(KeptPlace::Here)) => carry.history.extend(&stays),
                    (Some(stays), Some(KeptPlace::Behind(step))) => carry.kept = Some((Some(step), stays)),
                    (Some(stays), _) => carry.kept = Some((None, stays)),
                    (None, _) => {}
                }
            }
            Some(calls) => {
                for part in calls.iter().filter_map(|call| self.results.get(&hash64(call))) {
                    carry.history.remove(*part);
                }
            }
        }
    }

    fn kept_parts(&self, carry: &PromptCarry, kept: &Kept, slots: &[u32]) -> Ranges {
        let mut parts = carry.history.clone();
        parts.retain(|part| {
            let mark = self.parts.get(origin(&carry.cleared, part) as usize);
            !slots.contains(&part) && mark.is_some_and(|mark| kept.holds(mark.position))
        });
        parts
    }

    /// Puts what a compaction kept behind what the step `step` has just put in, when it stands there.
    pub(super) fn kept_behind(carry: &mut PromptCarry, step: Option<&str>) {
        let is_behind = |kept: &(Option<u64>, Ranges)| kept.0.is_some() && kept.0 == step.map(hash64);
        if carry.kept.as_ref().is_some_and(is_behind) {
            Self::kept_last(carry);
        }
    }

    /// Puts what a compaction kept at the end of the history.
    fn kept_last(carry: &mut PromptCarry) {
        if let Some((_, kept)) = carry.kept.take() {
            carry.history.extend(&kept);
        }
    }

    /// Cuts the history back to what had come in up to `position`, when that drops a request of a person:
    /// then the conversation went on from there on another branch. Where that lies before a compaction, the
    /// history that the compaction ended is the one that goes on.
    pub(super) fn rewind(&self, carry: &mut PromptCarry, position: u64) {
        let mark = |part: u32| self.parts.get(origin(&carry.cleared, part) as usize);
        let is_later = |part: u32| mark(part).is_some_and(|mark| mark.position > position);
        let drops_request =
            carry.history.iter().any(|part| is_later(part) && mark(part).is_some_and(|mark| mark.is_request));
        if !drops_request {
            return;
        }
        if let Some(at) = carry.ended.iter().position(|(first_after, _)| is_later(*first_after)) {
            carry.history = carry.ended.swap_remove(at).1;
            carry.ended.truncate(at);
        }
        carry.history.retain(|part| !is_later(part));
    }

    /// Takes out what the record at `position` put in.
    pub(super) fn take_back(&self, carry: &mut PromptCarry, position: u64) {
        let is_of_it =
            |part: u32| self.parts.get(part as usize).is_some_and(|mark| mark.position == position);
        carry.history.retain(|part| !is_of_it(part));
    }

    /// Takes the last `count` requests out, and all that came after the first of them. Where that lies before
    /// a compaction, the history that the compaction ended is the one that goes on.
    pub(super) fn drop_requests(&self, carry: &mut PromptCarry, count: u32) {
        let is_request = |&part: &u32| self.parts.get(part as usize).is_some_and(|mark| mark.is_request);
        let mut left = count as usize;
        while left > 0 {
            // What the last compaction kept stands in the history before it, too.
            let first_after = carry.ended.last().map_or(0, |(first_after, _)| *first_after);
            let is_new = |part: &u32| *part >= first_after && is_request(part);
            let requests: Vec<u32> = carry.history.iter().filter(is_new).collect();
            if requests.len() < left
                && let Some((_, before)) = carry.ended.pop()
            {
                left -= requests.len();
                carry.history = before;
                carry.kept = None;
                continue;
            }
            if let Some(&first) = requests.get(requests.len().saturating_sub(left)) {
                let mut kept = Ranges::default();
                carry.history.iter().take_while(|&part| part != first).for_each(|part| kept.push(part));
                carry.history = kept;
            }
            return;
        }
    }

    /// Puts a new part in the place of `old`, when that still stands in the history.
    pub(super) fn replace(
        &mut self,
        carry: &mut PromptCarry,
        old: u32,
        part: &NewPart<'_>,
        place: PartPlace,
        batch: &mut Batch,
    ) {
        let number = carry.next_part;
        if carry.history.replace(old, number) {
            carry.next_part += 1;
            self.note(number, part, place, batch);
        }
    }

    /// Puts a text of `bytes` in the place of the results of the given calls.
    pub(super) fn clear_results(
        &mut self,
        carry: &mut PromptCarry,
        calls: &[String],
        bytes: u64,
        place: PartPlace,
        batch: &mut Batch,
    ) {
        for call in calls {
            let number = carry.next_part;
            let Some(&result) = self.results.get(&hash64(call)) else { continue };
            if !carry.history.replace(result, number) {
                continue;
            }
            carry.next_part += 1;
            let part = NewPart {
                kind: ChunkKind::ToolResult,
                source: Some(call),
                reason: Some("cleared to make room"),
                role: "user",
                bytes,
            };
            self.note(number, &part, place, batch);
            carry.cleared.push((number, result));
        }
    }

    /// Notes a chunk of recorded prompts.
    pub(super) fn define(&mut self, hash: &str, bytes: u64, place: PartPlace, batch: &mut Batch) {
        self.chunks.insert(hash64(hash), (place.position, place.sub, bytes));
        batch.chunks.push(ChunkRow {
            session_key: place.session_key,
            hash: hash.to_owned(),
            position: place.position,
            sub: place.sub,
            bytes,
        });
    }

    /// Takes in the list of a recorded prompt, which the next call of the model uses.
    pub(super) fn assemble(
        &mut self,
        carry: &mut PromptCarry,
        prompt: &PromptAssembled,
        place: PartPlace,
        batch: &mut Batch,
    ) {
        let mut list = Ranges::default();
        for change in &prompt.changes {
            match change {
                PromptChange::Keep { from, to } => {
                    list.extend_slice(&carry.recorded, *from as usize, *to as usize);
                }
                PromptChange::Add(uses) => {
                    for used in uses {
                        list.push(self.recorded_part(carry, used, place, batch));
                    }
                }
            }
        }
        carry.recorded = list;
        carry.pending = Some(Pending {
            body_hash: prompt.body_hash.clone(),
            left_out: (!prompt.left_out.is_empty())
                .then(|| serde_json::to_string(&prompt.left_out).expect("it has string keys only")),
        });
    }

    fn recorded_part(
        &mut self,
        carry: &mut PromptCarry,
        used: &agent_core::ChunkUse,
        place: PartPlace,
        batch: &mut Batch,
    ) -> u32 {
        let identity =
            recorded_identity(&used.hash, used.kind.as_str(), used.source.as_deref(), used.reason.as_deref());
        if let Some(&part) = self.recorded.get(&identity) {
            return part;
        }
        let number = carry.next_part;
        carry.next_part += 1;
        // A chunk that was never defined keeps its place; reading the prompt names it as missing.
        let (position, sub, bytes) = self.chunks.get(&hash64(&used.hash)).copied().unwrap_or_default();
        batch.parts.push(PartRow {
            session_key: place.session_key,
            part: number,
            kind: used.kind.as_str().to_owned(),
            source: used.source.clone(),
            reason: used.reason.clone(),
            role: String::new(),
            tool_call: None,
            bytes,
            tokens: used.tokens.or(Some(estimated_tokens(bytes))),
            tokens_basis: used.tokens.and(used.tokens_basis.clone()).or(Some("estimated".to_owned())),
            turn: place.turn,
            position,
            sub,
            hash: Some(used.hash.clone()),
        });
        self.parts.push(PartMark { position, is_request: false });
        self.recorded.insert(identity, number);
        number
    }

    /// Writes down the prompt of a call that now begins.
    pub(super) fn snapshot(
        carry: &mut PromptCarry,
        session_key: u32,
        turn: u32,
        call: u32,
        batch: &mut Batch,
    ) {
        Self::kept_last(carry);
        let again = carry.sent.take().filter(|(of_turn, _)| *of_turn == turn).map(|(_, sent)| sent);
        let pending = carry.pending.take().or(again);
        carry.sent = pending.clone().map(|pending| (turn, pending));
        let list = if pending.is_some() { carry.recorded.clone() } else { rebuilt_list(carry) };
        let (body_hash, left_out) = pending.map_or((None, None), |p| (Some(p.body_hash), p.left_out));
        batch.prompts.push(PromptRow {
            session_key,
            turn,
            call,
            part_count: u32::try_from(list.len()).expect("a prompt has fewer than 2^32 parts"),
            parts: list.to_text(),
            body_hash,
            left_out,
        });
    }
}

/// Returns the part in whose place this one stands: what was cleared stays so, where its result came in.
fn origin(cleared: &[(u32, u32)], part: u32) -> u32 {
    cleared.iter().find(|(by, _)| *by == part).map_or(part, |(_, of)| *of)
}

/// Returns what tells recorded parts apart.
pub(super) fn recorded_identity(hash: &str, kind: &str, source: Option<&str>, reason: Option<&str>) -> u64 {
    let optional = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), |text| format!("+{text}"));
    hash64(&[hash, kind, &optional(source), &optional(reason)].join("\n"))
}

fn put_into_slot(carry: &mut PromptCarry, slot: &str, number: u32) {
    let in_history = !FRONT_SLOTS.contains(&slot);
    match carry.slots.iter_mut().find(|(name, _)| name == slot) {
        Some((_, part)) => {
            let old = std::mem::replace(part, number);
            carry.history.remove(old);
        }
        None => carry.slots.push((slot.to_owned(), number)),
    }
    if in_history {
        carry.history.push(number);
    }
}

fn rebuilt_list(carry: &PromptCarry) -> Ranges {
    let mut list = Ranges::default();
    for name in FRONT_SLOTS {
        if let Some((_, part)) = carry.slots.iter().find(|(slot, _)| slot == name) {
            list.push(*part);
        }
    }
    list.extend(&carry.history);
    list
}
