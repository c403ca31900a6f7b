use agent_core::Timestamp;

use super::*;
use crate::formats::emit::testing;

/// A run of 2.x: two calls in one answer, one of them not run, a complaint that cost an answer, an end.
const SECOND: &str = r#"{"info":{"model_stats":{"instance_cost":0.3,"api_calls":2},"config":{"model":{"model_name":"deepseek/deepseek-chat","tools":[{"name":"bash"}]},"environment":{"cwd":"/testbed"}},"mini_version":"2.2.7","exit_status":"LimitsExceeded","submission":""},
"messages":[
{"role":"system","content":"You help."},
{"role":"user","content":"Fix it."},
{"content":"Look.","role":"assistant","reasoning_content":"hm","tool_calls":[{"id":"c1","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}},{"id":"c2","function":{"name":"bash","arguments":"torn"}}],"extra":{"actions":[{"command":"ls","tool_call_id":"c1"}],"response":{"id":"r1","model":"deepseek-chat","choices":[{"finish_reason":"tool_calls","message":{"content":"Look."}}],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}},"cost":0.0004739,"timestamp":1776066176.6039453}},
{"role":"tool","tool_call_id":"c1","content":"<returncode>2</returncode>","extra":{"raw_output":"","returncode":2,"exception_info":""}},
{"role":"tool","tool_call_id":"c2","content":"-","extra":{"returncode":-1,"exception_info":"action was not executed"}},
{"role":"user","content":"No tool calls found.","extra":{"interrupt_type":"FormatError","response":{"id":"r2","choices":[{"finish_reason":"stop","message":{"content":"Done?"}}],"usage":{"prompt_tokens":20,"completion_tokens":1}},"cost":1e-05}},
{"role":"user","content":"Interrupted by user: stop","extra":{"interrupt_type":"UserInterruption"}},
{"role":"exit","content":"LimitsExceeded","extra":{"exit_status":"LimitsExceeded","submission":""}}
],"trajectory_format":"mini-swe-agent-1.1","instance_id":"a__b-1"}"#;

/// A run of 1.x: actions in the text, observations in `user` messages, no ids, no usage.
const FIRST: &str = r#"[{"role":"system","content":"S"},{"role":"user","content":"T"},
{"role":"assistant","content":"Run:\n\n```mswea_bash_command\nls\n```"},{"role":"user","content":"<returncode>0</returncode>\n<output>\nx\n</output>"},
{"role":"assistant","content":"```bash\na\n```\n```bash\nb\n```"},{"role":"user","content":"Please always provide EXACTLY ONE action in triple backticks, found 2 actions."},
{"role":"assistant","content":"```bash\nsleep 9\n```"},{"role":"user","content":"The last command <command>sleep 9</command> timed out and has been killed."},
{"role":"assistant","content":"```bash\necho DONE\n```"},{"role":"user","content":"diff"}]"#;

/// What is told of a run that offers no tools.
const NO_TOOLS: &str = r#"context.added {"kind":"tool_schema","reason":"this agent sends no tools: its commands stand in the text","slot":"tools","content":[]}"#;

#[test]
fn a_run_of_2_x() {
    testing::check(
        &MiniSweAgent,
        SECOND,
        &[
            r#"session.started {"agent":"mini-swe-agent","agent_version":"2.2.7","title":"a__b-1","cwd":"/testbed"}"#,
            r#"turn.started {"model":"deepseek/deepseek-chat","provider":"deepseek"}"#,
            r#"context.added {"kind":"tool_schema","reason":"the configuration of the run","slot":"tools","content":[{"name":"bash"}]}"#,
            r#"context.added {"kind":"system","slot":"system","content":"You help."}"#,
            r#"user.messaged {"origin":"human","text":"Fix it."}"#,
            r#"model.responded {"model":"deepseek-chat","response_id":"r1","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"Look."},{"type":"tool_use","call_id":"c1","name":"bash"},{"type":"tool_use","call_id":"c2","name":"bash"}],"finish_reason":"tool_calls","usage":{"uncached_input":6,"cache_read":4,"output":3},"usage_quality":"final","usage_raw":{"completion_tokens":3,"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4}},"last_piece":true,"reported_cost_usd":"0.0004739"}"#,
            r#"tool.called {"call_id":"c1","name":"bash","input":{"command": "ls"}}"#,
            r#"tool.called {"call_id":"c2","name":"bash","input":"torn"}"#,
            r#"tool.ended {"call_id":"c1","status":"failed","output":"<returncode>2</returncode>","exit_code":2}"#,
            r#"tool.ended {"call_id":"c2","status":"rejected","output":"-","error":{"message":"action was not executed"},"exit_code":-1}"#,
            r#"model.responded {"response_id":"r2","content":[{"type":"text","text":"Done?"}],"finish_reason":"stop","usage":{"uncached_input":20,"output":1},"usage_quality":"final","usage_raw":{"completion_tokens":1,"prompt_tokens":20},"last_piece":true,"reported_cost_usd":"0.00001"}"#,
            r#"context.compacted {"dropped_steps":["5"]}"#,
            r#"user.messaged {"origin":"injected","text":"No tool calls found."}"#,
            r#"user.interrupted {}"#,
            r#"user.messaged {"origin":"injected","text":"Interrupted by user: stop"}"#,
            r#"mini_swe_agent.exit {}"#,
            r#"session.ended {"status":"failed","end_reason":"budget","detail":"LimitsExceeded","reported_cost_usd":"0.30","api_calls":2}"#,
        ],
    );
    let answer = testing::events(&MiniSweAgent, SECOND)
        .into_iter()
        .find(|event| event.fact.as_deref() == Some("r1"))
        .unwrap();
    assert_eq!(answer.ts, Some(Timestamp::from_micros(1_776_066_176_603_945)));
}

#[test]
fn a_run_of_1_x() {
    let answer = |text: &str, call: &str| {
        let call = if call.is_empty() {
            String::new()
        } else {
            format!(r#",{{"type":"tool_use","call_id":"{call}","name":"bash"}}"#)
        };
        format!(
            r#"model.responded {{"content":[{{"type":"text","text":"{text}"}}{call}],"usage_quality":"missing","last_piece":true}}"#
        )
    };
    testing::check(
        &MiniSweAgent,
        FIRST,
        &[
            NO_TOOLS,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            &answer(r"Run:\n\n```mswea_bash_command\nls\n```", "2.0"),
            r#"tool.called {"call_id":"2.0","name":"bash","input":{"command":"ls"},"in_text":true}"#,
            r#"tool.ended {"call_id":"2.0","status":"succeeded","output":"<returncode>0</returncode>\n<output>\nx\n</output>","exit_code":0,"in_text":true}"#,
            &answer(r"```bash\na\n```\n```bash\nb\n```", ""),
            r#"user.messaged {"origin":"injected","text":"Please always provide EXACTLY ONE action in triple backticks, found 2 actions."}"#,
            &answer(r"```bash\nsleep 9\n```", "6.0"),
            r#"tool.called {"call_id":"6.0","name":"bash","input":{"command":"sleep 9"},"in_text":true}"#,
            r#"tool.ended {"call_id":"6.0","status":"failed","output":"The last command <command>sleep 9</command> timed out and has been killed.","in_text":true}"#,
            &answer(r"```bash\necho DONE\n```", "8.0"),
            r#"tool.called {"call_id":"8.0","name":"bash","input":{"command":"echo DONE"},"in_text":true}"#,
            r#"tool.ended {"call_id":"8.0","status":"unknown","output":"diff","in_text":true}"#,
        ],
    );
}

#[test]
fn a_run_over_the_responses_api() {
    let text = r#"{"info":{"mini_version":"2.0.0","model_stats":{"instance_cost":0.25,"api_calls":1},"exit_status":"Submitted","submission":"diff"},"messages":[
        {"role":"user","content":[{"type":"input_text","text":"T"}]},
        {"object":"response","id":"r1","model":"m","status":"completed","output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"}],"usage":{"input_tokens":5,"output_tokens":2},"extra":{"actions":[],"cost":0.25}},
        {"type":"function_call_output","call_id":"c1","output":"x","extra":{"returncode":0}}],"trajectory_format":"mini-swe-agent-1"}"#;
    testing::check(
        &MiniSweAgent,
        text,
        &[
            r#"session.started {"agent":"mini-swe-agent","agent_version":"2.0.0"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"model.responded {"model":"m","response_id":"r1","content":[{"type":"reasoning","text":"","hidden":true},{"type":"text","text":"Hi"},{"type":"tool_use","call_id":"c1","name":"bash"}],"finish_reason":"completed","usage":{"uncached_input":5,"output":2},"usage_quality":"final","usage_raw":{"input_tokens":5,"output_tokens":2},"last_piece":true,"reported_cost_usd":"0.25"}"#,
            r#"tool.called {"call_id":"c1","name":"bash","input":{"command":"ls"}}"#,
            r#"tool.ended {"call_id":"c1","status":"succeeded","output":"x","exit_code":0}"#,
            r#"artifact.produced {"kind":"patch","text":"diff"}"#,
            r#"session.ended {"status":"completed","end_reason":"done","detail":"Submitted","reported_cost_usd":"0.25","api_calls":1}"#,
        ],
    );
}

