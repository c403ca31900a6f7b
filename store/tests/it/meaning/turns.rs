use crate::support::Tale;

#[test]
fn each_response_is_a_turn_with_what_came_in_before_it() {
    let tale = Tale::of(
        "user ask
         said one id=r1 in=10 out=1
         call c1 ls
         result c1 succeeded
         context world
         said two id=r2 in=20 out=2
         user more
         said three id=r3 in=30 out=3",
    );
    assert_eq!(
        tale.turns("s"),
        [
            "1 1.1 user=ask said=one in=10 out=1 calls=1",
            "2 1.2 said=two in=20 out=2",
            "3 2.1 user=more said=three in=30 out=3",
        ]
    );
    assert_eq!(
        tale.runs("s"),
        ["1 turns 1-2 task=ask calls=1 is=completed for=done", "2 turns 3-3 task=more is=completed for=done",]
    );
    assert_eq!(tale.session("s").turns, 3);
}

#[test]
fn a_turn_that_waits_for_its_response_is_there_and_open() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         user more",
    );
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one", "2 2.1 user=more open"]);
    let session = tale.session("s");
    assert_eq!((session.turns, session.unanswered_turns), (1, 1));
    let counts = tale.store.turn_counts(session.session_key).expect("counts");
    assert_eq!((counts.last, counts.last_responded, counts.unanswered), (2, 1, 1));
}

#[test]
fn events_stand_in_the_turn_whose_prompt_they_are_part_of() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         context world
         said two id=r2",
    );
    let key = tale.session("s").session_key;
    let of_turn = |turn| -> Vec<u32> {
        tale.store.turn_events(key, turn).expect("events").iter().map(|event| event.n).collect()
    };
    assert_eq!((of_turn(1), of_turn(2)), (vec![0, 1], vec![2, 3]));
    let rows = tale.store.turns(key, 1, 2).expect("turns");
    assert_eq!(rows.iter().map(|row| (row.first_n, row.last_n)).collect::<Vec<_>>(), [(0, 1), (2, 3)]);
}

/// The result comes when the next turn has begun: it stretches the turn of its call.
#[test]
fn a_late_result_belongs_to_the_turn_of_its_call() {
    let mut tale = Tale::of(
        "user ask
         said one id=r1
         call c1 ls
         said two id=r2
         user more",
    );
    tale.tell("s", "result c1 failed no");
    let rows = tale.store.turns(tale.session("s").session_key, 1, 3).expect("turns");
    assert_eq!(
        rows.iter().map(|row| (row.first_n, row.last_n)).collect::<Vec<_>>(),
        [(0, 5), (3, 3), (4, 4)]
    );
    assert_eq!(
        tale.turns("s"),
        ["1 1.1 user=ask said=one calls=1 failed=1 error=no", "2 1.2 said=two", "3 2.1 user=more open",]
    );
    // The second run had begun, but the call was the first one's.
    assert_eq!(
        tale.runs("s"),
        [
            "1 turns 1-2 task=ask calls=1 failed=1 is=completed for=done",
            "2 turns 3-3 task=more is=unknown for=unknown",
        ]
    );
}

/// Some sources write what the runtime puts in between the blocks of one response.
#[test]
fn a_call_behind_some_context_belongs_to_the_response_before() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         context reminder
         said - tools id=r1 out=5
         call c1 ls
         result c1 succeeded
         said two id=r2",
    );
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one out=5 calls=1", "2 1.2 said=two"]);
    assert_eq!(tale.tools("s"), ["1 turn=1 ls id=c1 is=succeeded ms=1000"]);
}

#[test]
fn a_source_that_names_its_turns_is_followed() {
    let tale = Tale::of(
        "user ask
         failed overload turn=a
         said one turn=a
         context plan turn=a
         said again turn=a last
         said two turn=b",
    );
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one model-failed=1 error=overload", "2 1.2 said=two"]);
    assert_eq!(tale.model_calls("s").len(), 3);
    let native: Vec<_> = tale.store.turns(tale.session("s").session_key, 1, 2).expect("turns");
    assert_eq!(native.iter().map(|row| row.native.as_deref()).collect::<Vec<_>>(), [Some("a"), Some("b")]);
}

#[test]
fn attempts_are_calls_of_one_turn() {
    let tale = Tale::of(
        "defaults m1
         user ask
         failed overload
         failed overload
         said one id=r1",
    );
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one model-failed=2 error=overload"]);
    assert_eq!(
        tale.model_calls("s"),
        ["1.1 model=m1 failed is=missing", "1.2 model=m1 failed is=missing", "1.3 id=r1 model=m1 is=missing",]
    );
    let session = tale.session("s");
    assert_eq!((session.model_calls, session.failed_model_calls, session.first_error_turn), (1, 2, Some(1)));
}

#[test]
fn what_holds_for_a_turn_holds_for_the_responses_that_name_no_model() {
    let tale = Tale::of(
        "defaults m1
         user ask
         said one id=r1
         said two id=r2 model=m2
         defaults m3
         said three id=r3",
    );
    assert_eq!(
        tale.model_calls("s"),
        ["1.1 id=r1 model=m1 is=missing", "2.1 id=r2 model=m2 is=missing", "3.1 id=r3 model=m3 is=missing",]
    );
    assert_eq!(tale.session("s").models, r#"["m1","m2","m3"]"#);
}
