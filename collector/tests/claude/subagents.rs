//! Sub-agents in their layouts, and titles.

use serde_json::{Value, json};

use crate::support::{Bench, figures, lines, session};

const MAIN: &str = "11111111-0000-4000-8000-00000000000a";

fn uuid(at: u32) -> String {
    format!("22222222-0000-4000-8000-{at:012}")
}

fn row(kind: &str, at: u32, message: Value) -> Value {
    json!({
        "type": kind, "uuid": uuid(at), "parentUuid": if at == 1 { Value::Null } else { uuid(at - 1).into() },
        "sessionId": MAIN, "isSidechain": false, "timestamp": "2031-02-03T04:05:06.000Z",
        "cwd": "/home/ada/lamp", "message": message,
    })
}

fn answer(id: &str, output: u32, block: Value) -> Value {
    json!({
        "id": id, "role": "assistant", "model": "claude-haiku-4-5", "content": [block], "stop_reason": null,
        "usage": {"input_tokens": 2, "output_tokens": output},
    })
}

/// A main session that gives an order to one sub-agent.
fn main_rows() -> Vec<Value> {
    let task =
        json!({"type": "tool_use", "id": "call_task", "name": "Task", "input": {"description": "look"}});
    let mut done = row(
        "user",
        3,
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_task", "content": "seen"}]}),
    );
    done["toolUseResult"] = json!({"status": "completed", "agentId": "abc123", "totalDurationMs": 1500});
    vec![
        row("user", 1, json!({"role": "user", "content": "have it looked at"})),
        row("assistant", 2, answer("msg_main", 9, task)),
        done,
    ]
}

/// What the sub-agent does: an order, a call with its result, and an answer.
fn agent_messages() -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "call_ls", "name": "Bash", "input": {"command": "ls"}});
    let result = json!([{"type": "tool_result", "tool_use_id": "call_ls", "content": "lamp.c"}]);
    vec![
        row("user", 11, json!({"role": "user", "content": "look at the lamp"})),
        row("assistant", 12, answer("msg_agent_1", 4, call)),
        row("user", 13, json!({"role": "user", "content": result})),
        row("assistant", 14, answer("msg_agent_2", 6, json!({"type": "text", "text": "a lamp"}))),
    ]
}

fn agent_file() -> Vec<u8> {
    let mut rows = agent_messages();
    for row in &mut rows {
        row["isSidechain"] = true.into();
        row["agentId"] = "abc123".into();
    }
    lines(&rows)
}

/// The sub-agent as progress rows of the main file.
fn progress_rows() -> Vec<Value> {
    let numbered = (21..).zip(agent_messages());
    numbered
        .map(|(at, message)| {
            let mut progress = row("progress", at, Value::Null);
            progress["parentToolUseID"] = "call_task".into();
            progress["data"] = json!({"type": "agent_progress", "agentId": "abc123", "message": message});
            progress
        })
        .collect()
}

fn check_child(bench: &Bench, name: &str, call: Option<&str>, layout: &str) {
    let child = bench.one(name);
    assert_eq!(child.parent.as_deref(), Some(MAIN), "{layout}");
    assert_eq!(child.parent_kind.as_deref(), Some("subagent"), "{layout}");
    assert_eq!(child.parent_call.as_deref(), call, "{layout}");
    let told = (child.runs, child.turns, child.tool_calls, child.failed_tool_calls, child.output_tokens);
    assert_eq!(told, (1, 2, 1, 0, Some(10)), "{layout}");
    let main = bench.one(MAIN);
    let told = (main.runs, main.turns, main.tool_calls, main.output_tokens);
    assert_eq!(told, (1, 1, 1, Some(9)), "{layout}");
    assert!(bench.prompt(&child, 2).contains("lamp.c"), "{layout}");
    assert_eq!(bench.all().len(), 2, "{layout}");
}

#[test]
fn claude_subagents_are_children_in_every_layout() {
    let child = format!("{MAIN}/abc123");
    let meta = json!({"agentType": "Explore", "description": "looks", "toolUseId": "call_task"}).to_string();

    let with_meta = |folder: &str, layout: &str| {
        let bench = Bench::new();
        bench.import(&bench.write(&format!("{MAIN}.jsonl"), &lines(&main_rows())));
        bench.write(&format!("{folder}/agent-abc123.meta.json"), meta.as_bytes());
        bench.import(&bench.write(&format!("{folder}/agent-abc123.jsonl"), &agent_file()));
        check_child(&bench, &child, Some("call_task"), layout);
        assert_eq!(bench.one(&child).title.as_deref(), Some("looks"));
    };
    with_meta(&format!("{MAIN}/subagents"), "in the session's folder");
    with_meta(&format!("{MAIN}/subagents/workflows/wf_1"), "of a workflow");

    let bench = Bench::new();
    bench.import(&bench.write(&format!("{MAIN}.jsonl"), &lines(&main_rows())));
    bench.import(&bench.write("agent-abc123.jsonl", &agent_file()));
    check_child(&bench, &child, None, "beside the session");

    let mut inside = main_rows();
    inside.splice(2..2, progress_rows());
    let bench = Bench::with_rows(&format!("{MAIN}.jsonl"), &inside);
    check_child(&bench, &child, Some("call_task"), "as progress");

    let mut rows = agent_messages();
    rows.iter_mut().for_each(|row| row["isSidechain"] = true.into());
    let mut inside = main_rows();
    inside.splice(2..2, rows);
    let bench = Bench::with_rows(&format!("{MAIN}.jsonl"), &inside);
    check_child(&bench, &format!("{MAIN}/sidechain"), None, "as rows on the side");
}

