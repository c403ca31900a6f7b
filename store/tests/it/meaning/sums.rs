use crate::support::{Tale, row, source_of, take_in};

#[test]
fn tokens_add_up_over_responses_and_absent_is_not_zero() {
    let tale = Tale::of(
        "user ask
         said one id=r1 in=10 cached=100 out=1
         said two id=r2 in=20 written=50 out=2",
    );
    let session = tale.session("s");
    assert_eq!(session.uncached_input_tokens, Some(30));
    assert_eq!(session.cache_read_tokens, Some(100));
    assert_eq!(session.cache_write_5m_tokens, Some(50));
    assert_eq!(session.cache_write_1h_tokens, None);
    assert_eq!(session.output_tokens, Some(3));
    assert_eq!(session.reasoning_tokens, None);
    assert_eq!(session.peak_prompt_tokens, Some(110));
}

#[test]
fn totals_of_a_session_count_where_no_response_has_figures() {
    let session = Tale::of("user ask\n said one\n ended completed in=50 out=7").session("s");
    assert_eq!((session.uncached_input_tokens, session.output_tokens), (Some(50), Some(7)));
    assert_eq!(session.usage_quality, "estimated");
    let session = Tale::of("user ask\n said one in=40 out=5 end\n ended completed in=50 out=7").session("s");
    assert_eq!((session.uncached_input_tokens, session.output_tokens), (Some(40), Some(5)));
    assert_eq!(session.usage_quality, "final");
}

#[test]
fn absurd_figures_do_not_stop_anything() {
    let max = u64::MAX;
    let tale = Tale::of(&format!(
        "user ask
         said one id=r1 in={max} cached={max} out={max}
         said two id=r2 in={max} cached=1 out=1 cost=9000000"
    ));
    assert_eq!(tale.session("s").output_tokens, Some(max));
}

#[test]
fn costs_of_calls_add_up_and_a_total_is_not_added_to_them() {
    let tale = Tale::of(
        "user ask
         said one id=r1 cost=0.25
         said more id=r1 cost=0.5
         said two id=r2 cost=1
         ended completed cost=7",
    );
    assert_eq!(tale.session("s").reported_cost_picousd, Some(1_500_000_000_000));
    let tale = Tale::of("user ask\n said one\n ended completed cost=7");
    assert_eq!(tale.session("s").reported_cost_picousd, Some(7_000_000_000_000));
}

#[test]
fn the_title_is_the_sources_or_the_first_request() {
    for (lines, title) in [
        ("user hook origin=injected\n user ask\n said one\n user more", Some("ask")),
        ("user ask\n titled Named\n user more", Some("Named")),
        ("titled Named\n user ask", Some("Named")),
        ("context world", None),
    ] {
        assert_eq!(Tale::of(lines).session("s").title.as_deref(), title, "{lines}");
    }
}

#[test]
fn times_are_the_first_and_the_last() {
    let tale = Tale::of("user ask\n said one\n said two last");
    let session = tale.session("s");
    assert_eq!(session.duration_ms, Some(2000));
    let millis = |micros: i64| micros - 1_700_000_000_000_000;
    assert_eq!(session.started_at.map(|ts| millis(ts.micros())), Some(1_000_000));
    assert_eq!(session.ended_at.map(|ts| millis(ts.micros())), Some(3_000_000));
}

#[test]
fn a_hole_in_the_numbers_is_a_loss() {
    let tale = Tale::of(
        "user ask seq=1
         said one seq=2
         said two seq=5
         context world",
    );
    let session = tale.session("s");
    assert_eq!(
        (session.events_emitted, session.events_missing, session.events_stored),
        (Some(5), Some(2), 4)
    );
    assert_eq!(tale.store.report().expect("a report").missing, 2);
    // They came after all.
    let mut tale = tale;
    tale.tell("s", "said late seq=3\n said later seq=4\n again 1");
    assert_eq!(tale.session("s").events_missing, Some(0));
    assert_eq!(Tale::of("user ask").session("s").events_missing, None);
}

#[test]
fn what_comes_twice_counts_once() {
    let tale = Tale::of(
        "user ask
         said one in=5 out=5 last
         again 1
         again 2",
    );
    let session = tale.session("s");
    assert_eq!((session.events_received, session.events_stored, session.events_duplicate), (4, 2, 2));
    assert_eq!((session.runs, session.turns, session.output_tokens), (1, 1, Some(5)));
}

#[test]
fn what_cannot_be_read_is_counted_and_named() {
    let tale = Tale::of("user ask");
    let source = tale.store.open_source(&source_of("s", "/there")).expect("it is written");
    take_in(&tale.store, vec![row(source, 1, b"no event"), row(source, 2, br#"{"type":"x"}"#)]);
    assert_eq!(tale.session("s").events_refused, 2);
    let report = tale.store.source_report(source, 10).expect("a report").expect("it is known");
    assert_eq!((report.source.rows, report.source.unread, report.source.events), (2, 2, 0));
    assert_eq!(report.unread.iter().map(|piece| piece.row).collect::<Vec<_>>(), [1, 2]);
    assert!(report.unread[1].reason.contains("the field `id` is missing"), "{}", report.unread[1].reason);
}
