use std::thread;
use std::time::Instant;

use store::{Mappers, Record, RecordKind, SourceId};

use super::*;

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path(), Mappers::default()).expect("it opens")
}

fn record(number: u32) -> Record {
    let event = serde_json::json!({
        "v": 1, "id": format!("01900000-0000-7000-8000-{number:012x}"), "session": "s",
        "type": "user.messaged", "data": {"text": "hello"},
    });
    Record {
        kind: RecordKind::Event,
        source: SourceId(0),
        number: 0,
        read_to: 0,
        bytes: event.to_string().into_bytes(),
    }
}

#[test]
fn a_disk_that_is_nearly_full_lets_nothing_pass_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { min_free_bytes: u64::MAX, ..Limits::default() };
    let gate = Gate::new(store(&folder), limits);
    let full = gate.check().expect_err("no disk is that large");
    let words = full.to_string();
    for part in [folder.path().to_str().expect("text"), " bytes free", "18446744073709551615", "make room"] {
        assert!(words.contains(part), "{words}");
    }
    assert!(matches!(gate.wait(&Stop::default()), Err(Held::Full(Full::Disk { .. }))));
    let roomy = Limits { min_free_bytes: 0, ..Limits::default() };
    assert_eq!(Gate::new(gate.store().clone(), roomy).check(), Ok(()));
}

#[test]
fn whoever_is_ahead_of_the_tables_waits_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder);
    let gate = Gate::new(store.clone(), Limits { max_lag_records: 0, min_free_bytes: 0 });
    for number in 0..10 {
        store.append(vec![record(number)]).expect("it is written");
        gate.wait(&Stop::default()).expect("the tables catch up");
        assert_eq!(store.lag(), 0);
    }
}

#[test]
fn a_wait_ends_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let gate = Gate::new(store(&folder), Limits::default());
    let stop = Stop::default();
    let told = stop.clone();
    let teller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        told.tell();
    });
    let begun = Instant::now();
    // No such record comes: only the wish to stop ends this.
    let held = gate.wait_until_projected(Position(1_000_000), &stop);
    assert!(matches!(held, Err(Held::Stopped)), "{held:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    teller.join().expect("it ends");
}
