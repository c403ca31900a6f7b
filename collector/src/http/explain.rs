//! Says of a line that is no event which field is at fault and what was expected there.

use agent_core::{Event, EventError, EventId, Timestamp};
use serde_json::{Map, Value, json};

use crate::formats::misfit::without_place;

const EXAMPLE: &str = r#"{"v":1,"id":"0190b0a0-0000-7000-8000-000000000001","ts":"2026-12-01T15:00:00Z","session":"s-1","type":"user.messaged","data":{"text":"hello"}}"#;
const EXAMPLE_ID: &str = "0190b0a0-0000-7000-8000-000000000001";
/// Characters of what came in that are shown.
const SHOWN_CHARS: usize = 40;

/// What an envelope field must be.
struct Field {
    name: &'static str,
    is_required: bool,
    expected: &'static str,
    example: &'static str,
    fits: fn(&Value) -> bool,
}

const fn optional(
    name: &'static str,
    expected: &'static str,
    example: &'static str,
    fits: fn(&Value) -> bool,
) -> Field {
    Field { name, is_required: false, expected, example, fits }
}

const fn required(
    name: &'static str,
    expected: &'static str,
    example: &'static str,
    fits: fn(&Value) -> bool,
) -> Field {
    Field { name, is_required: true, expected, example, fits }
}

const A_STRING: &str = "a string";
const A_TIME: &str = "a time in RFC 3339";
const EXAMPLE_TIME: &str = "\"2026-12-01T15:00:00Z\"";

/// The envelope, in the order in which it is usually written.
const FIELDS: [Field; 15] = [
    optional("v", "a whole number", "1", |value| value.as_u64().is_some_and(|v| u32::try_from(v).is_ok())),
    required("id", "a UUID", "\"0190b0a0-0000-7000-8000-000000000001\"", parses::<EventId>),
    required("session", "a string that is not empty", "\"s-1\"", |value| {
        value.as_str().is_some_and(|name| !name.is_empty())
    }),
    required("type", A_STRING, "\"user.messaged\"", Value::is_string),
    optional("rev", "a whole number", "0", Value::is_u64),
    optional("fact", A_STRING, "\"msg_1\"", Value::is_string),
    optional("ts", A_TIME, EXAMPLE_TIME, parses::<Timestamp>),
    optional("ts_quality", "reported, inferred or missing", "\"reported\"", |value| {
        matches!(value.as_str(), Some("reported" | "inferred" | "missing"))
    }),
    optional("received", A_TIME, EXAMPLE_TIME, parses::<Timestamp>),
    optional("run", A_STRING, "\"run-1\"", Value::is_string),
    optional("turn", A_STRING, "\"turn-1\"", Value::is_string),
    optional("step", A_STRING, "\"step-1\"", Value::is_string),
    optional("after", A_STRING, "\"step-0\"", Value::is_string),
    optional("seq", "a whole number", "1", Value::is_u64),
    optional("source", A_STRING, "\"recorder\"", Value::is_string),
];

fn parses<T: std::str::FromStr>(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<T>().is_ok())
}

/// Returns why `line` is no event, as `error` found it, in words that its sender can act on.
pub(crate) fn explain(line: &[u8], error: &EventError) -> String {
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(error) => return not_json(line, &error),
    };
    let Value::Object(event) = value else {
        return format!("the line is no JSON object but {}; an event looks like {EXAMPLE}", shown(&value));
    };
    let at_fault = FIELDS.iter().find_map(|field| fault(field, event.get(field.name)));
    at_fault.or_else(|| payload_fault(&event)).unwrap_or_else(|| error.to_string())
}

fn not_json(line: &[u8], error: &serde_json::Error) -> String {
    let reason = without_place(error);
    let column = error.column();
    let rest = line.get(column.saturating_sub(1)..).unwrap_or_default();
    let stands = match error.is_eof() {
        true => "the line ends".to_owned(),
        false => format!("{:?} stands", cut(&String::from_utf8_lossy(rest))),
    };
    format!(
        "the line is no JSON: {reason} at byte {column}, where {stands}; \
         an event is one JSON object on a line of its own, such as {EXAMPLE}"
    )
}

fn fault(field: &Field, value: Option<&Value>) -> Option<String> {
    let Field { name, expected, example, .. } = field;
    match value.filter(|value| !value.is_null()) {
        None if field.is_required => {
            Some(format!("the field `{name}` is missing: {expected} was expected, such as {example}"))
        }
        Some(value) if !(field.fits)(value) => Some(format!(
            "the field `{name}` is {}: {expected} was expected, such as {example}",
            shown(value)
        )),
        _ => None,
    }
}

