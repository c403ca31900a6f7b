//! Memories and skills: what is new, what is used again, what never is.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::scope::{Facts, Group, Scope};
use crate::{Store, StoreError};

/// Of what notes of learning are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningKind {
    /// What an agent wrote down for later.
    Memory,
    /// A way of doing things that an agent can call up.
    Skill,
}

impl LearningKind {
    fn facts(self) -> Facts {
        let table = match self {
            Self::Memory => "learning.memory_events",
            Self::Skill => "learning.skill_events",
        };
        Facts { table, time: "f.ts", model: None, with_subagents: true }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Memory => "f.key",
            Self::Skill => "f.skill",
        }
    }

    /// Returns the word for what it is to be used.
    fn used(self) -> &'static str {
        match self {
            Self::Memory => "recalled",
            Self::Skill => "matched",
        }
    }
}

/// What became of memories or skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LearningFigures {
    /// The memory's or skill's name, where asked for one by one.
    pub key: Option<String>,
    /// The words of the groups asked for, in order; absent where the source does not tell.
    pub groups: Vec<Option<String>>,
    /// Sessions that had to do with them.
    pub sessions: u64,
    /// Times one was written, created or updated.
    pub written: u64,
    /// Times one was used: a memory recalled, a skill called up.
    pub used: u64,
    /// Tasks in which one was used.
    pub tasks: u64,
    /// Tasks of these that failed.
    pub failed_tasks: u64,
    /// Times a use or a memory was rejected.
    pub rejected: u64,
    /// Times a skill was not written, because that was refused.
    pub write_rejected: u64,
    /// Times one was thrown away.
    pub evicted: u64,
    /// Times a skill was offered to the model.
    pub listed: u64,
    /// Different names.
    pub keys: u64,
}

/// A memory that stood before the model in turns where something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecalledInFailure {
    /// The memory.
    pub key: String,
    /// The session.
    pub session: String,
    /// The turn.
    pub turn: u32,
    /// The words of what failed there.
    pub error: Option<String>,
}

/// A skill that was offered and never called up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnusedSkill {
    /// The skill.
    pub skill: String,
    /// In how many sessions it was offered.
    pub sessions: u64,
}

impl Store {
    /// Returns what became of memories or skills in the scope, a row a group.
    pub fn learning(
        &self,
        kind: LearningKind,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
    ) -> Result<Vec<LearningFigures>, StoreError> {
        self.learning_figures(kind, scope, groups, zone, false)
    }

    /// Returns what became of each memory or skill in the scope, those used most first.
    pub fn learned(&self, kind: LearningKind, scope: &Scope) -> Result<Vec<LearningFigures>, StoreError> {
        self.learning_figures(kind, scope, &[], &TimeZone::UTC, true)
    }

