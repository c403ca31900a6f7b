use super::*;

fn line(number: u32) -> String {
    let event = serde_json::json!({
        "v": 1, "id": format!("01900000-0000-7000-8000-{number:012x}"), "session": "s",
        "type": "user.messaged", "data": {"text": "x".repeat(100_000)},
    });
    format!("{event}\n")
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(&folder.path().join("data"), crate::mappers()).expect("it opens")
}

/// More than one batch.
const LINES: u32 = 120;

#[test]
fn an_import_that_is_stopped_keeps_what_is_safe_and_goes_on_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    fs::write(&path, (0..LINES).map(line).collect::<String>()).expect("written");
    let importer = Importer::new(store(&folder));
    let stop = Stop::default();
    // Told after the first batch is safe.
    let told = stop.clone();
    let stopped = importer.import_until(&path, &stop, &mut |bytes| {
        if bytes > 0 {
            told.tell();
        }
    });
    let Err(ImportError::Stopped { reached: Reached::Bytes { read, of }, .. }) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(of, fs::metadata(&path).expect("it is there").len());
    assert!(0 < read && read < of, "{read} of {of}");
    let Imported::Session(rest) = importer.import(&path, &mut |_| {}).expect("it is read") else { panic!() };
    let rows_before = rest.known_rows;
    assert_eq!(
        read,
        (0..LINES).take(rows_before as usize).map(|number| line(number).len() as u64).sum::<u64>()
    );
    assert_eq!(rest.new_rows, u64::from(LINES) - rows_before);
}

#[test]
fn without_room_nothing_is_written_and_the_error_says_where_and_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    fs::write(&path, line(1)).expect("written");
    let store = store(&folder);
    let limits = Limits { min_free_bytes: u64::MAX, ..Limits::default() };
    let full = Importer::through(Gate::new(store.clone(), limits)).import(&path, &mut |_| {});
    let error = full.expect_err("no disk is that large");
    assert!(matches!(error, ImportError::Full { .. }) && !error.is_of_the_file(), "{error}");
    let words = error.to_string();
    assert!(words.contains("a.jsonl") && words.contains("bytes free"), "{words}");
    assert_eq!(store.journal().last(), Position(0));
}

#[test]
fn a_file_written_anew_is_known_by_where_its_rows_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    fs::write(&path, "[1]\n[22]\r\n{}{}").expect("written");
    let file = File::open(&path).expect("it opens");
    let ends: Vec<u64> = (0..=14).filter(|&at| may_end_a_row(&file, at, 14)).collect();
    // The beginning; before and after the first break; around the carriage return; between two rows that are
    // glued; the end.
    assert_eq!(ends, [0, 3, 4, 8, 9, 10, 12, 14]);
    assert!(!may_end_a_row(&file, 15, 14), "the file is shorter than what was read");
}
