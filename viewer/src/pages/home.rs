//! The first page, the sign of life, and what is shown where there is no page.

use axum::http::Uri;
use axum::response::Redirect;

use crate::errors::PageError;

/// `/`
pub(crate) async fn show() -> Redirect {
    Redirect::to("/sessions")
}

/// `/healthz`: says that the server answers.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Any address that has no page.
pub(crate) async fn nothing_here(uri: Uri) -> PageError {
    PageError::NotFound { what: "page", name: uri.path().to_owned() }
}
