//! Sub-agents whose parent has not been read: they stand in the list by themselves, or nobody would find them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Store, StoreError};

/// The newest orphans that are remembered.
const MAX_ORPHANS: u32 = 10_000;

/// Which sessions are orphans. To find out takes a look at all names, so it is remembered until sessions come.
#[derive(Default)]
pub(crate) struct Orphans {
    /// A plain lock: held to read or replace two words, never while the tables are asked.
    known: Mutex<Option<(Seen, Arc<[u32]>)>>,
}

/// What changes when a session or the name of a parent comes in: the highest number, and how many have parents.
type Seen = (u32, u64);

impl Store {
    /// Returns the numbers of the sub-agents' sessions whose parent is not here.
    pub(super) fn orphans(&self) -> Result<Arc<[u32]>, StoreError> {
        let seen = self.seen()?;
        let known = &self.orphan_memory().known;
        let last = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, orphans)) = last.filter(|(of, _)| *of == seen) {
            return Ok(orphans);
        }
        let orphans: Arc<[u32]> = self.look_for_orphans()?.into();
        *known.lock().unwrap_or_else(PoisonError::into_inner) = Some((seen, Arc::clone(&orphans)));
        Ok(orphans)
    }

    fn seen(&self) -> Result<Seen, StoreError> {
        let sql = "SELECT coalesce(max(session_key), 0), count(parent)::UBIGINT FROM main.sessions";
        self.read(|connection| {
            Ok(connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
    }

    fn look_for_orphans(&self) -> Result<Vec<u32>, StoreError> {
        let sql = format!(
            "SELECT session_key FROM main.sessions
            WHERE parent_kind = 'subagent' AND parent NOT IN (SELECT session FROM main.sessions)
            ORDER BY session_key DESC LIMIT {MAX_ORPHANS}"
        );
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([])?;
            let mut orphans = Vec::new();
            while let Some(row) = rows.next()? {
                orphans.push(row.get(0)?);
            }
            Ok(orphans)
        })
    }
}
