use agent_core::Event;

use super::*;
use crate::formats::emit::testing;

const FULL: &str = r#"{"environment":"main","trajectory":[
{"action":"ls -F","observation":"a\r\nb","response":"Look.\nls -F","thought":"Look.","execution_time":0.1164,"state":"{}","messages":[{"role":"system","content":"S"},{"role":"user","content":"D1","is_demo":true},{"role":"user","content":"D2","is_demo":true},{"role":"user","content":"T"}]},
{"action":"submit","observation":"","response":"Go.","thought":"Go.","thinking_blocks":[{"type":"thinking","thinking":"hm"}],"tool_calls":[{"id":"c9","function":{"name":"submit","arguments":"{}"}}]},
{"action":"exit_cost","observation":"","response":"","thought":"Exit due to cost limit"}],
"history":[
{"role":"system","content":"S","agent":"main"},
{"role":"user","content":"D1","agent":"main","is_demo":true},
{"role":"user","content":"D2","agent":"main","is_demo":true},
{"role":"user","content":"T","agent":"main"},
{"role":"assistant","content":"Look.\nls -F","thought":"Look.","action":"ls -F","agent":"main"},
{"role":"user","content":"a\nb\nbash-$","agent":"main"}],
"info":{"exit_status":"submitted (exit_cost)","submission":"diff","swe_agent_version":"1.1.0","model_stats":{"instance_cost":0.53839,"tokens_sent":52861,"tokens_received":326,"api_calls":5}},
"replay_config":"{\"agent\":{\"model\":{\"name\":\"gpt-4o\"}},\"problem_statement\":{\"id\":\"a__b-1\"}}"}"#;

/// A run of 1.0: `messages` is the conversation after the step, and the result of the first is elided in the
/// second. Both calls have one native id, as in replays.
const AFTER: &str = r#"{"trajectory":[
{"action":"ls","observation":"a","response":"Look.","thought":"Look.","execution_time":0.5,"state":{"x":"y"},"messages":[
{"role":"system","content":"S"},{"role":"user","content":"T","message_type":"observation"},
{"role":"assistant","content":"Look.","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},
{"role":"tool","content":"a\nbash-$","message_type":"observation","tool_call_ids":["c"]}]},
{"action":"submit","observation":"b","response":"Go.","thought":"Go.","execution_time":0.25,"state":{"x":"y"},"messages":[
{"role":"system","content":"S"},{"role":"user","content":"T","message_type":"observation"},
{"role":"assistant","content":"Look.","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},
{"role":"tool","content":"Old environment output: (2 lines omitted)","message_type":"observation","tool_call_ids":["c"]},
{"role":"assistant","content":"Go.","tool_calls":[{"id":"c","function":{"name":"submit","arguments":"{}"}}]},
{"role":"tool","content":"b\nbash-$","message_type":"observation","tool_call_ids":["c"]}]}],
"history":[],"info":{"model_stats":{"instance_cost":0,"tokens_sent":0,"tokens_received":0,"api_calls":2}},
"replay_config":{"agent":{"tools":{"parse_function":{"type":"function_calling"}}}}}"#;

/// A run of 1.1: `query` is what was sent for the step. The first answer was refused, and asked for again.
const QUERY: &str = r#"{"trajectory":[
{"action":"vim","observation":"","response":"Edit.\nvim","thought":"Edit.","execution_time":0.0,"state":{},"query":[
{"role":"system","content":"S"},{"role":"user","content":"T"}]},
{"action":"ls","observation":"a","response":"Look.\nls","thought":"Look.","execution_time":0.5,"state":{"x":"y"},"query":[
{"role":"system","content":"S"},{"role":"user","content":"T"},
{"role":"assistant","content":"Edit.\nvim","message_type":"assistant"},{"role":"user","content":"No vim.","message_type":"user"}]},
{"action":"ls b","observation":"b","response":"More.\nls b","thought":"More.","execution_time":0.5,"state":{"x":"y"},"query":[
{"role":"system","content":"S"},{"role":"user","content":"T"},
{"role":"assistant","content":"Look.\nls","message_type":"action"},{"role":"user","content":"Old environment output: (1 lines omitted)","message_type":"observation"}]},
{"action":"","observation":"Exited (autosubmitted)","response":"Exit due to cost limit","thought":"Exit due to cost limit","execution_time":0.0,"state":{},"query":[]}],
"history":[],"info":{"exit_status":"submitted (exit_cost)","submission":"diff"},
"replay_config":"{\"agent\":{\"tools\":{\"parse_function\":{\"type\":\"thought_action\"}}}}"}"#;

