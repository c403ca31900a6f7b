//! The input of a tool call: what tells most of it first, an edit as a difference.

use std::io;

use agent_core::Json;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};
use store::TELLING_FIELDS;

use super::Depth;
use crate::format::{bytes, whole};
use crate::reports::excerpt::Room;
use crate::reports::look::{Ink, Paper};

/// Columns of a value that stands beside its name.
const SHORT: usize = 60;

/// An input in the order in which it is shown.
pub(super) struct Input {
    /// What tells most.
    telling: String,
    /// What is replaced by what.
    edits: Vec<(String, String)>,
    others: Vec<(String, String)>,
}

impl Input {
    pub(super) fn new(input: Option<&Json>) -> Self {
        let none = Self { telling: String::new(), edits: Vec::new(), others: Vec::new() };
        let Some(input) = input else { return none };
        let Value::Object(mut fields) = input.to_value() else {
            return Self { telling: input.to_display(), ..none };
        };
        let edits = take_edits(&mut fields);
        let telling =
            TELLING_FIELDS.iter().find_map(|name| fields.remove(*name)).map(|value| words_of(&value));
        let others = fields.iter().map(|(name, value)| (name.clone(), words_of(value))).collect();
        Self { telling: telling.unwrap_or_default(), edits, others }
    }

    /// Returns the first line of what tells most, where it is one line.
    pub(super) fn head(&self) -> &str {
        let lines = self.telling.trim().lines();
        if lines.clone().count() == 1 { lines.last().unwrap_or_default() } else { "" }
    }

    /// Writes what does not stand in the head.
    pub(super) fn write(&self, indent: &str, depth: Depth, paper: &mut Paper<'_>) -> io::Result<()> {
        if self.head().is_empty() {
            paper.text(indent, None, &self.telling, depth.room(8, 2))?;
        }
        for (before, after) in &self.edits {
            write_edit(indent, before, after, depth, paper)?;
        }
        // Switches that are off tell little.
        let is_off = |value: &str| !depth.whole && matches!(value, "false" | "null");
        let others = self.others.iter().filter(|(_, value)| !is_off(value));
        let (short, long): (Vec<_>, Vec<_>) =
            others.partition(|(_, value)| value.len() <= SHORT && !value.contains('\n'));
        if !short.is_empty() {
            let words: Vec<String> = short.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            paper.words(indent.len(), Some(Ink::Quiet), &words.join(", "))?;
        }
        for (name, value) in long {
            let size = format!("{name}: {}", size(value));
            paper.words(indent.len(), Some(Ink::Quiet), &size)?;
            paper.text(&format!("{indent}  "), None, value, depth.room(4, 1))?;
        }
        Ok(())
    }
}

fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            items.iter().map(words_of).collect::<Vec<_>>().join(" ")
        }
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
        }
        other => other.to_string(),
    }
}

fn size(value: &str) -> String {
    match value.trim_end().lines().count() {
        0 | 1 => bytes(value.len() as u64),
        lines => format!("{} lines", whole(lines as u64)),
    }
}

/// Takes out what the call replaces by what.
fn take_edits(fields: &mut Map<String, Value>) -> Vec<(String, String)> {
    if let Some(edit) = edit_of(fields) {
        fields.remove("old_string");
        fields.remove("new_string");
        return vec![edit];
    }
    let edits: Option<Vec<_>> = fields
        .get("edits")
        .and_then(Value::as_array)
        .and_then(|edits| edits.iter().map(|edit| edit_of(edit.as_object()?)).collect());
    if edits.is_some() {
        fields.remove("edits");
    }
    edits.unwrap_or_default()
}

fn edit_of(fields: &Map<String, Value>) -> Option<(String, String)> {
    let text = |name| Some(fields.get(name)?.as_str()?.to_owned());
    Some((text("old_string")?, text("new_string")?))
}

/// Lines around a change that are shown.
const AROUND: usize = 2;
/// Lines of an edit that are shown where there is no room for all.
const EDIT_LINES: usize = 14;

fn write_edit(
    indent: &str,
    before: &str,
    after: &str,
    depth: Depth,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    let diff = TextDiff::from_lines(before, after);
    let around = if depth.whole { before.lines().count() + after.lines().count() } else { AROUND };
    let groups = diff.grouped_ops(around);
    let changes = groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let lines: Vec<(ChangeTag, &str)> = changes.map(|change| (change.tag(), change.value())).collect();
    let shown = match depth.room(EDIT_LINES, 0) {
        Room::Lines(first, _) if lines.len() > first + 1 => first,
        _ => lines.len(),
    };
    for (tag, line) in &lines[..shown] {
        let (sign, ink) = match tag {
            ChangeTag::Delete => ("-", Some(Ink::Removed)),
            ChangeTag::Insert => ("+", Some(Ink::Added)),
            ChangeTag::Equal => (" ", Some(Ink::Quiet)),
        };
        paper.text_line(&format!("{indent}{sign} "), ink, line.trim_end_matches('\n'), depth.room(1, 0))?;
    }
    if shown < lines.len() {
        let words = format!("… {shown} of {} lines shown", lines.len());
        paper.words(indent.len(), Some(Ink::Quiet), &words)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: &str) -> Input {
        Input::new(Some(&Json::parse(json.to_owned()).expect("it is JSON")))
    }

    #[test]
    fn the_telling_field_is_the_head() {
        let call = input(r#"{"timeout":5,"description":"List","command":"ls -l"}"#);
        assert_eq!(call.head(), "ls -l");
        assert_eq!(input(r#"{"command":["bash","-lc","ls"]}"#).head(), "bash -lc ls");
        assert_eq!(input(r#""patch""#).head(), "patch");
        assert_eq!(input(r#"{"command":"a\nb"}"#).head(), "");
        assert_eq!(Input::new(None).head(), "");
    }

    #[test]
    fn edits_are_taken_out() {
        let call = input(r#"{"file_path":"a.rs","old_string":"a","new_string":"b"}"#);
        assert_eq!(call.edits, [("a".to_owned(), "b".to_owned())]);
        assert!(call.others.is_empty());
        let call = input(r#"{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c"}]}"#);
        assert!(call.edits.is_empty());
        assert_eq!(call.others.len(), 1);
    }
}
