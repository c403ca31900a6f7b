//! What a reader wants to know first of a tool call.

use agent_core::Json;

/// The fields of a call's input that tell what it is about, the most telling first.
pub const TELLING_FIELDS: [&str; 14] = [
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "action",
    "description",
    "prompt",
    "patch",
    "text",
];

/// Returns the part of an input that tells most: the command, the path, the pattern, before the rest.
pub(crate) fn telling_input(input: &Json) -> String {
    let value = input.to_value();
    let Some(fields) = value.as_object() else { return input.to_display() };
    let found = TELLING_FIELDS.iter().find_map(|key| fields.get(*key));
    match found {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Array(words)) if words.iter().all(serde_json::Value::is_string) => {
            words.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(" ")
        }
        _ => input.get().to_owned(),
    }
}
