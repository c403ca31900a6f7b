//! The cost of one response.

use serde::{Deserialize, Serialize};

use super::rates::{Bucket, Rates, ServiceTier};
use super::table::PriceTable;
use super::wire::Price;
use crate::status::words;
use crate::{PicoUsd, Timestamp, Usage};

/// Rates are for so many tokens.
const RATE_TOKENS: u128 = 1_000_000;
words! {
    /// Whether a cost is whole.
    CostStatus {
        /// Every token has a price.
        Priced = "priced",
        /// Some tokens have none: the cost is a lower bound.
        PartlyUnpriced = "partly_unpriced",
        /// There is no price.
        Unpriced = "unpriced",
    }
}

/// What tokens of one bucket cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Billed {
    /// The bucket.
    pub bucket: Bucket,
    /// How many tokens.
    pub tokens: u64,
    /// What they cost, rounded half up to a pico-dollar.
    pub cost_usd: PicoUsd,
}

/// What a response cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Whether the sum is whole.
    pub status: CostStatus,
    /// The sum of what has a price; nothing where there is no price.
    pub total_usd: Option<PicoUsd>,
    /// What it is made of.
    pub parts: Vec<Billed>,
    /// Why there is no price, or none for a part.
    pub reason: Option<String>,
}

impl Cost {
    fn unpriced(reason: String) -> Self {
        Self { status: CostStatus::Unpriced, total_usd: None, parts: Vec::new(), reason: Some(reason) }
    }
}

impl PriceTable {
    /// Returns what a response with this usage cost: by the price that held at `at`, or by the newest one where the
    /// time is not known. `service` is the way it was served in; absent for the usual one.
    pub fn cost(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
        usage: &Usage,
        at: Option<Timestamp>,
        service: Option<ServiceTier>,
    ) -> Cost {
        let Some(model) = model else { return Cost::unpriced("the source names no model".to_owned()) };
        if usage.is_empty() {
            return Cost::unpriced("the source tells no tokens".to_owned());
        }
        let own: Vec<Price> = self
            .own
            .iter()
            .filter(|own| own.fits(self, provider, model))
            .map(super::own::OwnPrice::price)
            .collect();
        let found = self.find(provider, model);
        let price = in_force(&own, at, service)
            .or_else(|| found.and_then(|found| in_force(&found.prices, at, service)));
        let Some(price) = price else {
            return Cost::unpriced(why_not(found.is_some() || !own.is_empty(), service));
        };
        billed(usage, &rates_for(price, usage), missing_usage(usage))
    }

    /// Returns the most that a request of so many tokens can cost, whatever of it comes from a cache, when it answers
    /// with at most `max_output` tokens: what a budget has to set aside before the call. Returns nothing where the
    /// model has no price.
    pub fn worst_case(
        &self,
        provider: Option<&str>,
        model: &str,
        prompt: u64,
        max_output: u64,
        at: Option<Timestamp>,
        service: Option<ServiceTier>,
    ) -> Option<PicoUsd> {
        let ways = [
            Usage { uncached_input: Some(prompt), ..Usage::default() },
            Usage { cache_write_5m: Some(prompt), ..Usage::default() },
            Usage { cache_write_1h: Some(prompt), ..Usage::default() },
        ];
        let answers = [Some(0), Some(max_output)];
        let costs = ways.into_iter().flat_map(|input| {
            answers.map(|reasoning| {
                let usage = Usage { output: Some(max_output), reasoning, ..input };
                self.cost(provider, Some(model), &usage, at, service).total_usd
            })
        });
        costs.flatten().max()
    }
}

/// Returns the price that holds: of those that apply the last one.
fn in_force(prices: &[Price], at: Option<Timestamp>, service: Option<ServiceTier>) -> Option<&Price> {
    let (day, time) = at.map(day_and_time).unzip();
    prices.iter().rev().find(|price| {
        let from = price.from.as_ref().is_none_or(|from| day.as_ref().is_none_or(|day| day >= from));
        let until = price.until.as_ref().is_none_or(|until| day.as_ref().is_some_and(|day| day < until));
        let hours =
            price.hours.as_ref().is_none_or(|hours| time.as_ref().is_some_and(|time| is_within(time, hours)));
        price.service == service && from && until && hours
    })
}

