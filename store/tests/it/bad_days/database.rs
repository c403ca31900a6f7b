//! The database is a copy: whatever happens to it, it is made again from the journal.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use store::Store;

use crate::support::{dump, event_record, message, open, row, source_of, take_in};

/// Fills a store and returns what its tables hold.
fn filled(folder: &Path) -> Vec<String> {
    filled_with(folder, 40, 4)
}

fn filled_with(folder: &Path, messages: u64, in_batch: usize) -> Vec<String> {
    let store = open(folder);
    let source = store.open_source(&source_of("t", "/f")).expect("it is written");
    let pairs = (1..=messages)
        .flat_map(|n| [event_record(&message("s", n)), row(source, n, message("t", n).to_json().as_bytes())]);
    for batch in pairs.collect::<Vec<_>>().chunks(in_batch) {
        take_in(&store, batch.to_vec());
    }
    drop(store);
    dump(folder)
}

fn database(folder: &Path) -> PathBuf {
    folder.join("dashcam.duckdb")
}

fn opened_and_closed(folder: &Path) -> Vec<String> {
    let store = open(folder);
    store.wait_until_projected(store.journal().last()).expect("it is projected");
    drop(store);
    dump(folder)
}

#[test]
fn a_database_that_is_gone_or_garbage_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = filled(folder.path());
    let path = database(folder.path());
    fs::remove_file(&path).expect("removed");
    assert_eq!(opened_and_closed(folder.path()), expected);

    fs::write(&path, b"not a database").expect("written");
    assert_eq!(opened_and_closed(folder.path()), expected);
    assert!(path.with_extension("broken").exists(), "it is kept to be looked at");

    fs::write(&path, b"").expect("written");
    assert_eq!(opened_and_closed(folder.path()), expected);

    let bytes = fs::read(&path).expect("read");
    fs::write(&path, &bytes[..bytes.len() / 3]).expect("cut");
    assert_eq!(opened_and_closed(folder.path()), expected);
}

/// Reads what all pages together read.
fn read_everything(store: &Store) -> Result<(), store::StoreError> {
    store.wait_until_projected(store.journal().last())?;
    store.report()?;
    store.sources(100)?;
    for name in ["s", "t"] {
        let key = store.session(name)?.session_key;
        store.turns(key, 0, u32::MAX)?;
        store.runs(key)?;
        for part in (0..6_000).step_by(1_000) {
            store.part_event(key, part)?;
        }
        store.for_each_event(key, None, |_| Ok::<(), store::StoreError>(()))?;
    }
    Ok(())
}

/// Each block is damaged in turn, the headers among them. DuckDB finds the damage where it reads: at the
/// opening, or later; then the next opening makes the tables again.
#[test]
fn a_damaged_database_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    // Enough for blocks that the opening has no need of.
    let expected = filled_with(folder.path(), 6_000, 4_000);
    let path = database(folder.path());
    let whole = fs::read(&path).expect("read");
    let (mut offset, mut found_later) = (100, 0);
    while offset < whole.len() as u64 {
        fs::write(&path, &whole).expect("written");
        let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
        file.write_all_at(&[0xAB; 2000], offset).expect("written");
        if let Err(error) = read_everything(&open(folder.path())) {
            assert!(error.to_string().contains("Corrupt database file"), "{error}");
            found_later += 1;
        }
        assert_eq!(opened_and_closed(folder.path()), expected, "damaged at {offset}");
        offset += if offset < 12_000 { 4096 } else { 256 << 10 };
    }
    assert!(found_later > 0, "no damage was left for later in {} bytes", whole.len());
}

#[test]
fn garbage_in_the_databases_log_does_no_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = filled(folder.path());
    let log = folder.path().join("dashcam.duckdb.wal");
    for garbage in [&b""[..], b"garbage", &[0; 5000], &[0xFF; 5000]] {
        fs::write(&log, garbage).expect("written");
        assert_eq!(opened_and_closed(folder.path()), expected);
    }
}

#[test]
fn a_database_of_another_journal_is_made_again() {
    let (longer, shorter) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    filled(longer.path());
    take_in(&open(shorter.path()), vec![event_record(&message("other", 1))]);
    let expected = dump(shorter.path());
    fs::copy(database(longer.path()), database(shorter.path())).expect("copied");
    assert_eq!(opened_and_closed(shorter.path()), expected);
}

#[test]
fn an_old_copy_of_the_database_catches_up() {
    let folder = tempfile::tempdir().expect("a folder");
    take_in(&open(folder.path()), vec![event_record(&message("s", 100))]);
    let old = fs::read(database(folder.path())).expect("read");
    let expected = filled(folder.path());
    fs::write(database(folder.path()), old).expect("written");
    assert_eq!(opened_and_closed(folder.path()), expected);
}

#[test]
fn a_rebuild_that_was_broken_off_is_no_hindrance() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = filled(folder.path());
    for name in ["dashcam.rebuilding", "dashcam.rebuilding.wal"] {
        fs::write(folder.path().join(name), b"half").expect("written");
    }
    Store::rebuild(folder.path(), crate::support::mappers(), &mut |_, _| {}).expect("it is made again");
    assert_eq!(dump(folder.path()), expected);
}
