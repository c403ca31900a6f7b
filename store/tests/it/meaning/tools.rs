use crate::support::Tale;

#[test]
fn results_find_their_calls_by_id_in_any_order() {
    let tale = Tale::of(
        r#"user ask
           said one id=r1
           call c1 read {"file_path":"/a"}
           call c2 run {"command":"ls","timeout":5}
           said two id=r2
           result c2 succeeded files
           result c1 failed none"#,
    );
    assert_eq!(
        tale.tools("s"),
        [
            "1 turn=1 read id=c1 input=/a is=failed gave=none ms=4000",
            "2 turn=1 run id=c2 input=ls is=succeeded gave=files ms=2000",
        ]
    );
    let session = tale.session("s");
    assert_eq!((session.tool_calls, session.failed_tool_calls, session.first_error_turn), (2, 1, Some(1)));
    assert_eq!(session.tools, r#"["read","run"]"#);
}

#[test]
fn a_second_result_of_a_call_changes_nothing() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 ls
         result c1 succeeded first
         result c1 failed second",
    );
    assert_eq!(tale.tools("s"), ["1 turn=1 ls id=c1 is=succeeded gave=first ms=1000"]);
    let session = tale.session("s");
    assert_eq!((session.failed_tool_calls, session.events_stored), (0, 5));
}

#[test]
fn a_later_revision_of_a_result_takes_its_place() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 ls
         result c1 failed first
         amend 4 result c1 succeeded second",
    );
    assert_eq!(tale.tools("s"), ["1 turn=1 ls id=c1 is=succeeded gave=second ms=1000"]);
    assert_eq!(tale.session("s").failed_tool_calls, 0);
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one calls=1 error=first"]);
    assert_eq!(tale.runs("s"), ["1 turns 1-1 task=ask calls=1 is=unknown for=unknown"]);
}

#[test]
fn a_result_without_its_call_has_a_row() {
    let tale = Tale::of("result c9 failed lost");
    assert_eq!(tale.tools("s"), ["1 turn=1 (call not in the source) id=c9 is=failed gave=lost"]);
    assert_eq!((tale.session("s").tool_calls, tale.session("s").failed_tool_calls), (0, 1));
}

#[test]
fn a_call_told_twice_is_one_call_and_an_id_used_again_is_another() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 ls
         call c1 ls
         result c1 succeeded first
         said two
         call c1 cat
         result c1 failed second",
    );
    assert_eq!(
        tale.tools("s"),
        [
            "1 turn=1 ls id=c1 is=succeeded gave=first ms=2000",
            "2 turn=2 cat id=c1 is=failed gave=second ms=1000",
        ]
    );
    assert_eq!(tale.session("s").tool_calls, 2);
}

#[test]
fn a_call_without_a_result_has_no_status() {
    let tale = Tale::of("user ask\n said one\n call c1 ls");
    assert_eq!(tale.tools("s"), ["1 turn=1 ls id=c1"]);
}

#[test]
fn what_is_not_success_is_failure_but_unknown_is_neither() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 a
         result c1 rejected
         call c2 b
         result c2 cancelled
         call c3 c
         result c3",
    );
    assert_eq!(
        tale.tools("s"),
        [
            "1 turn=1 a id=c1 is=rejected ms=1000",
            "2 turn=1 b id=c2 is=cancelled ms=1000",
            "3 turn=1 c id=c3 is=unknown ms=1000",
        ]
    );
    let session = tale.session("s");
    assert_eq!(session.failed_tool_calls, 2);
    assert_eq!((session.rejected_tool_calls, session.cancelled_tool_calls), (1, 1));
    // Nobody's fault: refused and broken off calls are no errors to jump to.
    assert_eq!(session.first_error_turn, None);
    let turn = &tale.store.turns(session.session_key, 1, 1).expect("turns")[0];
    let run = &tale.store.runs(session.session_key).expect("runs")[0];
    assert_eq!((turn.failed_tool_calls, turn.rejected_tool_calls, turn.cancelled_tool_calls), (2, 1, 1));
    assert_eq!((run.failed_tool_calls, run.rejected_tool_calls, run.cancelled_tool_calls), (2, 1, 1));
    let next = tale.store.near_turn(session.session_key, 0, store::TurnKind::Error, true);
    assert_eq!(next.expect("turns"), None);
}

