//! A prompt in a few figures, and what changed between two prompts, without reading what stands in them.
//!
//! A prompt late in a long session has a hundred thousand parts, so nothing here visits them one by one:
//! they are handled as ranges, and summed by DuckDB.

use agent_core::LeftOut;
use rustc_hash::FxHashMap;

use super::parts::PartList;
use crate::projection::tables::{PartRow, PromptRow};
use crate::{Store, StoreError};

/// A prompt in a few figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptSummary {
    /// The call whose prompt it is.
    pub call: u32,
    /// All calls of the turn that have a prompt.
    pub calls: Vec<u32>,
    /// How many parts stand in it.
    pub part_count: u32,
    /// The hash of its body, where the prompt was recorded.
    pub body_hash: Option<String>,
    /// What was left out of it, and why.
    pub left_out: Vec<LeftOut>,
    /// Its parts by kind, in the order in which the kinds first came in.
    pub kinds: Vec<KindSum>,
    /// The parts that did not stand in the prompt before, in order.
    pub new: Vec<PartRow>,
    /// Its first parts.
    pub first: Vec<PartRow>,
    /// Its last parts, none of which is among the first.
    pub last: Vec<PartRow>,
    /// All its parts, where they are at most 200.
    pub all: Option<Vec<PartRow>>,
}

/// The parts of one kind in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindSum {
    /// `agent_core::ChunkKind`.
    pub kind: String,
    /// How many.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens; absent when those of a part are not known.
    pub tokens: Option<u64>,
    /// How many of them did not stand in the prompt before.
    pub new_parts: u64,
    /// The bytes of the new ones.
    pub new_bytes: u64,
}

/// What changed from one prompt to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptDifference {
    /// Parts that stand in both.
    pub unchanged: u32,
    /// How many parts, from the first on, are the same in both: what a provider's cache can keep.
    pub same_beginning: u32,
    /// Parts that the earlier prompt has.
    pub earlier_parts: u32,
    /// How many parts stand in the later one only.
    pub added_count: u32,
    /// The first of them, in order.
    pub added: Vec<PartRow>,
    /// How many parts stand in the earlier one only.
    pub removed_count: u32,
    /// The first of them, in order.
    pub removed: Vec<PartRow>,
}

/// Changed parts whose rows are given at most.
const MAX_ROWS: u32 = 1000;
/// A prompt of up to so many parts is read at once, and summed here.
const FEW_PARTS: u32 = 200;
/// Rows between two parts that are read with them: fewer than a further question costs.
const HOLE: u32 = 64;
/// Questions that the rows of one list of parts may take.
const CLUSTERS: usize = 4;

impl Store {
    /// Returns the numbers of the calls of a turn that have a prompt.
    pub fn prompt_calls(&self, session_key: u32, turn: u32) -> Result<Vec<u32>, StoreError> {
        Ok(self.prompts_of(session_key, turn)?.into_iter().map(|row| row.call).collect())
    }

    /// Returns the last turn before `turn` that has a prompt, with the number of its last call.
    pub fn prompt_before(&self, session_key: u32, turn: u32) -> Result<Option<(u32, u32)>, StoreError> {
        Ok(self.prompt_row_before(session_key, turn)?.map(|row| (row.turn, row.call)))
    }

