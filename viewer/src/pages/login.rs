//! `/login`: a one-time link becomes a cookie.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

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
        return PageError::NoToken.into_response();
    }
    let next = asked.next.filter(|next| is_local(next)).unwrap_or_else(|| "/".to_owned());
    ([(header::SET_COOKIE, state.access().set_cookie())], Redirect::to(&next)).into_response()
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
    let address = if is_local(address) { address.to_owned() } else { "/".to_owned() };
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
