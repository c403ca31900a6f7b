//! The same journal gives the same tables, whatever the batches, the restarts and the memory.

mod random;

use std::path::Path;
use std::sync::Arc;

use duckdb::Connection;
use proptest::prelude::*;

use super::*;
use crate::{JournalWriter, Unread};
use random::{Script, script};

/// Rows that are our own events.
struct EventRows;

impl crate::Mapper for EventRows {
    fn format(&self) -> &'static str {
        "events"
    }

    fn version(&self) -> u32 {
        1
    }

    fn map(&self, _: &Source, row: Row<'_>, out: &mut Mapped) {
        match Event::from_json(row.bytes) {
            Ok(event) => out.events.push(event),
            Err(error) => out.unread.push(Unread(error.to_string())),
        }
    }
}

fn mappers() -> Arc<Mappers> {
    Arc::new(Mappers::new(vec![Box::new(EventRows)]))
}

fn journal_of(folder: &Path, script: &Script) -> Journal {
    let (journal, _) = Journal::open(folder).expect("it opens");
    let writer = JournalWriter::start(&journal, Box::new(|_, _| {})).expect("it starts");
    writer.append(script.records.clone()).expect("it is written");
    journal
}

fn open(database: &Path, journal: &Journal, sessions_in_memory: usize) -> Projection {
    let opened = Projection::open(database, journal, &mappers(), sessions_in_memory).expect("it opens");
    opened.expect("it is of this version")
}

/// Returns all rows of all tables as text, in an order that is theirs.
fn dump(connection: &Connection) -> Vec<String> {
    let names = "SELECT schema_name || '.' || table_name FROM duckdb_tables() ORDER BY 1";
    let mut statement = connection.prepare(names).expect("SQL");
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("tables")
        .map(|name| name.expect("a name"))
        .collect();
    let mut lines = Vec::new();
    for table in tables {
        let sql = format!("SELECT CAST(t AS VARCHAR) FROM {table} t ORDER BY 1");
        let mut statement = connection.prepare(&sql).expect("SQL");
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        lines.extend(rows.map(|row| format!("{table} {}", row.expect("text"))));
    }
    lines
}

fn in_one_batch(folder: &Path, journal: &Journal) -> Vec<String> {
    let mut projection = open(&folder.join("one.duckdb"), journal, SESSIONS_IN_MEMORY);
    projection.advance(journal.last(), usize::MAX).expect("it is taken in");
    dump(&projection.connection)
}

fn event_by_event(folder: &Path, journal: &Journal) -> Vec<String> {
    let mut projection = open(&folder.join("each.duckdb"), journal, 1);
    while projection.position() < journal.last() {
        projection.advance(journal.last(), 1).expect("it is taken in");
    }
    dump(&projection.connection)
}

/// `cuts` are the sizes of the batches; each is followed by a restart.
fn with_restarts(folder: &Path, journal: &Journal, cuts: &[usize]) -> Vec<String> {
    let path = folder.join("restarts.duckdb");
    let mut cuts = cuts.iter().cycle();
    loop {
        let mut projection = open(&path, journal, 2);
        if projection.position() >= journal.last() {
            return dump(&projection.connection);
        }
        let size = *cuts.next().expect("it goes around");
        projection.advance(journal.last(), size).expect("it is taken in");
    }
}

/// The first line that differs, which tells more than two whole dumps.
fn first_difference(expected: &[String], found: &[String]) -> Option<String> {
    let at = (0..expected.len().max(found.len())).find(|&at| expected.get(at) != found.get(at))?;
    Some(format!("\nexpected {:?}\n   found {:?}", expected.get(at), found.get(at)))
}

/// Each case takes over a second: many are for when the projection was changed (`PROPTEST_CASES`).
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 100, ..ProptestConfig::default() })]
    #[test]
    fn batches_restarts_and_memory_change_nothing(
        script in script(),
        cuts in prop::collection::vec(1_usize..12, 1..4),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = journal_of(&folder.path().join("journal"), &script);
        let expected = in_one_batch(folder.path(), &journal);
        prop_assert_eq!(first_difference(&expected, &event_by_event(folder.path(), &journal)), None);
        prop_assert_eq!(first_difference(&expected, &with_restarts(folder.path(), &journal, &cuts)), None);
    }
}

/// A batch that fails halfway leaves nothing behind: the next try gives the same tables.
#[test]
fn a_batch_that_failed_is_taken_in_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = random::of_all_kinds();
    let journal = journal_of(&folder.path().join("journal"), &script);
    let expected = in_one_batch(folder.path(), &journal);
    let mut projection = open(&folder.path().join("failed.duckdb"), &journal, SESSIONS_IN_MEMORY);
    projection.advance(journal.last(), 7).expect("it is taken in");
    projection.connection.execute_batch("ALTER TABLE main.events RENAME TO gone").expect("renamed");
    projection.advance(journal.last(), usize::MAX).expect_err("a table is missing");
    projection.connection.execute_batch("ALTER TABLE main.gone RENAME TO events").expect("renamed");
    projection.start_from_tables().expect("it starts again");
    projection.advance(journal.last(), usize::MAX).expect("it is taken in");
    assert_eq!(first_difference(&expected, &dump(&projection.connection)), None);
}
