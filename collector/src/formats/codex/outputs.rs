//! How a tool call ended, read from what it gave back: Codex writes no status beside an output.

use agent_core::{ErrorInfo, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::script::{self, Told};
use super::telling::telling_words;
use super::wire::{text_of, value_of};

/// How a call ended; unknown where nothing tells.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub status: Option<ToolStatus>,
    pub exit_code: Option<i64>,
    pub duration_ms: Option<u64>,
    pub error: Option<ErrorInfo>,
}

/// First lines of the head that the runtime writes over a command's output.
const HEADS: [&str; 10] = [
    "Chunk ID:",
    "Exit code:",
    "Wall time:",
    "Process exited",
    "Process running",
    "Script completed",
    "Script running",
    "Script failed",
    "Script error",
    "Script terminated",
];

/// Stands over the head in 0.118; the command below it has as many lines as it has.
const COMMAND: &str = "Command:";

/// What the head begins with where a command stands over it.
const BELOW_COMMAND: [&str; 2] = ["\nChunk ID:", "\nWall time:"];

/// Words of the runtime for a call that somebody, or a rule that somebody set, refused.
const REFUSALS: [&str; 7] = [
    "exec command rejected",
    "patch rejected",
    "rejected by user",
    "user rejected",
    "command rejected",
    "rejected:",
    "approval policy is",
];

/// Words of the runtime for a call that did not work.
const FAILURES: [&str; 16] = [
    "failed to",
    "failed in sandbox",
    "error:",
    "err:",
    "execution error",
    "tool call error",
    "tool call failed",
    "unsupported call",
    "unsupported custom tool call",
    "unknown tool",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "sandbox denied",
    "command timed out",
    "unable to",
];

/// Words of tools that tell of success in a sentence.
const SUCCESSES: [&str; 2] = ["Success.", "Plan updated"];

/// An output that is an object, or a text that holds one.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(alias = "exitCode", borrow)]
    exit_code: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
    #[serde(borrow)]
    wall_time_seconds: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
    #[serde(borrow)]
    stderr: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Metadata {
    exit_code: Option<i64>,
    duration_seconds: Option<f64>,
}

/// Reads how the call ended from its output, as it stands in the row.
pub(super) fn outcome(output: Option<&RawValue>) -> Outcome {
    let Some(output) = output else { return Outcome::default() };
    if let Some(text) = text_of(Some(output)) {
        return of_text(&text);
    }
    if let Some(parts) = value_of::<Vec<Fields<'_>>>(Some(output)) {
        let texts: Vec<String> = parts.iter().filter_map(|part| text_of(part.text)).collect();
        return of_parts(&texts);
    }
    match value_of::<Fields<'_>>(Some(output)) {
        Some(fields) => of_fields(&fields),
        None => Outcome::default(),
    }
}

/// Returns whether the text begins with the head that the runtime writes over an output.
pub(super) fn has_head(text: &str) -> bool {
    let text = without_command(text);
    HEADS.iter().any(|head| text.starts_with(head))
}

/// Returns the text from the head on, where a command stands over it.
fn without_command(text: &str) -> &str {
    if !text.starts_with(COMMAND) {
        return text;
    }
    let head = BELOW_COMMAND.iter().filter_map(|start| text.find(start)).min();
    head.map_or(text, |at| &text[at + 1..])
}

/// Reads the item's own word on how it went.
pub(super) fn by_word(status: Option<&str>) -> Option<ToolStatus> {
    match status? {
        "completed" => Some(ToolStatus::Succeeded),
        "failed" | "incomplete" => Some(ToolStatus::Failed),
        _ => None,
    }
}

/// Parts and objects come from tools that worked: the runtime's own complaints are plain texts.
fn or_succeeded(outcome: Outcome) -> Outcome {
    Outcome { status: outcome.status.or(Some(ToolStatus::Succeeded)), ..outcome }
}

fn of_parts(texts: &[String]) -> Outcome {
    match texts.split_first() {
        Some((first, rest)) if has_head(first) => {
            let (head, body) = split_head(without_command(first));
            let parts: Vec<&str> = std::iter::once(body).chain(rest.iter().map(String::as_str)).collect();
            of_head(head, &parts)
        }
        Some((first, _)) => or_succeeded(of_text(first)),
        None => or_succeeded(Outcome::default()),
    }
}

