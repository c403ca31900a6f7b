//! What came in from where, and what could not be read.

use crate::projection::tables::{SourceRow, UnreadRow};
use crate::{Position, SourceId, Store, StoreError};

/// A piece that could not be read.
pub type UnreadPiece = UnreadRow;

/// What was read of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceReport {
    /// The source with its counts.
    pub source: SourceRow,
    /// Sessions that its events belong to (sub-agents told of in the same file included).
    pub sessions: Vec<String>,
    /// What could not be read, in order; at most as many as were asked for.
    pub unread: Vec<UnreadPiece>,
}

/// Records that the journal has lost, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first of them.
    pub first: Position,
    /// The last of them.
    pub last: Position,
    /// What is wrong with the first.
    pub reason: String,
}

impl Loss {
    /// Returns how many records they are.
    pub fn records(&self) -> u64 {
        self.last.0 - self.first.0 + 1
    }
}

/// The store in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreReport {
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Events that came again.
    pub duplicates: u64,
    /// Sources.
    pub sources: u64,
    /// Pieces that could not be read.
    pub unread: u64,
    /// Sequence numbers that are missing in sessions that number their events.
    pub missing: u64,
}

impl Store {
    /// Returns what was read of a source, once the tables have it.
    pub fn source_report(&self, id: SourceId, max_unread: u32) -> Result<Option<SourceReport>, StoreError> {
        let Some(source) = self.source_row(id)? else { return Ok(None) };
        let unread = self.select(
            &format!("source_id = ? ORDER BY row, position LIMIT {max_unread}"),
            [source.source_id],
        )?;
        let children = "SELECT session FROM main.sessions WHERE session = ? OR parent = ? AND starts_with(session, ? || '/') ORDER BY session_key";
        let sessions = self.read(|connection| {
            let mut statement = connection.prepare_cached(children)?;
            let mut rows = statement.query([&source.session, &source.session, &source.session])?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(row.get(0)?);
            }
            Ok(sessions)
        })?;
        Ok(Some(SourceReport { source, sessions, unread }))
    }

    /// Returns the sources of a session.
    pub fn sources_of(&self, session: &str) -> Result<Vec<SourceRow>, StoreError> {
        self.select("session = ? ORDER BY source_id", [session])
    }

    /// Returns all sources, those with unread pieces first.
    pub fn sources(&self, limit: u32) -> Result<Vec<SourceRow>, StoreError> {
        self.select(&format!("true ORDER BY unread > 0 DESC, source_id DESC LIMIT {limit}"), [])
    }

    /// Returns the pieces of a session's sources that could not be read.
    pub fn unread_of(&self, session: &str, limit: u32) -> Result<Vec<UnreadPiece>, StoreError> {
        self.select(
            &format!(
                "source_id IN (SELECT source_id FROM main.sources WHERE session = ?) ORDER BY source_id, row LIMIT {limit}"
            ),
            [session],
        )
    }

    /// Returns pieces that could not be read, of all sources and of the event API, in the order in which they
    /// came; what the journal has lost is told by [`Store::losses`] instead.
    pub fn unread(&self, limit: u32) -> Result<Vec<UnreadPiece>, StoreError> {
        let mut pieces: Vec<UnreadPiece> =
            self.select(&format!("source_id > 0 OR row > 0 ORDER BY position LIMIT {limit}"), [])?;
        let found = self.without_source()?.into_iter().filter(|piece| self.loss_at(piece).is_none());
        pieces.extend(found);
        pieces.sort_by_key(|piece| piece.position);
        pieces.truncate(limit as usize);
        Ok(pieces)
    }

    /// Returns the records that the tables lack because the journal has lost them.
    pub fn losses(&self) -> Result<Vec<Loss>, StoreError> {
        let mut losses: Vec<Loss> = Vec::new();
        for loss in self.without_source()?.iter().filter_map(|piece| self.loss_at(piece)) {
            // One loss may have been met in two steps.
            if let Some(before) = losses.last_mut() {
                before.last = before.last.min(Position(loss.first.0 - 1));
            }
            losses.push(loss);
        }
        Ok(losses)
    }

    /// Returns the pieces that are of no source: events that could not be read, and what is lost.
    fn without_source(&self) -> Result<Vec<UnreadPiece>, StoreError> {
        self.select("source_id = 0 AND row = 0 ORDER BY position", [])
    }

    fn loss_at(&self, piece: &UnreadPiece) -> Option<Loss> {
        let first = Position(piece.position);
        let error = self.journal().read(first).err()?;
        let last = self.journal().end_of_loss(first, &error)?;
        Some(Loss { first, last, reason: error.to_string() })
    }

    /// Returns the store in a few figures.
    pub fn report(&self) -> Result<StoreReport, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM main.sessions), (SELECT count(*) FROM main.events),
                (SELECT coalesce(sum(events_duplicate), 0)::UBIGINT FROM main.sessions),
                (SELECT count(*) FROM main.sources), (SELECT count(*) FROM main.unread),
                (SELECT coalesce(sum(events_missing), 0)::UBIGINT FROM main.sessions)";
        self.read(|connection| {
            Ok(connection.prepare_cached(sql)?.query_row([], |row| {
                Ok(StoreReport {
                    sessions: row.get::<_, i64>(0)?.unsigned_abs(),
                    events: row.get::<_, i64>(1)?.unsigned_abs(),
                    duplicates: row.get(2)?,
                    sources: row.get::<_, i64>(3)?.unsigned_abs(),
                    unread: row.get::<_, i64>(4)?.unsigned_abs(),
                    missing: row.get(5)?,
                })
            })?)
        })
    }
}
