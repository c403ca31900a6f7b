//! Small rows of each generation and trap, and what they mean.

use std::path::Path;

use agent_core::{Event, SessionStarted};
use store::{Mapped, Mapper, Row, Source};

use super::super::{Format, Layout};
use super::ClaudeCode;

const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const UUID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

fn source(session: &str, about: SessionStarted) -> Source {
    Source {
        format: "claude-code".to_owned(),
        path: String::new(),
        session: session.to_owned(),
        about,
        first_row: String::new(),
        is_document: false,
    }
}

fn map_in(source: &Source, number: u64, line: &str) -> Mapped {
    let mut out = Mapped::default();
    ClaudeCode.map(source, Row { number, bytes: line.as_bytes() }, &mut out);
    out
}

fn map(line: &str) -> Mapped {
    map_in(&source(SESSION, SessionStarted::default()), 1, line)
}

/// Says what an event is: the sub-agent, where it is one's, the type and the payload.
fn told(event: &Event) -> String {
    let child = event.session.strip_prefix(SESSION).expect("all belong to the session");
    format!(
        "{child}{}{} {}",
        if child.is_empty() { "" } else { " " },
        event.body.name(),
        event.body.data().get()
    )
}

/// Checks what a row means: an event a line.
fn check(line: &str, expected: &[&str]) {
    let out = map(line);
    assert_eq!(out.unread, [], "{line}");
    assert_eq!(out.events.iter().map(told).collect::<Vec<_>>(), expected, "{line}");
}

/// Checks what a message of the user with this content (and further fields of the row) means.
fn check_user(content: &str, fields: &str, expected: &[&str]) {
    let line = format!(
        r#"{{"type":"user","uuid":"{UUID}","sessionId":"{SESSION}","message":{{"role":"user","content":{content}}}{fields}}}"#
    );
    check(&line, expected);
}

/// Checks what an assistant's row with these fields of its message means.
fn check_assistant(message: &str, fields: &str, expected: &[&str]) {
    let line = format!(
        r#"{{"type":"assistant","uuid":"{UUID}","sessionId":"{SESSION}","message":{{{message}}}{fields}}}"#
    );
    check(&line, expected);
}

fn check_attachment(attachment: &str, expected: &[&str]) {
    let line = format!(
        r#"{{"type":"attachment","uuid":"{UUID}","sessionId":"{SESSION}","attachment":{attachment}}}"#
    );
    check(&line, expected);
}