#[test]
fn a_later_revision_may_say_that_a_refused_call_failed() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 ls
         result c1 rejected no
         amend 4 result c1 failed broken",
    );
    let session = tale.session("s");
    assert_eq!((session.failed_tool_calls, session.rejected_tool_calls), (1, 0));
    assert_eq!(session.first_error_turn, Some(1));
}

#[test]
fn what_is_told_beside_a_result_is_joined_with_it_whichever_comes_first() {
    let told = |lines: &str| Tale::of(&format!("user ask\n said one\n call c1 fetch\n{lines}\n said two"));
    let result = "result c1 - page";
    let failed = "reported c1 failed error=refused code=7 ms=9";
    for lines in [format!("{failed}\n{result}"), format!("{result}\n{failed}")] {
        let tale = told(&lines);
        assert_eq!(tale.tools("s"), ["1 turn=1 fetch id=c1 is=failed gave=refused ms=9"], "{lines}");
        assert_eq!(tale.turns("s")[0], "1 1.1 user=ask said=one calls=1 failed=1 error=refused", "{lines}");
        let session = tale.session("s");
        assert_eq!((session.failed_tool_calls, session.first_error_turn), (1, Some(1)), "{lines}");
        // The output is not lost, and the result says how the call ended.
        assert_eq!(tale.prompt("s", 2, 1), "ask one c1() c1->page", "{lines}");
        let events = tale.store.turn_events(session.session_key, 1).expect("events");
        let end = events.iter().find_map(|full| match &full.event.body {
            agent_core::Body::ToolEnded(end) => Some(end),
            _ => None,
        });
        let end = end.expect("there is a result");
        assert_eq!(end.status, Some(agent_core::ToolStatus::Failed), "{lines}");
        assert_eq!(end.exit_code, Some(7), "{lines}");
        assert_eq!(end.error.as_ref().and_then(|error| error.message.as_deref()), Some("refused"), "{lines}");
        assert_eq!(end.output.as_ref().map(agent_core::Json::to_display).as_deref(), Some("page"), "{lines}");
    }
}

#[test]
fn a_report_says_more_than_a_guess_and_less_than_a_refusal() {
    let cases = [
        ("result c1 failed words", "reported c1 succeeded", "succeeded", 0, 0),
        ("result c1 succeeded words", "reported c1 failed error=no", "failed", 1, 0),
        ("result c1 rejected words", "reported c1 failed error=no", "rejected", 1, 1),
        ("result c1 - words", "reported c1 rejected", "rejected", 1, 1),
    ];
    for (result, report, status, failed, rejected) in cases {
        for lines in [format!("{result}\n{report}"), format!("{report}\n{result}")] {
            let tale = Tale::of(&format!("user ask\n said one\n call c1 fetch\n{lines}"));
            let tools = tale.tools("s");
            assert!(tools[0].contains(&format!("is={status}")), "{lines}: {tools:?}");
            let session = tale.session("s");
            assert_eq!(
                (session.failed_tool_calls, session.rejected_tool_calls),
                (failed, rejected),
                "{lines}"
            );
        }
    }
}

#[test]
fn a_report_alone_ends_no_response_and_makes_no_call() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 fetch
         reported c1 failed error=refused
         said more
         reported elsewhere failed error=lost",
    );
    assert_eq!(tale.tools("s"), ["1 turn=1 fetch id=c1 is=failed gave=refused"]);
    assert_eq!((tale.session("s").model_calls, tale.session("s").failed_tool_calls), (1, 1));
}

#[test]
fn what_a_call_is_to_bring_is_learned_when_it_has_succeeded() {
    let tale = Tale::of(
        "user ask
         said one
         call c1 read
         asked c1 oak
         call c2 read
         asked c2 elm
         call c3 read
         asked c3 fir
         result c2 failed none
         result c1 succeeded words",
    );
    let rows = tale.close();
    let learned: Vec<&String> = rows.iter().filter(|row| row.starts_with("learning.")).collect();
    assert_eq!(learned.len(), 1, "{learned:?}");
    assert!(learned[0].contains("recalled") && learned[0].contains("oak"), "{learned:?}");
}
