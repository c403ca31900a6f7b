//! What a script's output tells of the commands that the script ran.
//!
//! From 0.144 on the model writes small programs, which call the tools and print what they like of the
//! results. The head over the output is the program's: that a command failed stands, if anywhere, in what was
//! printed, most often the command's whole result as JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::{text_of, value_of};

/// Names under which scripts print an exit code by itself, in lower case.
const CODE_NAMES: [&str; 5] = ["exit", "exit code", "exit_code", "exitcode", "exit status"];

/// What a printed result tells of its command or tool.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// Absent for a tool that is no command.
    pub exit_code: Option<i64>,
    pub failed: bool,
    /// What the command itself printed.
    pub output: String,
}

/// The result of a command, or of a tool of another server, as scripts get it.
#[derive(Deserialize)]
struct Printed<'a> {
    exit_code: Option<i64>,
    #[serde(rename = "isError")]
    is_error: Option<bool>,
    #[serde(borrow)]
    chunk_id: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Words<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// Returns what the parts of a script's output tell: of the first failure, else of the last result. Nothing
/// where no result is among them.
pub(super) fn told(parts: &[&str]) -> Option<Told> {
    let mut last = None;
    for (at, part) in parts.iter().enumerate() {
        let labelled = || labelled_code(part).map(|code| exited(code, parts[..at].join("\n")));
        for told in results(part).into_iter().chain(labelled()) {
            if told.failed {
                return Some(told);
            }
            last = Some(told);
        }
    }
    last
}

fn exited(code: i64, output: String) -> Told {
    Told { exit_code: Some(code), failed: code != 0, output }
}

/// Returns the results that are printed as JSON in the part: one, or a list of them.
fn results(part: &str) -> Vec<Told> {
    let part = after_cut_notice(part);
    let says_how_it_ended = part.contains("\"exit_code\"") || part.contains("\"isError\"");
    if !says_how_it_ended || !part.starts_with(['{', '[']) {
        return Vec::new();
    }
    let alone = !part.contains(',');
    if let Ok(printed) = serde_json::from_str::<Printed<'_>>(part) {
        return printed.told(alone).into_iter().collect();
    }
    if let Ok(list) = serde_json::from_str::<Vec<Printed<'_>>>(part) {
        return list.iter().filter_map(|printed| printed.told(false)).collect();
    }
    // A long output is cut, and its JSON with it; the exit code stands before the output.
    let head = part.split_once("\"output\":").map(|(head, _)| format!("{head}\"output\":null}}"));
    let Some(head) = head else { return Vec::new() };
    let cut = serde_json::from_str::<Printed<'_>>(&head).ok();
    let told = cut.and_then(|printed| printed.told(false));
    told.map(|told| Told { output: part[head.len() - "null}".len()..].to_owned(), ..told })
        .into_iter()
        .collect()
}

impl Printed<'_> {
    /// Returns what the result tells; nothing where the JSON is something else that has such a field.
    fn told(&self, alone: bool) -> Option<Told> {
        if let Some(code) = self.exit_code {
            let is_result = alone || self.chunk_id.is_some() || self.output.is_some();
            return is_result.then(|| exited(code, text_of(self.output).unwrap_or_default()));
        }
        let failed = self.is_error.filter(|_| self.content.is_some())?;
        let words = value_of::<Vec<Words<'_>>>(self.content).unwrap_or_default();
        let words: Vec<String> = words.iter().filter_map(|words| text_of(words.text)).collect();
        Some(Told { exit_code: None, failed, output: words.join("\n") })
    }
}

/// Returns the exit code where the part is nothing but one with its name, such as `exit:1`.
fn labelled_code(part: &str) -> Option<i64> {
    let (name, code) = part.trim().split_once([':', '='])?;
    CODE_NAMES.contains(&name.trim_end().to_lowercase().as_str()).then(|| code.trim().parse().ok())?
}

/// Returns the part without the notice above an output that was cut.
fn after_cut_notice(part: &str) -> &str {
    let part = part.trim_start();
    if !part.starts_with("Warning: truncated output") {
        return part;
    }
    part.split_once("\n\n").map_or("", |(_, rest)| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_results_tell_how_commands_ended() {
        let code = |code, output: &str| Some(exited(code, output.to_owned()));
        let failed_at = |parts: &[&str], expected| assert_eq!(told(parts), expected, "{parts:?}");
        failed_at(
            &[r#"{"chunk_id":"a","wall_time_seconds":0.1,"exit_code":3,"output":"no\n"}"#],
            code(3, "no\n"),
        );
        failed_at(&[r#"{"output":"no","exit_code":101}"#], code(101, "no"));
        failed_at(&[r#"{"exit_code":2}"#], code(2, ""));
        failed_at(&["out", "exit:1"], code(1, "out"));
        failed_at(&["out", "EXIT_CODE=0"], code(0, "out"));
        // The first failure counts, wherever it stands.
        let list =
            r#"[{"chunk_id":"a","exit_code":0,"output":"x"},{"chunk_id":"b","exit_code":4,"output":"y"}]"#;
        failed_at(&[list, r#"{"exit_code":0,"output":"z"}"#], code(4, "y"));
        let cut = "Warning: truncated output (original token count: 9)\nTotal output lines: 2\n\n\
                   {\"chunk_id\":\"a\",\"exit_code\":7,\"output\":\"one…";
        failed_at(&[cut], code(7, "\"one…"));
        let tool = r#"{"content":[{"type":"text","text":"denied"}],"isError":true}"#;
        failed_at(&[tool], Some(Told { exit_code: None, failed: true, output: "denied".into() }));
    }

    #[test]
    fn other_output_tells_nothing() {
        for part in [
            "",
            "{}",
            // It runs on.
            r#"{"chunk_id":"a","session_id":7,"output":"exit_code"}"#,
            // A file with a field of that name is no result.
            r#"{"job":"x","exit_code":1}"#,
            r#"[{"job":"x","exit_code":1}]"#,
            r#"{"isError":true,"job":"x"}"#,
            r#"{"exit_code":"1","output":""}"#,
            "detached-exit=1",
            "exit:1\nmore",
            "exit: none",
        ] {
            assert_eq!(told(&[part]), None, "{part}");
        }
    }
}
