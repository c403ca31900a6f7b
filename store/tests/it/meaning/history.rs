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

#[test]
fn a_step_back_takes_the_last_requests_out() {
    let before = "user ask
         said one
         user wrong
         said two
         user worse
         said three
         ";
    let after = |lines: &str| {
        let tale = Tale::of(&format!("{before}{lines}\n user right\n said four"));
        let turn = tale.session("s").turns;
        assert_eq!(turn, 4);
        assert_eq!(tale.session("s").compactions, 0);
        tale.prompt("s", turn, 1)
    };
    assert_eq!(after("compacted back=1"), "ask one wrong two right");
    assert_eq!(after("compacted back=2"), "ask one right");
    assert_eq!(after("compacted back=1\n compacted back=1"), "ask one right");
    assert_eq!(after("compacted back=9"), "right");
    // What the runtime put in is no request.
    let tale = Tale::of(
        "user hello origin=injected
         user ask
         said one
         user note origin=injected
         said two
         compacted back=1
         user right
         said three",
    );
    assert_eq!(tale.prompt("s", 3, 1), "hello right");
}

#[test]
fn a_step_back_over_a_compaction_brings_back_the_history_before_it() {
    let tale = Tale::of(
        "user ask
         said one
         user wrong
         said two
         compacted summary
         said three
         compacted back=1
         user right
         said four
         user more
         said five
         compacted back=1
         user other
         said six",
    );
    assert_eq!(tale.prompt("s", 3, 1), "summary");
    assert_eq!(tale.prompt("s", 4, 1), "ask one right");
    assert_eq!(tale.prompt("s", 6, 1), "ask one right four other");
}

#[test]
fn a_compaction_keeps_what_it_names_before_or_behind_the_summary() {
    let told = "context plan slot=plan\n user one\n said two id=r1\n user three\n said four id=r2";
    for (kept, prompt) in [
        ("kept=s4,s5 behind=s7", "plan summary three four note more"),
        ("kept=s4,s5 behind=s6", "plan three four summary note more"),
        ("kept=s4..s5 behind=s7", "plan summary three four note more"),
        ("kept=s3..s4 behind=s6", "plan two three summary note more"),
        // Behind a row that never comes, or none that is named: at the end of what the next call is sent.
        ("kept=s4 behind=s99", "plan summary note more three"),
        ("kept=s4", "plan summary note more three"),
        ("kept=s99 behind=s7", "plan summary note more"),
        ("kept=s99..s4 behind=s7", "plan summary note more"),
        // What stands in a slot is there once.
        ("kept=s1,s2 behind=s7", "plan summary one note more"),
    ] {
        let rest = "user summary origin=compact_summary\n context note\n user more\n said five id=r3";
        let tale = Tale::of(&format!("{told}\n compacted {kept}\n {rest}"));
        assert_eq!(tale.prompt("s", 3, 1), prompt, "{kept}");
    }
}

#[test]
fn what_was_kept_may_be_kept_again_or_go() {
    let tale = Tale::of(
        "user one
         said two id=r1
         user three
         said four id=r2
         compacted sum1 kept=s3,s4
         compacted sum2 kept=s4
         said five id=r3
         compacted sum3
         said six id=r4",
    );
    assert_eq!(tale.prompt("s", 3, 1), "sum2 four");
    assert_eq!(tale.prompt("s", 4, 1), "sum3");
}
