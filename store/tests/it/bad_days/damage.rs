//! Bytes of the journal that changed: what they held is named, and all the rest is there.

use std::os::unix::fs::FileExt;
use std::path::Path;

use store::{JournalError, Position, Store, StoreError};

use crate::support::{dump, event_record, journal_file, mappers, message, open, row, source_of, take_in};

/// Writes commits 1 (a source), 2 to 6 (a row each), and returns where each begins.
fn five_rows(folder: &Path) -> Vec<u64> {
    let store = open(folder);
    let file = journal_file_len(&store);
    let mut borders = vec![file];
    let source = store.open_source(&source_of("s", "/f")).expect("it is written");
    for number in 1..=5 {
        borders.push(journal_file_len(&store));
        take_in(&store, vec![row(source, number, message("s", number).to_json().as_bytes())]);
    }
    borders
}

fn journal_file_len(store: &Store) -> u64 {
    store.journal().bytes_on_disk().max(16)
}

fn flip(folder: &Path, offset: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(journal_file(folder)).expect("opens");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("read");
    file.write_all_at(&[byte[0] ^ 0x55], offset).expect("written");
}

fn texts(store: &Store) -> Vec<String> {
    let key = store.session("s").expect("it is there").session_key;
    let mut texts = Vec::new();
    store
        .for_each_event(key, None, |event| {
            if let agent_core::Body::UserMessaged(message) = event.event.body {
                texts.push(message.text);
            }
            Ok::<(), StoreError>(())
        })
        .expect("events");
    texts
}

/// Makes the tables again from the damaged journal and returns the open store.
fn rebuilt(folder: &Path) -> Store {
    Store::rebuild(folder, mappers(), &mut |_, _| {}).expect("it is made again");
    let store = open(folder);
    store.wait_until_projected(store.journal().last()).expect("it is projected");
    store
}

#[test]
fn the_tables_go_on_after_a_lost_record_and_name_it() {
    for into_commit in [20, 100] {
        let folder = tempfile::tempdir().expect("a folder");
        let borders = five_rows(folder.path());
        flip(folder.path(), borders[3] + into_commit);
        let file = journal_file(folder.path());
        let place = format!("{} is damaged at byte {}", file.display(), borders[3]);

        let store = rebuilt(folder.path());
        assert_eq!(store.torn_bytes(), 0);
        assert_eq!(texts(&store), ["message 1", "message 2", "message 4", "message 5"]);
        let error = store.journal().verify().expect_err("it is damaged");
        assert!(error.to_string().starts_with(&place), "{error}");
        let error = store.journal().read(Position(4)).expect_err("it is damaged");
        assert!(
            matches!(error, JournalError::Damaged { .. }) && error.to_string().starts_with(&place),
            "{error}"
        );
        assert!(store.raw_record(Position(4)).is_err());

        // The source goes on where it was, the loss stands among what could not be read.
        let cursor = store.source_at("/f").expect("it is known");
        assert_eq!((cursor.last_number, cursor.rows), (5, 5));
        take_in(&store, vec![row(cursor.id, 6, message("s", 6).to_json().as_bytes())]);
        assert_eq!(texts(&store).len(), 5);
        assert_eq!(store.report().expect("a report").unread, 1);
        drop(store);
        let found = dump(folder.path());
        assert!(
            found.iter().any(|line| line.starts_with("main.unread")
                && line.contains("record 4 is lost")
                && line.contains(&place)),
            "{found:?}"
        );
        std::fs::remove_file(folder.path().join("live.json")).expect("removed");
        drop(rebuilt(folder.path()));
        assert_eq!(found, dump(folder.path()));
    }
}

/// The tables had it before the damage: pages name the damage where they would show what is lost.
#[test]
fn what_the_tables_had_before_the_damage_they_keep() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = five_rows(folder.path());
    flip(folder.path(), borders[3] + 100);
    let store = open(folder.path());
    let session = store.session("s").expect("it is there");
    assert_eq!(session.events_stored, 6);
    let error = store.event_at(4, 0).expect_err("it is lost");
    assert!(error.to_string().contains("is damaged at byte"), "{error}");
    assert!(store.event_at(5, 0).is_ok());
}

#[test]
fn rows_whose_source_is_lost_are_named_and_its_number_is_not_given_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = five_rows(folder.path());
    flip(folder.path(), borders[0] + 100);
    std::fs::remove_file(folder.path().join("live.json")).expect("removed");
    let store = rebuilt(folder.path());
    // The lost record and five rows without their source.
    assert_eq!(store.report().expect("a report").unread, 6);
    assert_eq!(store.source_at("/f"), None);
    let again = store.open_source(&source_of("s", "/f")).expect("it is written");
    assert!(again.0 > 1);
    take_in(&store, vec![row(again, 1, message("s", 1).to_json().as_bytes())]);
    assert_eq!(texts(&store), ["message 1"]);
}

#[test]
fn a_source_record_that_is_no_source_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut record = row(store::SourceId(5), 0, b"no source");
    record.kind = store::RecordKind::Source;
    take_in(&store, vec![record, row(store::SourceId(5), 1, b"{}"), event_record(&message("s", 1))]);
    assert_eq!(store.report().expect("a report").unread, 2);
    assert_eq!(texts(&store), ["message 1"]);
}
