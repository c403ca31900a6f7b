//! A JSON value kept as the text it came in, so that nothing is lost or reordered by reading it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
