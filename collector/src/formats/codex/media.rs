//! Pictures inside rows: told by type and size, never copied as text. Real rollouts of 98 GB were pictures in
//! base64 for the most part.

use std::borrow::Cow;

use agent_core::{Block, Json};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::value_of;

const MARK: &[u8] = b";base64,";

/// Runs shorter than this stay: they are icons or examples in a text, and leaving them out saves nothing.
const SHORT_BYTES: usize = 256;

/// Returns the picture behind the value of an `image_url` field: a text, or an object that holds it.
pub(super) fn picture(image_url: &RawValue) -> Block {
    #[derive(Deserialize)]
    struct Nested<'a> {
        #[serde(borrow)]
        url: Option<&'a RawValue>,
    }
    let nested = value_of::<Nested<'_>>(Some(image_url)).and_then(|nested| nested.url);
    let url = nested.unwrap_or(image_url).get().trim_matches('"');
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((media_type, base64)) => {
            Block::Media { media_type: media_type.replace("\\/", "/"), bytes: decoded_bytes(base64) }
        }
        None => Block::Media { media_type: String::new(), bytes: 0 },
    }
}

/// Returns the size of what a base64 text holds.
pub(super) fn decoded_bytes(base64: &str) -> u64 {
    let digits = base64.bytes().filter(u8::is_ascii_alphanumeric).count()
        + base64.bytes().filter(|byte| matches!(byte, b'+' | b'/')).count();
    digits as u64 * 3 / 4
}

/// Returns a copy of the value in which each longer base64 text of a data address is replaced by its size.
pub(super) fn without_base64(raw: &RawValue) -> Json {
    match shortened(raw.get()) {
        Cow::Borrowed(_) => Json::copy(raw),
        // The run taken out has no quote or backslash at its ends, so what is left is JSON still.
        Cow::Owned(text) => Json::parse(text).unwrap_or_else(|_| Json::copy(raw)),
    }
}

fn shortened(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for mark in memmem::find_iter(json.as_bytes(), MARK) {
        let start = mark + MARK.len();
        if start < copied {
            continue;
        }
        let run = json.as_bytes()[start..].iter().take_while(|byte| is_base64(**byte)).count();
        if run < SHORT_BYTES {
            continue;
        }
        out.push_str(&json[copied..start]);
        out.push_str(&format!("[{} bytes left out]", decoded_bytes(&json[start..start + run])));
        copied = start + run;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("the case is JSON")
    }

    #[test]
    fn base64_is_told_by_its_size() {
        // 400 digits hold 300 bytes.
        let json = format!(r#"[{{"image_url":"data:image/png;base64,{}"}},"kept"]"#, "A".repeat(400));
        let expected = r#"[{"image_url":"data:image/png;base64,[300 bytes left out]"},"kept"]"#;
        assert_eq!(without_base64(&raw(&json)).get(), expected);
        let short = r#""data:image/gif;base64,R0lGOD==""#;
        assert_eq!(without_base64(&raw(short)).get(), short);
    }

    #[test]
    fn pictures_have_type_and_size() {
        let png = Block::Media { media_type: "image/png".into(), bytes: 5 };
        assert_eq!(picture(&raw(r#""data:image/png;base64,aGVsbG8=""#)), png);
        assert_eq!(picture(&raw(r#"{"url":"data:image/png;base64,aGVsbG8="}"#)), png);
        let elsewhere = Block::Media { media_type: String::new(), bytes: 0 };
        assert_eq!(picture(&raw(r#""https://example.invalid/a.png""#)), elsewhere);
    }
}
