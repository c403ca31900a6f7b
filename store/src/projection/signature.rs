//! The words of an error without what differs from one time to the next, so that equal errors can be counted.

/// The longest signature in bytes.
const LENGTH: usize = 120;

/// Returns the first telling line of `words` with `#` for numbers and ids, `<path>` for places and `<text>` for
/// what stands in quotes.
pub(super) fn signature(words: &str) -> Option<String> {
    let line = words.lines().map(str::trim).find(|line| line.chars().any(char::is_alphabetic))?;
    let mut signature = String::with_capacity(LENGTH);
    let unquoted = without_quoted(line);
    for word in unquoted.split_whitespace() {
        if !signature.is_empty() {
            signature.push(' ');
        }
        push_word(&mut signature, word);
        if signature.len() > LENGTH {
            break;
        }
    }
    signature.truncate(signature.floor_char_boundary(LENGTH));
    Some(signature)
}

/// Returns whether the words of an error, or its exit code, say that the time was up. 124 is what `timeout` of
/// the GNU core utilities gives.
pub(super) fn is_timeout(words: Option<&str>, exit_code: Option<i64>) -> bool {
    const SAYINGS: [&str; 4] = ["timed out", "timeout", "time out", "deadline exceeded"];
    let says_so = |words: &str| {
        let words = words.to_lowercase();
        SAYINGS.iter().any(|saying| words.contains(saying))
    };
    exit_code == Some(124) || words.is_some_and(says_so)
}

/// Puts `<text>` in the place of what stands between two quotes of one kind.
fn without_quoted(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '`', '\'']) {
        let quote = &rest[at..=at];
        let inside = &rest[at + 1..];
        // An apostrophe inside a word opens nothing.
        let opens = !rest[..at].ends_with(char::is_alphanumeric);
        let Some(end) = inside.find(quote).filter(|_| opens) else {
            plain.push_str(&rest[..=at]);
            rest = inside;
            continue;
        };
        plain.push_str(&rest[..at]);
        plain.push_str("<text>");
        rest = &inside[end + 1..];
    }
    plain.push_str(rest);
    plain
}

fn push_word(signature: &mut String, word: &str) {
    let is_place = word.len() > 1 && word.contains(['/', '\\']) && word.chars().any(char::is_alphanumeric);
    if is_place {
        let tail = word.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        signature.push_str("<path>");
        signature.push_str(word[tail..].trim_start_matches(['/', '\\']));
        return;
    }
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_id = bare.len() >= 8
        && bare.bytes().any(|byte| byte.is_ascii_digit())
        && bare.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_id {
        signature.push('#');
        return;
    }
    let mut in_number = false;
    for c in word.chars() {
        if !c.is_ascii_digit() {
            signature.push(c);
        } else if !in_number {
            signature.push('#');
        }
        in_number = c.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_left_out() {
        for (words, expected) in [
            ("Exit code 127\nfoo: not found", "Exit code #"),
            ("File does not exist: /home/a/b.rs", "File does not exist: <path>"),
            ("cat: /etc/x: No such file", "cat: <path>: No such file"),
            ("String to replace not found: \"let x = 1\"", "String to replace not found: <text>"),
            ("can't open 'a b.txt'", "can't open <text>"),
            (
                "request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed after 1500ms",
                "request # failed after #ms",
            ),
            ("\n  \n---\nboom", "boom"),
        ] {
            assert_eq!(signature(words).as_deref(), Some(expected), "{words}");
        }
        assert_eq!(signature(" \n 12 3"), None);
        assert!(signature(&"wörter ".repeat(100)).is_some_and(|signature| signature.len() <= LENGTH));
    }

    #[test]
    fn timeouts_are_told_by_words_or_code() {
        assert!(is_timeout(Some("Command timed out after 2m 0.0s"), None));
        assert!(is_timeout(None, Some(124)));
        assert!(!is_timeout(Some("no time to lose"), Some(1)));
    }
}