/// A run before 1.0: the steps hold the results as the commands gave them, the history as they were sent.
const OLD: &str = r#"{"environment":"e","trajectory":[
{"action":"ls\n","observation":"a","response":"Look.\nls","thought":"Look.","state":"{}"},
{"action":"submit\n","observation":"diff","response":"Go.\nsubmit","thought":"Go.","state":"{}"}],
"history":[
{"role":"system","content":"S","agent":"primary"},
{"role":"user","content":"D","agent":"primary","is_demo":true},
{"role":"user","content":"T","agent":"primary"},
{"role":"assistant","content":"Look.\nls","thought":"Look.","action":"ls\n","agent":"primary"},
{"role":"user","content":"a\nbash-$","agent":"primary"},
{"role":"assistant","content":"Go.\nsubmit","thought":"Go.","action":"submit\n","agent":"primary"}],
"info":{"exit_status":"submitted","model_stats":{"total_cost":0.5,"instance_cost":0.5}}}"#;

const DEMO: &str = r#"{"history":[
{"role":"system","content":"S","agent":"main","message_type":"system_prompt"},
{"role":"user","content":"T","agent":"main","message_type":"observation"},
{"role":"assistant","content":"Find.","thought":"Find.","action":"find_file x","agent":"main","tool_calls":[{"function":{"arguments":"{\"file_name\":\"x\"}","name":"find_file"},"id":"c1","type":"function"}]},
{"role":"tool","content":"Found","agent":"main","tool_call_ids":["c1"]},
{"role":"assistant","content":"Run.","action":"python x","agent":"main"},
{"role":"user","content":"8.2","agent":"main"}]}"#;

#[test]
fn steps_are_told_once_and_the_history_gives_the_prompt() {
    testing::check(
        &SweAgent,
        FULL,
        &[
            r#"session.started {"agent":"swe-agent","agent_version":"1.1.0","title":"a__b-1"}"#,
            r#"turn.started {"model":"gpt-4o"}"#,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"context.added {"kind":"insight","reason":"demonstration","content":"D1"}"#,
            r#"context.added {"kind":"insight","reason":"demonstration","content":"D2"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"swe_agent.history {}"#,
            r#"swe_agent.history {}"#,
            r#"model.responded {"content":[{"type":"text","text":"Look.\nls -F"},{"type":"tool_use","call_id":"4.0","name":"ls"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"4.0","name":"ls","input":{"action":"ls -F"},"in_text":true}"#,
            r#"tool.ended {"call_id":"4.0","status":"unknown","output":"a\r\nb","duration_ms":116,"in_text":true}"#,
            r#"model.responded {"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"Go."},{"type":"tool_use","call_id":"c9","name":"submit"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"c9","name":"submit","input":{}}"#,
            r#"tool.ended {"call_id":"c9","status":"unknown","output":""}"#,
            r#"swe_agent.exit {}"#,
            r#"artifact.produced {"kind":"patch","text":"diff"}"#,
            r#"session.ended {"status":"failed","end_reason":"budget","detail":"submitted (exit_cost)","reported_cost_usd":"0.53839","usage":{"uncached_input":52861,"output":326},"api_calls":5}"#,
        ],
    );
}

#[test]
fn before_1_0_the_history_tells_what_was_sent() {
    testing::check(
        &SweAgent,
        OLD,
        &[
            r#"session.started {"agent":"swe-agent"}"#,
            r#"context.added {"kind":"tool_schema","reason":"this agent sends no tools: its actions stand in the text","slot":"tools","content":[]}"#,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"context.added {"kind":"insight","reason":"demonstration","content":"D"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Look.\nls"},{"type":"tool_use","call_id":"3.0","name":"ls"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"3.0","name":"ls","input":{"action":"ls\n"},"in_text":true}"#,
            r#"tool.ended {"call_id":"3.0","status":"unknown","output":"a\nbash-$","in_text":true}"#,
            r#"model.responded {"content":[{"type":"text","text":"Go.\nsubmit"},{"type":"tool_use","call_id":"5.0","name":"submit"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"5.0","name":"submit","input":{"action":"submit\n"},"in_text":true}"#,
            r#"swe_agent.step {}"#,
            r#"tool.ended {"call_id":"5.0","status":"unknown","output":"diff","in_text":true}"#,
            r#"session.ended {"status":"completed","end_reason":"done","detail":"submitted","reported_cost_usd":"0.50"}"#,
        ],
    );
    // Where the history is not whole, or is not seen to be, the steps tell all.
    let torn = &OLD[..OLD.find("\"info\"").unwrap()];
    let answers = |text: &str| {
        testing::events(&SweAgent, text)
            .iter()
            .filter(|event| matches!(event.body, Body::ModelResponded(_)))
            .count()
    };
    assert_eq!((answers(torn), answers(&torn[..torn.find("\"history\"").unwrap()])), (2, 2));
    assert_eq!(testing::source(&SweAgent, torn).session, testing::source(&SweAgent, OLD).session);
}