fn of_fields(fields: &Fields<'_>) -> Outcome {
    let metadata = value_of::<Metadata>(fields.metadata);
    let exit_code =
        value_of(fields.exit_code).or_else(|| metadata.as_ref().and_then(|metadata| metadata.exit_code));
    let seconds = metadata.and_then(|metadata| metadata.duration_seconds);
    let seconds = seconds.or_else(|| value_of(fields.wall_time_seconds));
    if let Some(exit_code) = exit_code {
        let printed = [fields.stderr, fields.output, fields.stdout].map(text_of);
        let printed: Vec<&str> = printed.iter().flatten().map(String::as_str).collect();
        return Outcome { duration_ms: seconds.map(millis), ..exited(exit_code, &printed) };
    }
    let text = text_of(fields.text).or_else(|| text_of(fields.content)).unwrap_or_default();
    match value_of::<bool>(fields.success) {
        Some(true) => Outcome { status: Some(ToolStatus::Succeeded), ..Outcome::default() },
        Some(false) => match of_text(&text) {
            refused @ Outcome { status: Some(ToolStatus::Rejected | ToolStatus::Cancelled), .. } => refused,
            _ => failed(&[&text], "the tool says that it failed"),
        },
        None => or_succeeded(of_text(&text)),
    }
}

fn of_text(text: &str) -> Outcome {
    let text = text.trim_start();
    // The shape of 2025: a JSON text with the output and its metadata.
    if text.starts_with('{')
        && text.contains("\"exit_code\"")
        && let Ok(fields) = serde_json::from_str::<Fields<'_>>(text)
    {
        return of_fields(&fields);
    }
    if !has_head(text) {
        return of_words(text);
    }
    let (head, body) = split_head(without_command(text));
    of_head(head, &[body])
}

/// Returns the head and the output below it, which may say anything. Where no `Output:` follows, the text is
/// head altogether.
fn split_head(text: &str) -> (&str, &str) {
    /// The longest head has five lines.
    const LINES: usize = 8;
    let mut end = 0;
    for line in text.split_inclusive('\n').take(LINES) {
        let below = end + line.len();
        if let Some(rest) = line.strip_prefix("Output:") {
            // Something on the same line is output already.
            return (&text[..end], &text[below - rest.len()..]);
        }
        end = below;
    }
    (text, "")
}

/// Reads the lines above an output, and what a script tells of its commands in the output.
fn of_head(head: &str, parts: &[&str]) -> Outcome {
    let mut outcome = Outcome::default();
    for line in head.lines().map(str::trim) {
        if let Some(code) =
            ["Process exited with code ", "Exit code: "].iter().find_map(|mark| after(line, mark))
        {
            outcome = Outcome { duration_ms: outcome.duration_ms, ..exited(code, parts) };
        } else if let Some(rest) = line.strip_prefix("Wall time") {
            let figure = rest.trim_start_matches(':').split_whitespace().next();
            outcome.duration_ms = figure.and_then(|seconds| seconds.parse().ok()).map(millis);
        } else if line.starts_with("aborted by user") || line.starts_with("Script terminated") {
            outcome.status = Some(ToolStatus::Cancelled);
        } else if line.starts_with("Script failed") || line.starts_with("Script error") {
            outcome = Outcome { duration_ms: outcome.duration_ms, ..script_failed(head, line, parts) };
        }
    }
    // The script's own head says nothing of the commands that it ran.
    if outcome.status.is_none() && head.starts_with("Script") {
        outcome = Outcome { duration_ms: outcome.duration_ms, ..of_script(parts) };
    }
    // A head without bad news is that of a call that worked or runs on.
    or_succeeded(outcome)
}

fn of_script(parts: &[&str]) -> Outcome {
    match script::told(parts) {
        Some(Told { exit_code: Some(code), output, .. }) => exited(code, &[&output]),
        Some(Told { exit_code: None, failed: true, output }) => {
            failed(&[&output], "a tool that the script called failed")
        }
        _ => Outcome::default(),
    }
}

/// The error of a script that failed stands after what it had printed; in older files it is the head.
fn script_failed<'a>(head: &'a str, line: &str, parts: &[&'a str]) -> Outcome {
    const MARK: &str = "Script error:";
    let after_mark = |text: &'a str| text.rsplit_once(MARK).map(|(_, error)| error);
    let error = parts.iter().rev().find_map(|part| after_mark(part)).or_else(|| after_mark(head));
    match error.filter(|error| !error.trim().is_empty()) {
        Some(error) => failed(&[error], line),
        None => failed(parts, line),
    }
}

