//! Tables are made again beside the old ones, which go on answering.

use std::sync::atomic::{AtomicBool, Ordering};

use store::{Store, StoreError};

use crate::support::{dump, event_record, mappers, message, open, take_in};

/// Has the tables made again while one thread writes and another one reads; every answer must hold what was
/// in the tables before it was asked for.
#[test]
fn the_old_tables_answer_and_take_in_what_comes() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    take_in(&store, (0..500).map(|n| event_record(&message("s", n))).collect());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 500;
            while !done.load(Ordering::Relaxed) {
                take_in(&store, vec![event_record(&message("s", written))]);
                written += 1;
            }
            written
        });
        let reader = scope.spawn(|| {
            let mut answers = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let stored = store.session("s").expect("an answer").events_stored;
                assert!(stored >= 500, "only {stored} events");
                answers += 1;
            }
            answers
        });
        for _ in 0..5 {
            store.rebuild_while_open(&mut |_, _| {}).expect("it is made again");
        }
        done.store(true, Ordering::Relaxed);
        let written = writer.join().expect("no panic");
        assert!(reader.join().expect("no panic") > 0);
        assert!(written > 500);
        store.wait_until_projected(store.journal().last()).expect("it is projected");
        assert_eq!(store.session("s").expect("an answer").events_stored, written);
    });
    drop(store);
    let kept = dump(folder.path());
    Store::rebuild(folder.path(), mappers(), &mut |_, _| {}).expect("it is made again");
    assert_eq!(kept, dump(folder.path()));
}

#[test]
fn what_comes_in_meanwhile_is_in_the_new_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    take_in(&store, vec![event_record(&message("s", 1))]);
    let mut told = Vec::new();
    store
        .rebuild_while_open(&mut |done, all| {
            told.push((done, all));
            take_in(&store, vec![event_record(&message("s", 2))]);
        })
        .expect("it is made again");
    assert_eq!(told, [(1, 1)]);
    store.wait_until_projected(store.journal().last()).expect("it is projected");
    assert_eq!(store.session("s").expect("an answer").events_stored, 2);
}

#[test]
fn one_rebuild_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    take_in(&store, vec![event_record(&message("s", 1))]);
    let mut second = None;
    store
        .rebuild_while_open(&mut |_, _| second = Some(store.rebuild_while_open(&mut |_, _| {})))
        .expect("it is made again");
    assert!(matches!(second, Some(Err(StoreError::Rebuilding))), "{second:?}");
}

/// Where the new file cannot take its place, the old one goes on.
#[test]
fn tables_that_cannot_be_replaced_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    take_in(&store, vec![event_record(&message("s", 1))]);
    let beside = folder.path().join("dashcam.rebuilding");
    let failed = store.rebuild_while_open(&mut |_, _| std::fs::remove_file(&beside).expect("removed"));
    assert!(matches!(failed, Err(StoreError::Projection(_))), "{failed:?}");
    take_in(&store, vec![event_record(&message("s", 2))]);
    assert_eq!(store.session("s").expect("an answer").events_stored, 2);
}
