//! `/sessions/{session}/parts/{part}`: what stands in one part of a prompt.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::content::{Content, Room};
use super::event_text::text_of;
use super::html;
use super::raw::plain;
use crate::AppState;
use crate::errors::PageError;
use crate::kept::Keeper;
use crate::links;

#[derive(Deserialize)]
pub(crate) struct Asked {
    /// Set by the script of a page: the content to put into it.
    fragment: Option<String>,
}

#[derive(Template)]
#[template(path = "part.html")]
struct Fragment {
    content: Content,
}

/// Shows a part: as plain text, or as a piece of a page.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((session, part)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
    keeper: Keeper,
) -> Result<Response, PageError> {
    let (version, found) = state
        .ask(move |store| {
            let session = store.session(&session)?;
            let version = keeper.version(&[session.session_key.into(), session.position]);
            if version.is_held() {
                return Ok((version, None));
            }
            let (row, event) = store.part_event(session.session_key, part)?;
            if row.position == 0 {
                return Err(PageError::NotFound { what: "bytes of the part", name: part.to_string() });
            }
            Ok((version, Some((session.session, text_of(&event.body)))))
        })
        .await?;
    let Some((name, text)) = found else { return Ok(version.unchanged()) };
    if asked.fragment.is_none() {
        return Ok(version.mark(plain(text.into_bytes())));
    }
    let content = Content::new(&text, links::part(&name, part), Room::Wide);
    Ok(version.mark(html(&Fragment { content })?.into_response()))
}