fn after(line: &str, mark: &str) -> Option<i64> {
    line.strip_prefix(mark)?.trim().parse().ok()
}

/// Reads the runtime's own words, which stand alone and at the beginning.
pub(super) fn of_words(text: &str) -> Outcome {
    let first_line = text.lines().next().unwrap_or_default();
    let lower = first_line.to_lowercase();
    let begins_with = |words: &[&str]| words.iter().any(|start| lower.starts_with(start));
    if text.trim_end() == "aborted" || lower.starts_with("aborted by user") {
        return Outcome { status: Some(ToolStatus::Cancelled), ..Outcome::default() };
    }
    let refused_inside = lower.starts_with("exec_command failed") && lower.contains("rejected(");
    if begins_with(&REFUSALS) || refused_inside {
        return Outcome { status: Some(ToolStatus::Rejected), ..failed(&[first_line], first_line) };
    }
    if begins_with(&FAILURES) {
        return failed(&[first_line], first_line);
    }
    let succeeded = SUCCESSES.iter().any(|start| text.starts_with(start));
    Outcome { status: succeeded.then_some(ToolStatus::Succeeded), ..Outcome::default() }
}

/// Returns how a process ended that printed `outputs`.
pub(super) fn exited(exit_code: i64, outputs: &[&str]) -> Outcome {
    let told = match exit_code {
        0 => Outcome { status: Some(ToolStatus::Succeeded), ..Outcome::default() },
        _ => failed(outputs, &format!("exit code {exit_code}, and no output")),
    };
    Outcome { exit_code: Some(exit_code), ..told }
}

/// Returns a failure with the telling words of `outputs`; `otherwise` is said where they have none.
pub(super) fn failed(outputs: &[&str], otherwise: &str) -> Outcome {
    let message = telling_words(outputs.iter().copied()).unwrap_or_else(|| otherwise.to_owned());
    Outcome {
        status: Some(ToolStatus::Failed),
        error: Some(ErrorInfo { message: Some(message), ..ErrorInfo::default() }),
        ..Outcome::default()
    }
}

