//! Own prices: files of a team, which come before the table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::rates::{Rates, ServiceTier};
use super::table::{ListedPrice, PriceTable};
use super::wire::Price;

/// A price of one's own. Files hold a JSON list of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnPrice {
    /// Who serves the model; any provider where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    /// The name as served, in capitals or small letters.
    pub(super) model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) service: Option<ServiceTier>,
    /// The first day (UTC) on which it holds; always before, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
    /// The first day (UTC) on which it holds no more; never, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    pub(super) usd_per_million_tokens: Rates,
    /// What holds for the whole of a request with more input than `tokens`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) above: Vec<OwnAbove>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnAbove {
    pub(super) tokens: u64,
    pub(super) usd_per_million_tokens: Rates,
}

/// Says why own prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnPriceError {
    /// A file or the folder cannot be read.
    #[error("cannot read {path}: {cause}")]
    Read {
        /// Which.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// A file is not a list of prices; the cause has line and column.
    #[error("{path}: {cause}")]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// A day is none.
    #[error("{path}: the price of {model}: {day:?} is no day; write it as 2026-12-01")]
    Day {
        /// The file.
        path: PathBuf,
        /// The model.
        model: String,
        /// What stands there.
        day: String,
    },
}

impl OwnPrice {
    /// Returns whether the price is of the model, as `provider` serves it.
    pub(super) fn fits(&self, table: &PriceTable, provider: Option<&str>, model: &str) -> bool {
        let same_provider = |own: &String| {
            let own = own.to_lowercase();
            provider
                .map(str::to_lowercase)
                .is_some_and(|word| table.provider_id(&word) == table.provider_id(&own))
        };
        self.model.eq_ignore_ascii_case(model.trim()) && self.provider.as_ref().is_none_or(same_provider)
    }

    /// Returns it as the table has its prices.
    pub(super) fn price(&self) -> Price {
        Price {
            service: self.service,
            from: self.from.clone(),
            until: self.until.clone(),
            hours: None,
            rates: self.usd_per_million_tokens,
            above: self
                .above
                .iter()
                .map(|above| super::wire::Above { tokens: above.tokens, rates: above.usd_per_million_tokens })
                .collect(),
            _by: None,
        }
    }

    pub(super) fn listed(&self) -> ListedPrice {
        ListedPrice {
            provider: self.provider.clone().unwrap_or_else(|| "any".to_owned()),
            model: self.model.clone(),
            service: self.service,
            from: self.from.clone(),
            until: self.until.clone(),
            hours: None,
            above_tokens: None,
            usd_per_million_tokens: self.usd_per_million_tokens,
            is_own: true,
        }
    }
}

impl PriceTable {
    /// Returns this table with the prices of all `.json` files in `folder` before its own, in the order of the
    /// files' names: the last that applies counts. Without the folder it is this table.
    pub fn with_own_prices(self: &Arc<Self>, folder: &Path) -> Result<Arc<Self>, OwnPriceError> {
        let mut paths = match fs::read_dir(folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Arc::clone(self)),
            entries => entries
                .and_then(|entries| {
                    entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
                })
                .map_err(|cause| OwnPriceError::Read { path: folder.to_owned(), cause })?,
        };
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort_unstable();
        let (mut prices, mut text) = (Vec::new(), Vec::new());
        for path in paths {
            let bytes = fs::read(&path).map_err(|cause| OwnPriceError::Read { path: path.clone(), cause })?;
            prices.extend(read_own(&path, &bytes)?);
            text.extend(bytes);
        }
        Ok(if prices.is_empty() { Arc::clone(self) } else { Arc::new(self.with_own(prices, &text)) })
    }

    /// Returns how many prices the file at `path` holds, which is checked as it is when the table is loaded.
    pub fn check_own_file(path: &Path) -> Result<usize, OwnPriceError> {
        let bytes = fs::read(path).map_err(|cause| OwnPriceError::Read { path: path.to_owned(), cause })?;
        read_own(path, &bytes).map(|prices| prices.len())
    }
}

fn read_own(path: &Path, bytes: &[u8]) -> Result<Vec<OwnPrice>, OwnPriceError> {
    let prices: Vec<OwnPrice> = serde_json::from_slice(bytes)
        .map_err(|cause| OwnPriceError::File { path: path.to_owned(), cause })?;
    for price in &prices {
        for day in [&price.from, &price.until].into_iter().flatten() {
            if day.parse::<jiff::civil::Date>().is_err() || day.len() != 10 {
                return Err(OwnPriceError::Day {
                    path: path.to_owned(),
                    model: price.model.clone(),
                    day: day.clone(),
                });
            }
        }
    }
    Ok(prices)
}
