use crate::support::Tale;

#[test]
fn a_response_in_pieces_is_counted_once() {
    let tale = Tale::of(
        "user ask
         said one id=r1 in=10 cached=100 out=1
         said - tools id=r1 in=10 cached=100 out=1
         call c1 ls
         result c1 succeeded
         said end id=r1 in=10 cached=100 out=40 end",
    );
    assert_eq!(tale.model_calls("s"), ["1.1 id=r1 in=10 cached=100 out=40 end=end_turn is=final"]);
    let session = tale.session("s");
    assert_eq!(
        (session.model_calls, session.output_tokens, session.cache_read_tokens),
        (1, Some(40), Some(100))
    );
    assert_eq!(session.peak_prompt_tokens, Some(110));
}

/// The largest figure of each kind counts, in whatever order they come.
#[test]
fn usage_is_the_largest_of_each_kind() {
    let tale = Tale::of(
        "user ask
         said one id=r1 in=10 out=9
         said two id=r1 in=12 out=5",
    );
    assert_eq!(tale.model_calls("s"), ["1.1 id=r1 in=12 out=9 is=partial"]);
    assert_eq!(tale.turns("s"), ["1 1.1 user=ask said=one in=12 out=9"]);
}

#[test]
fn pieces_without_an_id_belong_together_until_something_closes_them() {
    for (between, calls) in [
        ("context world", 1),
        ("user injected origin=injected", 2),
        ("user more", 2),
        ("result c1 succeeded", 2),
        ("compacted", 2),
        ("defaults m", 2),
        ("said end last", 2),
    ] {
        let tale = Tale::of(&format!("user ask\n said one out=1\n {between}\n said two out=2"));
        assert_eq!(tale.session("s").model_calls, calls, "{between}");
        assert_eq!(tale.session("s").output_tokens, Some(if calls == 1 { 2 } else { 3 }), "{between}");
    }
}

/// 400 characters are about 100 tokens, which is more than three times 33 and not more than three times 34.
#[test]
fn a_figure_that_is_too_small_for_the_text_is_a_placeholder() {
    let text = "x".repeat(400);
    for (out, end, quality) in [(33, "", "placeholder"), (34, "", "partial"), (33, "end", "final")] {
        let tale = Tale::of(&format!("user ask\n said {text} id=r1 out={out} {end}"));
        assert_eq!(tale.session("s").usage_quality, quality);
    }
    // The arguments of a call are text of the model too: 4 + 4 + 400 characters.
    let tale = Tale::of(&format!("user ask\n said four id=r1 out=33\n call c1 ls {{\"k\":\"{text}\"}}"));
    assert_eq!(tale.model_calls("s"), ["1.1 id=r1 out=33 is=placeholder"]);
    // A later piece with a true figure mends it.
    let tale = Tale::of(&format!("user ask\n said {text} id=r1 out=3\n said - id=r1 out=100"));
    assert_eq!(tale.model_calls("s"), ["1.1 id=r1 out=100 is=partial"]);
}

/// 400 characters are about 100 tokens. What is final stands as it is; what is not is at least what was seen.
#[test]
fn output_that_is_not_final_is_estimated_by_its_text() {
    let text = "x".repeat(400);
    let tale = Tale::of(&format!(
        "user ask
         said {text} id=r1 out=3
         user more
         said {text} id=r2 out=120 end
         user more
         said {text} id=r3 out=150
         user more
         said {text} id=r4"
    ));
    let session = tale.session("s");
    assert_eq!(session.output_tokens, Some(3 + 120 + 150));
    assert_eq!(session.estimated_output_tokens, Some(100 + 120 + 150 + 100));
    let turns = tale.store.turns(session.session_key, 1, 4).expect("turns");
    let estimated: Vec<_> = turns.iter().map(|turn| turn.estimated_output_tokens).collect();
    assert_eq!(estimated, [Some(100), Some(120), Some(150), Some(100)]);
    // What the agent estimated itself stands.
    let tale = Tale::of(&format!("user ask\n said {text} id=r1 out=60 quality=estimated"));
    assert_eq!(tale.session("s").estimated_output_tokens, Some(60));
    // A last piece with a true figure, smaller than the estimate, takes its place.
    let tale = Tale::of(&format!("user ask\n said {text} id=r1 out=3\n said - id=r1 out=60 end"));
    assert_eq!(tale.session("s").estimated_output_tokens, Some(60));
}

#[test]
fn the_worst_quality_is_the_sessions() {
    let tale = Tale::of(
        "user ask
         said one id=r1 out=5 end
         said two id=r2 out=5 quality=estimated
         said three id=r3 out=5",
    );
    assert_eq!(tale.session("s").usage_quality, "estimated");
}

