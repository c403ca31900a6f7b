//! Who gets in, from where, and what every answer carries.

use std::net::{Ipv4Addr, SocketAddr};

use axum::body::Body;
use axum::http::StatusCode;

use crate::app::{App, Session, TOKEN, request};

/// Every address that shows data.
const GUARDED: [&str; 14] = [
    "/",
    "/sessions",
    "/sessions/s",
    "/sessions/s/turns?turn=1",
    "/sessions/s/turns/1",
    "/sessions/s/turns/1/diff",
    "/sessions/s/turns/1/prompt",
    "/sessions/s/turns/1/fidelity",
    "/sessions/s/turns/1/records",
    "/sessions/s/parts/0",
    "/sessions/s/events/0/text",
    "/raw/1",
    "/live",
    "/api/link",
];

fn app() -> App {
    App::with(&[Session::new("s").asks("do it").says("done")])
}

#[tokio::test]
async fn data_needs_the_token_whatever_the_method() {
    let app = app();
    for path in GUARDED.into_iter().chain(["/no/such/page"]) {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
            let plain = app.send(request(method, path).body(Body::empty()).unwrap()).await;
            assert_eq!(plain.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            assert!(!plain.text.contains("do it"), "{method} {path}");
            let wrong =
                request(method, path).header("authorization", "Bearer another").body(Body::empty()).unwrap();
            assert_eq!(app.send(wrong).await.status, StatusCode::UNAUTHORIZED, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn other_hosts_and_other_sites_are_refused_with_the_token_too() {
    let app = app();
    let with_token = |path| request("GET", path).header("authorization", format!("Bearer {TOKEN}"));
    for path in GUARDED.into_iter().chain(["/healthz", "/login?once=x"]) {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:9999"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let answer = app.send(with_token(path).header(name, value).body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {name}: {value}");
        }
        let foreign = axum::http::Request::get(path)
            .header("host", "evil.example:7117")
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::empty())
            .unwrap();
        assert_eq!(app.send(foreign).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    let own = with_token("/sessions")
        .header("origin", "http://127.0.0.1:7117")
        .header("sec-fetch-site", "same-origin");
    assert_eq!(app.send(own.body(Body::empty()).unwrap()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn configured_names_are_answered() {
    let app = app();
    for (host, expected) in [
        ("localhost:1", StatusCode::OK),
        ("[::1]:7117", StatusCode::OK),
        ("DASHCAM.example", StatusCode::OK),
        ("127.0.0.1.evil.example", StatusCode::FORBIDDEN),
        ("localhost:evil", StatusCode::FORBIDDEN),
    ] {
        let ask = axum::http::Request::get("/healthz").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(app.send(ask).await.status, expected, "{host}");
    }
}

#[tokio::test]
async fn a_followed_link_from_another_site_asks_to_go_on() {
    let app = app();
    let followed = request("GET", "/sessions/s?from=1")
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-mode", "navigate")
        .header("sec-fetch-dest", "document");
    let answer = app.send(followed.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.text.contains(r#"href="/sessions/s?from=1""#), "{}", answer.text);
    assert!(!answer.text.contains("do it"));
}

#[tokio::test]
async fn a_link_lets_a_browser_in_once() {
    let app = app();
    let link = viewer::one_time_link(&app.state, SocketAddr::from((Ipv4Addr::LOCALHOST, 7117)));
    let path = link.strip_prefix("http://127.0.0.1:7117").unwrap();
    let next = format!("{path}&next=%2Fsessions%2Fs");
    let answer = app.send(request("GET", &next).body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers["location"], "/sessions/s");
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let with_cookie = request("GET", "/sessions/s").header("cookie", cookie).body(Body::empty()).unwrap();
    assert_eq!(app.send(with_cookie).await.status, StatusCode::OK);
    let again = app.send(request("GET", &next).body(Body::empty()).unwrap()).await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_link_leads_nowhere_else() {
    let app = app();
    let link = viewer::one_time_link(&app.state, SocketAddr::from((Ipv4Addr::LOCALHOST, 7117)));
    let path = format!("{}&next=//evil.example/", link.strip_prefix("http://127.0.0.1:7117").unwrap());
    let answer = app.send(request("GET", &path).body(Body::empty()).unwrap()).await;
    assert_eq!(answer.headers["location"], "/");
}

#[tokio::test]
async fn every_answer_carries_the_policy() {
    let app = app();
    for path in ["/healthz", "/sessions", "/no/such/page", "/raw/1", "/raw/999999"] {
        let answer = app.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer", "{path}");
    }
    let raw = app.get("/raw/1").await;
    assert!(raw.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert_eq!(raw.headers["content-type"], "text/plain; charset=utf-8");
}

#[tokio::test]
async fn assets_are_kept_for_ever_under_their_hash() {
    let app = app();
    let page = app.page("/sessions").await;
    let assets: Vec<&str> = page.split('"').filter(|word| word.starts_with("/assets/")).collect();
    assert_eq!(assets.len(), 6, "{assets:?}");
    for asset in assets {
        let answer = app.send(request("GET", asset).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::OK, "{asset}");
        assert!(answer.headers["cache-control"].to_str().unwrap().contains("immutable"));
    }
    assert_eq!(app.get("/assets/app-000000000000.css").await.status, StatusCode::NOT_FOUND);
}

fn form(body: &str) -> axum::http::Request<Body> {
    request("POST", "/login")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", "http://127.0.0.1:7117")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

#[tokio::test]
async fn without_a_cookie_there_is_a_field_for_the_token() {
    let app = app();
    let refused = app.send(request("GET", "/sessions/s?from=1").body(Body::empty()).unwrap()).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.text.contains(r#"<form class="sign-in" method="post" action="/login">"#));
    assert!(refused.text.contains(r#"name="next" value="/sessions/s?from=1""#), "{}", refused.text);
    // With no referrer at all, browsers send the form with the origin `null`.
    assert_eq!(refused.headers["referrer-policy"], "same-origin");
    let token = TOKEN.replace(' ', "+");
    let answer = app.send(form(&format!("token=+{token}%0A&next=%2Fsessions%2Fs%3Ffrom%3D1"))).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers["location"], "/sessions/s?from=1");
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let with_cookie = request("GET", "/sessions/s").header("cookie", cookie).body(Body::empty()).unwrap();
    assert_eq!(app.send(with_cookie).await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_form_for_the_token_lets_nobody_else_in() {
    let app = app();
    let wrong = app.send(form("token=another&next=%2Fsessions%2Fs")).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    assert!(wrong.text.contains("That is not the token.") && wrong.text.contains(r#"value="/sessions/s""#));
    assert!(!wrong.headers.contains_key("set-cookie"));
    let token = TOKEN.replace(' ', "+");
    for next in ["https://evil.example/", "//evil.example/", "/\\evil.example", "/%0d%0aX: y"] {
        let answer = app.send(form(&format!("token={token}&next={next}"))).await;
        assert_eq!(answer.headers["location"], "/", "{next}");
    }
    for origin in ["null", "https://evil.example"] {
        let foreign = request("POST", "/login")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", origin)
            .body(Body::from(format!("token={token}")))
            .unwrap();
        assert_eq!(app.send(foreign).await.status, StatusCode::FORBIDDEN, "{origin}");
    }
    assert_eq!(app.send(form("next=%2F")).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn who_has_the_token_gets_new_links() {
    let app = app();
    let ask = request("POST", "/api/link").header("authorization", format!("Bearer {TOKEN}"));
    let answer = app.send(ask.body(Body::from("{}")).unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK);
    let path = answer.text.strip_prefix(r#"{"link":"http://127.0.0.1:7117"#).unwrap();
    let path = path.strip_suffix("\"}").unwrap();
    assert!(path.starts_with("/login?once="), "{path}");
    let entered = app.send(request("GET", path).body(Body::empty()).unwrap()).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER);
    let refused = app.send(request("POST", "/api/link").body(Body::empty()).unwrap()).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}
