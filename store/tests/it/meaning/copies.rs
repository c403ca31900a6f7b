//! Messages that a source tells twice.

use agent_core::Body;

use crate::support::Tale;

/// Returns the types of the session's events, as they are shown.
fn shown(tale: &Tale) -> Vec<String> {
    let key = tale.session("s").session_key;
    let mut names = Vec::new();
    tale.store
        .for_each_event::<store::StoreError>(key, None, |full| {
            names.push(full.event.body.name().to_owned());
            Ok(())
        })
        .expect("events");
    names
}

#[test]
fn a_copy_counts_only_where_the_message_itself_is_missing() {
    // Copies come after requests and before answers.
    let twice = Tale::of(
        "user ask fact=u1
         user ask fact=u1 copy
         said one fact=a1 copy
         said one fact=a1
         said - in=5 out=1 last
         user more fact=u2
         user more fact=u2 copy
         said two fact=a2 copy
         said two fact=a2",
    );
    let once = Tale::of(
        "user ask fact=u1
         said one fact=a1
         said - in=5 out=1 last
         user more fact=u2
         said two fact=a2",
    );
    let copies = Tale::of(
        "user ask fact=u1 copy
         said one fact=a1 copy
         said - in=5 out=1 last
         user more fact=u2 copy
         said two fact=a2 copy",
    );
    for tale in [&twice, &once, &copies] {
        assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one in=5 out=1", "2 2.1 user=more said=two"]);
        assert_eq!(tale.prompt("s", 2, 1), "ask one more");
        let session = tale.session("s");
        assert_eq!((session.turns, session.runs, session.title.as_deref()), (2, 2, Some("ask")));
        // "two" alone was not counted by anybody: 3 characters are 1 token.
        assert_eq!(session.estimated_output_tokens, Some(2));
    }
    let retold = "message.retold";
    let (asked, said) = ("user.messaged", "model.responded");
    assert_eq!(shown(&twice), [asked, retold, said, retold, said, asked, retold, said, retold]);
    assert_eq!(twice.session("s").events_stored, 9);
}

#[test]
fn the_message_itself_stands_in_the_prompt_in_the_place_of_its_copy() {
    let tale = Tale::of(
        "user beginning-of-a-long-request-of-which-the-copy-says-less fact=u1 copy
         user beginning-of-a-long-request-of-which-the-copy-says-less-than-it fact=u2
         said one
         user more
         said two",
    );
    assert_eq!(
        tale.prompt("s", 2, 1),
        "beginning-of-a-long-request-of-which-the-copy-says-less-than-it one more"
    );
    assert_eq!(tale.session("s").runs, 2);
}

/// The words for pictures stand in the message itself alone.
#[test]
fn a_copy_of_a_request_in_other_words_is_still_its_copy() {
    let tale = Tale::of(
        "user picture:see fact=u1
         user see fact=u2 copy
         said one
         user next fact=u3 copy
         said two",
    );
    assert_eq!(tale.prompt("s", 2, 1), "picture:see one next");
}

#[test]
fn the_same_words_said_again_are_no_copy() {
    let tale = Tale::of(
        "user continue fact=u copy
         user continue fact=u
         said done fact=a copy
         said done fact=a
         user continue fact=u copy
         user continue fact=u
         said done fact=a copy
         said done fact=a
         user continue fact=u
         said done fact=a
         user continue fact=u
         said done fact=a",
    );
    assert_eq!(tale.session("s").runs, 4);
    assert_eq!(tale.prompt("s", 4, 1), "continue done continue done continue done continue");
}

#[test]
fn a_replay_in_a_child_does_not_tell_twice_either() {
    let mut tale = Tale::new();
    tale.tell(
        "parent",
        "user ask fact=u1
         user ask fact=u1 copy
         said one fact=a1 copy
         said one fact=a1",
    );
    tale.open_child("child", "parent");
    tale.tell("child", "copy parent 1 4\n user more fact=u2\n said two fact=a2");
    let key = tale.session("child").session_key;
    let last = tale.store.turns(key, 1, u32::MAX).expect("turns").last().expect("one").turn;
    assert_eq!(tale.prompt("child", last, 1), "ask one more");
    let is_copy = |body: &Body| matches!(body, Body::UserMessaged(message) if message.is_copy);
    assert!(tale.store.turn_events(key, last).expect("events").iter().all(|full| !is_copy(&full.event.body)));
}