fn millis(seconds: f64) -> u64 {
    // A float becomes the nearest figure in range; a negative one 0.
    (seconds * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(output: &str) -> (Option<ToolStatus>, Option<i64>, Option<u64>) {
        let raw = RawValue::from_string(output.to_owned()).expect("the case is JSON");
        let outcome = outcome(Some(&raw));
        (outcome.status, outcome.exit_code, outcome.duration_ms)
    }

    #[test]
    fn endings_are_read_from_the_head_only() {
        use ToolStatus::{Cancelled, Failed, Rejected, Succeeded};
        let exec = r#""Chunk ID: 1f\nWall time: 1.5 seconds\nProcess exited with code 3\nOutput:\nx""#;
        let quoted = r#""Chunk ID: 1f\nProcess exited with code 0\nOutput:\nProcess exited with code 9\n""#;
        let runs = r#""Chunk ID: 1f\nWall time: 0.2 seconds\nProcess running with session ID 7\nOutput:\n""#;
        let json = r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.25}}""#;
        let cases = [
            (exec, (Some(Failed), Some(3), Some(1500))),
            (quoted, (Some(Succeeded), Some(0), None)),
            (runs, (Some(Succeeded), None, Some(200))),
            (json, (Some(Failed), Some(2), Some(250))),
            (
                r#""Command: bash -lc 'cat <<A\nOutput:\nA'\nChunk ID: 1f\nWall time: 0.25 seconds\nProcess exited with code 101\nOutput:\nx""#,
                (Some(Failed), Some(101), Some(250)),
            ),
            (
                r#""Command: sleep 9\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n""#,
                (Some(Succeeded), None, Some(1000)),
            ),
            (r#""Command: none of the runtime's heads\nProcess exited with code 1""#, (None, None, None)),
            (r#""Exit code: 0\nWall time: 2 seconds\nOutput:\nok""#, (Some(Succeeded), Some(0), Some(2000))),
            (r#""Wall time: 3.0 seconds\naborted by user""#, (Some(Cancelled), None, Some(3000))),
            (r#""aborted by user after 5.0s""#, (Some(Cancelled), None, None)),
            (r#""aborted""#, (Some(Cancelled), None, None)),
            (r#""exec command rejected by user""#, (Some(Rejected), None, None)),
            (r#""patch rejected: writing outside of the project; rejected""#, (Some(Rejected), None, None)),
            (r#""failed to parse function arguments: missing field""#, (Some(Failed), None, None)),
            (r#""the build says: error: no""#, (None, None, None)),
            (r#""Script x.sh: not found""#, (None, None, None)),
            (r#""Plan updated""#, (Some(Succeeded), None, None)),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 0.1 seconds\nOutput:\n"}]"#,
                (Some(Succeeded), None, Some(100)),
            ),
            (
                r#"[{"type":"input_text","text":"Script failed\nWall time 1 seconds\nOutput:\n"}]"#,
                (Some(Failed), None, Some(1000)),
            ),
            (r#"{"type":"input_text","text":"a.txt\n"}"#, (Some(Succeeded), None, None)),
            (r#"{"content":"no such file","success":false}"#, (Some(Failed), None, None)),
            (r#"{"stdout":"x","stderr":"","exitCode":1}"#, (Some(Failed), Some(1), None)),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 0.1 seconds\nOutput:\n"},
                    {"type":"input_text","text":"{\"exit_code\":101,\"output\":\"no\"}"}]"#,
                (Some(Failed), Some(101), Some(100)),
            ),
            (
                r#""Script completed\nWall time 2.0 seconds\nOutput:\n{\"exit_code\":0,\"output\":\"\"}""#,
                (Some(Succeeded), Some(0), Some(2000)),
            ),
            (
                r#""{\"chunk_id\":\"a\",\"wall_time_seconds\":0.5,\"exit_code\":1,\"output\":\"\"}""#,
                (Some(Failed), Some(1), Some(500)),
            ),
            // Only a script prints results; what a command prints is its own.
            (
                r#""Exit code: 0\nWall time: 1 seconds\nOutput:\n{\"exit_code\":9,\"output\":\"\"}""#,
                (Some(Succeeded), Some(0), Some(1000)),
            ),
            (r#""Script terminated\nWall time 1.0 seconds\nOutput:\n""#, (Some(Cancelled), None, Some(1000))),
            ("7", (None, None, None)),
        ];
        for (output, expected) in cases {
            assert_eq!(read(output), expected, "{output}");
        }
    }

    #[test]
    fn errors_are_told_in_the_words_of_the_output() {
        let script = |parts: &[&str]| {
            let head = "Script failed\nWall time 0.1 seconds\nOutput:\n";
            let parts: Vec<_> =
                std::iter::once(&head).chain(parts).map(|text| json!({"text": text})).collect();
            json!(parts)
        };
        let cases = [
            (
                json!(
                    "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 128\nOriginal token count: 9\nOutput:\nfatal: bad object\n"
                ),
                Some("fatal: bad object"),
            ),
            (
                json!("Chunk ID: 1f\nProcess exited with code 1\nOutput:\n"),
                Some("exit code 1, and no output"),
            ),
            (json!("Chunk ID: 1f\nProcess exited with code 0\nOutput:\nerror: none\n"), None),
            (json!("{\"output\":\"a\\nerror: b\",\"metadata\":{\"exit_code\":2}}"), Some("error: b")),
            (json!({"stdout": "x", "stderr": "y", "exitCode": 1}), Some("y\nx")),
            (json!({"content": "no such file", "success": false}), Some("no such file")),
            (
                script(&["printed", "Script error:\nTypeError: no\n    at exec"]),
                Some("TypeError: no\n    at exec"),
            ),
            (script(&[]), Some("Script failed")),
            (json!("Script error:\nboom"), Some("boom")),
            (json!("failed to parse function arguments: x"), Some("failed to parse function arguments: x")),
            (
                json!([{"text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
                {"text": "{\"chunk_id\":\"a\",\"exit_code\":1,\"output\":\"Compiling\\nerror: E1\"}"}]),
                Some("error: E1"),
            ),
        ];
        for (output, expected) in cases {
            let raw = RawValue::from_string(output.to_string()).expect("the case is JSON");
            let message = outcome(Some(&raw)).error.and_then(|error| error.message);
            assert_eq!(message.as_deref(), expected, "{output}");
        }
    }
}
