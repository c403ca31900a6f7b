//! The one place where errors become answers.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use store::StoreError;

use crate::pages::Frame;

/// Says why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The store.
    #[error(transparent)]
    Store(StoreError),
    /// Nothing is at this address.
    #[error("no {what} {name}")]
    NotFound {
        /// What was sought.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A word in the address cannot be understood.
    #[error("{0}")]
    Misunderstood(String),
    /// The request comes from where none may come from.
    #[error("{0}")]
    Refused(&'static str),
    /// The session has no such turn.
    #[error("{}", no_turn(*turn, *last))]
    NoTurn {
        /// What was sought.
        turn: u32,
        /// The number of its last turn; 0 when it has none.
        last: u32,
        /// The address of the session.
        session: String,
    },
    /// A fault of ours.
    #[error("{0}")]
    Broken(String),
}

/// What the reader is told.
struct Told {
    status: StatusCode,
    heading: &'static str,
    words: String,
    hint: Option<&'static str>,
    /// Where to go on: addresses and words.
    elsewhere: Vec<(String, String)>,
}

fn no_turn(turn: u32, last: u32) -> String {
    match last {
        0 => format!("no turn {turn}: this session has no turns"),
        1 => format!("no turn {turn}: this session has turn 1 only"),
        last => format!("no turn {turn}: this session has turns 1 to {last}"),
    }
}

fn ways(session: &str, last: u32) -> Vec<(String, String)> {
    let session_link = (session.to_owned(), "The session".to_owned());
    let last_turn = (last > 0).then(|| (format!("{session}/turns/{last}"), format!("Its last turn, {last}")));
    std::iter::once(session_link).chain(last_turn).collect()
}

impl PageError {
    fn told(&self) -> Told {
        let told = |status, heading, hint| Told {
            status,
            heading,
            words: self.to_string(),
            hint,
            elsewhere: Vec::new(),
        };
        match self {
            Self::Store(StoreError::NotFound { .. }) | Self::NotFound { .. } => told(
                StatusCode::NOT_FOUND,
                "Not found",
                Some("It may have been named differently, or its file has not been read yet."),
            ),
            Self::Store(StoreError::Ambiguous { .. }) => {
                told(StatusCode::MULTIPLE_CHOICES, "More than one session", None)
            }
            Self::Store(StoreError::Busy) => told(StatusCode::SERVICE_UNAVAILABLE, "Busy", None),
            Self::Misunderstood(_) => told(StatusCode::BAD_REQUEST, "Not understood", None),
            Self::Refused(_) => told(StatusCode::FORBIDDEN, "Refused", None),
            Self::NoTurn { last, session, .. } => {
                Told { elsewhere: ways(session, *last), ..told(StatusCode::NOT_FOUND, "Not found", None) }
            }
            Self::Store(_) | Self::Broken(_) => self.internal(),
        }
    }

    /// The reader gets a number to quote; what happened goes to the log under it.
    fn internal(&self) -> Told {
        let id = format!("{:x}", agent_core::Timestamp::now().micros());
        tracing::error!(error = %self, id, "a page could not be made");
        Told {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            heading: "Something went wrong here",
            words: format!("The server's log tells what, under the number {id}."),
            hint: None,
            elsewhere: Vec::new(),
        }
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    status: u16,
    heading: &'static str,
    words: String,
    hint: Option<&'static str>,
    elsewhere: Vec<(String, String)>,
}

/// The most of a refusal's words that is taken over.
const MAX_REFUSAL_BYTES: usize = 4096;

/// Puts a refusal of the web framework (a number that is none, a field given twice) on a page, in words.
pub(crate) async fn as_page(response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !response.status().is_client_error() || !is_plain {
        return response;
    }
    match axum::body::to_bytes(response.into_body(), MAX_REFUSAL_BYTES).await {
        Ok(words) => PageError::Misunderstood(refusal(&String::from_utf8_lossy(&words))).into_response(),
        Err(error) => PageError::Broken(format!("a refusal could not be read: {error}")).into_response(),
    }
}

/// Says in a reader's words what the framework says in those of the code.
fn refusal(words: &str) -> String {
    match words.split_once("` to a `u").and_then(|(before, _)| before.rsplit_once('`')) {
        Some((_, value)) => format!("{value:?} in this address is no number"),
        None => format!(
            "this address cannot be read: {}",
            words.trim_start_matches("Failed to deserialize query string: ")
        ),
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let Told { status, heading, words, hint, elsewhere } = self.told();
        let (frame, status_code) = (Frame::new(heading), status.as_u16());
        let page = ErrorPage { frame, status: status_code, heading, words, hint, elsewhere };
        let text = page.render().unwrap_or_else(|_| heading.to_owned());
        let html = [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
        (status, html, text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_put_into_words() {
        for words in ["value at index 1 with value `abc` to a `u32`", "`abc` to a `u64`"] {
            let words = format!("Invalid URL: Cannot parse {words}");
            assert_eq!(refusal(&words), "\"abc\" in this address is no number");
        }
        assert_eq!(
            refusal("Failed to deserialize query string: duplicate field `text`"),
            "this address cannot be read: duplicate field `text`"
        );
    }
}
