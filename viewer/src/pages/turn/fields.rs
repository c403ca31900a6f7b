//! The input of a tool call, field by field, the telling ones first.

use std::fmt;

use agent_core::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use store::TELLING_FIELDS;

use super::text_diff::TextDiff;
use crate::markup::one_line;
use crate::pages::content::{Content, Room, Space};
use crate::pages::event_text::json_text;

/// Fields of one input; of more, the plain text has the rest.
const FIELDS: usize = 24;
/// Elements that show one field.
const ELEMENTS_OF_A_FIELD: usize = 4;
/// The longest value that stands beside its name.
const SHORT: usize = 100;

/// One field of an input.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The value when it is short.
    pub(crate) short: Option<String>,
    /// The value when it is not.
    pub(crate) long: Option<Content>,
}

/// An input ready to be shown.
#[derive(Debug, Default)]
pub(crate) struct Input {
    pub(crate) fields: Vec<Field>,
    pub(crate) diffs: Vec<TextDiff>,
    pub(crate) cut: Option<String>,
}

impl Input {
    pub(super) fn new(input: &Json, whole: &str, space: &mut Space) -> Self {
        let Ok(Pairs(mut pairs)) = serde_json::from_str::<Pairs>(input.get()) else {
            return Self::as_one(input, whole, space);
        };
        let mut diffs = take_edits(&mut pairs);
        if !space.take_elements(ELEMENTS_OF_A_FIELD * pairs.len().min(FIELDS)) {
            return Self::as_one(input, whole, space);
        }
        diffs.iter_mut().for_each(|diff| diff.bound(space));
        pairs.sort_by_key(|(name, _)| {
            TELLING_FIELDS.iter().position(|telling| telling == name).unwrap_or(TELLING_FIELDS.len())
        });
        let count = pairs.len();
        let fields =
            pairs.into_iter().take(FIELDS).map(|(name, value)| field(&name, &value, whole, space)).collect();
        Self { fields, diffs, cut: (count > FIELDS).then(|| format!("{FIELDS} of {count} fields shown")) }
    }

    /// An input that is no object, or that comes when there is little room left.
    fn as_one(input: &Json, whole: &str, space: &mut Space) -> Self {
        let text = json_text(input);
        if let Some(mut diff) = TextDiff::of_patch(&text) {
            diff.bound(space);
            return Self { diffs: vec![diff], ..Self::default() };
        }
        let content = space.content(&text, whole.to_owned(), Room::Wide);
        Self {
            fields: vec![Field { name: String::new(), short: None, long: Some(content) }],
            ..Self::default()
        }
    }
}

fn field(name: &str, value: &Value, whole: &str, space: &mut Space) -> Field {
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    };
    let is_short = text.len() <= SHORT && !text.contains('\n') && name != "command";
    Field {
        name: one_line(name),
        short: is_short.then(|| one_line(&text)),
        long: (!is_short).then(|| space.content(&text, whole.to_owned(), Room::Narrow)),
    }
}

/// Takes out what the call replaces by what, so that it can be shown as a difference.
fn take_edits(pairs: &mut Vec<(String, Value)>) -> Vec<TextDiff> {
    let text = |name: &str| pairs.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_str());
    if let (Some(before), Some(after)) = (text("old_string"), text("new_string")) {
        let diff = TextDiff::new(before, after);
        if !diff.pieces.is_empty() {
            pairs.retain(|(name, _)| name != "old_string" && name != "new_string");
            return vec![diff];
        }
    }
    for name in ["patch", "input", "diff"] {
        if let Some(diff) = text(name).and_then(TextDiff::of_patch) {
            pairs.retain(|(key, _)| key != name);
            return vec![diff];
        }
    }
    let edits = pairs.iter().find(|(name, _)| name == "edits").and_then(|(_, value)| value.as_array());
    let diffs: Option<Vec<TextDiff>> = edits.and_then(|edits| edits.iter().map(edit).collect());
    match diffs {
        Some(diffs) if !diffs.is_empty() && diffs.len() <= 12 => {
            pairs.retain(|(name, _)| name != "edits");
            diffs
        }
        _ => Vec::new(),
    }
}

fn edit(edit: &Value) -> Option<TextDiff> {
    let diff = TextDiff::new(edit.get("old_string")?.as_str()?, edit.get("new_string")?.as_str()?);
    (!diff.pieces.is_empty()).then_some(diff)
}

/// The members of a JSON object in the order in which they were written.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: &str) -> Input {
        Input::new(&Json::parse(json.to_owned()).expect("it is JSON"), "/whole", &mut Space::of_page())
    }

    #[test]
    fn telling_fields_come_first() {
        let input = input(r#"{"timeout":5,"zeta":"z","description":"d","command":"ls"}"#);
        let names: Vec<&str> = input.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["command", "description", "timeout", "zeta"]);
    }

    #[test]
    fn an_edit_is_a_difference() {
        let one = input(r#"{"file_path":"a.rs","old_string":"a\n","new_string":"b\n"}"#);
        assert_eq!((one.fields.len(), one.diffs.len()), (1, 1));
        assert_eq!((one.diffs[0].added, one.diffs[0].removed), (1, 1));
        let two =
            input(r#"{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}"#);
        assert_eq!((two.fields.len(), two.diffs.len()), (0, 2));
    }

    #[test]
    fn an_input_that_is_no_object_is_shown_whole() {
        let words = input(r#""go on""#);
        assert_eq!(words.fields.len(), 1);
        assert_eq!(
            words.fields[0].long.as_ref().map(|content| content.head.to_string()).as_deref(),
            Some("go on")
        );
    }

    #[test]
    fn a_patch_is_a_difference() {
        let patch = r#""*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n same\n*** End Patch""#;
        for json in [patch.to_owned(), format!(r#"{{"patch":{patch}}}"#)] {
            let input = input(&json);
            assert_eq!((input.fields.len(), input.diffs.len()), (0, 1), "{json}");
            assert_eq!((input.diffs[0].added, input.diffs[0].removed), (1, 1), "{json}");
        }
    }
}
