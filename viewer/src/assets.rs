//! The style sheet and the scripts, compiled in and served under names that hold their hash.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use crate::errors::PageError;

/// The addresses of the assets.
#[derive(Debug)]
pub(crate) struct Assets {
    pub(crate) style: String,
    pub(crate) narrow: String,
    pub(crate) figures: String,
    pub(crate) theme: String,
    pub(crate) script: String,
    pub(crate) palette: String,
    pub(crate) live: String,
}

struct File {
    stem: &'static str,
    ending: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const STYLE: File = File::style("app", include_str!("../assets/app.css"));
/// What differs on narrow screens.
const NARROW: File = File::style("narrow", include_str!("../assets/narrow.css"));
/// Sets the chosen colours before anything is drawn and keeps the first keys, and so must be loaded apart.
const THEME: File = File::script("theme", include_str!("../assets/theme.js"));
const SCRIPT: File = File::script("app", include_str!("../assets/app.js"));
/// Goes to places by their names, and lists the keys.
const PALETTE: File = File::script("palette", include_str!("../assets/palette.js"));
/// Follows pages that change.
const LIVE: File = File::script("live", include_str!("../assets/live.js"));
/// What only pages with figures need.
const FIGURES: File = File::style("figures", include_str!("../assets/figures.css"));
const ALL: [&File; 7] = [&STYLE, &NARROW, &FIGURES, &THEME, &SCRIPT, &PALETTE, &LIVE];

impl File {
    const fn style(stem: &'static str, content: &'static str) -> Self {
        Self { stem, ending: "css", media_type: "text/css; charset=utf-8", content }
    }

    const fn script(stem: &'static str, content: &'static str) -> Self {
        Self { stem, ending: "js", media_type: "text/javascript; charset=utf-8", content }
    }

    fn name(&self) -> String {
        let hash = blake3::hash(self.content.as_bytes()).to_hex();
        format!("{}-{}.{}", self.stem, &hash[..12], self.ending)
    }
}

/// Returns the addresses of the assets.
pub(crate) fn addresses() -> &'static Assets {
    static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
        let address = |file: &File| format!("/assets/{}", file.name());
        Assets {
            style: address(&STYLE),
            narrow: address(&NARROW),
            figures: address(&FIGURES),
            theme: address(&THEME),
            script: address(&SCRIPT),
            palette: address(&PALETTE),
            live: address(&LIVE),
        }
    });
    &ASSETS
}

/// `/assets/{name}`: another content has another name, so that a browser never asks twice.
pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    match ALL.into_iter().find(|file| file.name() == name) {
        Some(file) => {
            let headers =
                [(CONTENT_TYPE, file.media_type), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
            (headers, file.content).into_response()
        }
        None => PageError::NotFound { what: "asset", name }.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_stay_small() {
        assert!(STYLE.content.len() <= 20 << 10, "{}", STYLE.content.len());
        assert!(NARROW.content.len() <= 4 << 10, "{}", NARROW.content.len());
        assert!(FIGURES.content.len() <= 6 << 10, "{}", FIGURES.content.len());
        assert!(SCRIPT.content.len() <= 15 << 10, "{}", SCRIPT.content.len());
        let scripts: usize = [THEME, SCRIPT, PALETTE, LIVE].iter().map(|file| file.content.len()).sum();
        assert!(scripts <= 22 << 10, "{scripts}");
    }
}
