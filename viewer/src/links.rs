//! The addresses of pages.

use std::fmt::Write;

/// Returns `text` as one segment of a path or one value of a query: all but letters, digits and `-_.~` as %XX.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns the address of a session's page.
pub(crate) fn session(name: &str) -> String {
    format!("/sessions/{}", encode(name))
}

/// Returns the address of a turn's page.
pub(crate) fn turn(name: &str, turn: u32) -> String {
    format!("/sessions/{}/turns/{turn}", encode(name))
}

/// Returns the address of what an event says, as plain text.
pub(crate) fn event_text(name: &str, n: u32) -> String {
    format!("/sessions/{}/events/{n}/text", encode(name))
}

/// Returns the address of a part's content, as plain text.
pub(crate) fn part(name: &str, part: u32) -> String {
    format!("/sessions/{}/parts/{part}", encode(name))
}

/// Returns the address of a record as it came.
pub(crate) fn raw(position: u64) -> String {
    format!("/raw/{position}")
}

/// Puts a query together, leaving out what has no value.
pub(crate) fn with_query(path: &str, pairs: &[(&str, Option<&str>)]) -> String {
    let mut address = path.to_owned();
    let mut mark = '?';
    for (key, value) in pairs {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = write!(address, "{mark}{key}={}", encode(value));
            mark = '&';
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment() {
        assert_eq!(session("a/b c?#%ü"), "/sessions/a%2Fb%20c%3F%23%25%C3%BC");
    }

    #[test]
    fn absent_values_leave_no_trace() {
        assert_eq!(
            with_query("/x", &[("a", None), ("b", Some("1&2")), ("c", Some("")), ("d", Some("3"))]),
            "/x?b=1%262&d=3"
        );
    }
}
