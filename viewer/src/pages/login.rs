//! `/login`: a one-time link or the token becomes a cookie; `/api/link` makes such a link.

use std::time::Duration;

use askama::Template;
use axum::Json;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;

#[derive(Deserialize)]
pub(crate) struct Asked {
    once: Option<String>,
    next: Option<String>,
}

/// Lets the browser in if the code is good, and leads on to `next`.
pub(crate) async fn enter(State(state): State<AppState>, Query(asked): Query<Asked>) -> Response {
    if !asked.once.is_some_and(|code| state.access().redeem(&code)) {
        let problem = "This link has been used, or is none of this Dashcam's.";
        return sign_in(asked.next.as_deref(), Some(problem));
    }
    let_in(&state, asked.next.as_deref())
}

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct Given {
    token: String,
    next: Option<String>,
}

/// How long the answer to a wrong token takes.
const WRONG_TOKEN_WAIT: Duration = Duration::from_millis(300);

/// Lets the browser in if the token is right, and leads on to `next`.
pub(crate) async fn give(
    State(state): State<AppState>,
    given: Result<Form<Given>, FormRejection>,
) -> Response {
    let Ok(Form(given)) = given else {
        return PageError::Misunderstood("this is not what the form for the token sends".to_owned())
            .into_response();
    };
    if !state.access().is_token(given.token.trim()) {
        tokio::time::sleep(WRONG_TOKEN_WAIT).await;
        return sign_in(given.next.as_deref(), Some("That is not the token."));
    }
    let_in(&state, given.next.as_deref())
}

fn let_in(state: &AppState, next: Option<&str>) -> Response {
    let next = local_or_first(next);
    ([(header::SET_COOKIE, state.access().set_cookie())], Redirect::to(&next)).into_response()
}

/// Makes a link that lets one browser in, for whoever has the token.
pub(crate) async fn make_link(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Json<Value>, PageError> {
    // The host is one that Dashcam goes by: it has been looked at before.
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| PageError::Misunderstood("the request names no host".to_owned()))?;
    let link = format!("http://{host}/login?once={}", state.access().new_code());
    Ok(Json(json!({ "link": link })))
}

#[derive(Template)]
#[template(path = "login.html")]
struct SignIn {
    frame: Frame,
    problem: Option<&'static str>,
    next: String,
}

/// Asks for the token; after it, the browser is led on to `next`.
pub(crate) fn sign_in(next: Option<&str>, problem: Option<&'static str>) -> Response {
    match html(&SignIn { frame: Frame::new("Please sign in"), problem, next: local_or_first(next) }) {
        // Without a referrer a browser names no origin with the form either, and would be refused.
        Ok(page) => {
            (StatusCode::UNAUTHORIZED, [(header::REFERRER_POLICY, "same-origin")], page).into_response()
        }
        Err(error) => error.into_response(),
    }
}

fn local_or_first(address: Option<&str>) -> String {
    address.filter(|address| is_local(address)).unwrap_or("/").to_owned()
}

/// Returns whether an address stays on this server: `//host` and `/\host` would not.
fn is_local(address: &str) -> bool {
    let mut bytes = address.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && address.bytes().all(|byte| byte.is_ascii_graphic())
}

#[derive(Template)]
#[template(path = "elsewhere.html")]
struct Elsewhere {
    frame: Frame,
    address: String,
}

/// Asks somebody who followed a link from another site to go on: the browser shows the cookie only then.
pub(crate) fn came_from_elsewhere(uri: &Uri) -> Response {
    let address = uri.path_and_query().map_or("/", |address| address.as_str());
    let address = local_or_first(Some(address));
    match html(&Elsewhere { frame: Frame::new("Go on to Dashcam"), address }) {
        Ok(page) => (StatusCode::FORBIDDEN, page).into_response(),
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_addresses_of_this_server_are_followed() {
        assert!(is_local("/sessions/a%2Fb?x=1#t3"));
        for elsewhere in ["", "sessions", "//host/", "/\\host", "https://host/", "/a b", "/a\r\nb"] {
            assert!(!is_local(elsewhere), "{elsewhere:?}");
        }
    }
}
