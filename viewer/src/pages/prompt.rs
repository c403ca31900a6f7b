//! `/sessions/{session}/turns/{turn}/prompt`: all parts of a prompt, or its bytes; and whether they are right.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use store::{Store, StoreError};

use super::raw::plain;
use super::session::header::title;
use super::turn::{FidelityView, PartView, name_calls};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::whole;
use crate::links;

/// Parts on one page.
const PAGE: u32 = 100;

#[derive(Deserialize)]
pub(crate) struct Asked {
    call: Option<u32>,
    from: Option<u32>,
    /// Set for the bytes of the body.
    bytes: Option<String>,
}

#[derive(Template)]
#[template(path = "prompt.html")]
struct PromptPage {
    frame: Frame,
    session: String,
    session_href: String,
    turn: u32,
    turn_href: String,
    parts: Vec<PartView>,
    words: String,
    before: Option<String>,
    after: Option<String>,
    bytes_href: String,
}

/// Shows the parts, a hundred a page, or the bytes.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path((session, turn)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Response, PageError> {
    if asked.bytes.is_some() {
        let body = state
            .ask(move |store| {
                let key = store.session(&session)?.session_key;
                store.prompt(key, turn, call_of(store, key, turn, asked.call)?).map(|prompt| prompt.body())
            })
            .await?;
        return Ok(plain(body));
    }
    let from = asked.from.unwrap_or(0);
    let page = state
        .ask(move |store| {
            let session = store.session(&session)?;
            let key = session.session_key;
            let summary = store.prompt_summary(key, turn, asked.call, 0, 0)?;
            let summary = summary.ok_or_else(|| no_prompt(turn))?;
            let (call, count) = (summary.call, summary.part_count);
            let new: Vec<u32> = summary.new.iter().map(|row| row.part).collect();
            let mut rows = store.prompt_part_window(key, turn, call, from, PAGE)?;
            name_calls(store, key, &mut [&mut rows])?;
            let name = &session.session;
            let here = |from: u32| format!("{}/prompt?call={call}&from={from}", links::turn(name, turn));
            let to = from.saturating_add(PAGE).min(count);
            Ok::<_, StoreError>(PromptPage {
                frame: Frame::new(&format!("Prompt of turn {turn}")),
                session: title(&session),
                session_href: links::session(name),
                turn,
                turn_href: links::turn(name, turn),
                parts: rows.iter().map(|row| PartView::new(name, row, new.contains(&row.part))).collect(),
                words: format!("parts {} to {} of {}", (from + 1).min(to), to, whole(count.into())),
                before: (from > 0).then(|| here(from.saturating_sub(PAGE))),
                after: (to < count).then(|| here(to)),
                bytes_href: format!("{}/prompt?call={call}&bytes=1", links::turn(name, turn)),
            })
        })
        .await?;
    Ok(html(&page)?.into_response())
}

#[derive(Template)]
#[template(path = "fidelity.html")]
struct FidelityPage {
    fidelity: FidelityView,
}

/// Reads all bytes of a prompt and says how near they are to what the model saw.
pub(crate) async fn fidelity(
    State(state): State<AppState>,
    Path((session, turn)): Path<(String, u32)>,
    Query(asked): Query<Asked>,
) -> Result<Html<String>, PageError> {
    let prompt = state
        .ask(move |store| {
            let key = store.session(&session)?.session_key;
            store.prompt(key, turn, call_of(store, key, turn, asked.call)?)
        })
        .await?;
    html(&FidelityPage { fidelity: FidelityView::checked(&prompt) })
}

fn no_prompt(turn: u32) -> StoreError {
    StoreError::NotFound { what: "prompt of turn", name: turn.to_string() }
}

/// Returns the attempt asked for, else the last one.
fn call_of(store: &Store, key: u32, turn: u32, call: Option<u32>) -> Result<u32, StoreError> {
    let last = || Ok(store.prompt_calls(key, turn)?.last().copied().unwrap_or(1));
    call.map_or_else(last, Ok)
}
