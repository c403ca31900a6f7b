//! Rebuilt prompts and sums of sessions, against a plain reading of the files.

use std::path::Path;
use std::{fs, iter};

use agent_core::{Fidelity, Timestamp};
use collector::{Imported, Importer};
use serde_json::{Value, json};
use store::{SessionFilter, SessionRow, Store};
use tempfile::TempDir;

use super::{corpus, files, independent};

/// A store that has taken in one file.
struct Bench {
    _folder: TempDir,
    store: Store,
    session: SessionRow,
}

impl Bench {
    fn with(path: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::open(&folder.path().join("data"), collector::mappers()).unwrap();
        let imported = Importer::new(store.clone()).import(path, &mut |_| {}).unwrap();
        assert!(matches!(imported, Imported::Session(_)), "{}", path.display());
        store.wait_until_projected(store.journal().last()).unwrap();
        let mut all = store.sessions(&SessionFilter::default(), Timestamp::from_micros(0)).unwrap().sessions;
        let session = all.pop().unwrap();
        Self { _folder: folder, store, session }
    }

    /// Returns a turn's prompt: its messages as far as they can be compared, and how near it is.
    fn prompt(&self, turn: u32) -> (Vec<Value>, Fidelity) {
        let key = self.session.session_key;
        let call = self.store.prompt_calls(key, turn).unwrap()[0];
        let prompt = self.store.prompt(key, turn, call).unwrap();
        let body: Value = serde_json::from_slice(&prompt.body()).unwrap();
        (body["messages"].as_array().unwrap().iter().map(plain).collect(), prompt.fidelity)
    }
}

/// Returns who says what in a message, and which calls stand beside it.
fn plain(message: &Value) -> Value {
    // A demonstration and a complaint are put in by the agent: rebuilt prompts have them as its words.
    let is_put_in = message["is_demo"] == true || message["message_type"] == "user";
    let role = if is_put_in { &json!("system") } else { &message["role"] };
    let calls = message["tool_calls"].as_array().map_or_else(Vec::new, |calls| {
        let plain = |call: &Value| {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            json!([call["function"]["name"], serde_json::from_str::<Value>(arguments).unwrap()])
        };
        calls.iter().map(plain).collect()
    });
    json!({"role": role, "content": message["content"].as_str().unwrap_or(""), "calls": calls})
}

/// Returns what a file says was sent for each turn.
fn sent(document: &Value) -> Vec<Vec<Value>> {
    let steps = document["trajectory"].as_array();
    let first = || document["history"].as_array().unwrap()[..2].to_vec();
    let list = |step: &Value, key: &str| step[key].as_array().unwrap().clone();
    match steps {
        Some(steps) if steps[0].get("query").is_some() => {
            return steps.iter().map(|step| list(step, "query")).collect();
        }
        // The list is the conversation after the step, so it was sent for the next.
        Some(steps) if steps[0].get("messages").is_some() => {
            let later = steps.iter().map(|step| list(step, "messages"));
            return iter::once(first()).chain(later).take(steps.len()).collect();
        }
        _ => {}
    }
    let list =
        if document.is_array() { document } else { document.get("messages").unwrap_or(&document["history"]) };
    let messages = list.as_array().unwrap();
    let is_answer = |message: &Value| message["role"] == "assistant" && message["is_demo"] != true;
    let answers = (0..messages.len()).filter(|&place| is_answer(&messages[place]));
    answers.map(|place| messages[..place].to_vec()).collect()
}

fn check(path: &Path, is_complete: bool) {
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let bench = Bench::with(path);
    let sent = sent(&document);
    assert_eq!(bench.session.turns as usize, sent.len(), "{}", path.display());
    // Of a long session some turns must do.
    let stride = sent.len().div_ceil(25);
    for (turn, messages) in (1..).zip(&sent).step_by(stride) {
        let (found, fidelity) = bench.prompt(turn);
        let expected: Vec<Value> = messages.iter().map(plain).collect();
        assert_eq!(found, expected, "turn {turn} of {}", path.display());
        assert_eq!(fidelity == Fidelity::Rebuilt, is_complete, "turn {turn} of {}", path.display());
    }
}

