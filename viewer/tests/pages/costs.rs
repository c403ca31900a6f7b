//! The cost page: its figures, what has no price, its ceilings, its CSV.

use agent_core::{Body, ModelResponded, SessionStarted, Usage, UsageQuality};
use axum::body::Body as HttpBody;
use axum::http::StatusCode;

use crate::app::{App, Session, TOKEN, request};
use crate::reading::words;

/// Sonnet 4.5 costs $3 in, $0.30 read from the cache and $15 out for a million tokens.
fn answer(model: &str, id: &str, (input, cached, output): (u64, u64, u64)) -> Body {
    Body::ModelResponded(ModelResponded {
        model: Some(model.to_owned()),
        response_id: Some(id.to_owned()),
        finish_reason: Some("end_turn".to_owned()),
        usage: Usage {
            uncached_input: Some(input),
            cache_read: Some(cached),
            output: Some(output),
            ..Default::default()
        },
        usage_quality: Some(UsageQuality::Final),
        ..Default::default()
    })
}

/// $0.0045 of ann in `lamp`, and a model without a price.
fn spent() -> Session {
    Session::recent("spent")
        .event(Body::SessionStarted(SessionStarted {
            user: Some("ann".to_owned()),
            project: Some("<b>lamp</b>".to_owned()),
            ..Default::default()
        }))
        .asks("light")
        .event(answer("claude-sonnet-4-5", "r1", (500, 5000, 100)))
        .event(answer("glow-worm-9000", "r2", (7, 0, 3)))
}

async fn post(app: &App, form: &str) -> (StatusCode, String) {
    let sent = request("POST", "/costs/ceiling")
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(HttpBody::from(form.to_owned()))
        .unwrap();
    let answer = app.send(sent).await;
    (answer.status, answer.text)
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_say_what_they_rest_on_and_what_has_no_price_is_named() {
    let app = App::with(&[spent()]);
    let page = app.page("/costs").await;
    let text = words(&page);
    // 500 at $3, 5000 at $0.30, 100 at $15; the other model is in no sum.
    assert!(text.contains("≥ $0.0045"), "{text}");
    assert!(text.contains("glow-worm-9000 1 10 not in the price table"), "{text}");
    assert!(text.contains("read from the cache 90.8 %"), "{text}");
    assert!(text.contains("No ceiling is set for the month"), "{text}");
    assert!(
        text.contains("for a task ≥ $0.0045") && text.contains("This month, everybody ≥ $0.0045"),
        "{text}"
    );
    // What has no price stands in no chart of money.
    assert!(text.contains("Table day claude-sonnet-4-5 all"), "{text}");
    let by_project = app.page("/costs?by=project").await;
    assert!(
        by_project.contains("&#60;b&#62;lamp&#60;/b&#62;") && !by_project.contains("<b>lamp"),
        "{by_project}"
    );
    let csv = app.page("/costs?csv=parts").await;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("model,calls,failed_calls,"), "{csv}");
    assert_eq!(lines[1], "claude-sonnet-4-5,1,0,500,5000,0,100,0.0045,priced,0,");
    assert_eq!(lines[2], "glow-worm-9000,1,0,7,0,0,3,,unpriced,1,");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_of_the_scope_that_is_asked_for() {
    let app = App::with(&[spent()]);
    let nobody = words(&app.page("/costs?user=bob").await);
    assert!(nobody.contains("No call of a model in this period") && nobody.contains("user: bob"), "{nobody}");
    assert!(words(&app.page("/costs?user=ann&period=today").await).contains("≥ $0.0045"));
    let wrong = app.get("/costs?period=soon").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(words(&wrong.text).contains("no period"), "{}", wrong.text);
    assert_eq!(app.get("/costs?csv=nothing").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ceiling_is_set_shown_and_taken_away() {
    let app = App::with(&[spent()]);
    let (status, _) = post(&app, "usd=0.001&period=month&scope=all&name=&why=a+trial").await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let text = words(&app.page("/costs").await);
    assert!(text.contains("450.0 % of $0.0010") && text.contains("The ceiling is reached"), "{text}");
    assert!(text.contains("a month of everybody") && text.contains("a trial"), "{text}");
    post(&app, "usd=&period=month&scope=all").await;
    assert!(words(&app.page("/costs").await).contains("No ceiling is set"));
    for (form, words) in [
        ("usd=-5&period=month&scope=all", "number of dollars"),
        ("usd=5&period=week&scope=all", "no period of a ceiling"),
        ("usd=5&period=month&scope=user&name=+", "say which user"),
    ] {
        let (status, text) = post(&app, form).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{form}");
        assert!(text.contains(words), "{form}: {text}");
    }
}
