//! The transcript shows what was said whole, or says what it leaves out.

use agent_core::{Body, SessionStarted, ToolStatus, UserMessaged};

use crate::app::{App, Session};
use crate::reading::words;

/// Longer than the beginnings that the tables hold, with a last line of its own.
fn long(name: &str) -> String {
    let lines: Vec<String> = (0..40).map(|n| format!("- {name} line {n}")).collect();
    lines.join("\n")
}

#[tokio::test]
async fn texts_keep_their_ends_and_their_lines() {
    let app = App::with(&[Session::new("s")
        .started(SessionStarted::default())
        .asks(&long("asked"))
        .fails(&long("overload"))
        .says(&long("answered"))
        .calls("c", "Bash", r#"{"command":"make"}"#, ToolStatus::Failed, &long("broke"))
        .says("<b>short</b>")]);
    let page = app.page("/sessions/s").await;
    for name in ["asked", "overload", "answered", "broke"] {
        assert!(page.contains(&format!("- {name} line 38\n- {name} line 39<")), "{name}: {page}");
    }
    assert!(page.contains("&lt;b&gt;short&lt;/b&gt;"), "{page}");
    assert!(!page.contains(" shown · "), "{page}");
}

#[tokio::test]
async fn a_very_long_text_is_cut_with_a_sign_and_a_way_to_the_rest() {
    let app = App::with(&[Session::new("s").asks("x").says(&"word ".repeat(2_000))]);
    let page = app.page("/sessions/s").await;
    assert!(
        page.contains(
            r#"<a class="cut rest" href="/sessions/s/turns/1">4 kB of 9.9 kB shown · all of it in turn 1</a>"#
        ),
        "{page}"
    );
}

#[tokio::test]
async fn what_was_typed_is_shown_not_what_was_made_of_it() {
    let message = UserMessaged {
        text: "<command>go</command>".to_owned(),
        typed: Some("/go\nnow".to_owned()),
        ..Default::default()
    };
    let app = App::with(&[Session::new("s").event(Body::UserMessaged(message)).says("gone")]);
    let page = app.page("/sessions/s").await;
    assert!(page.contains("/go\nnow") && !page.contains("&lt;command&gt;"), "{page}");
}

#[tokio::test]
async fn hits_are_counted_and_marked_and_lead_on() {
    let app = App::with(&[Session::new("s")
        .asks("find the NEEDLE")
        .says("none here")
        .calls("c", "Bash", r#"{"command":"grep"}"#, ToolStatus::Succeeded, "a needle, at last")
        .asks("go on")
        .says("done")]);
    let page = app.page("/sessions/s?q=needle").await;
    assert!(page.contains("find the <mark>NEEDLE</mark>"), "{page}");
    assert!(page.contains("a <mark>needle</mark>, at last"), "{page}");
    assert!(page.contains(r#"<span class="dim" id="window">1 turn with a hit</span>"#), "{page}");
    assert!(page.contains(r#"href="/sessions/s/turns/1?q=needle" data-open"#), "{page}");
    assert!(page.contains(r#"href="/sessions/s/turns/1?q=needle#call-c""#), "{page}");
    assert!(words(&page).contains("only the first 256 bytes of each text are searched"));
    let list = app.page("/sessions?text=needle").await;
    assert!(list.contains(r#"href="/sessions/s?q=needle""#), "{list}");
    assert!(list.contains("first 256 bytes"), "{list}");
}

#[tokio::test]
async fn a_turn_that_is_not_there_names_those_that_are() {
    let app = App::with(&[Session::new("s").asks("x").says("y").asks("z").says("w")]);
    for path in ["/sessions/s/turns/9999", "/sessions/s/turns/9999/records"] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text.contains("no turn 9999: this session has turns 1 to 2"), "{}", answer.text);
        assert!(answer.text.contains(r#"<a href="/sessions/s">The session</a>"#), "{}", answer.text);
        assert!(answer.text.contains(r#"href="/sessions/s/turns/2""#), "{}", answer.text);
    }
}

#[tokio::test]
async fn records_lead_to_the_first_and_the_last_turn() {
    let app = App::with(&[Session::new("s").asks("x").says("y").asks("z").says("w").asks("u").says("v")]);
    let page = app.page("/sessions/s/turns/2/records").await;
    assert!(page.contains(r#"<a href="/sessions/s/turns/1/records" data-first"#), "{page}");
    assert!(page.contains(r#"<a href="/sessions/s/turns/3/records" data-last"#), "{page}");
}
