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

#[test]
fn few_large_commits_are_held_in_memory_and_many_small_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, _, writer) = open(folder.path());
    let held = || journal.cache().entries.iter().map(|((_, offset), _)| *offset).collect::<Vec<_>>();
    for number in 1..=80 {
        writer.append(vec![record(number, b"small")]).expect("appended");
        journal.read(Position(number)).expect("it is there");
    }
    assert_eq!(held().len(), 64);
    let large = vec![b'x'; 5 << 20];
    for number in 81..=90 {
        writer.append(vec![record(number, &large)]).expect("appended");
        journal.read(Position(number)).expect("it is there");
    }
    // Four of 5 MiB are 20 MiB, and five more than 24.
    assert_eq!(held().len(), 4);
    let before = held();
    assert_eq!(journal.read(Position(90)).expect("it is there"), record(90, &large));
    assert_eq!(held(), before);
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

/// Writes four commits of one record each; returns where each of them begins, and the end.
fn four_commits(folder: &Path) -> Vec<u64> {
    let (journal, _, writer) = open(folder);
    let mut borders = vec![segment::FILE_MAGIC.len() as u64];
    for number in 1..=4 {
        writer.append(vec![record(number, &[number as u8; 100])]).expect("appended");
        borders.push(journal.bytes_on_disk());
    }
    borders
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path).expect("opens");
    file.seek(SeekFrom::Start(offset)).expect("seeks");
    file.write_all(bytes).expect("writes");
}

/// Damage in the header or the body of a commit in the middle: it is named, the rest is there, more can come.
#[test]
fn a_flipped_byte_is_found_and_named() {
    for into_commit in [0, 8, 60, 91, 95, 110] {
        let folder = tempfile::tempdir().expect("a folder");
        let borders = four_commits(folder.path());
        let path = only_file(folder.path());
        overwrite(&path, borders[1] + into_commit, b"?");

        let (journal, opened, writer) = open(folder.path());
        assert_eq!((opened.torn_bytes, journal.last()), (0, Position(4)), "byte {into_commit}");
        let error = journal.read(Position(2)).expect_err("it is damaged");
        let named = format!("{} is damaged at byte {}", path.display(), borders[1]);
        assert!(error.to_string().contains(&named), "{error}");
        assert_eq!(journal.end_of_loss(Position(2), &error), Some(Position(2)));
        assert!(journal.verify().expect_err("it is damaged").to_string().contains(&named));
        writer.append(vec![record(5, b"five")]).expect("appended");
        drop(writer);

        let (journal, _, _writer) = open(folder.path());
        for number in [1, 3, 4, 5] {
            assert_eq!(journal.read(Position(number)).expect("it is whole").number, number);
        }
    }
}

#[test]
fn several_commits_can_be_lost_in_one_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = four_commits(folder.path());
    overwrite(&only_file(folder.path()), borders[1] + 3, &vec![0; (borders[3] - borders[1] - 10) as usize]);
    let (journal, opened, _writer) = open(folder.path());
    assert_eq!((opened.torn_bytes, journal.last()), (0, Position(4)));
    let error = journal.read(Position(2)).expect_err("it is damaged");
    assert_eq!(journal.end_of_loss(Position(2), &error), Some(Position(3)));
    assert_eq!(journal.read(Position(4)).expect("it is whole").number, 4);
}

#[test]
fn a_file_that_is_gone_is_a_loss_up_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    four_commits(folder.path());
    let first = only_file(folder.path());
    {
        let (_, _, writer) = open(folder.path());
        // More than fills the file, so that the next record begins another.
        let mut state = 1_u64;
        let noise = (0..4 << 20).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        let noise: Vec<u8> = noise.collect();
        for number in 5..=21 {
            writer.append(vec![record(number, &noise)]).expect("appended");
        }
        writer.append(vec![record(22, b"in the second file")]).expect("appended");
    }
    let names = segment_names(folder.path()).expect("a folder");
    assert_eq!(names.len(), 2);
    let last_of_first = Position(names[1].0.0 - 1);
    fs::remove_file(first).expect("removed");
    let (journal, _, _writer) = open(folder.path());
    let error = journal.read(Position(3)).expect_err("its file is gone");
    assert_eq!(journal.end_of_loss(Position(3), &error), Some(last_of_first));
    assert_eq!(journal.read(Position(22)).expect("it is there").number, 22);
    assert!(journal.verify().is_err());
}