#[test]
fn a_demonstration_file_tells_all_by_its_history() {
    testing::check(
        &SweAgent,
        DEMO,
        &[
            r#"session.started {"agent":"swe-agent"}"#,
            r#"context.added {"kind":"system","slot":"system","content":"S"}"#,
            r#"user.messaged {"origin":"human","text":"T"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Find."},{"type":"tool_use","call_id":"c1","name":"find_file"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"c1","name":"find_file","input":{"file_name":"x"}}"#,
            r#"tool.ended {"call_id":"c1","status":"unknown","output":"Found"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Run."},{"type":"tool_use","call_id":"4.0","name":"python"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"4.0","name":"python","input":{"action":"python x"},"in_text":true}"#,
            r#"tool.ended {"call_id":"4.0","status":"unknown","output":"8.2","in_text":true}"#,
        ],
    );
}

#[test]
fn the_list_after_a_step_gives_its_call_and_what_was_sent_as_its_result() {
    testing::check(
        &SweAgent,
        AFTER,
        &[
            r#"session.started {"agent":"swe-agent"}"#,
            r#"model.responded {"content":[{"type":"text","text":"Look."},{"type":"tool_use","call_id":"2.0","name":"bash"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"2.0","name":"bash","input":{"command":"ls"}}"#,
            r#"tool.ended {"call_id":"2.0","status":"unknown","output":"a\nbash-$","duration_ms":500}"#,
            r#"model.responded {"content":[{"type":"text","text":"Go."},{"type":"tool_use","call_id":"4.0","name":"submit"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"4.0","name":"submit","input":{}}"#,
            r#"tool.ended {"call_id":"4.0","status":"unknown","output":"b\nbash-$","duration_ms":250}"#,
            r#"context.compacted {"dropped_calls":["2.0"],"placeholder":"Old environment output: (2 lines omitted)"}"#,
            r#"session.ended {"status":"unknown","end_reason":"unknown","api_calls":2}"#,
        ],
    );
}

#[test]
fn a_refused_answer_is_sent_back_once() {
    testing::check(
        &SweAgent,
        QUERY,
        &[
            r#"session.started {"agent":"swe-agent"}"#,
            r#"context.added {"kind":"tool_schema","reason":"this agent sends no tools: its actions stand in the text","slot":"tools","content":[]}"#,
            r#"model.responded {"content":[{"type":"text","text":"Edit.\nvim"},{"type":"tool_use","call_id":"refused.0","name":"vim"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"refused.0","name":"vim","input":{"action":"vim"},"in_text":true}"#,
            r#"tool.ended {"call_id":"refused.0","status":"rejected","in_text":true}"#,
            r#"context.added {"kind":"insight","reason":"the answer was refused","slot":"complaint","content":"No vim."}"#,
            r#"model.responded {"content":[{"type":"text","text":"Look.\nls"},{"type":"tool_use","call_id":"2.0","name":"ls"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"2.0","name":"ls","input":{"action":"ls"},"in_text":true}"#,
            r#"tool.ended {"call_id":"2.0","status":"unknown","output":"a","duration_ms":500,"in_text":true}"#,
            r#"context.compacted {"dropped_steps":["0"]}"#,
            r#"context.added {"kind":"insight","slot":"complaint"}"#,
            r#"context.compacted {"dropped_calls":["2.0"],"placeholder":"Old environment output: (1 lines omitted)","in_text":true}"#,
            r#"model.responded {"content":[{"type":"text","text":"More.\nls b"},{"type":"tool_use","call_id":"4.0","name":"ls"}],"usage_quality":"missing","last_piece":true}"#,
            r#"tool.called {"call_id":"4.0","name":"ls","input":{"action":"ls b"},"in_text":true}"#,
            r#"tool.ended {"call_id":"4.0","status":"unknown","output":"b","duration_ms":500,"in_text":true}"#,
            r#"swe_agent.exit {}"#,
            r#"artifact.produced {"kind":"patch","text":"diff"}"#,
            r#"session.ended {"status":"failed","end_reason":"budget","detail":"submitted (exit_cost)"}"#,
        ],
    );
}

