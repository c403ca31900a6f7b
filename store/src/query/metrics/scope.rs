//! Of which facts figures are asked, and in which groups.

use agent_core::Timestamp;
use duckdb::types::Value;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::super::conditions::{Conditions, timestamp};
use super::zone::wall_time;

/// Of what figures are asked; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// What began at or after.
    pub from: Option<Timestamp>,
    /// What began before.
    pub to: Option<Timestamp>,
    /// The agent.
    pub agent: Option<String>,
    /// The model that served.
    pub model: Option<String>,
    /// Who asked.
    pub user: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// A tag of the session.
    pub tag: Option<String>,
}

/// What figures are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The day in the zone, as `2026-12-01`.
    Day,
    /// The hour of the day in the zone, as `0` to `23`.
    Hour,
    /// The day of the week in the zone, `1` (Monday) to `7`.
    Weekday,
    /// The agent.
    Agent,
    /// The model that served.
    Model,
    /// Who asked.
    User,
    /// The project.
    Project,
    /// The agent's version.
    Version,
    /// A tag: a session with two stands in both groups.
    Tag,
    /// The session's name.
    Session,
}

/// A table of facts, called `f` in the question.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) table: &'static str,
    /// When a fact began.
    pub(super) time: &'static str,
    /// The model; none where the fact has none, and its turn's stands for it.
    pub(super) model: Option<&'static str>,
    /// Whether what sub-agents do counts too: their runs are no tasks of a user.
    pub(super) with_subagents: bool,
}

/// A question: what stands behind `FROM`, the groups, and the parameters.
pub(super) struct Question {
    pub(super) from: String,
    /// The expressions of the groups, in order; empty where there are none.
    pub(super) groups: Vec<String>,
    pub(super) parameters: Vec<Value>,
}

impl Question {
    /// Returns the whole question: one row a group, the groups' words first.
    pub(super) fn sql(&self, sums: &str, order: &str) -> String {
        let words = self.groups.iter().map(|group| format!("({group})::VARCHAR, ")).collect::<String>();
        let group_by = match self.groups.as_slice() {
            [] => String::new(),
            groups => format!(" GROUP BY {}", groups.join(", ")),
        };
        format!("SELECT {words}{sums} FROM {}{group_by}{order}", self.from)
    }
}

impl Scope {
    /// Returns the question for these facts.
    pub(super) fn ask(&self, facts: Facts, groups: &[Group], zone: &TimeZone) -> Question {
        let needs_turn = facts.model.is_none() && (self.model.is_some() || groups.contains(&Group::Model));
        let mut from = format!("{} f", facts.table);
        if self.needs_session(facts, groups) {
            from.push_str(" JOIN main.sessions s ON s.session_key = f.session_key");
        }
        if needs_turn {
            from.push_str(" JOIN behavior.turns t ON t.session_key = f.session_key AND t.turn = f.turn");
        }
        if groups.contains(&Group::Tag) {
            from.push_str(", unnest(json_extract_string(s.tags, '$[*]')) AS tags(tag)");
        }
        let conditions = self.conditions(facts);
        from.push_str(&format!(" WHERE {}", conditions.sql()));
        let group = |group: &Group| self.group(*group, facts, zone);
        Question {
            from,
            groups: groups.iter().map(group).collect(),
            parameters: conditions.into_parameters(),
        }
    }

    /// To join the sessions costs about as much as to add up what is asked for.
    fn needs_session(&self, facts: Facts, groups: &[Group]) -> bool {
        let of_session = [&self.agent, &self.user, &self.project, &self.version, &self.tag];
        let of_fact = [Group::Day, Group::Hour, Group::Weekday, Group::Model];
        !facts.with_subagents
            || of_session.into_iter().any(Option::is_some)
            || groups.iter().any(|group| !of_fact.contains(group))
    }

    fn conditions(&self, facts: Facts) -> Conditions {
        let mut all = Conditions::default();
        if let Some(from) = self.from {
            all.add(&format!("{} >= ?", facts.time), [timestamp(from)]);
        }
        if let Some(to) = self.to {
            all.add(&format!("{} < ?", facts.time), [timestamp(to)]);
        }
        all.equal("s.agent", self.agent.as_deref());
        all.equal(facts.model.unwrap_or("t.model"), self.model.as_deref());
        all.equal("s.user", self.user.as_deref());
        all.equal("s.project", self.project.as_deref());
        all.equal("s.agent_version", self.version.as_deref());
        all.name_in("s.tags", self.tag.as_deref());
        if !facts.with_subagents {
            all.add("s.parent_kind IS DISTINCT FROM 'subagent'", []);
        }
        all
    }

    fn group(&self, group: Group, facts: Facts, zone: &TimeZone) -> String {
        let wall = || wall_time(facts.time, zone, self.from, self.to);
        match group {
            Group::Day => format!("{}::DATE", wall()),
            Group::Hour => format!("hour({})", wall()),
            Group::Weekday => format!("isodow({})", wall()),
            Group::Agent => "s.agent".to_owned(),
            Group::Model => facts.model.unwrap_or("t.model").to_owned(),
            Group::User => "s.user".to_owned(),
            Group::Project => "s.project".to_owned(),
            Group::Version => "s.agent_version".to_owned(),
            Group::Tag => "tags.tag".to_owned(),
            Group::Session => "s.session".to_owned(),
        }
    }
}
