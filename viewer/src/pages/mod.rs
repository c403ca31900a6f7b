//! The pages, one file each, and what they share.

pub(crate) mod costs;
pub(crate) mod diff;
pub(crate) mod event_text;
pub(crate) mod figures;
pub(crate) mod home;
pub(crate) mod live;
pub(crate) mod login;
pub(crate) mod part;
pub(crate) mod prompt;
pub(crate) mod raw;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod turn;

mod content;
pub(crate) mod money;
pub(crate) mod scope;
mod troubles;
pub(crate) mod words;

use askama::Template;
use axum::response::Html;

use crate::assets::{self, Assets};
use crate::errors::PageError;
use crate::markup::one_line;

/// What every page has around its content.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) assets: &'static Assets,
}

impl Frame {
    /// Returns the frame of a page of this title, which may be hostile text.
    pub(crate) fn new(title: &str) -> Self {
        Self { title: one_line(title), assets: assets::addresses() }
    }
}

/// Returns a template as a page.
fn html(template: &impl Template) -> Result<Html<String>, PageError> {
    template.render().map(Html).map_err(|error| PageError::Broken(error.to_string()))
}

/// Returns the text when there is something in it: an empty field of a form is a field not filled in.
fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