#[test]
fn claude_subagents_told_twice_count_once() {
    let child = format!("{MAIN}/abc123");
    let mut inside = main_rows();
    inside.splice(2..2, progress_rows());
    let folder = format!("{MAIN}/subagents");
    for file_first in [false, true] {
        let bench = Bench::new();
        let main = bench.write(&format!("{MAIN}.jsonl"), &lines(&inside));
        let agent = bench.write(&format!("{folder}/agent-abc123.jsonl"), &agent_file());
        let order = if file_first { [&agent, &main] } else { [&main, &agent] };
        order.iter().for_each(|path| drop(bench.import(path)));
        check_child(&bench, &child, Some("call_task"), "as progress and as a file");
    }
}

#[test]
fn claude_workflow_journals_are_no_sessions() {
    let bench = Bench::new();
    let rows = [
        json!({"type": "started", "key": "v2:one", "agentId": "abc123"}),
        json!({"type": "result", "key": "v2:one", "agentId": "abc123", "result": {"text": "done"}}),
    ];
    let journal = bench.write(&format!("{MAIN}/subagents/workflows/wf_1/journal.jsonl"), &lines(&rows));
    let output =
        bench.write(&format!("{MAIN}/tool-results/call_1.txt"), b"{\"parentUuid\": 1}\n\"sessionId\": 2\n");
    let importer = collector::Importer::new(bench.store.clone());
    for path in [journal, output] {
        assert_eq!(importer.import(&path, &mut |_| {}).unwrap(), collector::Imported::NotASession);
    }
}

#[test]
fn claude_titles_are_the_sessions_own_and_the_users_stays() {
    let summary = |title: &str, leaf: String| json!({"type": "summary", "summary": title, "leafUuid": leaf});
    let title = |more: &[Value]| {
        let rows: Vec<Value> = main_rows().into_iter().chain(more.iter().cloned()).collect();
        Bench::with_rows(&format!("{MAIN}.jsonl"), &rows).one(MAIN).title.unwrap()
    };
    let own = summary("Looking at the lamp", uuid(3));
    let anothers = summary("Mending the chair", uuid(99));
    let by_model = json!({"type": "ai-title", "sessionId": MAIN, "aiTitle": "Lamp work"});
    let by_user = json!({"type": "custom-title", "sessionId": MAIN, "customTitle": "my lamp"});
    assert_eq!(title(&[]), "have it looked at");
    assert_eq!(title(&[own.clone(), anothers.clone()]), "Looking at the lamp");
    assert_eq!(title(&[anothers]), "have it looked at");
    assert_eq!(title(&[own.clone(), by_model.clone()]), "Lamp work");
    assert_eq!(title(&[by_user, by_model, own]), "my lamp");

    let Some(path) = session("122msgs_glued") else { return };
    let title = Bench::with(&path).all()[0].title.clone().unwrap();
    assert_eq!(title, "Session list description: commit message instead of prompt");
    assert_eq!(figures(&Bench::with(&path).all()[0])["turns"], 122);
}

#[test]
fn claude_rows_on_the_side_without_their_beginning_are_a_childs() {
    let mut rows = agent_messages().split_off(1);
    for row in &mut rows {
        row["isSidechain"] = true.into();
        row["agentId"] = "abc123".into();
    }
    let mut inside = main_rows();
    inside.splice(2..2, rows);
    let bench = Bench::new();
    bench.import(&bench.write(&format!("{MAIN}.jsonl"), &lines(&inside)));
    let child = bench.one(&format!("{MAIN}/abc123"));
    // What each of its rows says of it again is no repeat of the source's.
    assert_eq!(child.events_duplicate, 0);
    assert_eq!(child.parent.as_deref(), Some(MAIN));
    assert_eq!((child.turns, child.tool_calls, child.output_tokens), (2, 1, Some(10)));
    let about = [&child.agent, &child.source, &child.user, &child.project].map(Option::as_deref);
    assert_eq!(about, [Some("claude-code"), Some("claude-code"), Some("ada"), Some("lamp")]);
}

#[test]
fn claude_a_sub_agents_file_under_another_name_makes_no_second_session() {
    let bench = Bench::new();
    bench.import(&bench.write("exported.jsonl", &agent_file()));
    let all = bench.all();
    let [child] = &all[..] else { panic!("{} sessions", all.len()) };
    assert_eq!(child.session, format!("{MAIN}/abc123"));
    assert_eq!(child.parent.as_deref(), Some(MAIN));
    let about = [&child.source, &child.user, &child.project].map(Option::as_deref);
    assert_eq!(about, [Some("claude-code"), Some("ada"), Some("lamp")]);
}
