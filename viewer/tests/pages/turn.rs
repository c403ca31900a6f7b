//! The page of a turn: what a browser may keep of it, how its figures add up, and where links lead.

use agent_core::{
    Block, Body, ChunkDefined, ChunkKind, ChunkUse, ModelResponded, ParentKind, ParentLink, PromptAssembled,
    PromptChange, SessionStarted, ToolStatus, Usage, UsageQuality,
};
use axum::body::Body as HttpBody;
use axum::http::{HeaderMap, StatusCode};

use crate::app::{Answer, App, Session, TOKEN, request};
use crate::reading::words;

/// Asks for a page that the browser has in the version `tag`.
async fn ask_again(app: &App, path: &str, tag: &str) -> Answer {
    let ask = request("GET", path)
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("if-none-match", tag)
        .body(HttpBody::empty())
        .unwrap();
    app.send(ask).await
}

fn tag(headers: &HeaderMap) -> String {
    headers["etag"].to_str().unwrap().to_owned()
}

fn two_turns() -> Session {
    Session::new("s").asks("begin").says("yes").asks("go on").says("done")
}

const KEPT: [&str; 5] = [
    "/sessions/s/turns/1",
    "/sessions/s/turns/2",
    "/sessions/s/turns/2/diff",
    "/sessions/s/turns/2/prompt",
    "/sessions/s/parts/0",
];

#[tokio::test]
async fn a_page_is_sent_once_and_again_when_it_changes() {
    let app = App::with(&[two_turns()]);
    for path in KEPT {
        let first = app.get(path).await;
        assert_eq!(first.headers["cache-control"], "private, no-cache", "{path}");
        assert_eq!(first.headers["vary"], "authorization, cookie", "{path}");
        let again = ask_again(&app, path, &tag(&first.headers)).await;
        assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        assert_eq!(tag(&again.headers), tag(&first.headers), "{path}");
        assert!(again.headers.contains_key("content-security-policy"), "{path}");
    }
    let before: Vec<String> = {
        let mut tags = Vec::new();
        for path in KEPT {
            tags.push(tag(&app.get(path).await.headers));
        }
        tags
    };
    app.add(&Session::new("s").asks("one more").says("that too"));
    for (path, before) in KEPT.iter().zip(&before) {
        let after = ask_again(&app, path, before).await;
        assert_eq!(after.status, StatusCode::OK, "{path}");
        assert_ne!(&tag(&after.headers), before, "{path}");
    }
}

