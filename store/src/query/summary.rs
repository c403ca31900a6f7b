//! A prompt in a few figures, and what changed between two prompts, without reading what stands in them.

use agent_core::LeftOut;
use rustc_hash::FxHashMap;

use crate::projection::ranges::Ranges;
use crate::projection::tables::{PartRow, PromptRow};
use crate::{Store, StoreError};

/// A prompt in a few figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptSummary {
    /// How many parts stand in it.
    pub part_count: u32,
    /// The hash of its body, where the prompt was recorded.
    pub body_hash: Option<String>,
    /// What was left out of it, and why.
    pub left_out: Vec<LeftOut>,
    /// Its parts by kind, in the order in which the kinds first stand in it.
    pub kinds: Vec<KindSum>,
    /// Whether a part is the system prompt.
    pub has_system: bool,
    /// Whether a part is a tool's schema.
    pub has_tools: bool,
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
    /// How many of them stand in a prompt for the first time.
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
    /// Parts that stand in the later one only, in its order.
    pub added: Vec<PartRow>,
    /// Parts that stand in the earlier one only, in its order.
    pub removed: Vec<PartRow>,
}

impl Store {
    /// Returns the numbers of the calls of a turn that have a prompt.
    pub fn prompt_calls(&self, session_key: u32, turn: u32) -> Result<Vec<u32>, StoreError> {
        let rows: Vec<PromptRow> =
            self.select("session_key = ? AND turn = ? ORDER BY call", [session_key, turn])?;
        Ok(rows.into_iter().map(|row| row.call).collect())
    }

    /// Returns the last turn before `turn` that has a prompt, with the number of its last call.
    pub fn prompt_before(&self, session_key: u32, turn: u32) -> Result<Option<(u32, u32)>, StoreError> {
        let rows: Vec<PromptRow> = self.select(
            "session_key = ? AND turn < ? ORDER BY turn DESC, call DESC LIMIT 1",
            [session_key, turn],
        )?;
        Ok(rows.first().map(|row| (row.turn, row.call)))
    }

    /// Returns a prompt in a few figures.
    pub fn prompt_summary(
        &self,
        session_key: u32,
        turn: u32,
        call: u32,
    ) -> Result<PromptSummary, StoreError> {
        let row = self.one_prompt(session_key, turn, call)?;
        let ranges = ranges_of(&row)?;
        let kinds = self.kind_sums(session_key, turn, &ranges)?;
        let left_out =
            row.left_out.as_deref().map_or(Ok(Vec::new()), serde_json::from_str).map_err(|error| {
                StoreError::Unreadable { position: 0, reason: format!("what turn {turn} left out: {error}") }
            })?;
        let has = |kind: &str| kinds.iter().any(|sum| sum.kind == kind);
        Ok(PromptSummary {
            part_count: row.part_count,
            body_hash: row.body_hash,
            left_out,
            has_system: has("system"),
            has_tools: has("tool_schema"),
            kinds,
        })
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
        let ranges = ranges_of(&self.one_prompt(session_key, turn, call)?)?;
        let numbers: Vec<u32> = ranges.iter().skip(from as usize).take(limit as usize).collect();
        self.parts_by_number(session_key, &numbers)
    }

    /// Returns the parts of a prompt that stand in one for the first time, and their places in it.
    pub fn new_prompt_parts(
        &self,
        session_key: u32,
        turn: u32,
        call: u32,
    ) -> Result<Vec<(u32, PartRow)>, StoreError> {
        let ranges = ranges_of(&self.one_prompt(session_key, turn, call)?)?;
        let rows: Vec<PartRow> =
            self.select("session_key = ? AND turn = ? ORDER BY part", [session_key, turn])?;
        let mut by_number: FxHashMap<u32, PartRow> = rows.into_iter().map(|row| (row.part, row)).collect();
        Ok((0..)
            .zip(ranges.iter())
            .filter_map(|(place, part)| Some((place, by_number.remove(&part)?)))
            .collect())
    }

    /// Returns what changed from an earlier prompt (turn and call) to a later one.
    pub fn prompt_difference(
        &self,
        session_key: u32,
        earlier: (u32, u32),
        later: (u32, u32),
    ) -> Result<PromptDifference, StoreError> {
        let before: Vec<u32> =
            ranges_of(&self.one_prompt(session_key, earlier.0, earlier.1)?)?.iter().collect();
        let after: Vec<u32> = ranges_of(&self.one_prompt(session_key, later.0, later.1)?)?.iter().collect();
        let added = only_in_first(&after, &before);
        let removed = only_in_first(&before, &after);
        let same_beginning = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let count = |n: usize| u32::try_from(n).expect("a prompt has fewer than 2^32 parts");
        Ok(PromptDifference {
            unchanged: count(after.len() - added.len()),
            same_beginning: count(same_beginning),
            earlier_parts: count(before.len()),
            added: self.parts_by_number(session_key, &added)?,
            removed: self.parts_by_number(session_key, &removed)?,
        })
    }

