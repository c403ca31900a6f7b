//! Finds the words in a failed command's output that tell what went wrong.

/// The longest message in characters: a reader wants the reason, the whole output stands beside it.
const MESSAGE_CHARS: usize = 500;

/// Lines that the runtime puts above an output that it cut.
const CUT_NOTICES: [&str; 2] = ["Warning: truncated output", "Total output lines:"];

/// What a line that names an error begins with, in lower case.
const STARTS: [&str; 6] = ["error", "fatal", "failed", "panic", "exception", "unknown "];

/// What stands somewhere in a line that names an error, in lower case. The space tells words from code.
const SIGNS: [&str; 10] = [
    "error: ",
    " error ",
    "fatal: ",
    "panicked at",
    "exception: ",
    "no such file",
    "not found",
    "permission denied",
    "operation not permitted",
    "timed out",
];

/// Returns the output from the first line that names an error on, else from its first line with words on,
/// cut to a message. Nothing where the output has no words.
pub(super) fn telling_words<'a>(outputs: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<String> = outputs
        .into_iter()
        .flat_map(str::lines)
        .filter(|line| !CUT_NOTICES.iter().any(|notice| line.starts_with(notice)))
        .map(as_shown)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let start = lines.iter().position(|line| names_error(line)).unwrap_or(0);
    let words = lines[start..].join("\n");
    let message: String = words.trim_start().chars().take(MESSAGE_CHARS).collect();
    Some(message).filter(|message| !message.is_empty())
}

fn names_error(line: &str) -> bool {
    let line = format!("{} ", line.trim_start().to_lowercase());
    STARTS.iter().any(|start| line.starts_with(start)) || SIGNS.iter().any(|sign| line.contains(sign))
}

/// Returns the line as a terminal shows it: what a carriage return went back over is gone, and so are colours.
fn as_shown(line: &str) -> String {
    let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
    let mut shown = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            shown.push(char);
        } else if chars.next() == Some('[') {
            // The sequence ends with its first letter.
            chars.by_ref().find(|char| ('@'..='~').contains(char));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_begins_where_the_error_is_named() {
        let cases: &[(&[&str], Option<&str>)] = &[
            (&["   Compiling a\nerror: no binary\nhelp: name it\n"], Some("error: no binary\nhelp: name it")),
            (&["\nTraceback (most recent call last):\n  x\nValueError: bad\n"], Some("ValueError: bad")),
            (&["a.rs:1\nrg: b.rs: No such file or directory (os error 2)\n"], {
                Some("rg: b.rs: No such file or directory (os error 2)")
            }),
            (&["if let Error::Failed(x) = e {\nbuild Error:\n"], Some("build Error:")),
            // Where no line names an error, the output speaks from its beginning.
            (&["", "\n  one\ntwo\n"], Some("one\ntwo")),
            (&["Warning: truncated output (original token count: 9)\nTotal output lines: 1\n\nx"], Some("x")),
            (&["50%\r100%\n\u{1b}[1;31mred\u{1b}[0m\r\n"], Some("100%\nred")),
            (&["\n \n", ""], None),
            (&[], None),
        ];
        for (outputs, expected) in cases {
            assert_eq!(telling_words(outputs.iter().copied()).as_deref(), *expected, "{outputs:?}");
        }
        let long = "é".repeat(600);
        assert_eq!(telling_words([long.as_str()]).map(|words| words.chars().count()), Some(500));
    }
}
