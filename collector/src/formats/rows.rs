//! Reads the JSON objects of a line, also of a damaged one.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use store::Unread;

use super::misfit;

/// Calls `take` with each JSON value of type `T` in the line, and with the text it was read from.
///
/// Mends what real files hold: a byte order mark, NUL runs, a carriage return at the end, several values
/// glued on one line, the stub of a torn row before a whole one, and lone surrogates (read as U+FFFD).
/// What cannot be mended is returned: each piece with its reason.
pub(crate) fn read_line<T>(line: &[u8], take: impl FnMut(T, &str)) -> Vec<Unread>
where
    T: for<'de> Deserialize<'de>,
{
    let mut unread = Vec::new();
    let text = clean(line, &mut unread);
    unread.extend(read_text(&text, take));
    unread
}

/// Does what [`read_line`] does with a line that [`clean`] has gone over. The values may borrow from it: a copy
/// of each part that is only looked into or passed on is what makes a large row cost several times its size.
pub(crate) fn read_text<'a, T: Deserialize<'a>>(
    text: &'a str,
    mut take: impl FnMut(T, &'a str),
) -> Vec<Unread> {
    let mut unread = Vec::new();
    let mut rest = text.trim();
    let start = rest.as_ptr().addr();
    while !rest.is_empty() {
        match read_value::<T>(rest) {
            Ok((value, len)) => {
                take(value, &rest[..len]);
                rest = rest[len..].trim_start();
            }
            Err(error) => {
                let stub = stub_before_row::<T>(rest);
                let (piece, after) = rest.split_at(stub.unwrap_or(rest.len()));
                unread.push(Unread(match stub {
                    Some(len) => format!("a row breaks off after {len} bytes, where another one begins"),
                    None => misfit::why::<T>(piece, piece.as_ptr().addr() - start, &error),
                }));
                rest = after;
            }
        }
    }
    unread
}

/// Returns the line as text without what no JSON can hold.
pub(crate) fn clean<'a>(line: &'a [u8], unread: &mut Vec<Unread>) -> Cow<'a, str> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let mut text = String::from_utf8_lossy(line);
    let nuls = memchr::memchr_iter(0, text.as_bytes()).count();
    if nuls > 0 {
        unread.push(Unread(format!("{nuls} NUL bytes, left out")));
        text = Cow::Owned(text.replace('\0', ""));
    }
    match mend_surrogates(&text) {
        Some(mended) => Cow::Owned(mended),
        None => text,
    }
}

/// Replaces each `\uXXXX` escape that is half of a surrogate pair without its other half.
fn mend_surrogates(text: &str) -> Option<String> {
    let mut mended: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memmem::find(&text.as_bytes()[at..], b"\\u") {
        let start = at + found;
        at = start + 2;
        // An escaped backslash before `u` is no escape: count the backslashes that end here.
        let backslashes = text.as_bytes()[..=start].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if backslashes % 2 == 0 {
            continue;
        }
        let Some(unit) = escape_at(text, start) else { continue };
        let lone = match unit {
            0xD800..=0xDBFF => {
                let paired = escape_at(text, start + 6).is_some_and(|low| (0xDC00..=0xDFFF).contains(&low));
                if paired {
                    at = start + 12;
                }
                !paired
            }
            0xDC00..=0xDFFF => true,
            _ => false,
        };
        if lone {
            let out = mended.get_or_insert_with(String::new);
            out.push_str(&text[copied..start]);
            out.push_str("\\ufffd");
            copied = start + 6;
            at = copied;
        }
    }
    mended.map(|mut out| {
        out.push_str(&text[copied..]);
        out
    })
}

/// Returns the code unit of the `\uXXXX` escape at `at`, where there is one.
fn escape_at(text: &str, at: usize) -> Option<u32> {
    let escape = text.get(at..at + 6)?;
    u32::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
}

/// Returns the length of the stub before the whole row that ends the text, where there is one.
fn stub_before_row<'a, T: Deserialize<'a>>(text: &'a str) -> Option<usize> {
    // A real line has a handful of candidates; the bound keeps a hostile one from costing its square.
    const CANDIDATES: usize = 64;
    memmem::find_iter(text.as_bytes(), b"{\"")
        .filter(|&at| at > 0)
        .take(CANDIDATES)
        .find(|&at| read_value::<T>(&text[at..]).is_ok_and(|(_, len)| text[at + len..].trim().is_empty()))
}

fn read_value<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    match values.next() {
        Some(Ok(value)) => Ok((value, values.byte_offset())),
        Some(Err(error)) => Err(error),
        None => Err(serde::de::Error::custom("nothing stands there")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(line: &[u8]) -> (Vec<Value>, usize) {
        let mut values = Vec::new();
        let unread = read_line::<Value>(line, |value, _| values.push(value));
        (values, unread.len())
    }

    #[test]
    fn damaged_lines_give_what_is_in_them() {
        let cases: &[(&[u8], Vec<Value>, usize)] = &[
            (b"{\"a\":1}", vec![json!({"a":1})], 0),
            (b"\xEF\xBB\xBF{\"a\":1}\r", vec![json!({"a":1})], 0),
            (b"{\"a\":1}{\"b\":2}", vec![json!({"a":1}), json!({"b":2})], 0),
            (b"\0\0\0{\"a\":1}", vec![json!({"a":1})], 1),
            (b"{\"a\":\"tor{\"b\":2}", vec![json!({"b":2})], 1),
            (b"{\"a\":\"torn", vec![], 1),
            (br#"{"a":"\ud83c"}"#, vec![json!({"a":"\u{FFFD}"})], 0),
            (br#"{"a":"\ud83d\ude00 \udc00 \\ud83c"}"#, vec![json!({"a":"\u{1F600} \u{FFFD} \\ud83c"})], 0),
            (b"{\"a\":\"\xFF\"}", vec![json!({"a":"\u{FFFD}"})], 0),
            (b"   ", vec![], 0),
        ];
        for (line, values, unread) in cases {
            assert_eq!(read(line), (values.clone(), *unread), "{}", String::from_utf8_lossy(line));
        }
    }
}
