use crate::support::Tale;

#[test]
fn only_requests_start_runs() {
    let tale = Tale::of(
        "user hook origin=injected
         user ask
         said one
         user /cost origin=command
         user 5USD origin=command_output
         said two
         user order origin=agent
         said three",
    );
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-2 task= is=completed for=done", "2 turns 3-3 task=order is=completed for=done",]
            .map(|line| line.replace("task= ", "task=ask "))
    );
    assert_eq!(tale.session("s").runs, 2);
}

/// What was put in since the last response is of the next prompt, which is the new run's.
#[test]
fn the_turn_of_a_request_is_the_new_runs() {
    let tale = Tale::of(
        "user ask
         said one
         user reminder origin=injected
         user more
         said two",
    );
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one", "2 2.1 user=more said=two"]);
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-1 task=ask is=completed for=done", "2 turns 2-2 task=more is=completed for=done",]
    );
}

#[test]
fn a_request_before_any_response_is_more_of_the_same() {
    let tale = Tale::of("user ask\n user and\n said one");
    assert_eq!(tale.runs("s"), ["1 turns 1-1 task=ask is=completed for=done"]);
    // But not when the source says that the run has ended.
    let tale = Tale::of("run ask\n run-ended failed\n run more\n said one");
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-1 task=ask is=failed for=unknown", "2 turns 1-1 task=more is=completed for=done",]
    );
}

#[test]
fn how_it_ended_is_judged_by_the_last_event() {
    for (end, status, reason) in [
        ("said done", "completed", "done"),
        ("said go tools", "unknown", "unknown"),
        ("said go tools\n call c1 ls", "unknown", "unknown"),
        ("said go tools\n call c1 ls\n result c1 succeeded", "unknown", "unknown"),
        ("said go tools\n call c1 ls\n result c1 succeeded\n said done", "completed", "done"),
        // A call whose result never came does not matter once the model has spoken again.
        ("said go tools\n call c1 ls\n said done id=r2", "completed", "done"),
        ("said go\n interrupted", "cancelled", "user_interrupt"),
        ("said go tools\n call c1 ls\n interrupted\n result c1 cancelled", "cancelled", "user_interrupt"),
        ("failed overload", "failed", "failure"),
        ("failed overload\n said done", "completed", "done"),
        ("context world", "unknown", "unknown"),
    ] {
        let tale = Tale::of(&format!("user ask\n {end}"));
        let session = tale.session("s");
        assert_eq!((session.status.as_str(), session.end_reason.as_str()), (status, reason), "{end}");
    }
}

#[test]
fn what_the_source_says_of_an_end_counts() {
    let tale = Tale::of(
        "user ask
         said one
         run-ended failed reason=budget
         user more
         said two
         run-ended completed
         ended cancelled reason=stopped",
    );
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-1 task=ask is=failed for=budget", "2 turns 2-2 task=more is=completed for=done",]
    );
    let session = tale.session("s");
    assert_eq!((session.status.as_str(), session.end_reason.as_str()), ("cancelled", "stopped"));
}

#[test]
fn a_session_that_goes_on_after_its_end_has_not_ended() {
    let tale = Tale::of(
        "user ask
         said one
         ended failed
         user more",
    );
    assert_eq!(tale.session("s").status, "unknown");
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-1 task=ask is=failed for=done", "2 turns 2-2 task=more is=unknown for=unknown",]
    );
}

#[test]
fn interrupts_are_counted_and_marked_where_they_came() {
    let tale = Tale::of(
        "user ask
         said one
         interrupted
         user more
         said two
         context reminder
         interrupted",
    );
    assert_eq!(
        tale.turns("s"),
        ["1 1.1 user=ask said=one interrupted", "2 2.1 user=more said=two interrupted"]
    );
    assert_eq!(tale.session("s").interrupts, 2);
}
