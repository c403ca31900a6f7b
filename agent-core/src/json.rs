//! A JSON value kept as the text it came in, so that nothing is lost or reordered by reading it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The bytes of `\ud83d\ude00`.
const LONGEST_ESCAPE: usize = 12;

/// A JSON value kept verbatim: the bytes that were read are the bytes that are written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Returns the value whose text is `text`; fails when it is not exactly one JSON value.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// Returns a copy of a raw value met while reading.
    pub fn copy(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }

    /// Returns the JSON string that holds `text`.
    pub fn string(text: &str) -> Self {
        Self::of(&text)
    }

    /// Returns `value` as JSON.
    ///
    /// # Panics
    /// When `value` cannot be JSON (a map with keys that are not strings).
    pub fn of<T: Serialize>(value: &T) -> Self {
        Self(serde_json::value::to_raw_value(value).expect("the value has string keys only"))
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Returns the content when the value is a JSON string.
    pub fn as_text(&self) -> Option<String> {
        if self.get().starts_with('"') { serde_json::from_str(self.get()).ok() } else { None }
    }

    /// Returns what a reader wants to see: a string's content, else the JSON text.
    pub fn to_display(&self) -> String {
        self.as_text().unwrap_or_else(|| self.get().to_owned())
    }

    /// Returns the beginning of what [`Json::to_display`] returns: at least `len` bytes of it, or all. Costs no
    /// more for a long value than for a short one.
    pub fn beginning(&self, len: usize) -> String {
        // No character of a text is written in more than six bytes a byte.
        let end = self.get().floor_char_boundary(len.saturating_mul(6));
        if end == self.get().len() {
            return self.to_display();
        }
        if !self.get().starts_with('"') {
            return self.get()[..end].to_owned();
        }
        // The cut may fall into an escape, at most a pair of surrogates: then a little less is whole.
        let cuts = (end.saturating_sub(LONGEST_ESCAPE)..=end).rev().filter_map(|end| self.get().get(..end));
        cuts.map(|text| format!("{text}\""))
            .find_map(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Returns the value as a tree.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(self.get()).unwrap_or(serde_json::Value::Null)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_a_beginning_of_the_whole_wherever_the_cut_falls() {
        let long = "a\"\\\n\u{1}\u{e9}\u{1F600}".repeat(40);
        let pairs = format!("\"{}\"", "\\ud83d\\ude00".repeat(200));
        for value in [Json::string(&long), Json::of(&vec![1; 500]), Json::parse(pairs).expect("JSON")] {
            let whole = value.to_display();
            for len in 3..whole.len() + 10 {
                let beginning = value.beginning(len);
                assert!(whole.starts_with(&beginning), "{len}: {beginning}");
                assert!(beginning.len() >= len.min(whole.len()) - 3, "{len}: {beginning}");
            }
        }
        assert_eq!(Json::string("short").beginning(100), "short");
    }
}