#[test]
fn an_old_file_that_was_cut_is_a_loss_of_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = four_commits(folder.path());
    let path = only_file(folder.path());
    // The second file begins after record 4, as it would when the first one is full.
    let second = folder.path().join(Segment::file_name(Position(5)));
    fs::write(&second, segment::FILE_MAGIC).expect("written");
    {
        let (_, _, writer) = open(folder.path());
        writer.append(vec![record(5, b"five")]).expect("appended");
    }
    fs::OpenOptions::new().write(true).open(&path).expect("opens").set_len(borders[2] + 95).expect("cut");
    let (journal, opened, _writer) = open(folder.path());
    assert_eq!((opened.torn_bytes, journal.last()), (0, Position(5)));
    let error = journal.read(Position(4)).expect_err("it is cut off");
    assert!(error.to_string().contains(&format!("damaged at byte {}", borders[2])), "{error}");
    let error = journal.read(Position(3)).expect_err("it is cut off");
    assert_eq!(journal.end_of_loss(Position(3), &error), Some(Position(4)));
    assert_eq!(journal.read(Position(2)).expect("it is whole").number, 2);
    assert_eq!(journal.read(Position(5)).expect("it is whole").number, 5);
}

#[test]
fn a_blob_that_is_gone_or_changed_is_named_and_loses_one_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let huge = vec![7; blobs::BLOB_FROM + 1];
    let (journal, _, writer) = open(folder.path());
    writer.append(vec![record(1, &huge), record(2, b"small")]).expect("appended");
    let blob = fs::read_dir(folder.path().join("blobs"))
        .expect("a folder")
        .next()
        .expect("a blob")
        .expect("a blob")
        .path();
    let whole = fs::read(&blob).expect("it is there");
    let cases = [
        Some(b"no zstd".to_vec()),
        Some(zstd::bulk::compress(b"other", 1).expect("compressed")),
        Some(whole[..whole.len() / 2].to_vec()),
        Some(Vec::new()),
        None,
    ];
    for bytes in cases {
        match bytes {
            Some(bytes) => fs::write(&blob, bytes).expect("written"),
            None => fs::remove_file(&blob).expect("removed"),
        }
        let error = journal.read(Position(1)).expect_err("its blob is lost");
        assert!(error.to_string().contains(&blob.display().to_string()), "{error}");
        assert_eq!(journal.end_of_loss(Position(1), &error), Some(Position(1)));
        assert_eq!(journal.read(Position(2)).expect("it is there").bytes, b"small");
    }
}

/// What was written under one sync may be lost by several commits at once.
#[test]
fn all_commits_of_a_torn_end_are_cut_and_kept_beside() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = four_commits(folder.path());
    let path = only_file(folder.path());
    overwrite(&path, borders[2] + 95, &[0; 8]);
    overwrite(&path, borders[3] + 95, &[0; 8]);
    let (journal, opened, writer) = open(folder.path());
    assert_eq!((opened.torn_bytes, journal.last()), (borders[4] - borders[2], Position(2)));
    for at in [borders[2], borders[3]] {
        assert!(path.with_extension(format!("cut-at-{at}")).exists());
    }
    writer.append(vec![record(3, b"again")]).expect("appended");
    assert_eq!(journal.verify().expect("the chain holds"), 3);
}

#[test]
fn with_a_wrong_key_nothing_is_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let borders = four_commits(folder.path());
    fs::write(folder.path().join("key"), [9; 32]).expect("written");
    assert!(matches!(Journal::open(folder.path()), Err(JournalError::Damaged { .. })));
    assert_eq!(fs::metadata(only_file(folder.path())).expect("a file").len(), borders[4]);
}

#[test]
fn a_file_that_was_just_begun_is_no_hindrance() {
    for begun in [&b""[..], b"dashcam"] {
        let folder = tempfile::tempdir().expect("a folder");
        four_commits(folder.path());
        fs::write(folder.path().join(Segment::file_name(Position(5))), begun).expect("written");
        let (journal, opened, writer) = open(folder.path());
        assert_eq!(opened.torn_bytes, begun.len() as u64);
        writer.append(vec![record(5, b"five")]).expect("appended");
        assert_eq!(journal.verify().expect("the chain holds"), 5);
    }
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
