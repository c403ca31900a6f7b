//! Pages stay small whatever they show.

use agent_core::ToolStatus;

use crate::app::{App, Session};

fn check(page: &str, name: &str) {
    let nodes = page.matches('<').count() - page.matches("</").count();
    assert!(nodes < 2_000, "{name} has {nodes} elements");
    assert!(page.len() < 500_000, "{name} has {} bytes", page.len());
}

#[tokio::test]
async fn a_long_session_has_short_pages() {
    let mut session = Session::new("long");
    for n in 0..400 {
        if n % 5 == 0 {
            session = session.asks(&format!("request {n}"));
        }
        session = session.says("an answer of some words that is neither long nor short");
        for call in 0..12 {
            let status = if (n + call) % 50 == 0 { ToolStatus::Failed } else { ToolStatus::Succeeded };
            session = session.calls(
                &format!("c{n}-{call}"),
                "Bash",
                r#"{"command":"make all"}"#,
                status,
                "it went so",
            );
        }
    }
    let app = App::with(&[session]);
    for path in [
        "/sessions",
        "/sessions/long",
        "/sessions/long?from=200",
        "/sessions/long?from=last",
        "/sessions/long?q=answer",
    ] {
        check(&app.page(path).await, path);
    }
    for path in [
        "/sessions/long/turns/1",
        "/sessions/long/turns/400",
        "/sessions/long/turns/400/diff",
        "/sessions/long/turns/400/diff?against=1",
        "/sessions/long/turns/400/prompt?from=300",
        "/sessions/long/turns/400/records",
    ] {
        check(&app.page(path).await, path);
    }
    // Failed calls are shown, however many others there are.
    assert!(app.page("/sessions/long?from=51").await.contains(r#"id="t51""#));
}

#[tokio::test]
async fn a_turn_of_very_many_and_very_large_calls_is_cut_and_says_so() {
    let mut session = Session::new("wide").asks("x").says("y");
    let output = "<&\u{202e}>".repeat(20_000);
    for call in 0..300 {
        session =
            session.calls(&format!("c{call}"), "Bash", r#"{"command":"make"}"#, ToolStatus::Failed, &output);
    }
    let app = App::with(&[session.says("end")]);
    for path in [
        "/sessions/wide",
        "/sessions/wide/turns/1",
        "/sessions/wide/turns/1?piece=200",
        "/sessions/wide/turns/2",
        "/sessions/wide/turns/2/diff",
        "/sessions/wide/turns/1/records",
    ] {
        check(&app.page(path).await, path);
    }
    let turn = app.page("/sessions/wide/turns/1").await;
    assert!(
        turn.contains("pieces 1 to 30 of 301 shown") && turn.contains("120 kB shown"),
        "{}",
        &turn[..4000]
    );
}

#[tokio::test]
async fn a_transcript_of_long_hostile_texts_is_cut_and_says_so() {
    let text = "needle <b>\u{202e}\n".repeat(1_000);
    let failure = format!("overloaded: {text}");
    let session = (0..60).fold(Session::new("talk"), |session, n| {
        let call = format!("c{n}");
        session.asks(&text).fails(&failure).says(&text).calls(&call, "Bash", "{}", ToolStatus::Failed, &text)
    });
    let app = App::with(&[session]);
    for path in ["/sessions/talk", "/sessions/talk?q=needle", "/sessions/talk?from=last"] {
        let page = app.page(path).await;
        check(&page, path);
        // Each of 50 turns has a request, an answer and the words of two failures.
        assert_eq!(page.matches("class=\"cut rest\"").count(), 200, "{path}");
    }
}

#[tokio::test]
async fn a_full_list_is_small() {
    let sessions: Vec<Session> =
        (0..60).map(|n| Session::new(&format!("s{n}")).asks(&"long title ".repeat(40)).says("x")).collect();
    check(&App::with(&sessions).page("/sessions").await, "/sessions");
}
