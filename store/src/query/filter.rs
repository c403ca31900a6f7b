//! Which sessions are asked for.

use agent_core::Timestamp;
use duckdb::types::Value;
use serde::{Deserialize, Serialize};

use super::conditions::{Conditions, timestamp};
use super::sessions::RUNNING_WITHIN_MS;

/// Which sessions are asked for; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionFilter {
    /// Who asked, in capitals or small letters.
    pub user: Option<String>,
    /// Active at or after.
    pub from: Option<Timestamp>,
    /// Active before.
    pub to: Option<Timestamp>,
    /// The agent.
    pub agent: Option<String>,
    /// A model that served it.
    pub model: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// How it stands, `running` included.
    pub status: Option<String>,
    /// A tool that it called.
    pub tool: Option<String>,
    /// Words in its title, requests, answers, tool inputs or outputs, as far as the previews (256 bytes each) reach.
    pub text: Option<String>,
    /// Only sessions in which a tool or model call failed.
    #[serde(default)]
    pub has_error: bool,
    /// Only the children of this session.
    pub parent: Option<String>,
    /// Without the sessions of sub-agents whose parent is here too.
    #[serde(default)]
    pub top_only: bool,
    /// At most so many.
    pub limit: Option<u32>,
    /// Only what comes after this place of the list.
    pub after: Option<ListPlace>,
}

/// A place in the list of sessions, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPlace {
    /// The last time in the session there, in microseconds; the smallest number where it has none.
    pub ended_at_micros: i64,
    /// Its number.
    pub session_key: u32,
}

impl SessionFilter {
    /// Returns whether anything but the place and size of the list is asked for.
    pub fn restricts(&self) -> bool {
        let plain = Self { limit: self.limit, after: self.after, top_only: self.top_only, ..Self::default() };
        *self != plain
    }

    /// Returns the condition in SQL with its parameters. User input goes into parameters only. `orphans` are
    /// the sub-agents that no parent stands for.
    pub(super) fn condition(&self, now: Timestamp, orphans: &[u32]) -> (String, Vec<Value>) {
        let mut all = Conditions::default();
        if let Some(user) = &self.user {
            all.add("lower(s.user) = lower(?)", [Value::Text(user.clone())]);
        }
        all.equal("s.agent", self.agent.as_deref());
        all.equal("s.project", self.project.as_deref());
        all.equal("s.parent", self.parent.as_deref());
        all.name_in("s.models", self.model.as_deref());
        all.name_in("s.tools", self.tool.as_deref());
        if let Some(from) = self.from {
            all.add("coalesce(s.ended_at, s.started_at) >= ?", [timestamp(from)]);
        }
        if let Some(to) = self.to {
            all.add("coalesce(s.started_at, s.ended_at) < ?", [timestamp(to)]);
        }
        if let Some(status) = &self.status {
            add_status(&mut all, status, now);
        }
        if let Some(text) = self.text.as_deref().filter(|text| !text.is_empty()) {
            add_text(&mut all, text);
        }
        if self.has_error {
            all.add("s.first_error_turn IS NOT NULL", []);
        }
        if self.top_only {
            add_top_only(&mut all, orphans);
        }
        if let Some(place) = self.after {
            let ended_at = Value::BigInt(place.ended_at_micros);
            all.add(
                &format!("({LIST_ORDER} < ? OR ({LIST_ORDER} = ? AND s.session_key < ?))"),
                [ended_at.clone(), ended_at, Value::UInt(place.session_key)],
            );
        }
        (all.sql(), all.into_parameters())
    }
}

/// What the list is sorted by, newest first; sessions without times come last.
pub(super) const LIST_ORDER: &str =
    "coalesce(epoch_us(s.ended_at), epoch_us(s.started_at), -9223372036854775808)";

fn add_status(all: &mut Conditions, status: &str, now: Timestamp) {
    let since = Timestamp::from_micros(now.micros() - RUNNING_WITHIN_MS * 1000);
    match status {
        "running" => all.add("s.status = 'unknown' AND s.ended_at >= ?", [timestamp(since)]),
        "unknown" => {
            all.add("s.status = 'unknown' AND (s.ended_at IS NULL OR s.ended_at < ?)", [timestamp(since)])
        }
        other => all.equal("s.status", Some(other)),
    }
}

fn add_top_only(all: &mut Conditions, orphans: &[u32]) {
    let top = "s.parent_kind IS NULL OR s.parent_kind <> 'subagent'";
    if orphans.is_empty() {
        return all.add(&format!("({top})"), []);
    }
    let keys = orphans.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    all.add(&format!("({top} OR s.session_key IN ({keys}))"), []);
}

fn add_text(all: &mut Conditions, text: &str) {
    let pattern = Value::Text(format!("%{}%", text.replace('!', "!!").replace('%', "!%").replace('_', "!_")));
    let like = |column: &str| format!("{column} ILIKE ? ESCAPE '!'");
    let columns = [
        like("s.title"),
        like("s.session"),
        format!(
            "s.session_key IN (SELECT session_key FROM behavior.turns WHERE {} OR {} OR {})",
            like("user_preview"),
            like("response_preview"),
            like("error_preview")
        ),
        format!(
            "s.session_key IN (SELECT session_key FROM behavior.tool_calls WHERE {} OR {})",
            like("input_preview"),
            like("output_preview")
        ),
    ];
    all.add(&format!("({})", columns.join(" OR ")), std::iter::repeat_n(pattern, 7));
}