#[test]
fn words_in_the_users_place_have_the_right_origin() {
    for (text, fields, origin) in [
        ("fix it", "", ""),
        ("fix it", r#","origin":{"kind":"human"}"#, ""),
        ("fix it", r#","origin":{"kind":"task-notification"}"#, r#""origin":"injected","#),
        ("Stop hook feedback", r#","isMeta":true"#, r#""origin":"injected","#),
        ("Summary", r#","isCompactSummary":true"#, r#""origin":"compact_summary","#),
        ("<command-name>/exit</command-name>", "", r#""origin":"command","#),
        ("<bash-input>ls</bash-input>", "", r#""origin":"command","#),
        ("<bash-stdout>a</bash-stdout>", "", r#""origin":"command_output","#),
        ("<local-command-stdout>bye</local-command-stdout>", "", r#""origin":"command_output","#),
        ("<system-reminder>be brief</system-reminder>", "", r#""origin":"injected","#),
    ] {
        let content = format!("{text:?}");
        check_user(&content, fields, &[&format!(r#"user.messaged {{{origin}"text":{content}}}"#)]);
    }
}

#[test]
fn what_stands_beside_a_persons_words_is_told_apart() {
    check_user(
        r#"[{"type":"text","text":"<system-reminder>\nContents of /w/My App/CLAUDE.md (project instructions):\n\nBe brief\n</system-reminder>"},
            {"type":"text","text":"fix it"},{"type":"image","source":{"media_type":"image/png","data":"AAAAAA=="}}]"#,
        "",
        &[
            r#"memory.recalled {"key":"/w/My App/CLAUDE.md","source":"system-reminder"}"#,
            r#"user.messaged {"origin":"injected","text":"<system-reminder>\nContents of /w/My App/CLAUDE.md (project instructions):\n\nBe brief\n</system-reminder>"}"#,
            r#"user.messaged {"text":"fix it","media":[{"type":"media","media_type":"image/png","bytes":4}]}"#,
        ],
    );
}

#[test]
fn an_interrupt_is_a_whole_text() {
    for (text, expected) in [
        ("[Request interrupted by user]", r#"user.interrupted {"during":"response"}"#),
        ("[Request interrupted by user for tool use]", r#"user.interrupted {"during":"tool"}"#),
        (
            "why [Request interrupted by user]?",
            r#"user.messaged {"text":"why [Request interrupted by user]?"}"#,
        ),
    ] {
        check_user(&format!("[{{\"type\":\"text\",\"text\":{text:?}}}]"), "", &[expected]);
        check_user(&format!("{text:?}"), "", &[expected]);
    }
}

#[test]
fn results_end_their_calls() {
    for (result, fields, expected) in [
        (
            r#""content":"ok""#,
            r#","toolUseResult":{"stdout":"ok","interrupted":false,"durationMs":12}"#,
            r#""status":"succeeded","output":"ok","duration_ms":12"#,
        ),
        (
            r#""content":"Exit code 127\nnot found","is_error":true"#,
            r#","toolUseResult":"Error: Exit code 127""#,
            r#""status":"failed","output":"Exit code 127\nnot found","error":{"message":"Exit code 127\nnot found"},"exit_code":127"#,
        ),
        (
            r#""content":"The user doesn't want to proceed with this tool use. STOP","is_error":true"#,
            "",
            r#""status":"rejected","output":"The user doesn't want to proceed with this tool use. STOP","error":{"message":"The user doesn't want to proceed with this tool use. STOP"}"#,
        ),
        (
            r#""content":"no","is_error":true"#,
            r#","toolDenialKind":"user-rejected""#,
            r#""status":"rejected","output":"no","error":{"message":"no"}"#,
        ),
        (
            r#""content":"[Request interrupted by user for tool use]","is_error":true"#,
            "",
            r#""status":"cancelled","output":"[Request interrupted by user for tool use]","error":{"message":"[Request interrupted by user for tool use]"}"#,
        ),
        (
            r#""content":"half""#,
            r#","toolUseResult":{"stdout":"half","interrupted":true}"#,
            r#""status":"cancelled","output":"half","error":{"message":"half"}"#,
        ),
        // A failure that quotes such words is a failure.
        (
            r#""content":[{"type":"text","text":"grep: [Request interrupted by user for tool use]"}],"is_error":true"#,
            "",
            r#""status":"failed","output":[{"type":"text","text":"grep: [Request interrupted by user for tool use]"}],"error":{"message":"[{\"type\":\"text\",\"text\":\"grep: [Request interrupted by user for tool use]\"}]"}"#,
        ),
        // Another tool may well mean something else by a field.
        (
            r#""content":"x""#,
            r#","toolUseResult":{"durationMs":"long","interrupted":"never"}"#,
            r#""status":"succeeded","output":"x""#,
        ),
    ] {
        check_user(
            &format!(r#"[{{"type":"tool_result","tool_use_id":"t1",{result}}}]"#),
            fields,
            &[&format!(r#"tool.ended {{"call_id":"t1",{expected}}}"#)],
        );
    }
}

#[test]
fn a_persons_words_may_come_with_a_result() {
    check_user(
        r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok"},{"type":"text","text":"and now?"}]"#,
        "",
        &[
            r#"tool.ended {"call_id":"t1","status":"succeeded","output":"ok"}"#,
            r#"user.messaged {"text":"and now?"}"#,
        ],
    );
}

#[test]
fn a_memory_file_hung_on_a_result_is_recalled() {
    let reminder = r"<system-reminder>\nContents of C:\\w\\CLAUDE.md:\n\nBe brief\n</system-reminder>";
    for (content, recalled) in [
        (format!(r#""1 fn main\n\n{reminder}\n""#), true),
        (format!(r#"[{{"type":"text","text":"1 fn main\n{reminder}"}}]"#), true),
        (format!(r#""the docs say {reminder} there""#), false),
    ] {
        let line = format!(
            r#"{{"type":"user","uuid":"{UUID}","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":{content}}}]}}}}"#
        );
        let first = told(&map(&line).events[0]);
        let expected =
            r#"memory.recalled {"key":"C:\\w\\CLAUDE.md","source":"system-reminder","call_id":"t1"}"#;
        assert_eq!(first == expected, recalled, "{first}");
    }
}

#[test]
fn a_response_is_a_piece_with_its_calls() {
    check_assistant(
        r#""id":"msg_1","model":"claude-opus-4-5","content":[{"type":"thinking","thinking":"hm","signature":"x"},
           {"type":"tool_use","id":"t1","name":"Bash","input":{"b": 1,"a":[ ]}}],"stop_reason":"tool_use",
           "usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,
           "cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":30},
           "output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}"#,
        r#","requestId":"req_1""#,
        &[
            r#"model.responded {"provider":"anthropic","model":"claude-opus-4-5","response_id":"msg_1","request_id":"req_1","content":[{"type":"reasoning","text":"hm"},{"type":"tool_use","call_id":"t1","name":"Bash"}],"finish_reason":"tool_use","usage":{"uncached_input":3,"cache_read":100,"cache_write_5m":20,"cache_write_1h":30,"output":9,"reasoning":4},"usage_quality":"final"}"#,
            r#"tool.called {"call_id":"t1","name":"Bash","input":{"b": 1,"a":[ ]}}"#,
        ],
    );
}

#[test]
fn usage_goes_into_disjoint_buckets() {
    for (usage, expected) in [
        (
            r#"{"input_tokens":1,"cache_creation_input_tokens":7,"output_tokens":2}"#,
            r#""usage":{"uncached_input":1,"cache_write_5m":7,"output":2},"usage_quality":"partial""#,
        ),
        (
            r#"{"cache_creation_input_tokens":7,"cache_creation":{}}"#,
            r#""usage":{"cache_write_5m":7},"usage_quality":"partial""#,
        ),
        (
            r#"{"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":5,"ephemeral_5m_input_tokens":0}}"#,
            r#""usage":{"cache_write_5m":2,"cache_write_1h":5},"usage_quality":"partial""#,
        ),
        ("null", r#""usage_quality":"missing""#),
    ] {
        check_assistant(
            &format!(r#""id":"m","model":"glm-4.6","content":[],"stop_reason":null,"usage":{usage}"#),
            "",
            &[&format!(r#"model.responded {{"model":"glm-4.6","response_id":"m",{expected}}}"#)],
        );
    }
}

#[test]
fn a_response_without_an_id_goes_by_its_request_or_row() {
    for (fields, id) in [(r#","requestId":"req_1""#, "req_1"), ("", UUID)] {
        let line = format!(
            r#"{{"type":"assistant","uuid":"{UUID}","message":{{"model":"m","content":[{{"type":"tool_use","name":"ls"}}]}}{fields}}}"#
        );
        let out = map(&line);
        assert_eq!(out.events[0].fact.as_deref(), Some(id));
        // So does a call: the piece and the call name it alike.
        assert!(
            told(&out.events[0]).contains(&format!(r#""call_id":"{UUID}#0""#)),
            "{}",
            told(&out.events[0])
        );
        assert_eq!(told(&out.events[1]), format!(r#"tool.called {{"call_id":"{UUID}#0","name":"ls"}}"#));
    }
}

#[test]
fn tools_of_the_provider_end_within_the_response() {
    let call = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}"#;
    for (content, status) in [
        (r#"[{"type":"web_search_result","title":"web_search_tool_result_error"}]"#, "succeeded"),
        (r#"{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}"#, "failed"),
    ] {
        check_assistant(
            &format!(
                r#""id":"m","content":[{call},{{"type":"web_search_tool_result","tool_use_id":"s1","content":{content}}}]"#
            ),
            "",
            &[
                r#"model.responded {"response_id":"m","content":[{"type":"tool_use","call_id":"s1","name":"web_search"}],"usage_quality":"missing"}"#,
                r#"tool.called {"call_id":"s1","name":"web_search","input":{"query":"q"}}"#,
                &format!(
                    r#"tool.ended {{"call_id":"s1","status":"{status}","output":{content},"within_response":true}}"#
                ),
            ],
        );
    }
}

#[test]
fn a_block_without_a_word_here_is_kept_whole() {
    check_assistant(
        r#""id":"m","content":[{"type":"fallback","from":"a","to":{"b":1}},{"type":"text","text":"x"}]"#,
        "",
        &[
            r#"model.responded {"response_id":"m","content":[{"type":"other","value":{"from":"a","to":{"b":1},"type":"fallback"}},{"type":"text","text":"x"}],"usage_quality":"missing"}"#,
        ],
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_kept() {
    let line = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":{"odd":1}},{"type":"text","text":"x"}],"usage":{"input_tokens":"many"}}}"#;
    let out = map(line);
    let losses: Vec<&str> = out.unread.iter().map(|unread| unread.0.split(':').next().unwrap()).collect();
    assert_eq!(losses, ["content block", "usage"]);
    assert_eq!(
        told(&out.events[0]),
        r#"model.responded {"response_id":"m","content":[{"type":"other","value":{"text":{"odd":1},"type":"text"}},{"type":"text","text":"x"}],"usage_quality":"missing"}"#
    );
}

#[test]
fn rows_in_the_models_place_are_no_call() {
    let synthetic = |text: &str| {
        format!(
            r#""model":"<synthetic>","id":"x","content":[{{"type":"text","text":{text:?}}}],"usage":{{"input_tokens":0}}"#
        )
    };
    check_assistant(&synthetic("No response requested."), "", &["claude_code.assistant {}"]);
    for (text, fields, expected) in [
        (
            r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} · 1 of 500"#,
            r#","isApiErrorMessage":true"#,
            r#""kind":"overloaded","message":TEXT,"http_status":529,"retryable":true"#,
        ),
        (
            "Please run /login · API Error: 401 expired",
            r#","isApiErrorMessage":true,"error":"authentication_failed""#,
            r#""kind":"authentication_failed","message":TEXT,"http_status":401,"retryable":false"#,
        ),
        (
            "You've hit your session limit · resets 9:50pm in 500 minutes",
            r#","isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429"#,
            r#""kind":"rate_limit","message":TEXT,"http_status":429,"retryable":true"#,
        ),
        ("API Error: Connection closed", "", r#""message":TEXT"#),
    ] {
        let error = expected.replace("TEXT", &serde_json::to_string(text).unwrap());
        check_assistant(&synthetic(text), fields, &[&format!(r#"model.failed {{"error":{{{error}}}}}"#)]);
    }
}

#[test]
fn system_rows_tell_of_compaction_and_failure() {
    for (fields, expected) in [
        (
            r#""subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":9,"postTokens":2}"#,
            r#"context.compacted {"trigger":"manual","tokens_before":9,"tokens_after":2}"#,
        ),
        (
            r#""subtype":"microcompact_boundary","microcompactMetadata":{"trigger":"auto","preTokens":9,"tokensSaved":4,"compactedToolIds":["t1"]}"#,
            r#"context.compacted {"trigger":"auto","tokens_before":9,"tokens_after":5,"dropped_calls":["t1"]}"#,
        ),
        (
            r#""subtype":"api_error","error":{"status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}},"retryAttempt":2,"retryInMs":534.7"#,
            r#"model.failed {"error":{"kind":"overloaded_error","message":"Overloaded","http_status":529,"retryable":true},"attempt":2,"retry_in_ms":535}"#,
        ),
        (
            r#""subtype":"api_error","error":{},"retryAttempt":1,"retryInMs":500"#,
            r#"model.failed {"error":{"kind":"connection","retryable":true},"attempt":1,"retry_in_ms":500}"#,
        ),
        (
            r#""subtype":"model_refusal_fallback","originalModel":"a","apiRefusalCategory":"policy","content":"no""#,
            r#"model.failed {"model":"a","error":{"kind":"refusal","message":"no","retryable":false}}"#,
        ),
        (
            r#""subtype":"local_command","content":"<command-name>/model</command-name>""#,
            r#"user.messaged {"origin":"command","text":"<command-name>/model</command-name>"}"#,
        ),
        (r#""subtype":"turn_duration","durationMs":5"#, "claude_code.system.turn_duration {}"),
    ] {
        check(&format!(r#"{{"type":"system","uuid":"{UUID}",{fields}}}"#), &[expected]);
    }
}

#[test]
fn a_boundary_follows_its_logical_parent() {
    let out = map(
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a","timestamp":"2026-01-02T03:04:05.678Z"}"#,
    );
    let event = &out.events[0];
    assert_eq!((event.step.as_deref(), event.after.as_deref()), (Some("b"), Some("a")));
    assert_eq!(event.ts.map(|ts| ts.to_string()).as_deref(), Some("2026-01-02T03:04:05.678Z"));
}

#[test]
fn attachments_put_context_before_the_model() {
    check_attachment(
        r#"{"type":"prompt_snapshot","systemPrompt":["You are"],"tools":[{"name":"Read"}]}"#,
        &[
            r#"context.added {"kind":"system","source":"prompt_snapshot","reason":"the system of the request","slot":"system","content":[{"text":"You are","type":"text"}]}"#,
            r#"context.added {"kind":"tool_schema","source":"prompt_snapshot","reason":"the tools of the request","slot":"tools","content":[{"name":"Read"}]}"#,
        ],
    );
    check_attachment(
        r#"{"type":"nested_memory","path":"/w/CLAUDE.md","content":{"content":"Be brief"}}"#,
        &[
            r#"memory.recalled {"key":"/w/CLAUDE.md","source":"nested_memory"}"#,
            r#"context.added {"kind":"memory","source":"/w/CLAUDE.md","reason":"attachment nested_memory","content":"Be brief"}"#,
        ],
    );
    check_attachment(
        r#"{"type":"invoked_skills","skills":[{"name":"pdf","path":"/s/pdf","content":"Read it"}],"rendered":[{"content":"<system-reminder>Read it</system-reminder>"}]}"#,
        &[
            r#"skill.matched {"key":"pdf","source":"invoked_skills"}"#,
            r#"context.added {"kind":"skill","reason":"attachment invoked_skills","content":"<system-reminder>Read it</system-reminder>"}"#,
        ],
    );
    check_attachment(
        r#"{"type":"skill_listing","content":"- pdf: Reads\n- a:b: Does\n"}"#,
        &[
            r#"skill.listed {"key":"pdf","source":"skill_listing"}"#,
            r#"skill.listed {"key":"a:b","source":"skill_listing"}"#,
            r#"context.added {"kind":"skill","reason":"attachment skill_listing","content":"- pdf: Reads\n- a:b: Does\n"}"#,
        ],
    );
    check_attachment(
        r#"{"type":"hook_blocking_error","hookName":"Stop","blockingError":{"blockingError":"tests fail"}}"#,
        &[
            r#"context.added {"kind":"insight","source":"Stop","reason":"attachment hook_blocking_error","content":"tests fail"}"#,
        ],
    );
    for (event, expected) in [
        (
            "SessionStart",
            r#"context.added {"kind":"insight","source":"h","reason":"attachment hook_success","content":"hi"}"#,
        ),
        ("PostToolUse", "claude_code.attachment {}"),
    ] {
        check_attachment(
            &format!(r#"{{"type":"hook_success","hookName":"h","hookEvent":"{event}","content":"hi"}}"#),
            &[expected],
        );
    }
    check_attachment(r#"{"type":"todo_reminder","content":[]}"#, &["claude_code.attachment {}"]);
}

#[test]
fn a_queued_message_is_a_persons_or_the_runtimes() {
    for (fields, expected) in [
        (r#""prompt":"also","commandMode":"prompt""#, r#"{"text":"also"}"#),
        (
            r#""prompt":[{"type":"image","source":{"media_type":"image/png","data":"AAAA"}},{"type":"text","text":"this"}],"commandMode":"prompt""#,
            r#"{"text":"this","media":[{"type":"media","media_type":"image/png","bytes":3}]}"#,
        ),
        (r#""prompt":"done","commandMode":"task-notification""#, r#"{"origin":"injected","text":"done"}"#),
        (
            r#""prompt":"do","commandMode":"prompt","origin":{"kind":"coordinator"}"#,
            r#"{"origin":"injected","text":"do"}"#,
        ),
    ] {
        check_attachment(
            &format!(r#"{{"type":"queued_command",{fields}}}"#),
            &[&format!("user.messaged {expected}")],
        );
    }
}

#[test]
fn calls_tell_what_the_agent_learns() {
    for (tool, input, expected) in [
        ("Skill", r#"{"skill":"pdf"}"#, r#"skill.matched {"key":"pdf","source":"Skill tool","call_id":"t"}"#),
        (
            "Edit",
            r#"{"file_path":"/w/CLAUDE.md"}"#,
            r#"memory.written {"key":"/w/CLAUDE.md","source":"Edit tool","call_id":"t"}"#,
        ),
        (
            "Write",
            r#"{"file_path":"C:\\w\\.claude\\x\\memory\\n.md"}"#,
            r#"memory.written {"key":"C:\\w\\.claude\\x\\memory\\n.md","source":"Write tool","call_id":"t"}"#,
        ),
        (
            "Read",
            r#"{"file_path":"AGENTS.md"}"#,
            r#"memory.recalled {"key":"AGENTS.md","source":"Read tool","call_id":"t"}"#,
        ),
        (
            "Write",
            r#"{"file_path":"/w/.claude/skills/pdf/SKILL.md"}"#,
            r#"skill.created {"key":"pdf","source":"Write tool","call_id":"t"}"#,
        ),
        (
            "Edit",
            r#"{"file_path":"/w/skills/pdf/SKILL.md"}"#,
            r#"skill.updated {"key":"pdf","source":"Edit tool","call_id":"t"}"#,
        ),
        (
            "Task",
            r#"{"subagent_type":"Explore","prompt":"look"}"#,
            r#"subagent.started {"call_id":"t","name":"Explore"}"#,
        ),
        ("TodoWrite", r#"{"todos":[]}"#, r#"plan.updated {"detail":"by TodoWrite","call_id":"t"}"#),
    ] {
        check_assistant(
            &format!(
                r#""id":"m","content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{input}}}]"#
            ),
            "",
            &[
                &format!(
                    r#"model.responded {{"response_id":"m","content":[{{"type":"tool_use","call_id":"t","name":"{tool}"}}],"usage_quality":"missing"}}"#
                ),
                &format!(r#"tool.called {{"call_id":"t","name":"{tool}","input":{input}}}"#),
                expected,
            ],
        );
    }
    // A file that only looks like one is none.
    let out = map(
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/w/memory/n.md"}}]}}"#,
    );
    assert_eq!(out.events.len(), 2);
}

#[test]
fn titles_of_other_sessions_are_not_its_own() {
    check(
        &format!(r#"{{"type":"custom-title","sessionId":"{SESSION}","customTitle":"Mine"}}"#),
        &[r#"session.titled {"title":"Mine","by":"user"}"#],
    );
    check(
        r#"{"type":"summary","summary":"About it","leafUuid":"x"}"#,
        &[r#"session.titled {"title":"About it","by":"summary"}"#],
    );
    check(r#"{"type":"ai-title","sessionId":"other","aiTitle":"Not mine"}"#, &["claude_code.ai_title {}"]);
}

#[test]
fn rows_that_mean_nothing_here_stay_in_reach() {
    for (line, name) in [
        (r#"{"type":"file-history-snapshot","snapshot":{}}"#, "claude_code.file_history_snapshot {}"),
        (r#"{"type":"progress","data":{"type":"bash_progress"}}"#, "claude_code.progress {}"),
        (r#"{"type":"brand-new","x":1}"#, "claude_code.brand_new {}"),
        (r#"{"x":1}"#, "claude_code.unknown {}"),
    ] {
        check(line, &[name]);
    }
}

#[test]
fn rows_without_an_id_of_their_own_do_not_collapse() {
    let source = source(SESSION, SessionStarted::default());
    let row = |uuid: &str| format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"content":"yes"}}}}"#);
    let id = |number, line: &str| map_in(&source, number, line).events[0].id;
    assert_eq!(id(1, &row(UUID)), id(2, &row(UUID)), "one row, written twice");
    assert_ne!(id(1, &row("[trimmed for fixture]")), id(2, &row("[trimmed for fixture]")));
    assert_ne!(id(1, r#"{"type":"mode"}"#), id(1, r#"{"type":"mode","mode":"x"}"#));
    // Two rows glued on one line are two.
    let glued = map(r#"{"type":"mode"}{"type":"mode"}"#);
    assert_eq!(glued.events.len(), 2);
    assert_ne!(glued.events[0].id, glued.events[1].id);
}

#[test]
fn rows_on_the_side_are_a_sub_agents() {
    let parent = format!(r#"{{"agent":"claude-code","parent":{{"session":"{SESSION}","kind":"subagent"}}}}"#);
    check(
        r#"{"type":"user","isSidechain":true,"parentUuid":null,"message":{"content":"look"}}"#,
        &[
            &format!("/sidechain session.started {parent}"),
            r#"/sidechain user.messaged {"origin":"agent","text":"look"}"#,
        ],
    );
    check(
        r#"{"type":"user","isSidechain":true,"agentId":"a1","parentUuid":"x","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""}]}}"#,
        &[r#"/a1 tool.ended {"call_id":"t","status":"succeeded","output":""}"#],
    );
}

#[test]
fn a_carried_message_is_the_sub_agents_own() {
    let carried = format!(
        r#"{{"type":"progress","uuid":"bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb","sessionId":"{SESSION}","parentToolUseID":"t1","data":{{"type":"agent_progress","agentId":"a1","message":{{"type":"user","uuid":"{UUID}","message":{{"content":[{{"type":"text","text":"look"}}]}}}}}}}}"#
    );
    check(
        &carried,
        &[
            &format!(
                r#"/a1 session.started {{"agent":"claude-code","parent":{{"session":"{SESSION}","kind":"subagent","call_id":"t1"}}}}"#
            ),
            r#"/a1 user.messaged {"origin":"agent","text":"look"}"#,
        ],
    );
    // The same message in the sub-agent's own file is the same event.
    let own = describe(&format!("/p/{SESSION}/subagents/agent-a1.jsonl"), AGENT_ROW);
    let own = map_in(
        &own,
        1,
        &format!(
            r#"{{"type":"user","uuid":"{UUID}","isSidechain":true,"agentId":"a1","message":{{"content":[{{"type":"text","text":"look"}}]}}}}"#
        ),
    );
    assert_eq!(own.events[0].id, map(&carried).events[1].id);
    assert_eq!(own.events[0].session, map(&carried).events[1].session);
}

#[test]
fn a_nested_sub_agent_lies_beside_its_parent() {
    let own = describe(&format!("/p/{SESSION}/subagents/agent-a1.jsonl"), AGENT_ROW);
    let out = map_in(
        &own,
        1,
        r#"{"type":"progress","parentToolUseID":"t2","data":{"type":"agent_progress","agentId":"a2","message":{"type":"user","message":{"content":"look deeper"}}}}"#,
    );
    assert_eq!(
        out.events.iter().map(told).collect::<Vec<_>>(),
        [
            &format!(
                r#"/a2 session.started {{"agent":"claude-code","parent":{{"session":"{SESSION}/a1","kind":"subagent","call_id":"t2"}}}}"#
            ),
            r#"/a2 user.messaged {"origin":"agent","text":"look deeper"}"#,
        ]
    );
}

const AGENT_ROW: &str = r#"{"parentUuid":null,"isSidechain":true,"agentId":"a1","sessionId":"s-of-rows","type":"user","uuid":"u","cwd":"/home/ann/app","version":"2.1.200","gitBranch":"main","message":{"content":"look"}}"#;

fn describe(path: &str, head: &str) -> Source {
    assert_eq!(ClaudeCode.sniff(head.as_bytes()), Some(Layout::Lines), "{head}");
    let described = ClaudeCode.describe(Path::new(path), head.as_bytes());
    source(&described.session, described.about)
}

#[test]
fn knows_its_files() {
    let picture = format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"promptId\":\"p\",\"type\":\"user\",\"message\":{{\"content\":[{{\"data\":\"{}",
        "A".repeat(300_000)
    );
    for (head, known) in [
        (r#"{"type":"queue-operation","operation":"dequeue","sessionId":"s"}"#, true),
        (r#"{"type":"summary","summary":"x","leafUuid":"y"}"#, true),
        ("\u{FEFF}{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\r\n", true),
        ("{\"odd\":1}\n\n{\"sessionId\":\"s\",\"parentUuid\":null}\n{\"torn", true),
        (AGENT_ROW, true),
        (&picture, true),
        (r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#, false),
        (r#"{"type":"user","message":{"content":"x"}}"#, false),
        (r#"{"type":"session_meta","payload":{"text":"\"parentUuid\": \"isSidechain\":"}}"#, false),
        ("", false),
    ] {
        let found = ClaudeCode.sniff(head.as_bytes()).is_some();
        assert_eq!(found, known, "{}", &head[..head.len().min(100)]);
    }
}

#[test]
fn a_session_is_named_by_its_rows_or_its_file() {
    let other = "22222222-2222-4222-8222-222222222222";
    let row = |session: &str| {
        format!("{{\"sessionId\":\"{session}\",\"uuid\":\"u\",\"cwd\":\"C:\\\\Users\\\\bob\\\\app\"}}\n")
    };
    for (path, head, session) in [
        (format!("/p/{SESSION}.jsonl"), row(other) + &row(SESSION), SESSION),
        (format!("/p/{SESSION}.jsonl"), row(other), SESSION),
        ("/p/copy.jsonl".to_owned(), row(other) + &row(SESSION), other),
        ("/p/agent-notes.jsonl".to_owned(), row(SESSION), SESSION),
    ] {
        let described = describe(&path, &head);
        assert_eq!(described.session, session, "{path}");
        assert_eq!(described.about.user.as_deref(), Some("bob"));
        assert_eq!(described.about.project.as_deref(), Some("app"));
        assert_eq!(described.about.parent, None);
    }
}

#[test]
fn a_sub_agents_file_hangs_on_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let subagents = folder.path().join(SESSION).join("subagents");
    std::fs::create_dir_all(&subagents).unwrap();
    std::fs::write(
        subagents.join("agent-a1.meta.json"),
        r#"{"agentType":"Explore","description":"Look around","toolUseId":"t1"}"#,
    )
    .unwrap();
    let described = describe(&subagents.join("agent-a1.jsonl").to_string_lossy(), AGENT_ROW);
    assert_eq!(described.session, format!("{SESSION}/a1"));
    let parent = described.about.parent.unwrap();
    assert_eq!((parent.session.as_str(), parent.call_id.as_deref()), (SESSION, Some("t1")));
    assert_eq!(described.about.title.as_deref(), Some("Look around"));

    for (path, session) in [
        (format!("/p/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl"), format!("{SESSION}/a1")),
        // A folder above that happens to be named so says nothing.
        (format!("/{SESSION}/p/agent-a1.jsonl"), "s-of-rows/a1".to_owned()),
    ] {
        let described = describe(&path, AGENT_ROW);
        assert_eq!(described.session, session);
        assert_eq!(described.about.parent.unwrap().call_id, None);
    }
}
