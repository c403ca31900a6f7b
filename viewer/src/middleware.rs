//! What every request passes before it reaches a page, in this order.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::AppState;
use crate::errors::PageError;
use crate::pages::login;

/// Puts the checks around all routes. The last layer added is the first that a request meets.
pub(crate) fn around(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    routes
        .layer(from_fn(refuse_other_sites))
        .layer(from_fn_with_state(state.clone(), refuse_foreign_hosts))
        .layer(from_fn(add_security_headers))
}

/// Scripts, styles and connections come from here alone; nothing may frame a page or be sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// First: every answer, refusals included, carries the headers that keep hostile text harmless.
async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let always = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Raw content has a stricter policy of its own, the form for the token sends its origin, and assets may be
    // kept for ever.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Second: only the names that this server is known by, so that no other name can be bent to its address.
async fn refuse_foreign_hosts(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    match host.or_else(|| request.uri().host()) {
        Some(host) if state.knows_host(host) => next.run(request).await,
        _ => PageError::Refused("this address is not one that Dashcam answers to").into_response(),
    }
}

/// Third: nothing that another site's page asks for, whatever the method. A link that a person followed from
/// another site leads to a page that asks to go on.
async fn refuse_other_sites(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let word = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let own_origin = headers.get(ORIGIN).is_none_or(|origin| is_own_origin(origin, headers));
    let own_site = matches!(word("sec-fetch-site"), None | Some("same-origin" | "none"));
    if own_origin && own_site {
        return next.run(request).await;
    }
    let followed_link = headers.get(ORIGIN).is_none()
        && request.method() == Method::GET
        && word("sec-fetch-mode") == Some("navigate")
        && word("sec-fetch-dest") == Some("document");
    if followed_link && request.uri().path() != "/login" {
        return login::came_from_elsewhere(request.uri());
    }
    PageError::Refused("a page of another site may not ask Dashcam for anything").into_response()
}

fn is_own_origin(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let (Ok(origin), Some(Ok(host))) = (origin.to_str(), headers.get(HOST).map(HeaderValue::to_str)) else {
        return false;
    };
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
}

/// Last, for all that shows data: the token, in a header or as the cookie that a one-time link gave.
pub(crate) async fn require_token(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let mut cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let let_in = bearer.is_some_and(|token| state.access().is_token(token))
        || cookies.any(|cookies| state.access().is_let_in_by(cookies));
    if let_in {
        return next.run(request).await;
    }
    let asked_for = request.uri().path_and_query().map(|address| address.as_str());
    login::sign_in(asked_for.filter(|_| request.method() == Method::GET), None)
}
