//! Says of text that is not the JSON it should be what it holds and what was expected.

use std::collections::BTreeMap;
use std::iter;

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// Characters of what stands there that are shown.
const SHOWN_CHARS: usize = 40;

/// Returns why `piece`, which begins `before` bytes into its line, could not be read as a `T`: `error` said so.
pub(crate) fn why<'a, T: Deserialize<'a>>(
    piece: &'a str,
    before: usize,
    error: &serde_json::Error,
) -> String {
    match error.classify() {
        Category::Eof => format!("the JSON ends in the middle (byte {} of the line)", before + piece.len()),
        Category::Syntax | Category::Io => no_json(piece, before, error),
        Category::Data if !piece.starts_with('{') => no_object(piece),
        Category::Data => {
            let field = field_at_fault::<T>(piece, error);
            let field = field.map_or_else(String::new, |name| format!("the field `{name}`: "));
            format!("{field}{}", words(error))
        }
    }
}

/// Says of JSON that is not an object what it is.
pub(crate) fn no_object(piece: &str) -> String {
    let kind = match piece.bytes().next() {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    };
    format!("not a JSON object but {kind}: {}", shown(piece))
}

fn no_json(piece: &str, before: usize, error: &serde_json::Error) -> String {
    let breaks = piece.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = breaks.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    let mut start = piece.floor_char_boundary(at.min(piece.len()));
    // A word is shown from its beginning.
    start -= piece[..start].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
    let reason = match words(error).as_str() {
        "expected ident" | "expected value" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!("not JSON at byte {}{reason}: {}", before + start + 1, shown(&piece[start..]))
}

/// Returns the field that is refused alone as the whole object was.
fn field_at_fault<'a, T: Deserialize<'a>>(piece: &'a str, error: &serde_json::Error) -> Option<String> {
    let words_of_all = words(error);
    if words_of_all.starts_with("missing") {
        return None;
    }
    let first =
        serde_json::Deserializer::from_str(piece).into_iter::<BTreeMap<String, &RawValue>>().next()?;
    first.ok()?.into_iter().find_map(|(name, value)| {
        let alone = MapDeserializer::new(iter::once((name.as_str(), value)));
        let refused = T::deserialize(alone).err()?;
        (words(&refused) == words_of_all).then_some(name)
    })
}

/// Returns what serde says, without a place in text that nobody else has and without names of our types.
pub(crate) fn words(error: &serde_json::Error) -> String {
    let text = without_place(error);
    for ours in ["expected struct ", "expected internally tagged enum ", "expected enum "] {
        if let Some((before, after)) = text.split_once(ours) {
            let rest = after.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
            return format!("{before}expected an object{rest}");
        }
    }
    text
}

/// Returns what serde says, without the place, which tells nothing in text that nobody else has.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    error.to_string().split(" at line ").next().unwrap_or_default().to_owned()
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::read_line;
    use super::*;

    #[derive(Deserialize)]
    struct RowWire {
        #[serde(default)]
        _count: u32,
        #[serde(default, rename = "inner")]
        _inner: Option<InnerWire>,
    }

    #[derive(Deserialize)]
    struct InnerWire {}

    fn reasons(line: &str) -> Vec<String> {
        read_line::<RowWire>(line.as_bytes(), |_, _| {}).into_iter().map(|unread| unread.0).collect()
    }

    #[test]
    fn a_reason_says_what_stands_there_and_what_was_expected() {
        for (line, reason) in [
            ("12345", "not a JSON object but a number: \"12345\""),
            ("\"text\"", "not a JSON object but a string: \"\\\"text\\\"\""),
            ("[7.5]", "not a JSON object but an array: \"[7.5]\""),
            ("null", "not a JSON object but null: \"null\""),
            ("nul!", "not JSON at byte 1: \"nul!\""),
            ("{\"a\":1}plain words", "not JSON at byte 8: \"plain words\""),
            ("{\"a\" 1}", "not JSON at byte 6 (expected `:`): \"1}\""),
            ("{\"a\":[1,", "the JSON ends in the middle (byte 8 of the line)"),
            ("{\"a\":1}{\"b", "the JSON ends in the middle (byte 10 of the line)"),
            ("{\"a\":\"t{\"b\":2}", "a row breaks off after 7 bytes, where another one begins"),
            ("{\"b\":1,\"inner\":5}", "the field `inner`: invalid type: integer `5`, expected an object"),
        ] {
            assert_eq!(reasons(line), [reason], "{line}");
        }
    }

    #[test]
    fn the_field_is_named_of_a_row_of_any_length() {
        let line = format!("{{\"b\":\"{}\",\"_count\":\"x\"}}", "b".repeat(5 << 20));
        let reason = "the field `_count`: invalid type: string \"x\", expected u32";
        assert_eq!(reasons(&line), [reason]);
    }

    #[test]
    fn what_stands_there_is_shown_in_part_only() {
        let reason = &reasons(&format!("é{}", "x".repeat(10_000)))[0];
        assert!(reason.len() < 120 && reason.ends_with("x…\""), "{reason}");
    }
}
