//! A disk without room: what is refused leaves no trace, and it goes on when there is room again.

use std::fs;
use std::path::Path;
use std::process::Command;

use store::{Position, Store};

use crate::support::{event_record, message, open, row, source_of};

/// A small file system of its own; nothing when it may not be mounted here.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn of(mebibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let options = format!("size={mebibytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("skipped: no file system can be mounted here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A file system that stays mounted is seen by whoever runs the tests; there is nobody else to tell.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Bytes that do not compress.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn an_append_to_a_full_disk_fails_whole_and_later_ones_succeed() {
    let Some(disk) = SmallDisk::of(64) else { return };
    let store = open(disk.path());
    let source = store.open_source(&source_of("s", "/f")).expect("it is written");
    let good = store.append(vec![event_record(&message("s", 1))]).expect("there is room").last;
    store.wait_until_projected(good).expect("it is projected");

    let filler = disk.path().join("filler");
    fill(&filler);
    let before = store.journal().bytes_on_disk();
    // Two commits' worth: the first may find room, but both are one batch.
    let error = store.append(vec![row(source, 1, &noise(1, 300_000)), row(source, 2, &noise(2, 300_000))]);
    let error = error.expect_err("there is no room").to_string();
    assert!(error.contains("cannot write") && error.contains("No space left"), "{error}");
    assert_eq!((store.journal().last(), store.journal().bytes_on_disk()), (good, before));
    assert_eq!(store.source_at("/f").expect("it is known").rows, 0);

    fs::remove_file(&filler).expect("removed");
    let after = store.append(vec![event_record(&message("s", 2))]).expect("there is room again");
    assert_eq!(after.first, good.next());
    store.wait_until_projected(after.last).expect("it is projected");
    assert_eq!(store.session("s").expect("it is there").runs, 1);
    drop(store);
    let store = open(disk.path());
    assert_eq!((store.torn_bytes(), store.journal().last()), (0, after.last));
    assert_eq!(store.journal().verify().expect("the chain holds"), after.last.0);
}

/// The tables have no room though the journal had: they catch up when there is.
#[test]
fn tables_without_room_say_so_and_catch_up() {
    let Some(disk) = SmallDisk::of(64) else { return };
    let store = open(disk.path());
    let first = store.append(vec![event_record(&message("s", 1))]).expect("there is room").last;
    store.wait_until_projected(first).expect("it is projected");
    let filler = disk.path().join("filler");
    fill(&filler);
    make_room(&filler, 64 << 10);
    let mut last = first;
    let mut failed = None;
    for batch in 1..200_u64 {
        let from = batch * 20;
        let records = (from..from + 20).map(|n| event_record(&message(&format!("session {n}"), n))).collect();
        match store.append(records) {
            Ok(committed) => last = committed.last,
            Err(_) => break,
        }
        failed = store.wait_until_projected(last).err();
        if failed.is_some() {
            break;
        }
    }
    let Some(failed) = failed else { panic!("the journal was full before the tables at {last:?}") };
    assert!(failed.to_string().contains("the tables are no longer kept up"), "{failed}");
    fs::remove_file(&filler).expect("removed");
    catches_up(&store, last);
}

fn catches_up(store: &Store, last: Position) {
    for _ in 0..100 {
        if store.wait_until_projected(last).is_ok() {
            assert_eq!(store.report().expect("a report").events, last.0);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    panic!("it has not caught up");
}

/// Writes until the disk is full.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(path).expect("created");
    let block = vec![1; 4096];
    while file.write_all(&block).is_ok() {}
}

fn make_room(path: &Path, bytes: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("opens");
    let len = file.metadata().expect("metadata").len();
    file.set_len(len - bytes).expect("cut");
}
