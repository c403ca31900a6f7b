//! Lists of sessions, and one session by its name.

use std::sync::Arc;

use agent_core::{Status, Timestamp};
use duckdb::types::Value;

use super::filter::{LIST_ORDER, ListPlace, SessionFilter};
use crate::projection::columns::Table;
use crate::projection::tables::SessionRow;
use crate::{Store, StoreError};

/// A session that has not ended and was heard of within this time is running.
pub const RUNNING_WITHIN_MS: i64 = 10 * 60 * 1000;
/// The longest list that is given at once.
const MAX_LIST: u32 = 10_000;

/// A part of the list of sessions, newest first.
#[derive(Clone, Debug)]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<SessionRow>,
    /// Where the next part begins; absent at the end.
    pub next: Option<ListPlace>,
}

impl SessionRow {
    /// Returns how the session stands at `now`.
    pub fn status_at(&self, now: Timestamp) -> Status {
        let status = Status::from_word(&self.status).unwrap_or(Status::Unknown);
        let is_recent = self.ended_at.is_some_and(|last| now.millis_since(last) < RUNNING_WITHIN_MS);
        if status == Status::Unknown && is_recent { Status::Running } else { status }
    }

    /// Returns cache writes of both times to live.
    pub fn cache_write_tokens(&self) -> Option<u64> {
        match (self.cache_write_5m_tokens, self.cache_write_1h_tokens) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        }
    }

    /// Returns the share of the input that was read from the cache; nothing where the source tells no input.
    pub fn cache_hit_ratio(&self) -> Option<f64> {
        let read = self.cache_read_tokens.unwrap_or(0);
        let input = self.uncached_input_tokens.unwrap_or(0) + read + self.cache_write_tokens().unwrap_or(0);
        (input > 0).then(|| read as f64 / input as f64)
    }

    fn place(&self) -> ListPlace {
        let last = self.ended_at.or(self.started_at);
        ListPlace { ended_at_micros: last.map_or(i64::MIN, Timestamp::micros), session_key: self.session_key }
    }
}

