//! What the list and the session page tell of errors, of what is not finished, and of what is not there.

use agent_core::{
    Body, ModelResponded, ParentKind, ParentLink, SessionStarted, ToolCalled, ToolStatus, Usage, UsageQuality,
};
use axum::http::StatusCode;

use crate::app::{App, Session};
use crate::reading::words;

/// Two failed calls of tools, one refused, one broken off, one failed call of a model; nothing failed in turn 1.
fn troubled() -> Session {
    Session::new("troubled")
        .asks("clean up")
        .says("first I look")
        .calls("c1", "Bash", r#"{"command":"rm -r /"}"#, ToolStatus::Rejected, "the user said no")
        .says("then I look again")
        .calls("c2", "Read", r#"{"file_path":"a"}"#, ToolStatus::Cancelled, "broken off")
        .calls("c3", "Read", r#"{"file_path":"b"}"#, ToolStatus::Failed, "no such file b")
        .calls("c4", "Read", r#"{"file_path":"c"}"#, ToolStatus::Failed, "no such file c")
        .asks("go on")
        .fails("overloaded")
        .says("done")
}

/// A call that has no result.
fn opens(session: Session, id: &str) -> Session {
    session.event(Body::ToolCalled(ToolCalled {
        call_id: id.to_owned(),
        name: "Bash".to_owned(),
        ..Default::default()
    }))
}

#[tokio::test]
async fn what_failed_was_refused_or_was_broken_off_is_told_apart() {
    let app = App::with(&[troubled()]);
    let list = app.page("/sessions").await;
    assert!(
        list.contains(
            r#"href="/sessions/troubled/turns/2" title="Go to the first error">2 failed
1 model error</a>"#
        ),
        "{list}"
    );
    assert!(words(&list).contains("1 rejected 1 cancelled"), "{}", words(&list));
    let page = app.page("/sessions/troubled").await;
    let text = words(&page);
    for expected in [
        "errors 2 failed · 1 model error 1 rejected · 1 cancelled duration",
        // The first request, then the second one, in the outline.
        "2 turns · 10 s 2 failed 1 rejected · 1 cancelled",
        "1 turn · 2.0 s 1 model error",
        "First error: turn 2 — Read failed: no such file b 2 failed · 1 model error in all",
        "turn 1, prompt 21.3k tokens, 1 rejected",
        "turn 2, prompt 21.3k tokens, 2 failed · 1 cancelled",
        "turn 3, prompt 21.3k tokens, 1 model error",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(page.contains(r#"<article class="turn" id="t1""#), "a refused call makes no bad turn: {page}");
    assert!(page.contains(r#"<article class="turn err" id="t2""#), "{page}");
}

#[tokio::test]
async fn refused_calls_alone_are_no_error() {
    let refused = Session::new("s").asks("x").says("y").calls("c", "Bash", "{}", ToolStatus::Rejected, "no");
    let app = App::with(&[refused]);
    assert!(!app.page("/sessions/s").await.contains("First error"));
    let list = app.page("/sessions").await;
    assert!(!list.contains("\"errs\"") && words(&list).contains("1 rejected"), "{list}");
    assert!(app.page("/sessions?errors=1").await.contains("No session fits"));
}

#[tokio::test]
async fn a_request_without_an_answer_is_told_of() {
    let asked = |session: Session| session.asks("one").says("yes").asks("two");
    let app = App::with(&[asked(Session::new("ended")), asked(Session::recent("going-on"))]);
    for (name, expected) in [("ended", "1 never answered"), ("going-on", "1 not answered yet")] {
        let list = app.page("/sessions").await;
        assert!(list.contains(&format!("title=\"answered turns, and {expected}\">+1<")), "{list}");
        let text = words(&app.page(&format!("/sessions/{name}")).await);
        for place in [format!("turns 1 + {expected} tool calls"), format!("2 turns, {expected}")] {
            assert!(text.contains(&place), "{place}: {text}");
        }
        let of_one = expected.trim_start_matches("1 ");
        assert_eq!(
            text.matches(of_one).count(),
            4,
            "at the tile, in the outline, above and in the turns: {text}"
        );
    }
}

#[tokio::test]
async fn a_call_without_a_result_runs_only_while_its_session_does() {
    let ended = opens(Session::new("ended").asks("x").says("y"), "c1");
    let going_on = opens(opens(Session::recent("going-on").asks("x").says("y"), "c1").says("z"), "c2");
    let app = App::with(&[ended, going_on]);
    let text = words(&app.page("/sessions/ended").await);
    assert!(text.contains("Bash no result in the source"), "{text}");
    let text = words(&app.page("/sessions/going-on").await);
    let (first, second) = text.split_once("no result in the source").unwrap();
    assert!(!first.contains("running since") && second.contains("Bash running since "), "{text}");
}

#[tokio::test]
async fn a_fork_with_nothing_of_its_own_leads_to_its_parent() {
    let parent = Session::new("parent").asks("x").says("y").asks("z").says("done").stepped();
    let fork = parent.copied("the-fork");
    let app = App::with(&[parent, fork]);
    let page = app.page("/sessions/the-fork").await;
    assert!(words(&page).contains("Nothing of its own yet"), "{}", words(&page));
    assert!(
        page.contains(r#"<a href="/sessions/parent/turns/2">Turn 2 of x, where it leaves</a>"#),
        "{page}"
    );
}

#[tokio::test]
async fn a_child_whose_parent_is_not_here_is_not_hidden() {
    let orphan = Session::new("gone/agent-1")
        .started(SessionStarted {
            parent: Some(ParentLink {
                session: "gone".to_owned(),
                kind: ParentKind::Subagent,
                call_id: Some("c".to_owned()),
            }),
            ..Default::default()
        })
        .asks("look into it")
        .says("done");
    let app = App::with(&[orphan]);
    assert!(words(&app.page("/sessions").await).contains("sub-agent parent not here"));
    let page = app.page("/sessions/gone%2Fagent-1").await;
    assert!(words(&page).contains("Sub-agent of gone not here"), "{}", words(&page));
    assert!(!page.contains("href=\"/sessions/gone?"), "{page}");
}

#[tokio::test]
async fn a_search_looks_into_sub_agents_too() {
    let child = Session::new("top/agent-1")
        .started(SessionStarted {
            parent: Some(ParentLink { session: "top".to_owned(), kind: ParentKind::Subagent, call_id: None }),
            ..Default::default()
        })
        .asks("find the needle")
        .says("found");
    let app = App::with(&[Session::new("top").asks("begin").says("yes"), child]);
    assert!(!app.page("/sessions").await.contains("find the needle"));
    for path in ["/sessions?text=needle", "/sessions?q=needle"] {
        let page = app.page(path).await;
        assert!(page.contains("find the needle") && page.contains("text: needle"), "{path}: {page}");
        assert!(words(&page).contains("1 of 2 sessions fit"), "{}", words(&page));
    }
}

#[tokio::test]
async fn the_list_shows_days_and_clocks_and_how_it_ended() {
    let open = opens(Session::new("open").asks("x").says("y"), "c");
    let running = opens(Session::recent("running").asks("x").says("y"), "c");
    let app = App::with(&[troubled(), open, running]);
    let list = words(&app.page("/sessions").await);
    // They last some seconds from 12:00:01 on, so no other minute is told.
    for expected in ["10 Mar", "12:00", "unknown not told", "running goes on", "completed done"] {
        assert!(list.contains(expected), "{expected}: {list}");
    }
    assert!(!list.contains("from 12:00"), "{list}");
    assert!(app.page("/sessions").await.contains("cache write 900 "), "three responses write 300 each");
}

#[tokio::test]
async fn a_lower_bound_stands_beside_an_estimate() {
    let piece = Body::ModelResponded(ModelResponded {
        response_id: Some("r".to_owned()),
        content: vec![agent_core::Block::Text { text: "word ".repeat(80) }],
        usage: Usage { output: Some(1), ..Default::default() },
        usage_quality: Some(UsageQuality::Partial),
        ..Default::default()
    });
    let app = App::with(&[Session::new("s").asks("x").event(piece)]);
    // 400 visible characters, four a token.
    assert!(words(&app.page("/sessions/s").await).contains("output ≥ 1 est. 100 peak"));
    assert!(words(&app.page("/sessions").await).contains("≥ 1 est. 100 out"));
}

#[tokio::test]
async fn an_address_that_cannot_be_read_has_its_page() {
    let app = App::with(&[troubled()]);
    for (path, expected) in [
        ("/sessions/troubled/turns/abc", "abc"),
        ("/sessions/troubled/turns/abc/records", "in this address is no number"),
        ("/raw/abc", "in this address is no number"),
        ("/sessions/troubled/parts/-1", "in this address is no number"),
        ("/sessions?text=a&text=b", "this address cannot be read: duplicate field `text`"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
        let text = words(&answer.text);
        assert!(text.contains("Not understood") && text.contains(expected), "{path}: {text}");
    }
}

#[tokio::test]
async fn the_records_of_a_turn_lead_back() {
    let app = App::with(&[troubled()]);
    let page = app.page("/sessions/troubled/turns/2/records").await;
    assert!(words(&page).contains("› clean up › Turn 2 › Records"), "{}", words(&page));
    for link in [r#"href="/sessions/troubled""#, r#"href="/sessions/troubled/turns/2""#] {
        assert!(page.contains(link), "{link}");
    }
    assert_eq!(app.get("/sessions/troubled/turns/9/records").await.status, StatusCode::NOT_FOUND);
}
