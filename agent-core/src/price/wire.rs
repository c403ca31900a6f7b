//! The lines of the price table as they stand in its file.

use serde::Deserialize;

use super::matching::Clause;
use super::rates::{Rates, ServiceTier};

/// Says what the table is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) schema: u32,
    /// The day it was made.
    pub(super) made: String,
    /// Kept for readers of the file.
    #[serde(rename = "unit")]
    pub(super) _unit: String,
    pub(super) sources: Vec<SourceOfPrices>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceOfPrices {
    pub(super) name: String,
    pub(super) version: String,
    #[serde(rename = "sha256")]
    pub(super) _sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Provider {
    pub(super) provider: String,
    /// Other words for it.
    pub(super) aliases: Vec<String>,
    /// The models that it makes, by which a name without a provider finds its own.
    #[serde(default)]
    pub(super) makes: Option<Clause>,
    /// Whose prices hold for models that it has no own price for.
    #[serde(default)]
    pub(super) fallback: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) provider: String,
    pub(super) model: String,
    /// The names that it goes by; its own where absent.
    pub(super) names: Option<Vec<String>>,
    #[serde(rename = "match")]
    pub(super) clause: Option<Clause>,
    /// In the order of rising precedence: of those that apply, the last one counts.
    pub(super) prices: Vec<Price>,
    /// The day from which the provider serves it no more.
    pub(super) retired: Option<String>,
    #[serde(default, rename = "deprecated")]
    pub(super) _deprecated: bool,
    #[serde(rename = "by")]
    pub(super) _by: Option<String>,
    /// Where the two sources differ by more than 1 %.
    pub(super) differs: Option<Differs>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Differs {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) rates: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    pub(super) service: Option<ServiceTier>,
    /// The first day (UTC) on which it holds.
    pub(super) from: Option<String>,
    /// The first day (UTC) on which it holds no more.
    pub(super) until: Option<String>,
    /// The time of the day (UTC) in which it holds.
    pub(super) hours: Option<(String, String)>,
    pub(super) rates: Rates,
    /// What holds for the whole of a request with more input.
    #[serde(default)]
    pub(super) above: Vec<Above>,
    #[serde(rename = "by")]
    pub(super) _by: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Above {
    pub(super) tokens: u64,
    pub(super) rates: Rates,
}
