//! Text of a session is never markup, wherever it stands.

use agent_core::{Body, ContextAdded, Json, ParentKind, ParentLink, SessionStarted, ToolStatus};

use crate::app::{App, Session};

const EVIL: &str =
    r#"</title></textarea><script>alert(1)</script><img src=x onerror=alert(2)>"' onfocus=alert(3) x=""#;

fn hostile() -> Vec<Session> {
    let evil = |field: &str| Some(format!("{field}{EVIL}"));
    let name = format!("s/{EVIL}");
    let json = serde_json::json!({ "command": EVIL, (EVIL): EVIL, "old_string": EVIL, "new_string": "x" })
        .to_string();
    let session = Session::new(&name)
        .started(SessionStarted {
            agent: evil("agent"),
            agent_version: evil("version"),
            user: evil("user"),
            project: evil("project"),
            title: evil("title"),
            cwd: evil("cwd"),
            git_branch: evil("branch"),
            permission_mode: evil("mode"),
            ..Default::default()
        })
        .event(Body::ContextAdded(ContextAdded {
            source: evil("source"),
            reason: evil("reason"),
            slot: Some("system".to_owned()),
            content: Some(Json::string(EVIL)),
            ..Default::default()
        }))
        .asks(EVIL)
        .says(EVIL)
        .calls(EVIL, EVIL, &json, ToolStatus::Failed, EVIL)
        .fails(EVIL)
        .asks(EVIL)
        .says(EVIL)
        .event(Body::Other { name: EVIL.to_owned(), data: Some(Json::string(EVIL)) });
    let child = Session::new(&format!("child{EVIL}")).started(SessionStarted {
        title: evil("child"),
        parent: Some(ParentLink {
            session: name,
            kind: ParentKind::Subagent,
            call_id: Some(EVIL.to_owned()),
        }),
        ..Default::default()
    });
    vec![session, child]
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn markup_of_a_session_stays_text_on_every_page() {
    let app = App::with(&hostile());
    let session = format!("/sessions/{}", encoded(&format!("s/{EVIL}")));
    let words = encoded(EVIL);
    let pages = [
        "/sessions".to_owned(),
        format!("/sessions?text={words}&user={words}&agent={words}&project={words}&from={words}"),
        format!("/sessions?parent={}", encoded(&format!("s/{EVIL}"))),
        session.clone(),
        format!("{session}?q={words}"),
        format!("{session}?q=script"),
        format!("/sessions/{}", encoded(&format!("child{EVIL}"))),
        format!("{session}/turns/1"),
        format!("{session}/turns/2"),
        format!("{session}/turns/2/diff"),
        format!("{session}/turns/1/prompt"),
        format!("{session}/turns/1/records"),
        format!("{session}/turns/1/fidelity"),
        format!("{session}/parts/1?fragment=1"),
        format!("/sessions/{words}"),
        format!("/{words}"),
    ];
    for page in pages {
        let answer = app.get(&page).await;
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{page}");
        for markup in ["<script>alert", "<img src=x", "\" onfocus", "' onfocus"] {
            assert!(!answer.text.contains(markup), "{page} holds {markup}: {}", around(&answer.text, markup));
        }
    }
    // It is there, as text.
    assert!(app.page(&format!("{session}/turns/1")).await.contains("alert(1)"));
}

fn around(text: &str, words: &str) -> String {
    let at = text.find(words).unwrap_or(0);
    text[text.floor_char_boundary(at.saturating_sub(120))..text.ceil_char_boundary(at + 80)].to_owned()
}

#[tokio::test]
async fn hidden_characters_are_named_and_colours_kept() {
    let text = "a\u{202e}b \u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{200b}";
    let app = App::with(&[Session::new("s").asks(text).says(text).calls(
        "c",
        "Bash",
        "{}",
        ToolStatus::Failed,
        text,
    )]);
    for page in ["/sessions/s", "/sessions/s/turns/1", "/sessions"] {
        let text = app.page(page).await;
        for raw in ["\u{202e}", "\u{1b}", "\u{200b}", "\u{7}"] {
            assert!(!text.contains(raw), "{page} holds {raw:?}");
        }
        assert!(text.contains("U+202E"), "{page}");
    }
    assert!(app.page("/sessions/s/turns/1").await.contains("<span class=\"sgr c1\">red</span>"));
}