#[test]
fn a_sum_of_the_session_that_comes_again_adds_nothing() {
    let tale = Tale::of(
        "user ask
         said one
         said - in=10 out=5 far=10/5 last
         said - in=10 out=5 far=10/5 last
         user more
         said two
         said - in=20 out=7 far=30/12 last",
    );
    assert_eq!(tale.model_calls("s"), ["1.1 in=10 out=5 is=partial", "2.1 in=20 out=7 is=partial"]);
    let session = tale.session("s");
    assert_eq!((session.uncached_input_tokens, session.output_tokens), (Some(30), Some(12)));
}

#[test]
fn where_the_last_usage_is_empty_the_growth_of_the_sum_counts() {
    let tale = Tale::of(
        "user ask
         said one
         said - in=10 out=5 far=10/5 last
         user more
         said two
         said - in=0 out=0 far=40/6
         said - far=50/9 last",
    );
    // 40 - 10 and 6 - 5, then 50 - 40 and 9 - 6 more of the same response.
    assert_eq!(tale.model_calls("s"), ["1.1 in=10 out=5 is=partial", "2.1 in=40 out=4 is=partial"]);
    assert_eq!(tale.session("s").uncached_input_tokens, Some(50));
}

#[test]
fn usage_may_come_after_the_results_of_the_calls() {
    let tale = Tale::of(
        "user ask
         said one tools
         call c1 ls
         result c1 succeeded
         context world
         said - in=10 out=5 last
         said two last
         said - in=20 out=6 last",
    );
    assert_eq!(tale.model_calls("s"), ["1.1 in=10 out=5 is=partial", "2.1 in=20 out=6 is=partial"]);
    assert_eq!(tale.session("s").model_calls, 2);
}

#[test]
fn a_report_without_a_response_is_a_call_of_its_own() {
    let tale = Tale::of(
        "user ask
         said one in=1 out=1 last
         said - in=10 out=5 last",
    );
    assert_eq!(tale.model_calls("s"), ["1.1 in=1 out=1 is=partial", "2.1 in=10 out=5 is=partial"]);
}

#[test]
fn a_later_revision_mends_the_figures_of_its_response() {
    let tale = Tale::of(
        "user ask
         said one id=r1 in=10 out=5 last
         said two in=1 out=1 last
         amend 2 said one-more id=r1 in=10 out=9 end
         amend 3 said two in=1 out=4
         again 2
         again 4",
    );
    assert_eq!(
        tale.model_calls("s"),
        ["1.1 id=r1 in=10 out=9 end=end_turn is=final", "2.1 in=1 out=4 is=partial"]
    );
    let session = tale.session("s");
    assert_eq!((session.events_stored, session.events_duplicate, session.turns), (5, 2, 2));
    // It is no second message in the history.
    assert_eq!(tale.prompt("s", 2, 1), "ask one");
}

/// The older revision came late: it changes nothing.
#[test]
fn an_older_revision_is_known_already() {
    let mut tale = Tale::of("user ask");
    let mut event = crate::support::message("s", 7);
    event.rev = 3;
    let newer = crate::support::event_record(&event);
    event.rev = 2;
    crate::support::take_in(&tale.store, vec![newer, crate::support::event_record(&event)]);
    tale.tell("s", "said one");
    let session = tale.session("s");
    assert_eq!((session.events_received, session.events_stored, session.events_duplicate), (4, 3, 1));
}

#[test]
fn a_response_that_is_reported_in_two_ways_is_counted_once() {
    // With the sum of the session, and by itself; the latter says more.
    let single = "said - in=70 cached=20 written=10 out=30 last";
    let summed = "said - far=100/1 last";
    for (lines, kept, sums) in [
        (format!("{summed}\n{single}"), "in=70 cached=20 out=30", (Some(70), Some(30))),
        (format!("{single}\n{summed}"), "in=70 cached=20 out=30", (Some(70), Some(30))),
        (summed.to_owned(), "in=100 out=1", (Some(100), Some(1))),
    ] {
        let tale = Tale::of(&format!("user ask\n said one\n{lines}"));
        assert_eq!(tale.model_calls("s"), [format!("1.1 {kept} is=partial")], "{lines}");
        let (session, turn) = (tale.session("s"), &tale.turns("s")[0]);
        assert_eq!((session.uncached_input_tokens, session.output_tokens), sums, "{lines}");
        let sums = format!("in={} out={}", sums.0.unwrap_or(0), sums.1.unwrap_or(0));
        assert!(turn.contains(&sums), "{lines}: {turn}");
    }
    // The next response has reports of its own, also where it has no words.
    let tale = Tale::of(
        "user ask
         said one
         said - in=7 out=3 last
         said - far=7/3 last
         said - in=2 out=2 last
         said - far=9/5 last
         user more
         said two
         said - far=10/6 last
         said - in=1 out=1 last",
    );
    let calls = tale.model_calls("s");
    assert_eq!(calls.len(), 3, "{calls:?}");
    let session = tale.session("s");
    assert_eq!((session.uncached_input_tokens, session.output_tokens), (Some(10), Some(6)));
}
