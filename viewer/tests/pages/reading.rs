//! What pages say, by small sessions whose figures are counted by hand.

use agent_core::{
    Block, Body, ChunkKind, ContextAdded, Json, ModelResponded, ParentKind, ParentLink, SessionStarted,
    ToolStatus,
};
use axum::http::StatusCode;

use crate::app::{App, Session};

fn broken() -> Session {
    Session::new("broken-1")
        .started(SessionStarted {
            user: Some("ann".to_owned()),
            agent: Some("coder".to_owned()),
            ..Default::default()
        })
        .asks("mend the build")
        .says("I look at it")
        .calls("call-1", "Read", r#"{"file_path":"/a.rs"}"#, ToolStatus::Succeeded, "fn main() {}")
        .says("Now I run it")
        .calls("call-2", "Bash", r#"{"command":"cargo test"}"#, ToolStatus::Failed, "error: no such file")
        .says("It is broken")
}

/// Returns the page without tags, with single spaces.
pub fn words(page: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for char in page.chars() {
        match char {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                text.push(' ');
            }
            _ if !in_tag => text.push(char),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn an_empty_store_says_what_to_run() {
    let page = App::with(&[]).page("/sessions").await;
    for command in ["dashcam demo", "dashcam import", "dashcam up --watch"] {
        assert!(page.contains(command), "{command}");
    }
}

#[tokio::test]
async fn a_filter_that_fits_nothing_can_be_cleared() {
    let app = App::with(&[broken()]);
    let page = words(&app.page("/sessions?user=ben").await);
    assert!(
        page.contains("No session fits") && page.contains("user: ben") && page.contains("0 of 1 session fit"),
        "{page}"
    );
    for path in [
        "/sessions?user=ann",
        "/sessions?errors=1",
        "/sessions?tool=Bash&from=2026-03-10&to=2026-03-10",
        "/sessions?text=no%20such",
    ] {
        assert!(app.page(path).await.contains("mend the build"), "{path}");
    }
    for path in ["/sessions?to=2026-03-09", "/sessions?from=2026-03-11", "/sessions?tool=Edit"] {
        assert!(app.page(path).await.contains("No session fits"), "{path}");
    }
    let wrong = app.get("/sessions?from=soon").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("is no time"), "{}", wrong.text);
}

#[tokio::test]
async fn the_list_goes_on_where_a_page_ends() {
    let sessions: Vec<Session> =
        (0..53).map(|n| Session::new(&format!("s-{n:02}")).asks(&format!("task {n:02}"))).collect();
    let app = App::with(&sessions);
    let first = app.page("/sessions").await;
    assert_eq!(first.matches("data-row").count(), 50);
    let next =
        first.split("href=\"").find(|part| part.contains("after=")).unwrap().split('"').next().unwrap();
    let second = app.page(&next.replace("&#38;", "&").replace("&amp;", "&")).await;
    assert_eq!(second.matches("data-row").count(), 3);
    for n in 0..53 {
        let task = format!("task {n:02}");
        assert!(first.contains(&task) != second.contains(&task), "{task}");
    }
}

#[tokio::test]
async fn the_session_leads_to_its_first_error() {
    let app = App::with(&[broken()]);
    let page = app.page("/sessions/broken-1").await;
    assert!(page.contains(r#"<a href="/sessions/broken-1/turns/2#call-call-2" data-first-error>"#), "{page}");
    assert!(
        words(&page).contains("First error: turn 2 — Bash failed: error: no such file"),
        "{}",
        words(&page)
    );
    let turn = words(&app.page("/sessions/broken-1/turns/2").await);
    for expected in ["cargo test", "error: no such file", "Now I run it", "no error after this"] {
        assert!(turn.contains(expected), "{expected}: {turn}");
    }
}

#[tokio::test]
async fn the_tokens_of_a_turn_add_up() {
    let app = App::with(&[broken()]);
    let turn = words(&app.page("/sessions/broken-1/turns/1").await);
    let expected = "uncached input 1 000 cache read 20 000 cache write 300 prompt 21 300 output 40 of which reasoning — total 21 340 final";
    assert!(turn.contains(expected), "{turn}");
}

#[tokio::test]
async fn a_short_name_a_call_and_a_number_lead_to_the_place() {
    let app = App::with(&[broken()]);
    for (path, expected) in [
        ("/", "/sessions"),
        ("/sessions/brok", "/sessions/broken-1"),
        ("/sessions/brok/turns/2", "/sessions/broken-1/turns/2"),
        ("/sessions/broken-1?call=call-2", "/sessions/broken-1/turns/2#call-call-2"),
        ("/sessions/broken-1?step=response-3", "/sessions/broken-1/turns/3#call-response-3"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(answer.headers["location"], expected, "{path}");
    }
    for path in [
        "/sessions/none",
        "/sessions/broken-1/turns/9",
        "/sessions/broken-1?call=none",
        "/raw/0",
        "/sessions/broken-1/parts/99",
    ] {
        assert_eq!(app.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(app.get("/sessions/broken-1?from=x").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_search_shows_the_turns_that_hold_the_words() {
    let app = App::with(&[broken()]);
    let page = app.page("/sessions/broken-1?q=CARGO").await;
    assert!(page.contains(r#"id="t2""#) && !page.contains(r#"id="t1""#), "{page}");
    let none = app.page("/sessions/broken-1?q=100%25_").await;
    assert!(words(&none).contains("no turn with a hit"), "{}", words(&none));
}

#[tokio::test]
async fn children_stand_under_their_parent() {
    let child = Session::new("broken-1/agent-7")
        .started(SessionStarted {
            parent: Some(ParentLink {
                session: "broken-1".to_owned(),
                kind: ParentKind::Subagent,
                call_id: Some("call-2".to_owned()),
            }),
            ..Default::default()
        })
        .asks("look into it")
        .says("done");
    let app = App::with(&[broken(), child]);
    let list = app.page("/sessions").await;
    assert_eq!(list.matches("data-row").count(), 1);
    assert!(list.contains(r#"<a href="/sessions?parent=broken-1" data-expand>1 child</a>"#), "{list}");
    assert!(app.page("/sessions?parent=broken-1").await.contains("/sessions/broken-1%2Fagent-7"));
    let page = app.page("/sessions/broken-1%2Fagent-7").await;
    assert!(words(&page).contains("Sub-agent of mend the build"), "{}", words(&page));
    assert!(page.contains("/sessions/broken-1?call=call-2"), "{page}");
    assert!(app.page("/sessions/broken-1").await.contains("look into it"));
    assert!(
        words(&app.page("/sessions/broken-1/turns/2").await).contains("Started the sub-agent look into it")
    );
}

#[tokio::test]
async fn a_prompt_says_what_it_lacks_and_what_is_new() {
    let slot = |text: &str| {
        Body::ContextAdded(ContextAdded {
            kind: Some(ChunkKind::Memory),
            source: Some("NOTES.md".to_owned()),
            slot: Some("notes".to_owned()),
            content: Some(Json::string(text)),
            ..Default::default()
        })
    };
    let session = Session::new("s")
        .event(slot("one\ntwo\n"))
        .asks("begin")
        .says("yes")
        .event(slot("one\n2\n"))
        .asks("go on")
        .says("done");
    let app = App::with(&[session]);
    let turn = words(&app.page("/sessions/s/turns/2").await);
    assert!(
        turn.contains("partial not in the source: the system prompt , the tool schemas")
            || turn.contains("partial not in the source: the system prompt, the tool schemas"),
        "{turn}"
    );
    let diff = app.page("/sessions/s/turns/2/diff").await;
    assert!(words(&diff).contains("since turn 1"), "{diff}");
    assert!(
        diff.contains("<span class=\"del\">- two\n</span>")
            && diff.contains("<span class=\"add\">+ 2\n</span>"),
        "{diff}"
    );
    assert!(
        words(&diff).contains("a provider&#39;s cache is lost")
            || words(&diff).contains("a provider's cache is lost"),
        "{}",
        words(&diff)
    );
    assert!(words(&app.page("/sessions/s/turns/1/diff").await).contains("Nothing to compare with"));
}

#[tokio::test]
async fn an_edit_is_shown_as_a_difference() {
    let input = r#"{"file_path":"a.rs","old_string":"let a = 1;\n","new_string":"let a = 2;\n"}"#;
    let app = App::with(&[Session::new("s").asks("x").says("y").calls(
        "c",
        "Edit",
        input,
        ToolStatus::Succeeded,
        "ok",
    )]);
    let turn = app.page("/sessions/s/turns/1").await;
    assert!(turn.contains("<span class=\"add\">+ let a = 2;\n</span>"), "{turn}");
}

#[tokio::test]
async fn reasoning_is_folded_and_hidden_reasoning_named() {
    let response = Body::ModelResponded(ModelResponded {
        response_id: Some("r".to_owned()),
        content: vec![
            Block::Reasoning { text: "thinking hard".to_owned(), hidden: false },
            Block::Reasoning { text: String::new(), hidden: true },
            Block::Text { text: "answer".to_owned() },
            Block::ToolUse { call_id: "c".to_owned(), name: "Bash".to_owned() },
        ],
        ..Default::default()
    });
    let app = App::with(&[Session::new("s").asks("x").event(response)]);
    let turn = app.page("/sessions/s/turns/1").await;
    assert!(turn.contains("<details class=\"drop reasoning block\""), "{turn}");
    assert!(turn.contains("only its signature is in the source"), "{turn}");
    // The call was asked for, but neither it nor its result is in the source.
    assert!(words(&turn).contains("No result is in the source."), "{}", words(&turn));
}

#[tokio::test]
async fn records_are_shown_as_they_came() {
    let app = App::with(&[broken()]);
    let records = words(&app.page("/sessions/broken-1/turns/2/records").await);
    assert!(records.contains("sent to the event API") && records.contains("cargo test"), "{records}");
    let raw = app.get("/raw/2").await;
    assert!(raw.text.contains("\"type\":\"user.messaged\""), "{}", raw.text);
    let part = app.page("/sessions/broken-1/parts/0").await;
    assert_eq!(part, "mend the build");
}