impl Store {
    /// Returns the sessions that the filter lets through, newest first. Reads no events.
    pub fn sessions(&self, filter: &SessionFilter, now: Timestamp) -> Result<SessionList, StoreError> {
        let limit = filter.limit.unwrap_or(MAX_LIST).min(MAX_LIST);
        let (condition, parameters) = self.condition(filter, now)?;
        let columns = prefixed(SessionRow::COLUMNS);
        let sql = format!(
            "SELECT {columns} FROM main.sessions s WHERE {condition} \
             ORDER BY {LIST_ORDER} DESC, s.session_key DESC LIMIT {}",
            limit + 1
        );
        let mut sessions = self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(duckdb::params_from_iter(parameters))?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(SessionRow::read(row, 0)?);
            }
            Ok(sessions)
        })?;
        let more = sessions.len() > limit as usize;
        sessions.truncate(limit as usize);
        let next = if more { sessions.last().map(SessionRow::place) } else { None };
        Ok(SessionList { sessions, next })
    }

    fn condition(&self, filter: &SessionFilter, now: Timestamp) -> Result<(String, Vec<Value>), StoreError> {
        let orphans = if filter.top_only { self.orphans()? } else { Arc::default() };
        Ok(filter.condition(now, &orphans))
    }

    /// Returns how many sessions the filter lets through.
    pub fn session_count(&self, filter: &SessionFilter, now: Timestamp) -> Result<u64, StoreError> {
        let filter = SessionFilter { after: None, ..filter.clone() };
        let (condition, parameters) = self.condition(&filter, now)?;
        let sql = format!("SELECT count(*) FROM main.sessions s WHERE {condition}");
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_row(duckdb::params_from_iter(parameters), |row| row.get(0))?)
        })
    }

    /// Returns the session of this name, or the only one whose name begins so.
    pub fn session(&self, prefix: &str) -> Result<SessionRow, StoreError> {
        // Pages ask by the whole name: that is one comparison a row, and no sorting.
        let exact = self.sessions_where("s.session = ?", prefix)?;
        let mut found = match exact.is_empty() {
            true => {
                self.sessions_where("starts_with(s.session, ?) ORDER BY s.session_key LIMIT 4", prefix)?
            }
            false => exact,
        };
        let not_found = || StoreError::NotFound { what: "session", name: prefix.to_owned() };
        if found.is_empty() || prefix.is_empty() {
            return Err(not_found());
        }
        // A sub-agent's session is named after its parent's: the parent's own prefix means the parent.
        let first = found[0].session.clone();
        let family_only =
            found.iter().all(|row| row.session == first || row.session.starts_with(&format!("{first}/")));
        if found.len() == 1 || first == prefix || family_only {
            return Ok(found.swap_remove(0));
        }
        let some: Vec<_> = found.iter().take(3).map(|row| row.session.as_str()).collect();
        Err(StoreError::Ambiguous {
            prefix: prefix.to_owned(),
            count: self.count_prefix(prefix)?,
            some: some.join(", "),
        })
    }

    /// Returns sessions whose name begins so, newest first; at most `limit`.
    pub fn sessions_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let condition = "starts_with(s.session, ?)";
        let order = format!("ORDER BY {LIST_ORDER} DESC, s.session_key DESC LIMIT {limit}");
        self.sessions_where(&format!("{condition} {order}"), prefix)
    }

    fn sessions_where(&self, condition: &str, name: &str) -> Result<Vec<SessionRow>, StoreError> {
        let sql = format!("SELECT {} FROM main.sessions s WHERE {condition}", prefixed(SessionRow::COLUMNS));
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([name])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(SessionRow::read(row, 0)?);
            }
            Ok(found)
        })
    }

    /// Returns the positions of a session's children, in the order in which they came in: by these a page knows
    /// whether one has changed.
    pub fn child_positions(&self, parent: &str) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT position FROM main.sessions WHERE parent = ? ORDER BY session_key";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([parent])?;
            let mut positions = Vec::new();
            while let Some(row) = rows.next()? {
                positions.push(row.get(0)?);
            }
            Ok(positions)
        })
    }

    fn count_prefix(&self, prefix: &str) -> Result<usize, StoreError> {
        self.read(|connection| {
            let sql = "SELECT count(*) FROM main.sessions WHERE starts_with(session, ?)";
            Ok(connection.prepare_cached(sql)?.query_row([prefix], |row| row.get(0))?)
        })
    }

    /// Returns the session with this number.
    pub fn session_by_key(&self, session_key: u32) -> Result<SessionRow, StoreError> {
        let sql =
            format!("SELECT {} FROM main.sessions s WHERE s.session_key = ?", prefixed(SessionRow::COLUMNS));
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([session_key])?;
            match rows.next()? {
                Some(row) => Ok(SessionRow::read(row, 0)?),
                None => Err(StoreError::NotFound { what: "session number", name: session_key.to_string() }),
            }
        })
    }

    /// Returns the values of a column of sessions with how often each occurs, most first: what a filter can
    /// be set to. `column` is one of `user`, `agent`, `project`, `models`, `tools`.
    pub fn session_values(&self, column: FilterColumn) -> Result<Vec<(String, u64)>, StoreError> {
        let sql = match column {
            FilterColumn::User => {
                "SELECT user, count(*) FROM main.sessions WHERE user IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            }
            FilterColumn::Agent => {
                "SELECT agent, count(*) FROM main.sessions WHERE agent IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            }
            FilterColumn::Project => {
                "SELECT project, count(*) FROM main.sessions WHERE project IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            }
            FilterColumn::Models => {
                "SELECT models, count(*) FROM main.sessions WHERE models <> '[]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            }
            FilterColumn::Tools => {
                "SELECT tools, count(*) FROM main.sessions WHERE tools <> '[]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200"
            }
        };
        let counted = self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut counted: Vec<(String, u64)> = Vec::new();
            while let Some(row) = rows.next()? {
                counted.push((row.get(0)?, row.get(1)?));
            }
            Ok(counted)
        })?;
        Ok(if matches!(column, FilterColumn::Models | FilterColumn::Tools) {
            each_name(counted)
        } else {
            counted
        })
    }
}

/// A column that the list of sessions can be filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterColumn {
    /// Who asked.
    User,
    /// The agent.
    Agent,
    /// The project.
    Project,
    /// Models.
    Models,
    /// Tools.
    Tools,
}

/// Counts the names in lists of names.
fn each_name(counted: Vec<(String, u64)>) -> Vec<(String, u64)> {
    let mut names = std::collections::BTreeMap::new();
    for (list, count) in counted {
        for name in serde_json::from_str::<Vec<String>>(&list).unwrap_or_default() {
            *names.entry(name).or_insert(0) += count;
        }
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    names
}

fn prefixed(columns: &str) -> String {
    columns.split(", ").map(|column| format!("s.{column}")).collect::<Vec<_>>().join(", ")
}

/// Returns a text parameter.
pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