/// Finds the field of the payload that does not fit: all of them may be absent, so each is tried alone.
fn payload_fault(event: &Map<String, Value>) -> Option<String> {
    let name = event.get("type")?.as_str()?;
    let data = match event.get("data")? {
        Value::Object(data) => data,
        other => {
            return Some(format!(
                "the field `data` is {}: an object was expected, such as {{}}",
                shown(other)
            ));
        }
    };
    let (key, value, reason) =
        data.iter().find_map(|(key, value)| Some((key, value, refusal(name, key, value)?)))?;
    // Where a list is taken at all, one of its elements is at fault.
    let elements = value.as_array().filter(|_| refusal(name, key, &json!([])).is_none());
    let in_list = elements.into_iter().flatten().enumerate().find_map(|(at, element)| {
        let reason = refusal(name, key, &json!([element]))?;
        Some(format!("the field `data.{key}[{at}]` of `{name}` is {}: {reason}", shown(element)))
    });
    let alone = || format!("the field `data.{key}` of `{name}` is {}: {reason}", shown(value));
    Some(in_list.unwrap_or_else(alone))
}

/// Returns why a payload of the type `name` with this field alone is refused.
fn refusal(name: &str, key: &str, value: &Value) -> Option<String> {
    let alone =
        json!({"v": 1, "id": EXAMPLE_ID, "session": "s-1", "type": name, "data": {key: value}}).to_string();
    match Event::from_json(alone.as_bytes()) {
        Err(EventError::Payload { cause, .. }) => Some(without_place(&cause)),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(line: &str) -> String {
        let error = Event::from_json(line.as_bytes()).expect_err("it is no event");
        explain(line.as_bytes(), &error)
    }

    /// An event with these fields put over those of a good one.
    fn with(fields: &Value) -> String {
        let mut event: Value = serde_json::from_str(EXAMPLE).expect("the example is JSON");
        for (key, value) in fields.as_object().expect("fields") {
            event[key] = value.clone();
        }
        event.to_string()
    }

    #[test]
    fn the_examples_are_what_is_expected() {
        assert!(Event::from_json(EXAMPLE.as_bytes()).is_ok());
        for field in FIELDS {
            let example = serde_json::from_str(field.example).expect("an example is JSON");
            assert!((field.fits)(&example), "{}", field.name);
            assert!(
                Event::from_json(with(&json!({field.name: example})).as_bytes()).is_ok(),
                "{}",
                field.name
            );
        }
    }

    #[test]
    fn each_fault_names_its_field_and_what_was_expected() {
        for (line, parts) in [
            ("not json".to_owned(), vec!["no JSON", "at byte 2", "such as {"]),
            ("{\"v\":1,".to_owned(), vec!["no JSON", "the line ends"]),
            ("[1]".to_owned(), vec!["no JSON object but [1]"]),
            ("{\"v\":1}".to_owned(), vec!["`id` is missing: a UUID was expected, such as \"0190"]),
            (with(&json!({"id": 7})), vec!["`id` is 7: a UUID"]),
            (
                with(&json!({"ts": "yesterday"})),
                vec![
                    "`ts` is \"yesterday\": a time in RFC 3339 was expected, such as \"2026-12-01T15:00:00Z\"",
                ],
            ),
            (with(&json!({"session": ""})), vec!["`session` is \"\": a string that is not empty"]),
            (with(&json!({"type": null})), vec!["`type` is missing"]),
            (with(&json!({"seq": -1})), vec!["`seq` is -1: a whole number"]),
            (with(&json!({"ts_quality": "good"})), vec!["`ts_quality` is \"good\": reported, inferred"]),
            (with(&json!({"data": [1]})), vec!["`data` is [1]: an object"]),
            (with(&json!({"data": {"text": [1]}})), vec!["`data.text` of `user.messaged` is [1]"]),
            (
                with(&json!({"data": {"text": 3}})),
                vec!["`data.text` of `user.messaged` is 3", "expected a string"],
            ),
            (
                with(
                    &json!({"type": "model.responded", "data": {"content": [{"type": "text", "text": "a"}, 5]}}),
                ),
                vec!["`data.content[1]` of `model.responded` is 5"],
            ),
            (with(&json!({"v": 9})), vec!["version 9 is newer"]),
        ] {
            let words = explained(&line);
            parts.iter().for_each(|part| assert!(words.contains(part), "{line}\n{words}\nlacks {part}"));
            assert!(!words.contains("line 1 column"), "{words}");
        }
    }

    #[test]
    fn what_came_in_is_shown_in_part_only() {
        let words = explained(&with(&json!({"ts": "x".repeat(10_000)})));
        assert!(words.len() < 200, "{words}");
    }
}