    fn one_prompt(&self, session_key: u32, turn: u32, call: u32) -> Result<PromptRow, StoreError> {
        self.select("session_key = ? AND turn = ? AND call = ?", [session_key, turn, call])?.pop().ok_or_else(
            || StoreError::NotFound { what: "prompt of turn", name: format!("{turn}, call {call}") },
        )
    }

    /// A part that stands twice in the prompt counts twice, so the sums are made here and not in SQL.
    fn kind_sums(&self, session_key: u32, turn: u32, ranges: &Ranges) -> Result<Vec<KindSum>, StoreError> {
        let (Some(low), Some(high)) = (ranges.iter().min(), ranges.iter().max()) else {
            return Ok(Vec::new());
        };
        let parts = self.slim_parts(session_key, low, high)?;
        let mut sums: Vec<KindSum> = Vec::new();
        for part in ranges.iter().filter_map(|part| parts.get(&part)) {
            let at = sums.iter().position(|sum| sum.kind == part.kind).unwrap_or_else(|| {
                sums.push(KindSum { kind: part.kind.clone(), tokens: Some(0), ..Default::default() });
                sums.len() - 1
            });
            sums[at].add(part, turn);
        }
        Ok(sums)
    }

    fn slim_parts(
        &self,
        session_key: u32,
        low: u32,
        high: u32,
    ) -> Result<FxHashMap<u32, SlimPart>, StoreError> {
        let sql = "SELECT part, kind, bytes, tokens, turn FROM main.prompt_parts
            WHERE session_key = ? AND part BETWEEN ? AND ?";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([session_key, low, high])?;
            let mut parts = FxHashMap::default();
            while let Some(row) = rows.next()? {
                let part = SlimPart {
                    kind: row.get(1)?,
                    bytes: row.get(2)?,
                    tokens: row.get(3)?,
                    turn: row.get(4)?,
                };
                parts.insert(row.get(0)?, part);
            }
            Ok(parts)
        })
    }

    /// Returns the rows of these parts, in this order.
    fn parts_by_number(&self, session_key: u32, numbers: &[u32]) -> Result<Vec<PartRow>, StoreError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let rows: Vec<PartRow> =
            self.select(&format!("session_key = ? AND part IN ({})", list.join(", ")), [session_key])?;
        let by_number: FxHashMap<u32, PartRow> = rows.into_iter().map(|row| (row.part, row)).collect();
        Ok(numbers.iter().filter_map(|part| by_number.get(part).cloned()).collect())
    }
}

fn ranges_of(prompt: &PromptRow) -> Result<Ranges, StoreError> {
    Ranges::from_text(&prompt.parts).ok_or_else(|| StoreError::Unreadable {
        position: 0,
        reason: format!("the part list {:?} of turn {} is damaged", prompt.parts, prompt.turn),
    })
}

/// What is summed of a part.
struct SlimPart {
    kind: String,
    bytes: u64,
    tokens: Option<u64>,
    turn: u32,
}

impl KindSum {
    fn add(&mut self, part: &SlimPart, turn: u32) {
        self.parts += 1;
        self.bytes += part.bytes;
        self.tokens = self.tokens.zip(part.tokens).map(|(sum, tokens)| sum + tokens);
        if part.turn == turn {
            self.new_parts += 1;
            self.new_bytes += part.bytes;
        }
    }
}

/// Returns what stands in `first` more often than in `second`, in the order of `first`.
fn only_in_first(first: &[u32], second: &[u32]) -> Vec<u32> {
    let mut left: FxHashMap<u32, usize> = FxHashMap::default();
    second.iter().for_each(|&part| *left.entry(part).or_default() += 1);
    let mut only = Vec::new();
    for &part in first {
        match left.get_mut(&part) {
            Some(count) if *count > 0 => *count -= 1,
            _ => only.push(part),
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_stands_twice_counts_twice() {
        assert_eq!(only_in_first(&[1, 2, 2, 3], &[2, 1]), [2, 3]);
        assert_eq!(only_in_first(&[1, 2], &[2, 1, 5]), [0_u32; 0]);
    }
}
