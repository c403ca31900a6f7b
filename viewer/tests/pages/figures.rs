//! Quality, tools, models and learning: hand-counted figures of one session, and empty pages that say what to do.

use agent_core::{Body, LearningNote, ToolStatus};
use axum::http::StatusCode;

use crate::app::{App, Session};
use crate::reading::words;

/// Two tasks: one done with a failed call, one that asks again and is answered. A memory stood in the failing turn, and
/// one skill of two was used.
fn worked() -> Session {
    let note = |key: &str| LearningNote { key: key.to_owned(), ..Default::default() };
    Session::recent("worked")
        .asks("light the lamp")
        .event(Body::MemoryRecalled(note("<i>rules</i>")))
        .event(Body::SkillListed(note("pdf")))
        .event(Body::SkillListed(note("docx")))
        .event(Body::SkillMatched(note("pdf")))
        .says("I look")
        .calls("c1", "Bash", r#"{"command":"ls"}"#, ToolStatus::Failed, "no file /a/b.txt at line 12")
        .calls("c2", "Edit", r#"{"file_path":"a"}"#, ToolStatus::Succeeded, "ok")
        .says("done")
        .asks("light the lamp")
        .says("it is lit")
}

#[tokio::test(flavor = "multi_thread")]
async fn quality_tells_how_tasks_end() {
    let app = App::with(&[worked()]);
    let text = words(&app.page("/quality?period=today").await);
    for expected in [
        "tasks 2 2 with a known end completed 100.0 % target: more than 80.0 %",
        // Two turns in the first task, one in the second.
        "mean turns 1.5 target: fewer than 8",
        "asked again 50.0 % target: less than 10.0 %",
        "edits kept 100.0 % of 1",
        "completed done 2",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let csv = app.page("/quality?period=today&csv=endings").await;
    assert_eq!(csv, ",why,tasks\r\ncompleted,done,2\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_tell_how_they_fail_and_lead_there() {
    let app = App::with(&[worked()]);
    let page = app.page("/tools").await;
    assert!(
        page.contains(r#"<a href="/sessions/worked/turns/1">Bash: no file &#60;path&#62; at line #</a>"#),
        "{page}"
    );
    let text = words(&page);
    assert!(text.contains("calls 2 of all tools success 50.0 %"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn learning_tells_what_is_used_and_what_is_not() {
    let app = App::with(&[worked()]);
    let page = app.page("/learning").await;
    assert!(page.contains("&#60;i&#62;rules&#60;/i&#62;") && !page.contains("<i>rules"), "{page}");
    let text = words(&page);
    assert!(text.contains("Skills 2 used 1 times, 1 of them never"), "{text}");
    assert!(text.contains("Skills that were offered and never used sessions docx 1"), "{text}");
    assert!(text.contains("worked, turn 1 no file /a/b.txt at line 12"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_figures_say_what_to_do() {
    let app = App::with(&[]);
    for path in ["/quality", "/tools", "/models", "/learning", "/costs"] {
        let text = words(&app.page(path).await);
        assert!(text.contains("dashcam import PATH"), "{path} {text}");
        assert_eq!(app.get(&format!("{path}?csv=nothing")).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