#[test]
fn prompts_are_what_was_sent() {
    let Some(corpus) = corpus() else { return };
    for path in files(&corpus.join("mini-swe-agent")) {
        check(&path, true);
    }
    for path in files(&corpus.join("swe-agent")) {
        // Where functions are called the schemas were sent, and no file holds them.
        let sends_schemas =
            path.to_string_lossy().contains("fc_") || path.ends_with("function_calling_simple.traj");
        check(&path, !sends_schemas);
    }
}

/// A run of SWE-agent 1.1 whose first two answers were refused; the first result is elided in the end.
#[test]
fn refused_answers_are_sent_back_once() {
    let message =
        |role: &str, kind: &str, text: &str| json!({"role": role, "content": text, "message_type": kind});
    let begin = [message("system", "system_prompt", "S"), message("user", "observation", "T")];
    let with = |more: &[Value]| json!([&begin[..], more].concat());
    let answer = |text: &str| message("assistant", "assistant", text);
    let look = message("assistant", "action", "Look.\nls");
    let elided = message("user", "observation", "Old environment output: (1 lines omitted)");
    let step = |action: &str, ran: bool, query: Value| {
        json!({
            "action": action, "observation": if ran { "out" } else { "" }, "response": format!("Look.\n{action}"),
            "thought": "Look.", "execution_time": if ran { 0.5 } else { 0.0 },
            "state": if ran { json!({"cwd": "/"}) } else { json!({}) }, "query": query,
        })
    };
    let document = json!({
        "trajectory": [
            step("vim", false, with(&[])),
            step("vi", false, with(&[answer("Look.\nvim"), message("user", "user", "No vim.")])),
            step("ls", true, with(&[answer("Look.\nvi"), message("user", "user", "No vi.")])),
            step("ls", true, with(&[look.clone(), message("user", "observation", "out")])),
            step("pwd", true, with(&[look.clone(), elided, look, message("user", "observation", "out")])),
        ],
        "history": begin,
        "info": {"exit_status": "submitted"},
        "replay_config": {"agent": {"tools": {"parse_function": {"type": "thought_action"}}}},
    });
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.traj");
    fs::write(&path, document.to_string()).unwrap();
    check(&path, true);
}

#[test]
fn sums_of_sessions_agree() {
    let Some(corpus) = corpus() else { return };
    for (folder, program) in [("mini-swe-agent", "mini_swe_agent.py"), ("swe-agent", "swe_agent.py")] {
        for path in files(&corpus.join(folder)) {
            let row = Bench::with(&path).session;
            let sums = independent(program, &path);
            let reads = row.uncached_input_tokens.unwrap_or(0) + row.cache_read_tokens.unwrap_or(0);
            let found = json!([row.model_calls, row.tool_calls, reads, row.output_tokens.unwrap_or(0)]);
            // SWE-agent counts the whole run, mini-swe-agent each response.
            let figure = |keys: [&str; 2]| {
                let figure = keys.iter().find_map(|key| sums.get(*key).filter(|figure| !figure.is_null()));
                figure.cloned().unwrap_or_else(|| json!(0))
            };
            let tokens = [figure(["input", "tokens_sent"]), figure(["output", "tokens_received"])];
            let expected = json!([sums["responses"], sums["calls"], tokens[0], tokens[1]]);
            assert_eq!(found, expected, "{}", path.display());
            let cost = sums["picousd"].as_i64().filter(|&cost| cost > 0);
            assert_eq!(row.reported_cost_picousd, cost, "{}", path.display());
            let quality = match (folder, cost) {
                (_, None) => "missing",
                ("mini-swe-agent", _) => "final",
                _ => "estimated",
            };
            assert_eq!(row.usage_quality, quality, "{}", path.display());
            let ended = match sums["exit"].as_str() {
                Some("Submitted" | "submitted") => ("completed", "done"),
                None => ("unknown", "unknown"),
                Some(word) => panic!("a word that was not seen before: {word}"),
            };
            assert_eq!((row.status.as_str(), row.end_reason.as_str()), ended, "{}", path.display());
        }
    }
}