    fn learning_figures(
        &self,
        kind: LearningKind,
        scope: &Scope,
        groups: &[Group],
        zone: &TimeZone,
        by_key: bool,
    ) -> Result<Vec<LearningFigures>, StoreError> {
        let mut question = scope.ask(kind.facts(), groups, zone);
        if by_key {
            question.groups.insert(0, kind.key().to_owned());
        }
        // The run of a note is that of its turn: one join more, of few rows.
        question.from = question.from.replacen(
            " WHERE ",
            " LEFT JOIN behavior.turns u ON u.session_key = f.session_key AND u.turn = f.turn
              LEFT JOIN behavior.run_ends r ON r.session_key = u.session_key AND r.run = u.run WHERE ",
            1,
        );
        let used = format!("f.what = '{}'", kind.used());
        let sums = format!(
            "count(DISTINCT f.session_key)::UBIGINT,
            count(*) FILTER (f.what IN ('written', 'created', 'updated'))::UBIGINT,
            count(*) FILTER ({used})::UBIGINT,
            count(DISTINCT (f.session_key, u.run)) FILTER ({used})::UBIGINT,
            count(DISTINCT (f.session_key, u.run)) FILTER ({used} AND r.status = 'failed')::UBIGINT,
            count(*) FILTER (f.what = 'rejected')::UBIGINT,
            count(*) FILTER (f.what = 'write_rejected')::UBIGINT,
            count(*) FILTER (f.what IN ('evicted', 'deprecated'))::UBIGINT,
            count(*) FILTER (f.what = 'listed')::UBIGINT,
            count(DISTINCT {})::UBIGINT",
            kind.key()
        );
        let (first, count) = (usize::from(by_key), question.groups.len());
        let sql = question.sql(&sums, &format!(" ORDER BY count(*) FILTER ({used}) DESC, count(*) DESC"));
        self.rows(&sql, question.parameters, |row| {
            let at = |place: usize| row.get::<_, u64>(count + place);
            Ok(LearningFigures {
                key: if by_key { row.get(0)? } else { None },
                groups: (first..count).map(|place| row.get(place)).collect::<Result<_, _>>()?,
                sessions: at(0)?,
                written: at(1)?,
                used: at(2)?,
                tasks: at(3)?,
                failed_tasks: at(4)?,
                rejected: at(5)?,
                write_rejected: at(6)?,
                evicted: at(7)?,
                listed: at(8)?,
                keys: at(9)?,
            })
        })
    }

    /// Returns how many memories or skills there were for the first time on each day, in order: the growth.
    pub fn first_seen(
        &self,
        kind: LearningKind,
        scope: &Scope,
        zone: &TimeZone,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let all = Scope { from: None, ..scope.clone() };
        let question = all.ask(kind.facts(), &[], zone);
        let day = super::zone::wall_time("first", zone, None, scope.to);
        let sql = format!(
            "SELECT ({day}::DATE)::VARCHAR, count(*)::UBIGINT
            FROM (SELECT min(f.ts) AS first FROM {} AND f.ts IS NOT NULL GROUP BY {}) GROUP BY 1 ORDER BY 1",
            question.from,
            kind.key()
        );
        self.rows(&sql, question.parameters, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the memories that stood before the model in turns of the scope where something failed, the latest
    /// first.
    pub fn recalled_in_failures(
        &self,
        scope: &Scope,
        limit: u32,
    ) -> Result<Vec<RecalledInFailure>, StoreError> {
        // Not grouped by sessions, but each answer names one.
        let question = scope.ask(LearningKind::Memory.facts(), &[Group::Session], &TimeZone::UTC);
        let from = question.from.replacen(
            " WHERE ",
            " JOIN behavior.turns u ON u.session_key = f.session_key AND u.turn = f.turn WHERE ",
            1,
        );
        let sql = format!(
            "SELECT f.key, s.session, f.turn, any_value(u.error_preview)
            FROM {from} AND f.what = 'recalled' AND u.error_preview IS NOT NULL
            GROUP BY 1, 2, 3 ORDER BY max(f.position) DESC, 1 LIMIT {limit}"
        );
        self.rows(&sql, question.parameters, |row| {
            Ok(RecalledInFailure {
                key: row.get(0)?,
                session: row.get(1)?,
                turn: row.get(2)?,
                error: row.get(3)?,
            })
        })
    }

    /// Returns the skills that were offered in the scope and never called up, those offered most first.
    pub fn unused_skills(&self, scope: &Scope) -> Result<Vec<UnusedSkill>, StoreError> {
        let question = scope.ask(LearningKind::Skill.facts(), &[], &TimeZone::UTC);
        let sql = format!(
            "SELECT f.skill, count(DISTINCT f.session_key) FILTER (f.what = 'listed')::UBIGINT AS offered
            FROM {} GROUP BY 1
            HAVING count(*) FILTER (f.what = 'matched') = 0 AND offered > 0 ORDER BY offered DESC, 1",
            question.from
        );
        self.rows(&sql, question.parameters, |row| {
            Ok(UnusedSkill { skill: row.get(0)?, sessions: row.get(1)? })
        })
    }
}