/// Returns the day and the time of the day in UTC, as the table writes them.
fn day_and_time(at: Timestamp) -> (String, String) {
    let text = at.to_string();
    let (day, time) = text.split_once('T').unwrap_or((&text, "00:00"));
    (day.to_owned(), time.chars().take(5).collect())
}

/// Hours may go over midnight; the end is not in them.
fn is_within(time: &str, (start, end): &(String, String)) -> bool {
    let (start, end) = (start.as_str(), end.as_str());
    if start <= end { start <= time && time < end } else { time >= start || time < end }
}

fn why_not(is_known: bool, service: Option<ServiceTier>) -> String {
    match service {
        Some(service) if is_known => format!("no price for the service {}", service.as_str()),
        _ if is_known => "no price at that time".to_owned(),
        _ => "not in the price table".to_owned(),
    }
}

/// Returns the rates that hold for the whole request: those of the highest threshold that its input passes. Where a
/// provider means "from the threshold on", the table's is one token lower.
fn rates_for(price: &Price, usage: &Usage) -> Rates {
    let input = usage.prompt().unwrap_or(0);
    let passed = price.above.iter().filter(|step| input > step.tokens);
    passed.fold(price.rates, |rates, step| rates.overridden_by(&step.rates))
}

/// A response without input or output tokens is one of which the source tells a part.
fn missing_usage(usage: &Usage) -> Option<&'static str> {
    match (usage.uncached_input, usage.output) {
        (None, _) => Some("the source tells no tokens of input beside the cached ones"),
        (_, None) => Some("the source tells no tokens of output"),
        _ => None,
    }
}

fn billed(usage: &Usage, rates: &Rates, missing: Option<&str>) -> Cost {
    let reasoning = usage.reasoning.unwrap_or(0).min(usage.output.unwrap_or(0));
    let buckets = [
        (Bucket::Input, usage.uncached_input.unwrap_or(0)),
        (Bucket::CacheRead, usage.cache_read.unwrap_or(0)),
        (Bucket::CacheWrite, usage.cache_write_5m.unwrap_or(0)),
        (Bucket::CacheWrite1h, usage.cache_write_1h.unwrap_or(0)),
        (Bucket::Output, usage.output.unwrap_or(0) - reasoning),
        (Bucket::Reasoning, reasoning),
    ];
    let (mut parts, mut without) = (Vec::new(), Vec::new());
    for (bucket, tokens) in buckets.into_iter().filter(|(_, tokens)| *tokens > 0) {
        match rates.of(bucket) {
            Some(rate) => parts.push(Billed { bucket, tokens, cost_usd: amount(tokens, rate) }),
            None => without.push(bucket.as_str()),
        }
    }
    let total = PicoUsd(parts.iter().map(|part| part.cost_usd.0).sum());
    let reason = match (without.as_slice(), missing) {
        ([], None) => None,
        ([], Some(missing)) => Some(missing.to_owned()),
        (without, _) => Some(format!("no rate for {}", without.join(", "))),
    };
    let status = match &reason {
        None => CostStatus::Priced,
        Some(_) if parts.is_empty() => CostStatus::Unpriced,
        Some(_) => CostStatus::PartlyUnpriced,
    };
    Cost { status, total_usd: (status != CostStatus::Unpriced).then_some(total), parts, reason }
}

fn amount(tokens: u64, rate: u64) -> PicoUsd {
    let exact = u128::from(tokens) * u128::from(rate);
    let rounded = (exact + RATE_TOKENS / 2) / RATE_TOKENS;
    // Two 64-bit numbers over a million are far below the largest 128-bit one.
    PicoUsd(i128::try_from(rounded).unwrap_or(i128::MAX))
}
