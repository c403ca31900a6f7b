//! Dashcam's own trajectory files: one event a line.

use std::path::Path;

use agent_core::{Event, EventId, SessionStarted};
use serde::Deserialize;
use serde::de::IgnoredAny;
use store::{Mapped, Mapper, Row, Source, Unread};

use super::misfit;
use super::rows::read_line;
use super::{Described, Format, Layout};
use crate::http::explain::explain;

/// The first line may be the rest of a torn one; an event shows itself within a few.
const SNIFFED_LINES: usize = 20;

/// The format.
pub(super) struct Dashcam;

/// What every event has, and no row of another format.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields tell an event by being there")]
struct Marks {
    v: u32,
    id: EventId,
    session: String,
    r#type: String,
    data: IgnoredAny,
}

impl Format for Dashcam {
    fn sniff(&self, head: &[u8]) -> Option<Layout> {
        let mut lines = lines(head).take(SNIFFED_LINES);
        lines.any(|line| serde_json::from_slice::<Marks>(line).is_ok()).then_some(Layout::Lines)
    }

    fn describe(&self, _path: &Path, head: &[u8]) -> Described {
        let mut events = lines(head).filter_map(|line| Event::from_json(line).ok());
        // `sniff` has seen an event; one of a newer version cannot be read whole, but its session can.
        let Some(first) = events.next() else {
            let marks = lines(head).find_map(|line| serde_json::from_slice::<Marks>(line).ok());
            let session = marks.map_or_else(String::new, |marks| marks.session);
            return Described { session, about: SessionStarted::default() };
        };
        // What is known of the session stands in its own events.
        Described { session: first.session, about: SessionStarted::default() }
    }
}

/// Returns the lines that are not blank, without a byte order mark.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

impl Mapper for Dashcam {
    fn format(&self) -> &'static str {
        "dashcam"
    }

    fn version(&self) -> u32 {
        1
    }

    fn map(&self, _source: &Source, row: Row<'_>, out: &mut Mapped) {
        let mut refused = Vec::new();
        let unread = read_line::<IgnoredAny>(row.bytes, |_, text| match Event::from_json(text.as_bytes()) {
            Ok(event) => out.events.push(event),
            Err(_) if !text.starts_with('{') => refused.push(Unread(misfit::no_object(text))),
            Err(error) => refused.push(Unread(explain(text.as_bytes(), &error))),
        });
        out.unread.extend(unread);
        out.unread.extend(refused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"\xEF\xBB\xBF\n{\"v\":1,\"id\":\"0190b0a0-0000-7000-8000-000000000001\",\"session\":\"s1\",\"type\":\"user.messaged\",\"data\":{\"text\":\"hi\"}}\r\n{\"v\":1,\"id\":\"0190b0a0-0000-7000-8000-000000000002\",\"session\":\"s2\",\"type\":\"session.started\",\"data\":{\"agent\":\"b\"}}\n{\"v\":1,\"id\":\"0190b0a0-0000-7000-8000-000000000003\",\"session\":\"s1\",\"type\":\"session.started\",\"data\":{\"agent\":\"a\",\"user\":\"u\"}}\n{\"v\":1,\"id\":\"0190";

    fn map(line: &[u8]) -> Mapped {
        let source = Source {
            format: "dashcam".to_owned(),
            path: String::new(),
            session: "s1".to_owned(),
            about: SessionStarted::default(),
            first_row: String::new(),
            is_document: false,
        };
        let mut out = Mapped::default();
        Dashcam.map(&source, Row { number: 1, bytes: line }, &mut out);
        out
    }

    #[test]
    fn knows_its_files_and_their_session() {
        assert_eq!(Dashcam.sniff(FILE), Some(Layout::Lines));
        let described = Dashcam.describe(Path::new("x"), FILE);
        assert_eq!(described.session, "s1");
        assert_eq!(described.about, SessionStarted::default(), "its own events say it");
        for other in [
            &b"{\"v\":1,\"id\":\"7\",\"session\":\"s\",\"type\":\"t\",\"data\":{}}"[..],
            b"{\"type\":\"user\"}",
            b"",
        ] {
            assert_eq!(Dashcam.sniff(other), None);
        }
    }

    #[test]
    fn a_file_of_a_newer_version_still_names_its_session() {
        let line = b"{\"v\":9,\"id\":\"0190b0a0-0000-7000-8000-000000000001\",\"session\":\"s9\",\"type\":\"x\",\"data\":{}}";
        assert_eq!(Dashcam.describe(Path::new("x"), line).session, "s9");
        let out = map(line);
        assert_eq!((out.events.len(), out.unread.len()), (0, 1));
        assert!(out.unread[0].0.contains("newer"), "{}", out.unread[0]);
    }

    #[test]
    fn an_event_comes_out_as_it_was_written() {
        let line = br#"{"v":1,"id":"0190b0a0-0000-7000-8000-000000000001","rev":2,"session":"s1","type":"odd.happened","data":{"a":[1.50]},"extra":7}"#;
        let out = map(line);
        assert_eq!(out.unread, []);
        assert_eq!(out.events[0].to_json().as_bytes(), line);
    }

    #[test]
    fn glued_and_torn_lines_give_what_is_whole() {
        let whole = r#"{"v":1,"id":"0190b0a0-0000-7000-8000-000000000001","session":"s1","type":"user.messaged","data":{"text":"a"}}"#;
        for (line, events, unread) in [
            (format!("{whole}{whole}"), 2, 0),
            (format!("{{\"v\":1,\"id\":\"01{whole}"), 1, 1),
            (whole[..40].to_owned(), 0, 1),
            (r#"{"type":"x"}"#.to_owned(), 0, 1),
        ] {
            let out = map(line.as_bytes());
            assert_eq!((out.events.len(), out.unread.len()), (events, unread), "{line}");
        }
    }
}
