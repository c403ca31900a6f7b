//! `/sessions/{session}/turns/{turn}/prompt`: all parts of a prompt, or its bytes; and whether they are right.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;
use store::{PromptPartRow, PromptSummary, SessionRow, Store, StoreError};

use super::raw::plain;
use super::session::header::title;
use super::turn::{FidelityView, PartView, describe};
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::whole;
use crate::kept::Keeper;
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
    keeper: Keeper,
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
    let (version, page) = state
        .ask(move |store| {
            let session = store.session(&session)?;
            let version = keeper.version(&[session.session_key.into(), session.position]);
            let page = match version.is_held() {
                true => None,
                false => Some(page(store, &session, turn, asked.call, asked.from.unwrap_or(0))?),
            };
            Ok::<_, StoreError>((version, page))
        })
        .await?;
    match page {
        Some(page) => Ok(version.mark(html(&page)?.into_response())),
        None => Ok(version.unchanged()),
    }
}

fn page(
    store: &Store,
    session: &SessionRow,
    turn: u32,
    call: Option<u32>,
    from: u32,
) -> Result<PromptPage, StoreError> {
    let (key, name) = (session.session_key, &session.session);
    let summary = store.prompt_summary(key, turn, call, 0, 0)?.ok_or_else(|| no_prompt(turn))?;
    let call = summary.call;
    let new: Vec<u32> = summary.new.iter().map(|row| row.part).collect();
    let (mut rows, count) = window(store, key, turn, &summary, from)?;
    let previews = describe(store, key, &mut [&mut rows])?;
    let here = |from: u32| format!("{}/prompt?call={call}&from={from}", links::turn(name, turn));
    let to = from.saturating_add(PAGE).min(count);
    Ok(PromptPage {
        frame: Frame::new(&format!("Prompt of turn {turn}")),
        session: title(session),
        session_href: links::session(name),
        turn,
        turn_href: links::turn(name, turn),
        parts: rows.iter().map(|row| PartView::new(name, row, new.contains(&row.part), &previews)).collect(),
        words: format!("parts {} to {} of {}", (from + 1).min(to), to, whole(count.into())),
        before: (from > 0).then(|| here(from.saturating_sub(PAGE))),
        after: (to < count).then(|| here(to)),
        bytes_href: format!("{}/prompt?call={call}&bytes=1", links::turn(name, turn)),
    })
}

/// Returns the parts of a page and how many there are. Only recorded prompts have something between the parts,
/// which is no part: of these all are read and the pages cut from what is left.
fn window(
    store: &Store,
    key: u32,
    turn: u32,
    summary: &PromptSummary,
    from: u32,
) -> Result<(Vec<PromptPartRow>, u32), StoreError> {
    let rows = |from, limit| store.prompt_part_window(key, turn, summary.call, from, limit);
    if summary.kinds.iter().all(|sum| sum.kind != "framing") {
        return Ok((rows(from, PAGE)?, summary.part_count));
    }
    let mut all = rows(0, summary.part_count)?;
    all.retain(|row| row.kind != "framing");
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
    Ok((all.into_iter().skip(from as usize).take(PAGE as usize).collect(), count))
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
