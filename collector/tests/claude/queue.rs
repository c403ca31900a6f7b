//! What a person types while the agent works, as the versions write it down.

use agent_core::Body;
use serde_json::{Value, json};

use crate::support::{Bench, session};

const MAIN: &str = "11111111-0000-4000-8000-00000000000b";

fn row(kind: &str, at: u32, message: Value) -> Value {
    json!({
        "type": kind, "uuid": format!("33333333-0000-4000-8000-{at:012}"), "sessionId": MAIN,
        "isSidechain": false, "timestamp": format!("2031-02-03T04:05:{at:02}.000Z"), "message": message,
    })
}

fn queue(operation: &str, fields: Value) -> Value {
    let mut row = json!({
        "type": "queue-operation", "operation": operation, "sessionId": MAIN,
        "timestamp": "2031-02-03T04:05:30.000Z",
    });
    row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    row
}

/// A run with one call of a tool; `between` comes in between the call and its result, `after` behind that.
fn run(between: &[Value], after: &[Value]) -> Vec<Value> {
    let answer = |id: &str, block: Value| {
        json!({"id": id, "role": "assistant", "model": "claude-haiku-4-5", "content": [block],
            "usage": {"input_tokens": 2, "output_tokens": 3}})
    };
    let call = json!({"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "paint"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "call_1", "content": "the wall is blue"}]);
    let mut rows = vec![
        row("user", 1, json!({"role": "user", "content": "paint the wall"})),
        row("assistant", 2, answer("msg_1", call)),
    ];
    rows.extend_from_slice(between);
    rows.push(row("user", 40, json!({"role": "user", "content": result})));
    rows.extend_from_slice(after);
    rows.push(row("assistant", 41, answer("msg_2", json!({"type": "text", "text": "so be it"}))));
    rows
}

/// Returns what the user says in the transcript.
fn user_says(bench: &Bench) -> Vec<String> {
    let mut said = Vec::new();
    let take = |full: store::FullEvent| -> Result<(), store::StoreError> {
        if let Body::UserMessaged(message) = full.event.body {
            said.push(message.text);
        }
        Ok(())
    };
    bench.store.for_each_event(bench.one(MAIN).session_key, None, take).unwrap();
    said
}

#[test]
fn claude_messages_that_came_in_while_the_agent_worked_are_there_once() {
    let red = json!({"content": "make it red"});
    let absorbed = json!({"content": "make it red", "reason": "absorbed_mid_turn", "commandUuid": "d-1"});
    let mut attachment = row("attachment", 31, Value::Null);
    attachment["attachment"] = json!({"type": "queued_command", "prompt": "make it red", "commandMode": "prompt", "source_uuid": "d-1"});
    let enqueue = queue("enqueue", red.clone());
    for (version, between, after) in [
        ("2.0.76", vec![enqueue.clone(), queue("remove", json!({}))], vec![]),
        ("2.1.207", vec![queue("remove", red.clone())], vec![]),
        ("2.1.207, both", vec![enqueue.clone(), queue("remove", red.clone())], vec![]),
        ("2.1.241", vec![enqueue.clone(), queue("remove", red.clone())], vec![attachment.clone()]),
        ("2.1.246", vec![enqueue], vec![attachment, queue("remove", absorbed)]),
    ] {
        let bench = Bench::with_rows(&format!("{MAIN}.jsonl"), &run(&between, &after));
        let main = bench.one(MAIN);
        assert_eq!((main.runs, main.turns, main.interrupts), (1, 2, 0), "{version}");
        assert_eq!(user_says(&bench), ["paint the wall", "make it red"], "{version}");
        let found = bench.store.turns_with_text(main.session_key, "it red", 9).unwrap();
        assert_eq!(found, [2], "{version}");
        assert!(!bench.prompt(&main, 1).contains("make it red"), "{version}");
        let prompt = bench.prompt(&main, 2);
        let (_, after) = prompt.split_once("the wall is blue").expect("the result is sent");
        assert_eq!(after.matches("make it red").count(), 1, "{version}");
        assert_eq!(prompt.matches("make it red").count(), 1, "{version}");
    }
}

#[test]
fn claude_messages_with_a_row_of_their_own_or_taken_back_do_not_come_from_the_queue() {
    let red = json!({"content": "make it red"});
    for left in [queue("dequeue", json!({})), queue("popAll", red.clone()), queue("popAll", json!({}))] {
        let mut rows = run(&[queue("enqueue", red.clone())], &[]);
        rows.push(left.clone());
        rows.push(row("user", 50, json!({"role": "user", "content": "make it red"})));
        let bench = Bench::with_rows(&format!("{MAIN}.jsonl"), &rows);
        assert_eq!(user_says(&bench), ["paint the wall", "make it red"], "{left}");
        assert_eq!(bench.one(MAIN).runs, 2, "{left}");
        assert!(!bench.prompt(&bench.one(MAIN), 2).contains("make it red"), "{left}");
    }
}

/// Checked by eye: the model answers there that the user has sent "stop".
#[test]
fn claude_a_stop_that_was_typed_meanwhile_is_in_the_next_prompt() {
    let Some(path) = session("122msgs_glued") else { return };
    let bench = Bench::with(&path);
    let row = &bench.all()[0];
    let found = bench.store.turns_with_text(row.session_key, "the branch name", 99).unwrap();
    let stops: Vec<u32> = (1..=row.turns)
        .filter(|&turn| {
            let events = bench.store.turn_events(row.session_key, turn).unwrap();
            events
                .iter()
                .any(|full| matches!(&full.event.body, Body::UserMessaged(message) if message.text == "stop"))
        })
        .collect();
    let [stop] = stops[..] else { panic!("stop was said in {stops:?}") };
    let prompt = bench.prompt(row, stop);
    assert!(
        prompt.ends_with("{\"text\":\"stop\",\"type\":\"text\"}]}]}"),
        "{}",
        &prompt[prompt.len() - 300..]
    );
    assert!(!bench.prompt(row, stop - 1).contains("\"text\":\"stop\""));
    assert!(!found.is_empty());
}