#[test]
fn an_elision_is_one_event_however_many_steps_tell_it() {
    let twice = AFTER.replacen(
        "\"content\":\"a\\nbash-$\"",
        "\"content\":\"Old environment output: (2 lines omitted)\"",
        1,
    );
    let elisions: Vec<Event> = testing::events(&SweAgent, &twice)
        .into_iter()
        .filter(|event| matches!(event.body, Body::ContextCompacted(_)))
        .collect();
    assert_eq!(elisions.len(), 2);
    assert_eq!(elisions[0].id, elisions[1].id);
}

#[test]
fn whether_tools_are_sent_is_known_of_old_versions_and_of_those_that_name_their_parser() {
    for (stats, parser, told) in [
        (r#"{"total_cost":0.5}"#, "null", true),
        (r#"{"instance_cost":0.5}"#, "null", false),
        ("{}", r#"{"type":"function_calling"}"#, false),
        ("{}", r#"{"type":"xml_thought_action"}"#, true),
    ] {
        let text = format!(
            r#"{{"history":[],"trajectory":[],"info":{{"model_stats":{stats}}},"replay_config":{{"agent":{{"tools":{{"parse_function":{parser}}}}}}}}}"#
        );
        let events = testing::events(&SweAgent, &text);
        let is_told = events.iter().any(|event| event.body.name() == "context.added");
        assert_eq!(is_told, told, "{text}");
    }
}

#[test]
fn a_half_written_document_gives_its_whole_part() {
    let torn = &FULL[..FULL.find("\"submit\",\"observation\"").unwrap()];
    let names: Vec<String> =
        testing::events(&SweAgent, torn).iter().map(|event| event.body.name().to_owned()).collect();
    assert_eq!(names, ["session.started", "model.responded", "tool.called", "tool.ended"]);
    assert_eq!(testing::source(&SweAgent, torn).session, testing::source(&SweAgent, FULL).session);
}

#[test]
fn the_task_is_found_where_the_head_does_not_reach_the_history() {
    let head = &FULL[..FULL.find("\"history\"").unwrap()];
    let reading = Reading::left_in(&testing::source(&SweAgent, head).about);
    assert_eq!(reading, Reading { history_tells: false, task_index: Some(3) });
    assert_eq!(reading, Reading::left_in(&testing::source(&SweAgent, FULL).about));
    let unknown = Reading::default();
    assert!(unknown.is_task(1) && unknown.is_task(2) && !unknown.is_task(3));
}

#[test]
fn known_by_what_is_in_it() {
    for (text, ours) in [
        (FULL, true),
        (DEMO, true),
        (&FULL[..70], true),
        (&DEMO[..80], true),
        (r#"{"history":[],"trajectory":[],"info":{}}"#, true),
        (r#"{"history":[{"role":"user","parts":[]}]}"#, false),
        (r#"{"history":[{"id":0,"source":"agent","role":"user"}]}"#, false),
        (r#"{"trajectory":[[0.1,0.2]]}"#, false),
        (r#"[{"role":"user"}]"#, false),
        ("", false),
    ] {
        assert_eq!(SweAgent.sniff(text.as_bytes()).is_some(), ours, "{text}");
    }
}

#[test]
fn exit_words() {
    for (word, status, reason) in [
        ("submitted", Status::Completed, EndReason::Done),
        ("exit_cost", Status::Failed, EndReason::Budget),
        ("submitted (exit_context)", Status::Failed, EndReason::Failure),
        ("exit_total_execution_time", Status::Failed, EndReason::Timeout),
        ("exit_runtime_error", Status::Failed, EndReason::Failure),
        ("early_exit", Status::Failed, EndReason::Failure),
        ("", Status::Unknown, EndReason::Unknown),
    ] {
        assert_eq!(end_of(word), (status, reason), "{word}");
    }
}

#[test]
fn rows_mean_the_same_in_any_order() {
    testing::check_any_order(&SweAgent, FULL);
}