#[tokio::test]
async fn another_process_or_token_makes_other_versions() {
    let (one, other) = (App::with(&[two_turns()]), App::with(&[two_turns()]));
    let path = "/sessions/s/turns/1";
    let held = tag(&one.get(path).await.headers);
    assert_eq!(ask_again(&other, path, &held).await.status, StatusCode::OK);
    let without_token = request("GET", path).header("if-none-match", held).body(HttpBody::empty()).unwrap();
    let refused = one.send(without_token).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert_eq!(refused.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn the_turn_that_a_running_session_is_at_is_never_kept() {
    let app = App::with(&[Session::recent("s").asks("begin").says("yes").asks("go on")]);
    let (first, last) = (app.get("/sessions/s/turns/1").await, app.get("/sessions/s/turns/2").await);
    assert_eq!(first.headers["cache-control"], "private, no-cache");
    assert_eq!(last.headers["cache-control"], "no-store");
    assert!(!last.headers.contains_key("etag"));
    assert_eq!(ask_again(&app, "/sessions/s/turns/2", "*").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_page_changes_with_the_sub_agents_that_it_names() {
    let parent = Session::new("s").asks("x").says("y").calls("c", "Task", "{}", ToolStatus::Succeeded, "ok");
    let app = App::with(&[parent]);
    let before = tag(&app.get("/sessions/s/turns/1").await.headers);
    let link =
        ParentLink { session: "s".to_owned(), kind: ParentKind::Subagent, call_id: Some("c".to_owned()) };
    let about = SessionStarted { parent: Some(link), ..Default::default() };
    app.add(&Session::new("child").started(about).asks("look into it").says("done"));
    let after = ask_again(&app, "/sessions/s/turns/1", &before).await;
    assert_eq!(after.status, StatusCode::OK);
    assert!(words(&after.text).contains("Started the sub-agent look into it"), "{}", after.text);
}

fn answer(content: Vec<Block>, usage: Usage, quality: UsageQuality) -> Body {
    Body::ModelResponded(ModelResponded {
        response_id: Some("r".to_owned()),
        content,
        usage,
        usage_quality: Some(quality),
        ..Default::default()
    })
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

#[tokio::test]
async fn lower_bounds_stand_beside_estimates_and_writes_count_once() {
    // 400 characters are about 100 tokens; 8 + 90 + 2 were sent.
    let usage = Usage {
        uncached_input: Some(8),
        cache_read: Some(90),
        cache_write_1h: Some(2),
        output: Some(3),
        ..Default::default()
    };
    let body = answer(vec![text(&"abcd".repeat(100))], usage, UsageQuality::Partial);
    let app = App::with(&[Session::new("s").asks("x").event(body)]);
    let page = words(&app.page("/sessions/s/turns/1").await);
    let expected = "uncached input 8 cache read 90 cache write 2 prompt 100 output ≥ 3 estimated by its text est. 100 of which reasoning — total ≥ 103 placeholder";
    assert!(page.contains(expected), "{page}");
}

#[tokio::test]
async fn what_was_reported_and_is_in_no_part_is_told() {
    // The prompt is `begin`, of five bytes.
    let app = App::with(&[two_turns()]);
    let page = words(&app.page("/sessions/s/turns/1").await);
    assert!(page.contains("of 21 300 reported tokens are in the transcript"), "{page}");
    assert!(page.contains("not in the transcript 100 %"), "{page}");
}

fn chunk(text: &str) -> (Body, String) {
    let hash = blake3_of(text);
    let body = Body::ChunkDefined(ChunkDefined {
        hash: hash.clone(),
        text: Some(text.to_owned()),
        ..Default::default()
    });
    (body, hash)
}

fn blake3_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// A session with one recorded prompt of `count` memory notes, framing between them.
fn recorded(count: usize) -> Session {
    let mut session = Session::new("s").asks("x");
    let mut uses = Vec::new();
    let mut body = String::new();
    let (frame, frame_hash) = chunk(",");
    session = session.event(frame);
    for n in 0..count {
        let note = format!("note {n}");
        let (event, hash) = chunk(&note);
        session = session.event(event);
        for (hash, kind, text) in
            [(hash, ChunkKind::Memory, note.as_str()), (frame_hash.clone(), ChunkKind::Framing, ",")]
        {
            body.push_str(text);
            uses.push(ChunkUse { hash, kind, source: None, reason: None, tokens: None, tokens_basis: None });
        }
    }
    let assembled = PromptAssembled {
        body_hash: blake3_of(&body),
        changes: vec![PromptChange::Add(uses)],
        ..Default::default()
    };
    session.event(Body::PromptAssembled(assembled)).says("y")
}

#[tokio::test]
async fn what_stands_between_parts_is_no_part() {
    let app = App::with(&[recorded(3)]);
    let page = words(&app.page("/sessions/s/turns/1").await);
    assert!(page.contains("What was sent 3 parts"), "{page}");
    assert!(page.contains("exact") && page.contains("The whole list 3 parts"), "{page}");
    assert!(page.contains("note 2"), "{page}");
    let list = words(&app.page("/sessions/s/turns/1/prompt").await);
    assert!(list.contains("parts 1 to 3 of 3") && !list.contains("framing"), "{list}");
}

#[tokio::test]
async fn all_changes_can_be_reached() {
    // Turn 1 sends `x`; turn 2 adds the response, 70 requests and nothing else: 71 changes, 60 on a page.
    let mut session = Session::new("s").asks("x").says("y");
    for n in 0..70 {
        session = session.asks(&format!("wish {n:02}"));
    }
    let app = App::with(&[session.says("z")]);
    let turn = "/sessions/s/turns/2";
    let first = app.page(&format!("{turn}/diff?against=1")).await;
    if !words(&first).contains("changes 1 to 60 of 71") {
        panic!("{}", words(&first));
    }
    let next = first.split("href=\"").find(|part| part.contains("from=60")).unwrap();
    let second = app.page(&next.split('"').next().unwrap().replace("&#38;", "&")).await;
    assert!(words(&second).contains("changes 61 to 71 of 71"), "{}", words(&second));
    for n in 0..70 {
        let wish = format!("wish {n:02}");
        assert!(first.contains(&wish) != second.contains(&wish), "{wish}");
    }
}

#[tokio::test]
async fn a_turn_without_an_answer_says_what_would_have_been_sent() {
    let app = App::with(&[two_turns().asks("and this?")]);
    let page = words(&app.page("/sessions/s/turns/3").await);
    for expected in [
        "This turn was not answered",
        "It would have continued the prompt before",
        "The last prompt before is that of turn 2",
        "user and this?",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let running = Session::recent("r").asks("quick");
    let page = words(&App::with(&[running]).page("/sessions/r/turns/1").await);
    assert!(page.contains("Nothing yet: the session is running."), "{page}");
}

#[tokio::test]
async fn empty_text_is_no_block_and_blocks_have_links_that_last() {
    let content = vec![text("\n\n"), text("first"), text("second")];
    let session = || {
        Session::new("s").asks("x").event(answer(content.clone(), Usage::default(), UsageQuality::Missing))
    };
    let page = App::with(&[session()]).page("/sessions/s/turns/1").await;
    assert_eq!(page.matches("class=\"said block\"").count(), 2, "{page}");
    let anchors: Vec<&str> = page
        .split("class=\"said block\" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(anchors.iter().all(|anchor| anchor.starts_with("b-")), "{anchors:?}");
    assert!(anchors.iter().all(|anchor| page.contains(&format!("href=\"#{anchor}\""))), "{anchors:?}");
    assert_ne!(anchors[0], anchors[1]);
}

#[tokio::test]
async fn a_call_and_a_search_lead_to_turns() {
    let session =
        two_turns().calls("c-1", "Bash", "{}", ToolStatus::Rejected, "no").asks("other").says("done too");
    let app = App::with(&[session]);
    let answer = app.get("/sessions/s/turns/1?call=c-1").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers["location"], "/sessions/s/turns/2#call-c-1");
    let page = app.page("/sessions/s/turns/2?q=done").await;
    assert!(words(&page).contains("hit 1 of 2"), "{}", words(&page));
    assert!(page.contains("href=\"/sessions/s/turns/3?q=done\" data-hit-next"), "{page}");
    // A refused call has its own sign, and is no error.
    assert!(page.contains("<span class=\"st refused\">rejected</span>"), "{page}");
    assert!(!page.contains("class=\"first-error\""), "{page}");
    let typed = app.get("/sessions/s/turns?turn=3").await;
    assert_eq!(typed.headers["location"], "/sessions/s/turns/3");
    let wrong = app.get("/sessions/s/turns/abc").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("<h1>Not understood</h1>"), "{}", wrong.text);
}
