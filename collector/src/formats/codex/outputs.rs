//! How a tool call ended, read from what it gave back: Codex writes no status beside an output.

use agent_core::{ErrorInfo, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

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
        let first = parts.iter().find_map(|part| text_of(part.text)).unwrap_or_default();
        return or_succeeded(of_text(&first));
    }
    match value_of::<Fields<'_>>(Some(output)) {
        Some(fields) => of_fields(&fields),
        None => Outcome::default(),
    }
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

fn of_fields(fields: &Fields<'_>) -> Outcome {
    let metadata = value_of::<Metadata>(fields.metadata);
    let exit_code =
        value_of(fields.exit_code).or_else(|| metadata.as_ref().and_then(|metadata| metadata.exit_code));
    let seconds = metadata.and_then(|metadata| metadata.duration_seconds);
    if let Some(exit_code) = exit_code {
        return Outcome { duration_ms: seconds.map(millis), ..exited(exit_code) };
    }
    let text = text_of(fields.text).or_else(|| text_of(fields.content)).unwrap_or_default();
    match value_of::<bool>(fields.success) {
        Some(true) => Outcome { status: Some(ToolStatus::Succeeded), ..Outcome::default() },
        Some(false) => match of_text(&text) {
            refused @ Outcome { status: Some(ToolStatus::Rejected | ToolStatus::Cancelled), .. } => refused,
            _ => failed(&text),
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
    if HEADS.iter().any(|head| text.starts_with(head)) { of_head(text) } else { of_words(text) }
}

/// Reads the lines above the command's own output, which may say anything.
fn of_head(text: &str) -> Outcome {
    /// The longest head has five lines; where no `Output:` follows, the text is head altogether.
    const LINES: usize = 8;
    let mut outcome = Outcome::default();
    for line in text.lines().take(LINES).take_while(|line| !line.starts_with("Output:")) {
        let line = line.trim();
        if let Some(code) =
            ["Process exited with code ", "Exit code: "].iter().find_map(|mark| after(line, mark))
        {
            outcome = Outcome { duration_ms: outcome.duration_ms, ..exited(code) };
        } else if let Some(rest) = line.strip_prefix("Wall time") {
            let figure = rest.trim_start_matches(':').split_whitespace().next();
            outcome.duration_ms = figure.and_then(|seconds| seconds.parse().ok()).map(millis);
        } else if line.starts_with("aborted by user") || line.starts_with("Script terminated") {
            outcome.status = Some(ToolStatus::Cancelled);
        } else if line.starts_with("Script failed") || line.starts_with("Script error") {
            outcome = Outcome { duration_ms: outcome.duration_ms, ..failed(line) };
        }
    }
    // A head without bad news is that of a call that worked or runs on.
    or_succeeded(outcome)
}

fn after(line: &str, mark: &str) -> Option<i64> {
    line.strip_prefix(mark)?.trim().parse().ok()
}

/// Reads the runtime's own words, which stand alone and at the beginning.
fn of_words(text: &str) -> Outcome {
    let first_line = text.lines().next().unwrap_or_default();
    let lower = first_line.to_lowercase();
    let begins_with = |words: &[&str]| words.iter().any(|start| lower.starts_with(start));
    if text.trim_end() == "aborted" || lower.starts_with("aborted by user") {
        return Outcome { status: Some(ToolStatus::Cancelled), ..Outcome::default() };
    }
    let refused_inside = lower.starts_with("exec_command failed") && lower.contains("rejected(");
    if begins_with(&REFUSALS) || refused_inside {
        return Outcome { status: Some(ToolStatus::Rejected), ..failed(first_line) };
    }
    if begins_with(&FAILURES) {
        return failed(first_line);
    }
    let succeeded = SUCCESSES.iter().any(|start| text.starts_with(start));
    Outcome { status: succeeded.then_some(ToolStatus::Succeeded), ..Outcome::default() }
}

fn exited(exit_code: i64) -> Outcome {
    let status = if exit_code == 0 { ToolStatus::Succeeded } else { ToolStatus::Failed };
    Outcome { status: Some(status), exit_code: Some(exit_code), ..Outcome::default() }
}

fn failed(text: &str) -> Outcome {
    /// A reader wants the reason; the whole output stands beside it.
    const MESSAGE_CHARS: usize = 500;
    let message = text.lines().next().unwrap_or_default().chars().take(MESSAGE_CHARS).collect();
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
            ("7", (None, None, None)),
        ];
        for (output, expected) in cases {
            assert_eq!(read(output), expected, "{output}");
        }
    }
}
