//! Holds the import to its bound of memory: of one large row hardly more than three copies are held at
//! one time.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use collector::{Imported, Importer};
use store::Store;
use tempfile::TempDir;

/// The bytes of a large text as it stands in its row: more than the 32 MiB up to which the allocator may keep what
/// is given back to it.
const TEXT_BYTES: usize = 34 << 20;
/// Text as tools print it: a fifth of its bytes are escapes.
const PRINTED: &str = r#"the \"quick\" brown\tfox jumps over\n"#;
/// The beginning of a picture in base64, again and again.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAA";

/// A session of one call, and what stands before and after the large text in the row that answers it.
struct Case {
    name: &'static str,
    call: &'static str,
    before: &'static str,
    text: &'static str,
    after: &'static str,
}

const CLAUDE_CALL: &str = r#"{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000001","sessionId":"11111111-1111-4111-8111-111111111111","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
const CODEX_CALL: &str = concat!(
    r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"22222222-2222-4222-8222-222222222222","cwd":"/p"}}"#,
    "\n",
    r#"{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}"#,
);

const CASES: [Case; 3] = [
    Case {
        name: "11111111-1111-4111-8111-111111111112",
        call: CLAUDE_CALL,
        before: r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000003","sessionId":"11111111-1111-4111-8111-111111111111","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":""#,
        text: PRINTED,
        after: r#""}]}}"#,
    },
    Case {
        name: "11111111-1111-4111-8111-111111111113",
        call: CLAUDE_CALL,
        before: r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000004","sessionId":"11111111-1111-4111-8111-111111111111","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""#,
        text: PICTURE,
        after: r#""}}]}}"#,
    },
    Case {
        name: "rollout-2026-01-01T00-00-00-22222222-2222-4222-8222-222222222222",
        call: CODEX_CALL,
        before: r#"{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":""#,
        text: PRINTED,
        after: r#""}}"#,
    },
];

impl Case {
    /// Writes the session bit by bit: what the test itself holds would count as well.
    fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(self.name).with_extension("jsonl");
        let mut file = BufWriter::new(File::create(&path).expect("the file is new"));
        write!(file, "{}\n{}", self.call, self.before).expect("written");
        for _ in 0..TEXT_BYTES / self.text.len() {
            file.write_all(self.text.as_bytes()).expect("written");
        }
        writeln!(file, "{}", self.after).expect("written");
        file.flush().expect("written");
        path
    }
}

#[test]
fn of_a_large_row_hardly_more_than_three_copies_are_held() {
    let folder = TempDir::new().expect("a temporary folder");
    let store = Store::open(&folder.path().join("data"), collector::mappers()).expect("the store opens");
    let importer = Importer::new(store.clone());
    let import = |path: &Path| {
        let imported = importer.import(path, &mut |_| {}).expect("the file is imported");
        assert!(matches!(imported, Imported::Session(_)), "{}", path.display());
        store.wait_until_projected(store.journal().last()).expect("the tables catch up");
    };
    // What the code and the tables take of their own is there after a row of no size.
    let small = folder.path().join("33333333-3333-4333-8333-333333333333.jsonl");
    fs::write(&small, format!("{CLAUDE_CALL}\n")).expect("written");
    import(&small);
    let before = peak_memory_bytes();
    for case in &CASES {
        import(&case.write(folder.path()));
        let copies = (peak_memory_bytes() - before) as f64 / TEXT_BYTES as f64;
        // One is the row itself, and must be seen, or nothing was measured. Three are the row, what stands in
        // it, and the text that is made of that; the rest is for what the tables take meanwhile.
        assert!((1.0..3.5).contains(&copies), "{}: {copies:.2} copies", case.name);
    }
}

/// Returns the largest memory that this process has had.
fn peak_memory_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is there");
    let kibibytes: usize = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes << 10
}
