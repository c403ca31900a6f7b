use crate::support::Tale;

#[test]
fn a_prompt_is_what_came_in_before_its_call() {
    let tale = Tale::of(
        "context rules slot=system
         user ask
         said one id=r1
         call c1 ls
         result c1 succeeded files
         said two id=r2
         user more
         said three id=r3",
    );
    assert_eq!(tale.prompt("s", 1, 1), "system:rules ask");
    assert_eq!(tale.prompt("s", 2, 1), "system:rules ask one c1() c1->files");
    assert_eq!(tale.prompt("s", 3, 1), "system:rules ask one c1() c1->files two more");
}

#[test]
fn each_attempt_has_the_prompt_that_it_was_made_with() {
    let tale = Tale::of("user ask\n failed overload\n context hint\n said one");
    assert_eq!(tale.prompt("s", 1, 1), "ask");
    assert_eq!(tale.prompt("s", 1, 2), "ask hint");
}

#[test]
fn a_value_leaves_its_slot_when_another_comes() {
    let tale = Tale::of(
        "context rules slot=system
         context t1 slot=tools
         context plan1 slot=plan
         user ask
         said one id=r1
         context plan2 slot=plan
         context rules2 slot=system
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 1, 1), "system:rules tools:t1 plan1 ask");
    assert_eq!(tale.prompt("s", 2, 1), "system:rules2 tools:t1 ask one plan2");
}

#[test]
fn a_compaction_empties_the_history_but_not_the_slots() {
    let tale = Tale::of(
        "context rules slot=system
         context plan slot=plan
         user ask
         said one id=r1
         compacted summary
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "system:rules plan summary");
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one", "2 1.2 said=two compacted"]);
    assert_eq!(tale.session("s").compactions, 1);
}

/// The turn has a row already, by the request: the mark is its, not the next one's.
#[test]
fn a_compaction_after_the_request_marks_that_turn() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         user more
         compacted summary
         said two id=r2
         said three id=r3",
    );
    assert_eq!(
        tale.turns("s"),
        ["1 1.1 user=ask said=one", "2 2.1 user=more said=two compacted", "3 2.2 said=three",]
    );
}

#[test]
fn a_small_compaction_takes_out_the_results_that_it_names() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         call c1 ls
         result c1 succeeded files
         call c2 cat
         result c2 succeeded text
         compacted dropped=c1
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "ask one c1() c2() c2->text");
}

#[test]
fn a_request_that_follows_an_earlier_step_cuts_the_history() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         user wrong
         said two id=r2
         user right after=s2
         said three id=r3",
    );
    assert_eq!(tale.prompt("s", 2, 1), "ask one wrong");
    assert_eq!(tale.prompt("s", 3, 1), "ask one right");
    // What no request is dropped by is no branch: two results of one response follow the same step.
    let tale = Tale::of(
        "user ask
         said one id=r1
         call c1 ls
         result c1 succeeded files
         user more after=s2
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "ask one c1() c1->files more");
    // A step that is not known is no branch either.
    let tale = Tale::of("user ask\n said one\n user more after=elsewhere\n said two");
    assert_eq!(tale.prompt("s", 2, 1), "ask one more");
}

#[test]
fn an_agents_order_is_no_branch() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         user more
         said two id=r2
         user order after=s1 origin=agent
         said three id=r3",
    );
    assert_eq!(tale.prompt("s", 3, 1), "ask one more two order");
}

#[test]
fn a_repeated_report_stands_in_no_prompt() {
    let tale = Tale::of(
        "user ask
         said one in=1 out=1 far=1/1 last
         said one in=1 out=1 far=1/1 last
         user more
         said two",
    );
    assert_eq!(tale.prompt("s", 2, 1), "ask one more");
}