    /// Returns a prompt in a few figures, with its `first` and `last` parts: that of `call`, or of the turn's
    /// last call. Returns nothing when there is no such prompt.
    pub fn prompt_summary(
        &self,
        session_key: u32,
        turn: u32,
        call: Option<u32>,
        first: u32,
        last: u32,
    ) -> Result<Option<PromptSummary>, StoreError> {
        let mut prompts = self.prompts_with_the_one_before(session_key, turn)?;
        let before = prompts.iter().rposition(|row| row.turn < turn).map(|at| prompts.remove(at));
        prompts.retain(|row| row.turn == turn);
        let calls: Vec<u32> = prompts.iter().map(|row| row.call).collect();
        let chosen =
            call.map_or(prompts.len().checked_sub(1), |call| calls.iter().position(|&other| other == call));
        let Some(row) = chosen.and_then(|at| prompts.into_iter().nth(at)) else { return Ok(None) };
        let list = list_of(&row)?;
        let before = match before {
            Some(row) => Some(row),
            None => self.prompt_row_before(session_key, turn)?,
        };
        let before = before.map_or_else(|| Ok(PartList::default()), |row| list_of(&row))?;
        let new = list.minus(&before).window(0, MAX_ROWS);
        let first = list.window(0, first);
        let tail_from = row.part_count.saturating_sub(last).max(first.len());
        let last = list.window(tail_from, last);
        let is_small = list.len() <= FEW_PARTS;
        let wanted = if is_small { list.clone() } else { new.with(&first).with(&last) };
        let rows = PartRows::new(self.parts_among(session_key, &wanted)?);
        let (new, all) = (rows.of(&new), is_small.then(|| rows.of(&list)));
        let mut kinds = match &all {
            Some(all) => sums_of(all),
            None => self.kind_sums(session_key, &list)?,
        };
        add_new(&mut kinds, &new);
        Ok(Some(PromptSummary {
            call: row.call,
            calls,
            part_count: row.part_count,
            left_out: left_out(&row)?,
            body_hash: row.body_hash,
            kinds,
            first: rows.of(&first),
            last: rows.of(&last),
            new,
            all,
        }))
    }

    /// Returns at most `limit` parts of a prompt from the place `from` on, without their bytes.
    pub fn prompt_part_window(
        &self,
        session_key: u32,
        turn: u32,
        call: u32,
        from: u32,
        limit: u32,
    ) -> Result<Vec<PartRow>, StoreError> {
        let list = list_of(&self.one_prompt(session_key, turn, call)?)?;
        self.part_rows(session_key, &list.window(from, limit))
    }

    /// Returns what changed from an earlier prompt (turn and call) to a later one.
    pub fn prompt_difference(
        &self,
        session_key: u32,
        earlier: (u32, u32),
        later: (u32, u32),
    ) -> Result<PromptDifference, StoreError> {
        let before = list_of(&self.one_prompt(session_key, earlier.0, earlier.1)?)?;
        let after = list_of(&self.one_prompt(session_key, later.0, later.1)?)?;
        let (added, removed) = (after.minus(&before), before.minus(&after));
        Ok(PromptDifference {
            unchanged: after.len() - added.len(),
            same_beginning: before.same_beginning(&after),
            earlier_parts: before.len(),
            added_count: added.len(),
            added: self.part_rows(session_key, &added.window(0, MAX_ROWS))?,
            removed_count: removed.len(),
            removed: self.part_rows(session_key, &removed.window(0, MAX_ROWS))?,
        })
    }

    fn prompts_of(&self, session_key: u32, turn: u32) -> Result<Vec<PromptRow>, StoreError> {
        self.select("session_key = ? AND turn = ? ORDER BY call", [session_key, turn])
    }

    /// Returns the prompts of a turn, and those of the turn before it, in order.
    fn prompts_with_the_one_before(&self, session_key: u32, turn: u32) -> Result<Vec<PromptRow>, StoreError> {
        let condition = "session_key = ? AND turn BETWEEN ? AND ? ORDER BY turn, call";
        self.select(condition, [session_key, turn.saturating_sub(1), turn])
    }

    fn prompt_row_before(&self, session_key: u32, turn: u32) -> Result<Option<PromptRow>, StoreError> {
        let condition = "session_key = ?1 AND turn = (SELECT max(turn) FROM main.prompts WHERE session_key = ?1 AND turn < ?2)
            ORDER BY call DESC LIMIT 1";
        Ok(self.select(condition, [session_key, turn])?.pop())
    }

    fn one_prompt(&self, session_key: u32, turn: u32, call: u32) -> Result<PromptRow, StoreError> {
        self.select("session_key = ? AND turn = ? AND call = ?", [session_key, turn, call])?.pop().ok_or_else(
            || StoreError::NotFound { what: "prompt of turn", name: format!("{turn}, call {call}") },
        )
    }

