use agent_core::Body;

use crate::support::Tale;

impl Tale {
    /// Returns what the user says in the session, in order: `TURN TEXT`.
    fn user_says(&self, session: &str) -> Vec<String> {
        let key = self.session(session).session_key;
        let mut said = Vec::new();
        self.store
            .for_each_event::<store::StoreError>(key, None, |full| {
                if let Body::UserMessaged(message) = &full.event.body {
                    said.push(format!("{} {}", full.turn, message.text));
                }
                Ok(())
            })
            .expect("events");
        said
    }
}

#[test]
fn a_message_from_the_queue_stands_in_the_next_prompt_behind_the_results() {
    let tale = Tale::of(
        "user go
         said one id=r1
         call c1 ls
         queued stop
         left delivered
         result c1 succeeded files
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "go one c1() c1->files stop");
    assert_eq!(tale.user_says("s"), ["1 go", "2 stop"]);
    assert_eq!(tale.turns("s"), ["1 1.1 user=go said=one calls=1", "2 1.2 user=stop said=two"]);
    assert_eq!(tale.session("s").runs, 1);
    assert_eq!(tale.store.turns_with_text(tale.session("s").session_key, "STOP", 9).expect("turns"), [2]);
}

/// The response goes on in the source after the message left the queue.
#[test]
fn a_message_that_comes_in_amid_a_response_is_the_next_turns() {
    let tale = Tale::of(
        "user go
         said one id=r1
         queued wider
         left delivered
         said more id=r1
         call c1 ls
         result c1 succeeded files
         said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "go one more c1() c1->files wider");
    assert_eq!(tale.turns("s"), ["1 1.1 user=go said=one calls=1", "2 1.2 user=wider said=two"]);
}

#[test]
fn the_queue_gives_the_first_unless_one_is_named() {
    let tale = Tale::of(
        "user go
         said one id=r1
         queued a
         queued b
         queued c
         left delivered b
         left delivered
         left repeated
         left delivered
         left delivered d
         said two id=r2",
    );
    assert_eq!(tale.user_says("s"), ["1 go", "2 b", "2 a", "2 d"]);
    assert_eq!(tale.prompt("s", 2, 1), "go one b a d");
    assert_eq!(tale.turns("s")[1], "2 1.2 user=b\na\nd said=two");
}

#[test]
fn what_is_told_again_or_taken_back_does_not_come_from_the_queue() {
    let tale = Tale::of(
        "user go
         said one id=r1
         queued later
         queued never
         queued gone
         left repeated
         user later
         said two id=r2
         left withdrawn never
         left withdrawn all
         left delivered
         said three id=r3",
    );
    assert_eq!(tale.user_says("s"), ["1 go", "2 later"]);
    assert_eq!(tale.prompt("s", 3, 1), "go one later two");
    assert_eq!(tale.session("s").runs, 2);
}

/// Newer sources write the message down beside what they say of the queue, before it or after it.
#[test]
fn a_message_of_its_own_and_the_queue_tell_of_one() {
    for rows in ["left delivered\n user stop joins", "user stop joins\n left delivered"] {
        let tale = Tale::of(&format!(
            "user go\n said one id=r1\n queued stop\n {rows}\n said two id=r2
             queued stop\n {rows}\n said three id=r3\n user stop\n said four id=r4"
        ));
        assert_eq!(tale.user_says("s"), ["1 go", "2 stop", "3 stop", "4 stop"], "{rows}");
        assert_eq!(tale.prompt("s", 4, 1), "go one stop two stop three stop", "{rows}");
        assert_eq!(tale.session("s").runs, 2, "{rows}");
    }
}

#[test]
fn news_that_are_delivered_elsewhere_are_not_this_agents() {
    let tale = Tale::of(
        "user go
         said one id=r1
         queued news origin=injected
         queued other origin=injected
         queued stop
         left delivered delivery=d1
         left delivered
         left delivered delivery=d2
         said two id=r2",
    );
    assert_eq!(tale.user_says("s"), ["1 go", "2 other", "2 stop"]);
    assert_eq!(tale.turns("s")[1], "2 1.2 user=stop said=two");
}

#[test]
fn a_copy_of_the_rows_brings_nothing_twice() {
    let mut tale = Tale::of("user go\n said one id=r1\n queued stop\n left delivered\n user stop joins");
    tale.tell("s", "again 3\n again 4\n again 5\n said two id=r2");
    assert_eq!(tale.user_says("s"), ["1 go", "2 stop"]);
    assert_eq!(tale.prompt("s", 2, 1), "go one stop");
    assert_eq!(tale.session("s").events_duplicate, 3);
}

#[test]
fn a_compaction_takes_what_came_in_before_it() {
    let tale = Tale::of(
        "user go\n said one id=r1\n queued stop\n left delivered\n compacted summary\n said two id=r2",
    );
    assert_eq!(tale.prompt("s", 2, 1), "summary");
}

#[test]
fn a_fork_goes_on_with_what_came_from_the_queue() {
    let mut tale = Tale::of("user go\n said one id=r1\n queued stop\n left delivered\n said two id=r2");
    tale.tell("t", "copy s 1 4\n user else after=s4\n said three id=r3");
    assert_eq!(tale.prompt("t", 1, 1), "go one stop else");
}
