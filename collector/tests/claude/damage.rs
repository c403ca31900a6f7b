//! Files that are cut off or damaged, and rows in any order.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::{Bench, claude, figures, map, rows, session, sessions, source};

#[test]
fn claude_rows_mean_the_same_in_any_order() {
    let format = claude();
    for path in sessions() {
        let bytes = fs::read(&path).unwrap();
        let source = source(&*format, &path, &bytes);
        let rows = rows(&bytes);
        let forward: Vec<_> = rows.iter().map(|row| map(&*format, &source, *row)).collect();
        for (row, mapped) in rows.iter().zip(&forward).rev() {
            let again = map(&*format, &source, *row);
            assert_eq!(again.events, mapped.events, "{} row {}", path.display(), row.number);
            assert!(!mapped.events.is_empty(), "{} row {}", path.display(), row.number);
            assert_eq!(mapped.unread, [], "{} row {}", path.display(), row.number);
            let ids: BTreeSet<_> = mapped.events.iter().map(|event| event.id).collect();
            assert_eq!(ids.len(), mapped.events.len(), "{} row {}", path.display(), row.number);
        }
    }
}

/// A file that ends anywhere gives the events of its whole rows, and of the torn one what can be read.
#[test]
fn claude_files_cut_anywhere_are_read_up_to_the_cut() {
    let format = claude();
    for path in sessions() {
        let bytes = fs::read(&path).unwrap();
        let source = source(&*format, &path, &bytes);
        let mut ends = Vec::new();
        let mut end = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            end += line.len();
            ends.push(end);
        }
        // Of long files only the beginning is cut up: the rows of one version are alike.
        for cut in (997..bytes.len().min(600_000)).step_by(997) {
            let at = ends.partition_point(|&end| end <= cut);
            let start = at.checked_sub(1).map_or(0, |before| ends[before]);
            let torn = store::Row { number: at as u64 + 1, bytes: &bytes[start..cut] };
            // Nothing of a torn row is lost without a word: it has events, or its reason why not.
            let mapped = map(&*format, &source, torn);
            let is_empty = torn.bytes.trim_ascii().is_empty();
            assert!(is_empty || !mapped.events.is_empty() || !mapped.unread.is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn claude_imports_of_cut_files_never_fail() {
    let Some(path) = session("mid-session-slice") else { return };
    let bytes = fs::read(&path).unwrap();
    let bench = Bench::new();
    let name = "5f0e3a52-0000-4000-8000-00000000000a.jsonl";
    for cut in (997..bytes.len()).step_by(997) {
        let path = bench.write(name, &bytes[..cut]);
        let unfinished = bench.import(&path).unfinished_row;
        assert_eq!(unfinished.is_some(), bytes[cut - 1] != b'\n', "cut at {cut}");
    }
    bench.import(&bench.write(name, &bytes));
    assert_eq!(figures(&bench.all()[0]), figures(&Bench::with(&path).all()[0]));
    assert_eq!(bench.all()[0].events_refused, 0);
}

#[test]
fn claude_damaged_lines_cost_only_themselves() {
    let row = |at: u32, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"bbbbbbbb-0000-4000-8000-00000000000{at}","parentUuid":null,"sessionId":"torn-one","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let mut bytes = vec![0xEF, 0xBB, 0xBF];
    for line in [
        row(1, "first"),
        "this is no row".to_owned(),
        format!("{}{}", row(2, "glued"), row(3, "to this")),
        format!("\0\0\0{}", row(4, "after zeros")),
        format!("{{\"type\":\"user\",\"mess{}", row(5, "after a stub")),
        row(6, "half a pair \\ud83c"),
        format!("{}\r", row(7, "carriage")),
    ] {
        bytes.extend(line.bytes());
        bytes.push(b'\n');
    }
    let bench = Bench::new();
    bench.import(&bench.write("torn.jsonl", &bytes));
    let row = bench.one("torn-one");
    let text: String = bench
        .store
        .turn_events(row.session_key, 1)
        .unwrap()
        .into_iter()
        .map(|event| event.event.body.data().to_value()["text"].clone())
        .filter_map(|text: Value| text.as_str().map(|text| format!("{text}|")))
        .collect();
    assert_eq!(text, "first|glued|to this|after zeros|after a stub|half a pair \u{FFFD}|carriage|");
    assert_eq!(row.events_refused, 3);
}
