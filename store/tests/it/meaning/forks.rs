use crate::support::{Tale, event_record, take_in};

/// The session that the copies are made of: two turns of 10 + 1 and 20 + 2 tokens.
const FIRST: &str = "user ask
                     said one id=r1 in=10 out=1
                     call c1 ls
                     result c1 failed no
                     said two id=r2 in=20 out=2";

#[test]
fn a_copy_of_the_beginning_counts_only_what_is_its_own() {
    let mut tale = Tale::new();
    tale.tell("a", FIRST);
    tale.tell("b", "copy a 1 4\n user more\n said three id=r3 in=30 out=3");
    let fork = tale.session("b");
    assert_eq!(fork.parent.as_deref(), Some("a"));
    assert_eq!((fork.parent_kind.as_deref(), fork.parent_turn), (Some("fork"), Some(1)));
    assert_eq!((fork.turns, fork.runs, fork.tool_calls, fork.failed_tool_calls), (1, 1, 0, 0));
    assert_eq!((fork.uncached_input_tokens, fork.output_tokens), (Some(30), Some(3)));
    assert_eq!((fork.events_stored, fork.events_duplicate), (2, 4));
    assert_eq!(tale.turns("b"), ["1 1.1 user=more said=three in=30 out=3"]);
    assert_eq!(tale.prompt("b", 1, 1), "ask one c1() c1->no more");
    assert_eq!(tale.session("a").parent, None);
}

#[test]
fn an_untouched_copy_has_used_nothing() {
    let mut tale = Tale::new();
    tale.tell("a", FIRST);
    tale.tell("b", "copy a 1 5");
    let fork = tale.session("b");
    assert_eq!((fork.output_tokens, fork.model_calls, fork.parent_turn), (None, 0, Some(2)));
    assert_eq!(fork.events_stored, 0);
}

#[test]
fn a_copy_of_a_copy_inherits_from_both() {
    let mut tale = Tale::new();
    tale.tell("a", FIRST);
    tale.tell("b", "copy a 1 2\n user more\n said three id=r3 out=3");
    tale.tell("c", "copy b 1 4\n user most\n said four id=r4 out=4");
    // The first message is the root's, and so the root is found.
    let copy = tale.session("c");
    assert_eq!(copy.parent.as_deref(), Some("a"));
    assert_eq!(tale.prompt("b", 1, 1), "ask one more");
    assert_eq!(tale.prompt("c", 2, 1), "ask one more three most");
}

/// The original goes on after the copy was made; what it says then is its own.
#[test]
fn the_original_may_go_on() {
    let mut tale = Tale::new();
    tale.tell("a", "user ask\n said one id=r1 out=1");
    tale.tell("b", "copy a 1 2\n user more");
    tale.tell("a", "said two id=r2 out=2");
    tale.tell("b", "said three id=r3 out=4");
    assert_eq!((tale.session("a").output_tokens, tale.session("b").output_tokens), (Some(3), Some(4)));
    assert_eq!(tale.session("b").parent_turn, Some(1));
}

#[test]
fn a_compaction_in_the_copied_part_holds_for_the_copy() {
    let mut tale = Tale::new();
    tale.tell("a", "user ask\n said one id=r1\n compacted summary\n said two id=r2");
    tale.tell("b", "copy a 1 4\n user more\n said three id=r3");
    assert_eq!(tale.prompt("b", 1, 1), "summary two more");
    assert_eq!(tale.session("b").compactions, 0);
}

/// A child that says who its parent is replays the parent's history, by facts and not by ids.
#[test]
fn a_child_replays_its_parent_until_its_own_first_fact() {
    let mut tale = Tale::new();
    tale.tell(
        "p",
        "user ask fact=m1
         said one fact=m2 far=10/1
         said - in=10 out=1 far=10/1 fact=t1 last",
    );
    tale.open_child("k", "p");
    tale.tell(
        "k",
        "user ask fact=m1
         said one fact=m2
         said - in=10 out=1 far=10/1 fact=t1 last
         user order fact=m3
         said three fact=m4
         said - in=0 out=0 far=15/3 fact=t2 last
         user ask fact=m1",
    );
    let child = tale.session("k");
    assert_eq!((child.parent.as_deref(), child.parent_kind.as_deref()), (Some("p"), Some("subagent")));
    assert_eq!(child.parent_turn, None);
    // 15 - 10 and 3 - 1: the parent's sum is where the child's begins.
    assert_eq!((child.uncached_input_tokens, child.output_tokens), (Some(5), Some(2)));
    // The words that are said again later are the child's own.
    assert_eq!((child.events_duplicate, child.runs), (3, 2));
    assert_eq!(tale.prompt("k", 1, 1), "ask one order");
}

#[test]
fn a_parent_that_comes_later_is_found_all_the_same() {
    let mut tale = Tale::new();
    tale.open_child("k", "p");
    tale.tell("p", "user ask");
    let mut event = crate::support::message("p", 99);
    take_in(&tale.store, vec![event_record(&event)]);
    "k".clone_into(&mut event.session);
    take_in(&tale.store, vec![event_record(&event)]);
    assert_eq!(tale.session("k").events_duplicate, 1);
}

#[test]
fn sessions_that_are_each_others_parents_do_not_hang() {
    let mut tale = Tale::new();
    tale.open_child("a", "b");
    tale.open_child("b", "a");
    tale.tell("a", FIRST);
    tale.tell("b", "copy a 1 2\n user more");
    assert_eq!(tale.session("b").runs, 1);
}

#[test]
fn the_numbers_of_a_copied_recording_are_no_loss() {
    let mut tale = Tale::new();
    tale.tell("a", "user ask seq=1\n said one seq=2");
    tale.tell("b", "copy a 1 2\n user more seq=3");
    assert_eq!(tale.session("b").events_missing, Some(0));
}
