//! A process that is killed while it writes loses nothing that it was told is safe.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use store::{Record, Store};

use crate::support::{dump, event_record, journal_file, mappers, message, open, row, source_of, take_in};

/// Tells the test program to write until it is killed, and where.
const WRITE_TO: &str = "DASHCAM_TEST_WRITE_TO";

/// Messages in one batch.
const BATCH: u64 = 3;

/// Not a test by itself: what the killed process runs. It says each number after the message is safe.
#[test]
fn writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(WRITE_TO) else { return };
    let store = open(Path::new(&folder));
    let path = format!("/file-{}", std::process::id());
    let source = store.open_source(&source_of("from-file", &path)).expect("it is written");
    let first = store.journal().last().0;
    for batch in 0.. {
        let from = first + batch * BATCH;
        let mut records: Vec<Record> = (from..from + BATCH).map(|n| event_record(&message("s", n))).collect();
        let event = message("from-file", from).to_json();
        records.push(row(source, batch + 1, event.as_bytes()));
        store.append(records).expect("it is written");
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nsafe {from} {path} {}", batch + 1)
            .and_then(|()| out.flush())
            .expect("somebody reads");
    }
}

fn start(folder: &Path) -> Child {
    let test = "bad_days::killed::writes_until_it_is_killed";
    Command::new(std::env::current_exe().expect("this program"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(WRITE_TO, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// What the killed process said.
#[derive(Default)]
struct Safe {
    messages: Vec<u64>,
    /// The place and the number of the last row of each process.
    rows: Vec<(String, u64)>,
}

/// Runs the writing process for a while, kills it, and adds what it said was safe.
fn run_and_kill(folder: &Path, after: Duration, safe: &mut Safe) {
    let mut child = start(folder);
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    let reader = std::thread::spawn(move || {
        out.lines().map_while(Result::ok).filter(|line| line.starts_with("safe ")).collect::<Vec<_>>()
    });
    std::thread::sleep(after);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let lines = reader.join().expect("it read to the end");
    let mut last_row = None;
    for line in lines {
        // The last line may be torn: what was said of it does not count.
        let [_, from, path, row] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let (Ok(from), Ok(row)) = (from.parse::<u64>(), row.parse::<u64>()) else { continue };
        safe.messages.extend(from..from + BATCH);
        last_row = Some((path.to_owned(), row));
    }
    safe.rows.extend(last_row);
}

fn check(store: &Store, safe: &Safe) {
    store.wait_until_projected(store.journal().last()).expect("it is projected");
    let session = store.session("s").expect("it is there");
    let mut identities = Vec::new();
    store
        .for_each_event(session.session_key, None, |event| {
            identities.push(store::event_identity(&event.event));
            Ok::<(), store::StoreError>(())
        })
        .expect("events");
    let count = identities.len();
    identities.sort_unstable();
    identities.dedup();
    assert_eq!(identities.len(), count, "nothing is there twice");
    assert_eq!(session.events_stored, count as u64);
    for &n in &safe.messages {
        let identity = store::event_identity(&message("s", n));
        assert!(identities.binary_search(&identity).is_ok(), "message {n} was safe and is lost");
    }
    for (path, row) in &safe.rows {
        let cursor = store.source_at(path).expect("the source is known");
        assert!(cursor.last_number >= *row, "row {row} of {path} was safe and is lost");
        assert_eq!((cursor.rows, cursor.read_to), (cursor.last_number, cursor.last_number * 100));
    }
}

#[test]
fn nothing_that_was_safe_is_lost_and_nothing_is_there_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut safe = Safe::default();
    for round in 0..20 {
        // Late enough for the first writes, and at other moments each time.
        run_and_kill(folder.path(), Duration::from_millis(250 + round * 37 % 300), &mut safe);
        if round % 5 == 4 {
            check(&open(folder.path()), &safe);
        }
    }
    assert!(safe.messages.len() > 100, "it was killed before it could write: {}", safe.messages.len());
    let found = dump(folder.path());
    Store::rebuild(folder.path(), mappers(), &mut |_, _| {}).expect("it is made again");
    assert_eq!(found, dump(folder.path()));
    open(folder.path()).journal().verify().expect("the chain holds");
}

/// The saved state is only to make the start quick.
#[test]
fn the_live_state_may_be_lost_old_or_garbage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.json");
    let mut number = 0;
    let mut write = |store: &Store| {
        number += 1;
        let source = match store.source_at("/f") {
            Some(cursor) => cursor.id,
            None => store.open_source(&source_of("s", "/f")).expect("it is written"),
        };
        take_in(store, vec![row(source, number, message("s", number).to_json().as_bytes())]);
    };
    write(&open(folder.path()));
    let old = std::fs::read(&path).expect("it was saved");
    write(&open(folder.path()));
    let newer = std::fs::read(&path).expect("it was saved");
    let in_future =
        String::from_utf8(newer.clone()).expect("text").replace("\"position\":3", "\"position\":3000");
    assert_ne!(newer, in_future.as_bytes());
    for (at, state) in
        (2..).zip([Some(old), None, Some(b"{".to_vec()), Some(in_future.into_bytes()), Some(Vec::new())])
    {
        match state {
            Some(state) => std::fs::write(&path, state).expect("written"),
            None => std::fs::remove_file(&path).expect("removed"),
        }
        let store = open(folder.path());
        let cursor = store.source_at("/f").expect("it is known");
        assert_eq!((cursor.rows, cursor.last_number, cursor.read_to), (at, at, at * 100));
        write(&store);
        let other = store.open_source(&source_of("t", &format!("/g{at}"))).expect("it is written");
        assert!(other > cursor.id, "no number is given twice");
    }
    let _ = journal_file(folder.path());
}
