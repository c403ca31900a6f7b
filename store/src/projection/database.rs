//! Opening the DuckDB file, with the settings that Dashcam relies on.

use std::path::{Path, PathBuf};

use duckdb::{AccessMode, Config, Connection};

use super::batch;

/// The DuckDB that this program is built for; another one is refused at the start.
const DUCKDB_VERSION: &str = "v1.5.5";
/// The version of the tables. A file of another version is made again from the journal.
const SCHEMA_VERSION: u32 = 5;
/// What DuckDB may hold in memory: the batches that are written are held by this program, not by DuckDB.
pub(crate) const MEMORY_LIMIT: &str = "64MB";

/// Says what is wrong with the database.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// DuckDB refused.
    #[error("the database {path} failed: {cause}")]
    Database {
        /// The file.
        path: PathBuf,
        /// DuckDB's answer.
        cause: duckdb::Error,
    },
    /// DuckDB refused a query.
    #[error("the database failed: {0}")]
    Query(#[from] duckdb::Error),
    /// The library is not the one that this program was built for.
    #[error("the DuckDB library is {found}, but {DUCKDB_VERSION} is needed; run `make build` again")]
    Library {
        /// Its version.
        found: String,
    },
    /// What is kept of a session cannot be read.
    #[error("the state of the session {session} cannot be read: {cause}; run `dashcam rebuild`")]
    Carry {
        /// The session.
        session: String,
        /// Why.
        cause: serde_json::Error,
    },
    /// The file is of another version, where one of this version was just made.
    #[error("the tables in {path} are of another version; run `dashcam rebuild`")]
    Outdated {
        /// The file.
        path: PathBuf,
    },
    /// The new tables cannot take the place of the old ones.
    #[error("the new tables cannot take the place of {path}: {cause}")]
    Replace {
        /// The file of the tables.
        path: PathBuf,
        /// The system's answer.
        cause: std::io::Error,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] crate::JournalError),
}

impl ProjectionError {
    /// Returns whether bytes of the file are not what was written: then it has to be made again.
    pub(crate) fn is_damage(&self) -> bool {
        // DuckDB has no code for it; the words are those of the version that is checked at the opening.
        match self {
            Self::Database { cause, .. } | Self::Query(cause) => {
                cause.to_string().contains("Corrupt database file")
            }
            _ => false,
        }
    }
}

/// Has the file at `path` made again at the next opening: DuckDB finds damage only where it reads.
pub(crate) fn mark_damaged(path: &Path) {
    if let Err(error) = std::fs::write(damage_mark(path), b"") {
        tracing::warn!(%error, "the damage was not written down; `dashcam rebuild` mends it");
    }
}

/// Returns the file that says that the one at `path` is damaged.
pub(crate) fn damage_mark(path: &Path) -> PathBuf {
    path.with_extension("damaged")
}

/// What was found at the opening.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The tables of this version, by the mappers of this version.
    Usable,
    /// No tables.
    Empty,
    /// Tables of another version of the schema or the mappers.
    Outdated,
}

/// Opens the file. `mapping` names the versions of the mappers.
pub(super) fn open(path: &Path, mapping: &str) -> Result<(Connection, Found), ProjectionError> {
    let fail = |cause| ProjectionError::Database { path: path.to_owned(), cause };
    let connection = Connection::open_with_flags(path, settings().map_err(fail)?).map_err(fail)?;
    check_library(&connection)?;
    // No file of the user and nothing of the network is within reach of any SQL from here on.
    connection
        .execute_batch(
            "SET enable_external_access = false;
             SET disabled_compression_methods = 'dict_fsst';
             SET disabled_optimizers = 'statistics_propagation,compressed_materialization';
             SET checkpoint_threshold = '1GB';",
        )
        .map_err(fail)?;
    let found = found(&connection, mapping).map_err(fail)?;
    Ok((connection, found))
}

/// Makes the tables in an empty file.
pub(super) fn create_tables(connection: &Connection, mapping: &str) -> duckdb::Result<()> {
    connection.execute_batch(&format!("BEGIN; {} COMMIT;", batch::ddl()))?;
    for (key, value) in [("version", version(mapping)), ("position", "0".to_owned())] {
        connection.execute("INSERT INTO main.meta VALUES (?, ?)", [key, &value])?;
    }
    Ok(())
}

fn settings() -> duckdb::Result<Config> {
    Config::default()
        .access_mode(AccessMode::ReadWrite)?
        .enable_autoload_extension(false)?
        .max_memory(MEMORY_LIMIT)?
        // Questions are short: to wake a second thread for one costs more than it does.
        .threads(1)?
        .with("default_block_size", "16384")
}

fn check_library(connection: &Connection) -> Result<(), ProjectionError> {
    let found = connection.version()?;
    if found == DUCKDB_VERSION { Ok(()) } else { Err(ProjectionError::Library { found }) }
}

fn version(mapping: &str) -> String {
    format!("{SCHEMA_VERSION} {mapping}")
}

fn found(connection: &Connection, mapping: &str) -> duckdb::Result<Found> {
    let tables: u64 = connection.query_row(
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'main' AND table_name = 'meta'",
        [],
        |row| row.get(0),
    )?;
    if tables == 0 {
        return Ok(Found::Empty);
    }
    let kept: String =
        connection.query_row("SELECT value FROM main.meta WHERE key = 'version'", [], |row| row.get(0))?;
    Ok(if kept == version(mapping) { Found::Usable } else { Found::Outdated })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With DuckDB's usual planning the kept statement packs words into integers that are as wide as the words
    /// of the first row, and what it gives for the longer ones is garbage.
    #[test]
    fn a_kept_statement_sees_rows_that_came_after_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (connection, _) = open(&folder.path().join("t.duckdb"), "").expect("it opens");
        connection
            .execute_batch("CREATE TABLE t (key UINTEGER, word VARCHAR); INSERT INTO t VALUES (1, 'b')")
            .expect("SQL");
        let sql = "SELECT word, key FROM t WHERE key >= 1 ORDER BY word, key";
        let mut statement = connection.prepare(sql).expect("SQL");
        let mut rows = || -> Vec<(String, u32)> {
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
            rows.map(|row| row.expect("a row")).collect()
        };
        assert_eq!(rows(), [("b".to_owned(), 1)]);
        let long = "a word that is too long to be packed into an integer";
        connection.execute("INSERT INTO t VALUES (2, ?), (2, 'c')", [long]).expect("SQL");
        assert_eq!(rows(), [(long.to_owned(), 2), ("b".to_owned(), 1), ("c".to_owned(), 2)]);
    }
}
