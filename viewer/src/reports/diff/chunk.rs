//! The words in a piece of a request body.

use serde_json::Value;

/// Returns a part of a request body for reading: the texts, calls and results in its JSON, or its bytes as
/// they are when it is none.
pub(super) fn readable(bytes: &[u8]) -> String {
    let raw = || String::from_utf8_lossy(bytes).into_owned();
    // A part is a run of content blocks divided by commas, or a member of a message.
    if let Some(Value::Array(values)) = enclosed(b'[', bytes, b']') {
        return values.iter().map(words).collect::<Vec<_>>().join("\n");
    }
    let member = enclosed(b'{', bytes, b'}');
    member.as_ref().and_then(message).unwrap_or_else(raw)
}

fn enclosed(open: u8, bytes: &[u8], close: u8) -> Option<Value> {
    let mut whole = Vec::with_capacity(bytes.len() + 2);
    whole.push(open);
    whole.extend_from_slice(bytes);
    whole.push(close);
    serde_json::from_slice(&whole).ok()
}

/// Returns what a value says: known shapes of the Messages, Chat Completions and Responses APIs in words,
/// others as JSON.
fn words(value: &Value) -> String {
    known(value).unwrap_or_else(|| laid_out(value))
}

fn laid_out(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn known(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => return Some(text.clone()),
        Value::Array(blocks) if blocks.iter().all(|block| known(block).is_some()) => {
            return Some(blocks.iter().filter_map(known).collect::<Vec<_>>().join("\n"));
        }
        _ => {}
    }
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = value.get("type").and_then(Value::as_str);
    match kind {
        Some("text" | "input_text" | "output_text") => text("text"),
        Some("thinking") => text("thinking").map(|words| format!("(reasoning) {words}")),
        Some("tool_use") => Some(call(&text("name")?, value.get("input"))),
        Some("tool_result") => value.get("content").map(words),
        Some("function_call" | "custom_tool_call") => {
            let input = value.get("arguments").or_else(|| value.get("input"));
            Some(call(&text("name")?, parsed(input).as_ref().or(input)))
        }
        Some("function_call_output" | "custom_tool_call_output") => value.get("output").map(words),
        Some("function") => {
            let input = value.pointer("/function/arguments");
            let name = value.pointer("/function/name").and_then(Value::as_str)?;
            Some(call(name, parsed(input).as_ref().or(input)))
        }
        Some("message") | None if value.get("role").is_some() => message(value),
        _ => None,
    }
}

fn message(value: &Value) -> Option<String> {
    let content = value.get("content").filter(|content| !content.is_null()).map(words);
    let calls = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten().map(words);
    let lines: Vec<String> = content.into_iter().chain(calls).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Arguments are often written as JSON in a string.
fn parsed(input: Option<&Value>) -> Option<Value> {
    serde_json::from_str(input?.as_str()?).ok()
}

/// Returns a call with its input, a line a field.
fn call(name: &str, input: Option<&Value>) -> String {
    let mut lines = vec![format!("calls {name}")];
    match input {
        Some(Value::Object(fields)) => lines.extend(fields.iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| laid_out(value), str::to_owned);
            let gap = if value.contains('\n') { '\n' } else { ' ' };
            format!("{name}:{gap}{value}")
        })),
        Some(other) => lines.push(words(other)),
        None => {}
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_given_in_words() {
        for (part, expected) in [
            (r#"{"type":"text","text":"a\nb"}"#, "a\nb"),
            (r#"{"type":"text","text":"a"},{"type":"text","text":"b"}"#, "a\nb"),
            (r#"{"thinking":"why","type":"thinking"}"#, "(reasoning) why"),
            (
                r#"{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls","timeout":5}}"#,
                "calls Bash\ncommand: ls\ntimeout: 5",
            ),
            (r#"{"type":"tool_result","tool_use_id":"1","content":"a\n"}"#, "a\n"),
            (r#"{"type":"tool_result","content":[{"type":"text","text":"a"}],"is_error":true}"#, "a"),
            (
                r#"{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]}"#,
                "calls f\nx: 1",
            ),
            (
                r#"{"type":"function_call","name":"shell","arguments":"{\"cmd\":\"ls\"}"}"#,
                "calls shell\ncmd: ls",
            ),
            (r#"{"type":"function_call_output","call_id":"1","output":"done"}"#, "done"),
            (r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#, "hi"),
            (r#""content":"I look""#, "I look"),
            (r#"{"type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}"#, "calls f\nx: 1"),
            (r#""You are""#, "You are"),
            (r#"{"unknown":1}"#, "{\n  \"unknown\": 1\n}"),
            ("not JSON", "not JSON"),
        ] {
            assert_eq!(readable(part.as_bytes()), expected, "{part}");
        }
    }
}