#[test]
fn what_is_offered_to_the_model_follows_from_the_version_and_the_model() {
    let bash = |schema: &str| {
        format!(
            r#"context.added {{"kind":"tool_schema","reason":"what this version of the agent sends with each request","slot":"tools","content":[{schema}]}}"#
        )
    };
    let parameters = r#""parameters":{"properties":{"command":{"description":"The bash command to execute","type":"string"}},"required":["command"],"type":"object"}"#;
    let function = format!(r#""description":"Execute a bash command","name":"bash",{parameters}"#);
    let wrapped = bash(&format!(r#"{{"function":{{{function}}},"type":"function"}}"#));
    let flat = bash(&format!(r#"{{{function},"type":"function"}}"#));
    let models = "minisweagent.models";
    for (version, format, model, offered) in [
        ("1.14.0", "mini-swe-agent-1", "", Some(NO_TOOLS)),
        ("", "mini-swe-agent-1", "", Some(NO_TOOLS)),
        ("", "mini-swe-agent-1.1", "", None),
        ("2.2.7", "mini-swe-agent-1.1", "", None),
        ("2.2.7", "mini-swe-agent-1.1", "my.own.Model", None),
        ("2.2.7", "mini-swe-agent-1.1", &format!("{models}.litellm_model.LitellmModel"), Some(&wrapped)),
        ("10.1", "mini-swe-agent-1.1", &format!("{models}.litellm_response_model.M"), Some(&flat)),
        ("2.2.7", "mini-swe-agent-1.1", &format!("{models}.litellm_textbased_model.M"), Some(NO_TOOLS)),
    ] {
        let text = format!(
            r#"{{"info":{{"mini_version":"{version}","model_stats":{{}},"config":{{"model_type":"{model}"}}}},"messages":[],"trajectory_format":"{format}"}}"#
        );
        let shown: Vec<String> = testing::events(&MiniSweAgent, &text)
            .iter()
            .filter(|event| event.body.name() == "context.added")
            .map(|event| format!("context.added {}", event.body.data().get()))
            .collect();
        assert_eq!(shown.first().map(String::as_str), offered, "{version} {model}");
    }
}

#[test]
fn a_cost_of_zero_is_no_cost() {
    let text = SECOND.replace("\"instance_cost\":0.3", "\"instance_cost\":0.0").replace("0.0004739", "0.0");
    for event in testing::events(&MiniSweAgent, &text) {
        match event.body {
            Body::SessionEnded(ended) => assert_eq!(ended.reported_cost_usd, None),
            Body::ModelResponded(answer) if answer.response_id.as_deref() == Some("r1") => {
                assert_eq!(answer.reported_cost_usd, None);
            }
            _ => {}
        }
    }
}

#[test]
fn known_by_what_is_in_it() {
    let late_name = SECOND.split("\"trajectory_format\"").next().unwrap();
    let only_messages = format!("{{{}", &late_name[late_name.find("\"messages\"").unwrap()..]);
    for (text, ours) in [
        (SECOND, true),
        (FIRST, true),
        (&format!("\u{FEFF}{SECOND}"), true),
        (&late_name[..700], true),
        (&only_messages, true),
        (r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]"#, false),
        (r#"{"info":{"id":"ses_1"},"messages":[{"info":{},"parts":[]}]}"#, false),
        (r#"{"trajectory_format":"other","messages":[]}"#, false),
        ("", false),
    ] {
        assert_eq!(MiniSweAgent.sniff(text.as_bytes()).is_some(), ours, "{text}");
    }
}

#[test]
fn a_longer_copy_is_the_same_session_and_another_run_is_not() {
    let grown = SECOND.replace("LimitsExceeded", "").replace("\"api_calls\":2", "\"api_calls\":12345");
    assert_eq!(
        testing::source(&MiniSweAgent, SECOND).session,
        testing::source(&MiniSweAgent, &grown).session
    );
    let shorter = &SECOND[..SECOND.find("{\"role\":\"exit\"").unwrap()];
    assert_eq!(
        testing::source(&MiniSweAgent, SECOND).session,
        testing::source(&MiniSweAgent, shorter).session
    );
    assert_ne!(
        testing::source(&MiniSweAgent, SECOND).session,
        testing::source(&MiniSweAgent, &SECOND.replace("1776066176", "1776066177")).session
    );
}

#[test]
fn rows_mean_the_same_in_any_order() {
    testing::check_any_order(&MiniSweAgent, SECOND);
}

#[test]
fn what_is_no_message_is_named_or_kept() {
    let source = testing::source(&MiniSweAgent, SECOND);
    for (row, events, unread) in [
        (r#"{"messages":"text"}"#, 0, 1),
        (r#"{"messages":{"role":"odd"}}"#, 1, 0),
        ("{}", 1, 0),
        ("{\"mess", 0, 1),
    ] {
        let mut out = Mapped::default();
        MiniSweAgent.map(&source, Row { number: 4, bytes: row.as_bytes() }, &mut out);
        assert_eq!((out.events.len(), out.unread.len()), (events, unread), "{row}");
    }
}
