//! What is doubtful about a price table, and how two tables differ.

use serde::Serialize;
use std::collections::BTreeMap;

use super::own::OwnPrice;
use super::rates::Rates;
use super::table::{ListedPrice, PriceTable};
use crate::PicoUsd;

/// An older table is worth a look for a newer one.
const OLD_AFTER_DAYS: i32 = 30;
/// Dollars for a million tokens that no model has ever cost: who writes more has taken another unit.
const ABSURD: u64 = 10_000 * 1_000_000_000_000;
/// Less than a ten-thousandth of a dollar for a million tokens: who writes less has written dollars for a token.
const TINY: u64 = 100_000_000;

/// Something doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "complaint", rename_all = "snake_case")]
pub enum Complaint {
    /// The table is old.
    Old {
        /// When it was made.
        made: String,
        /// How many days ago.
        days: i32,
    },
    /// The two sources differ by more than 1 %; the first one's rate holds.
    SourcesDiffer {
        /// The provider.
        provider: String,
        /// The name.
        model: String,
        /// The rates of the source that does not hold, in dollars for a million tokens.
        other: BTreeMap<String, String>,
    },
    /// The provider serves the model no more.
    Retired {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// Since when.
        since: String,
    },
    /// Two own prices of one model hold at the same time; the later one in the files counts.
    Overlap {
        /// The model.
        model: String,
    },
    /// A rate that looks as if it were meant for one token, or for a thousand.
    OddRate {
        /// The model.
        model: String,
        /// The bucket.
        bucket: &'static str,
        /// Dollars for a million tokens.
        rate: PicoUsd,
    },
}

/// How a price changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added {
        /// The rates now.
        now: Rates,
    },
    /// It is gone.
    Removed {
        /// The rates before.
        before: Rates,
    },
    /// The rates differ.
    Changed {
        /// The rates before.
        before: Rates,
        /// The rates now.
        now: Rates,
    },
}

/// One price that two tables do not share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The provider.
    pub provider: String,
    /// The model, with what else tells the price from its others.
    pub price: String,
    /// What became of it.
    #[serde(flatten)]
    pub change: Change,
}

impl PriceTable {
    /// Returns what is doubtful about the table on the day `today`, such as `2026-12-01`.
    pub fn check(&self, today: &str) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        complaints.extend(self.age(today));
        complaints.extend(overlaps(&self.own));
        complaints.extend(self.own.iter().flat_map(odd_rates));
        for model in &self.models {
            if let Some(differs) = &model.differs {
                complaints.push(Complaint::SourcesDiffer {
                    provider: model.provider.clone(),
                    model: differs.name.clone(),
                    other: differs.rates.clone(),
                });
            }
        }
        for model in &self.models {
            if let Some(since) = model.retired.as_ref().filter(|since| since.as_str() <= today) {
                complaints.push(Complaint::Retired {
                    provider: model.provider.clone(),
                    model: model.model.clone(),
                    since: since.clone(),
                });
            }
        }
        complaints
    }

    fn age(&self, today: &str) -> Option<Complaint> {
        let day = |text: &str| text.parse::<jiff::civil::Date>().ok();
        let days = (day(today)? - day(self.made())?).get_days();
        (days > OLD_AFTER_DAYS).then(|| Complaint::Old { made: self.made().to_owned(), days })
    }

    /// Returns the prices that this table and a newer one do not share.
    pub fn differences(&self, newer: &Self) -> Vec<Difference> {
        let (before, now) = (by_price(self), by_price(newer));
        let mut differences = Vec::new();
        for (key, rates) in &before {
            let change = match now.get(key) {
                None => Change::Removed { before: *rates },
                Some(other) if other != rates => Change::Changed { before: *rates, now: *other },
                Some(_) => continue,
            };
            differences.push(difference(key, change));
        }
        let added = now.iter().filter(|(key, _)| !before.contains_key(*key));
        differences.extend(added.map(|(key, rates)| difference(key, Change::Added { now: *rates })));
        differences.sort_by(|a, b| (&a.provider, &a.price).cmp(&(&b.provider, &b.price)));
        differences
    }
}

fn difference((provider, price): &(String, String), change: Change) -> Difference {
    Difference { provider: provider.clone(), price: price.clone(), change }
}

fn by_price(table: &PriceTable) -> BTreeMap<(String, String), Rates> {
    table
        .list("")
        .into_iter()
        .map(|price| ((price.provider.clone(), name_of(&price)), price.usd_per_million_tokens))
        .collect()
}

fn name_of(price: &ListedPrice) -> String {
    let mut name = price.model.clone();
    if let Some(service) = price.service {
        name.push_str(&format!(", {}", service.as_str()));
    }
    if let Some(from) = &price.from {
        name.push_str(&format!(", from {from}"));
    }
    if let Some((start, end)) = &price.hours {
        name.push_str(&format!(", {start} to {end} UTC"));
    }
    if let Some(tokens) = price.above_tokens {
        name.push_str(&format!(", above {tokens} tokens"));
    }
    name
}

/// Days stand in the order of their letters.
fn overlaps(own: &[OwnPrice]) -> impl Iterator<Item = Complaint> + '_ {
    let overlap = |a: &OwnPrice, b: &OwnPrice| {
        let before = |until: &Option<String>, from: &Option<String>| match (until, from) {
            (Some(until), Some(from)) => until <= from,
            _ => false,
        };
        a.model.eq_ignore_ascii_case(&b.model)
            && (&a.provider, a.service) == (&b.provider, b.service)
            && !before(&a.until, &b.from)
            && !before(&b.until, &a.from)
    };
    own.iter().enumerate().filter_map(move |(at, price)| {
        let other = own[..at].iter().any(|other| overlap(other, price));
        other.then(|| Complaint::Overlap { model: price.model.clone() })
    })
}

fn odd_rates(price: &OwnPrice) -> Vec<Complaint> {
    let odd = |rate: u64| rate > ABSURD || (rate > 0 && rate < TINY);
    let complaint = |(bucket, rate)| Complaint::OddRate {
        model: price.model.clone(),
        bucket,
        rate: PicoUsd(i128::from(rate)),
    };
    price.usd_per_million_tokens.named().filter(|(_, rate)| odd(*rate)).map(complaint).collect()
}