    /// A part that stands twice in the prompt (a piece of framing) counts twice.
    fn kind_sums(&self, session_key: u32, list: &PartList) -> Result<Vec<KindSum>, StoreError> {
        let ranges = list.to_sql_values();
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT kind, count(*)::UBIGINT, sum(bytes)::UBIGINT,
                CASE WHEN count(tokens) = count(*) THEN sum(tokens)::UBIGINT END
            FROM main.prompt_parts, (VALUES {ranges}) AS stands(low, high)
            WHERE session_key = ? AND part BETWEEN low AND high GROUP BY kind ORDER BY min(part)"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([session_key])?;
            let mut sums = Vec::new();
            while let Some(row) = rows.next()? {
                let (kind, parts, bytes, tokens) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                sums.push(KindSum { kind, parts, bytes, tokens, new_parts: 0, new_bytes: 0 });
            }
            Ok(sums)
        })
    }

    /// Returns the rows of the parts, in their order.
    fn part_rows(&self, session_key: u32, parts: &PartList) -> Result<Vec<PartRow>, StoreError> {
        Ok(PartRows::new(self.parts_among(session_key, parts)?).of(parts))
    }

    /// Returns the rows of the parts, and of some that lie between them.
    fn parts_among(&self, session_key: u32, parts: &PartList) -> Result<Vec<PartRow>, StoreError> {
        let Some((low, high)) = parts.bounds() else { return Ok(Vec::new()) };
        let clusters = parts.clusters(HOLE);
        if clusters.len() > CLUSTERS {
            let numbers = parts.iter().map(|part| part.to_string()).collect::<Vec<_>>().join(", ");
            let condition = format!("session_key = ? AND part BETWEEN ? AND ? AND part IN ({numbers})");
            return self.select(&condition, [session_key, low, high]);
        }
        let mut rows = Vec::new();
        for (low, high) in clusters {
            // The same words each time: the statement is kept.
            let condition = "session_key = ? AND part BETWEEN ? AND ?";
            rows.extend(self.select::<PartRow>(condition, [session_key, low, high])?);
        }
        Ok(rows)
    }
}

/// Rows of parts by their numbers.
struct PartRows(FxHashMap<u32, PartRow>);

impl PartRows {
    fn new(rows: Vec<PartRow>) -> Self {
        Self(rows.into_iter().map(|row| (row.part, row)).collect())
    }

    fn of(&self, list: &PartList) -> Vec<PartRow> {
        list.iter().filter_map(|part| self.0.get(&part).cloned()).collect()
    }
}

/// Returns what [`Store::kind_sums`] gives, of parts that are at hand.
fn sums_of(parts: &[PartRow]) -> Vec<KindSum> {
    let mut by_number: Vec<&PartRow> = parts.iter().collect();
    by_number.sort_by_key(|part| part.part);
    let mut sums: Vec<KindSum> = Vec::new();
    for part in by_number {
        let at = sums.iter().position(|sum| sum.kind == part.kind).unwrap_or_else(|| {
            sums.push(KindSum { kind: part.kind.clone(), tokens: Some(0), ..KindSum::default() });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.parts += 1;
        sum.bytes += part.bytes;
        sum.tokens = sum.tokens.zip(part.tokens).map(|(all, tokens)| all + tokens);
    }
    sums
}

fn add_new(sums: &mut [KindSum], new: &[PartRow]) {
    for part in new {
        if let Some(sum) = sums.iter_mut().find(|sum| sum.kind == part.kind) {
            sum.new_parts += 1;
            sum.new_bytes += part.bytes;
        }
    }
}

fn list_of(prompt: &PromptRow) -> Result<PartList, StoreError> {
    PartList::from_text(&prompt.parts).ok_or_else(|| StoreError::Unreadable {
        position: 0,
        reason: format!("the part list {:?} of turn {} is damaged", prompt.parts, prompt.turn),
    })
}

pub(super) fn left_out(prompt: &PromptRow) -> Result<Vec<LeftOut>, StoreError> {
    let text = prompt.left_out.as_deref();
    text.map_or(Ok(Vec::new()), serde_json::from_str).map_err(|error| StoreError::Unreadable {
        position: 0,
        reason: format!("what turn {} left out: {error}", prompt.turn),
    })
}
