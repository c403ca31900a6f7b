use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::SourceId;

fn record(number: u64, bytes: &[u8]) -> Record {
    Record { kind: RecordKind::Row, source: SourceId(7), number, read_to: number * 10, bytes: bytes.to_vec() }
}

fn open(folder: &Path) -> (Journal, Opened, JournalWriter) {
    let (journal, opened) = Journal::open(folder).expect("it opens");
    let writer = JournalWriter::start(&journal, Box::new(|_, _| {})).expect("it starts");
    (journal, opened, writer)
}

fn only_file(folder: &Path) -> PathBuf {
    segment_names(folder).expect("the folder is there").pop().expect("there is a file").1
}

#[test]
fn what_was_appended_is_read_back_after_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = vec![b'x'; FRAME + 10];
    {
        let (_, _, writer) = open(folder.path());
        writer.append(vec![record(1, b"one"), record(2, &large)]).expect("appended");
        let committed = writer.append(vec![record(3, b"")]).expect("appended");
        assert_eq!(committed, Committed { first: Position(3), last: Position(3) });
    }
    let (journal, opened, writer) = open(folder.path());
    assert_eq!(opened.torn_bytes, 0);
    assert_eq!(journal.last(), Position(3));
    assert_eq!(journal.read(Position(2)).expect("it is there"), record(2, &large));
    writer.append(vec![record(4, b"four")]).expect("appended");
    assert_eq!(journal.read(Position(4)).expect("it is there"), record(4, b"four"));
    assert_eq!(journal.verify().expect("the chain holds"), 4);
    assert!(matches!(journal.read(Position(5)), Err(JournalError::NoSuchRecord(5))));
    assert!(matches!(journal.read(Position(0)), Err(JournalError::NoSuchRecord(0))));
}

const FRAME: usize = 300 << 10;

#[test]
fn a_value_over_eight_mebibytes_is_a_blob_and_comes_back_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let huge: Vec<u8> = (0..9_u32 << 20).map(|n| (n % 251) as u8).collect();
    let (journal, _, writer) = open(folder.path());
    writer.append(vec![record(1, &huge)]).expect("appended");
    assert_eq!(journal.read(Position(1)).expect("it is there").bytes, huge);
    assert_eq!(fs::read_dir(folder.path().join("blobs")).expect("a folder").count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// A file cut anywhere opens, and holds every batch that was whole before the cut.
    #[test]
    fn a_cut_end_loses_only_what_it_cuts(cut in 0_u64..2000) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ends = Vec::new();
        {
            let (journal, _, writer) = open(folder.path());
            for number in 1..=5 {
                writer.append(vec![record(number, &[number as u8; 100])]).expect("appended");
                ends.push(journal.bytes_on_disk());
            }
        }
        let path = only_file(folder.path());
        let len = fs::metadata(&path).expect("a file").len();
        let kept = len.saturating_sub(cut).max(ends[0] - 1);
        fs::OpenOptions::new().write(true).open(&path).expect("opens").set_len(kept).expect("cut");
        let whole = ends.iter().filter(|&&end| end <= kept).count() as u64;

        let (journal, opened, writer) = open(folder.path());
        prop_assert_eq!(journal.last(), Position(whole));
        let end = if whole == 0 { 16 } else { ends[whole as usize - 1] };
        prop_assert_eq!(opened.torn_bytes, kept - end);
        writer.append(vec![record(9, b"after")]).expect("appended");
        prop_assert_eq!(journal.verify().expect("the chain holds"), whole + 1);
    }
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let end_of_first = {
        let (journal, _, writer) = open(folder.path());
        writer.append(vec![record(1, b"the first row")]).expect("appended");
        let end = journal.bytes_on_disk();
        writer.append(vec![record(2, b"the second row")]).expect("appended");
        end
    };
    let path = only_file(folder.path());
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).expect("opens");
    file.seek(SeekFrom::Start(end_of_first - 3)).expect("seeks");
    file.write_all(b"?").expect("writes");
    let error = Journal::open(folder.path()).err().expect("damage before a whole commit is no torn end");
    assert!(error.to_string().contains(&format!("{}", path.display())), "{error}");
    assert!(error.to_string().contains("damaged at byte 16"), "{error}");
}

#[test]
fn zeros_after_the_last_commit_are_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    {
        let (_, _, writer) = open(folder.path());
        writer.append(vec![record(1, b"one")]).expect("appended");
        writer.append(vec![record(2, b"two")]).expect("appended");
    }
    let path = only_file(folder.path());
    let len = fs::metadata(&path).expect("a file").len();
    let mut file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.seek(SeekFrom::Start(len - 5)).expect("seeks");
    file.write_all(&[0; 64]).expect("writes");
    let (journal, opened, _writer) = open(folder.path());
    assert!(opened.torn_bytes > 0);
    assert_eq!(journal.last(), Position(1));
}
