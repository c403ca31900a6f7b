//! Pages that a browser may keep, and asks about each time before it shows them again.
//!
//! Why this is safe:
//!
//! - A version covers all that a page is made of: the session's rows (by the position of the last record that
//!   changed the session), what else the page names (its sub-agents, by theirs), and by the key all the rest:
//!   the program, its settings and the data folder, none of which change while a process lives. What the page
//!   shows may not depend on the time of day.
//! - The version is read before the page's rows are. Records that come in between make the page newer than
//!   its version says, and the next question gets the whole page.
//! - The turn that a running session is at has no version and is never kept.
//! - `private` keeps it out of caches that people share, and `no-cache` has the browser ask each time. That
//!   question passes the token like any other, so a kept page is never shown to whom it would be refused; and
//!   the versions of one token say nothing under another, since the key follows from it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use blake3::Hash;

use crate::AppState;

/// Makes versions of pages, and knows which one the browser has.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    key: Hash,
    held: Option<String>,
}

impl FromRequestParts<AppState> for Keeper {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        let held = parts.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        Ok(Self { key: state.access().version_key(), held: held.map(str::to_owned) })
    }
}

impl Keeper {
    /// Returns the version of a page that is made of these facts.
    pub(crate) fn version(&self, facts: &[u64]) -> Version {
        let bytes: Vec<u8> = facts.iter().flat_map(|fact| fact.to_le_bytes()).collect();
        let hash = blake3::keyed_hash(self.key.as_bytes(), &bytes).to_hex();
        let tag = format!("\"{}\"", &hash[..32]);
        let is_held = self.held.as_deref().is_some_and(|held| names(held, &tag));
        Version { tag, is_held }
    }
}

/// One state of a page.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    tag: String,
    is_held: bool,
}

impl Version {
    /// Returns whether the browser has this very state.
    pub(crate) const fn is_held(&self) -> bool {
        self.is_held
    }

    /// Returns the answer to a browser that has it.
    pub(crate) fn unchanged(&self) -> Response {
        self.mark(StatusCode::NOT_MODIFIED.into_response())
    }

    /// Returns the page as one that may be kept.
    pub(crate) fn mark(&self, mut page: Response) -> Response {
        let headers = page.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        headers.insert(VARY, HeaderValue::from_static("authorization, cookie"));
        headers.insert(ETAG, HeaderValue::from_str(&self.tag).expect("it is hex between quotes"));
        page
    }
}

/// Returns whether an `If-None-Match` header names the tag. A weak mark before it makes no difference there.
fn names(header: &str, tag: &str) -> bool {
    header.split(',').map(str::trim).any(|held| held == "*" || held.strip_prefix("W/").unwrap_or(held) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper(key: &str, held: Option<&str>) -> Keeper {
        Keeper { key: blake3::hash(key.as_bytes()), held: held.map(str::to_owned) }
    }

    #[test]
    fn a_version_follows_from_facts_and_key() {
        let tag = |key, facts: &[u64]| keeper(key, None).version(facts).tag;
        assert_eq!(tag("a", &[1, 2]), tag("a", &[1, 2]));
        assert_ne!(tag("a", &[1, 2]), tag("a", &[2, 1]));
        assert_ne!(tag("a", &[1, 2]), tag("b", &[1, 2]));
    }

    #[test]
    fn a_held_version_is_known_in_a_list() {
        let tag = keeper("a", None).version(&[7]).tag;
        for (header, expected) in [
            (tag.clone(), true),
            (format!("W/{tag}"), true),
            (format!("\"other\", {tag}"), true),
            ("*".to_owned(), true),
            ("\"other\"".to_owned(), false),
            (tag.trim_matches('"').to_owned(), false),
        ] {
            assert_eq!(keeper("a", Some(&header)).version(&[7]).is_held(), expected, "{header}");
        }
        assert!(!keeper("a", None).version(&[7]).is_held());
    }
}
