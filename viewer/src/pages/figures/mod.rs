//! `/quality`, `/tools`, `/models` and `/learning`: tables of figures with their targets, one file a page.

mod learning;
mod models;
mod quality;
mod sheet;
mod tools;

pub(crate) use learning::show as learning;
pub(crate) use models::show as models;
pub(crate) use quality::show as quality;
pub(crate) use tools::show as tools;

use askama::Template;
use axum::response::{IntoResponse, Response};
use store::Store;

use self::sheet::Sheet;
use super::scope::{AskedScope, Chosen, ScopeBar};
use super::{Frame, html};
use crate::AppState;
use crate::charts::Lines;
use crate::csv;
use crate::errors::PageError;
use crate::times::Clock;

/// What a page is made of.
pub(super) struct Parts {
    tiles: Vec<Tile>,
    lines: Vec<Lines>,
    sheets: Vec<Sheet>,
    /// What is to be known of the figures.
    words: &'static str,
}

/// A figure with its target.
#[derive(Debug)]
pub(super) struct Tile {
    name: &'static str,
    value: String,
    detail: String,
    is_over: bool,
}

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage {
    frame: Frame,
    heading: &'static str,
    key: &'static str,
    bar: ScopeBar,
    parts: Parts,
}

/// Answers with the page, or with one of its tables as CSV.
async fn answer(
    state: AppState,
    asked: AskedScope,
    (heading, path): (&'static str, &'static str),
    read: impl FnOnce(&Store, &Chosen, &Clock) -> Result<Parts, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    let clock = state.clock();
    let wanted = asked.csv.clone();
    let chosen = Chosen::read(path, asked, &clock).map_err(PageError::Misunderstood)?;
    let bar = chosen.bar(&clock);
    let parts = state.ask(move |store| read(store, &chosen, &clock)).await?;
    if let Some(name) = wanted {
        return match parts.sheets.iter().find(|sheet| sheet.key == name) {
            Some(sheet) => Ok(csv::file(&format!("{}-{name}", &path[1..]), &sheet.csv_rows())),
            None => Err(PageError::NotFound { what: "table", name }),
        };
    }
    let page = FiguresPage { frame: Frame::new(heading), heading, key: &path[1..], bar, parts };
    Ok(html(&page)?.into_response())
}
