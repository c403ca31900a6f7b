//! What the store says of costs, and the charts that are made of it.

use std::collections::BTreeMap;

use agent_core::{PicoUsd, Timestamp};
use jiff::tz::TimeZone;
use store::metrics::{Budget, Group, Scope, Spend, Targets, UnpricedModel};
use store::{Store, StoreError};

use super::super::scope::Chosen;
use crate::charts::{Bars, Heat, Lines, Ranked, RankedRow, Series};
use crate::format::{counted, money, short};
use crate::links;
use crate::markup::one_line;
use crate::pages::money::of_spend;
use crate::times::Clock;

/// Rows of a ranked chart.
const RANKED: usize = 20;
/// Days that are drawn; of a longer period the last ones.
const MOST_DAYS: usize = 400;
const PICO: f64 = 1e12;

/// What the store says.
pub(super) struct Known {
    pub(super) total: Spend,
    pub(super) sessions: u64,
    pub(super) tasks: u64,
    /// By day and by what the bars are made of.
    pub(super) by_day: Vec<Spend>,
    pub(super) by_part: Vec<Spend>,
    pub(super) by_hour: Vec<Spend>,
    pub(super) by_session: Vec<Spend>,
    pub(super) unpriced: Vec<UnpricedModel>,
    /// What is spent in this month, by everybody.
    pub(super) month: Spend,
    pub(super) budgets: Vec<Budget>,
    pub(super) targets: Targets,
    /// The price table, in words.
    pub(super) table: String,
}

impl Known {
    pub(super) fn read(
        store: &Store,
        scope: &Scope,
        part: Group,
        zone: &TimeZone,
        month: Option<Timestamp>,
    ) -> Result<Self, crate::errors::PageError> {
        // Two halves that take about as long.
        std::thread::scope(|threads| {
            let other = threads.spawn(|| -> Result<_, StoreError> {
                Ok((
                    store.spend(scope, &[Group::Session], zone)?,
                    store.unpriced_models(scope)?,
                    store.tasks(scope, &[], zone)?.first().map_or(0, |row| row.runs),
                ))
            });
            let by_day = store.spend(scope, &[Group::Day, part], zone)?;
            let by_part = store.spend(scope, &[part], zone)?;
            let by_hour = store.spend(scope, &[Group::Weekday, Group::Hour], zone)?;
            let this_month = Scope { from: month, ..Scope::default() };
            let month = store.spend(&this_month, &[], zone)?.pop().unwrap_or_default();
            let budgets = store.budgets()?;
            let table = store.price_table().map_err(StoreError::from)?;
            let (by_session, unpriced, tasks) =
                other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok(Self {
                total: Spend::total(&by_part),
                sessions: by_session.len() as u64,
                tasks,
                by_day,
                by_part,
                by_hour,
                by_session,
                unpriced,
                month,
                budgets,
                targets: Targets::default(),
                table: format!(
                    "{}, made {} of {}",
                    table.hash(),
                    table.made(),
                    table.sources().join(" and ")
                ),
            })
        })
    }

    /// Returns the days that are drawn, also those without a call.
    pub(super) fn days(&self, chosen: &Chosen, clock: &Clock) -> Vec<String> {
        let mut with_calls: Vec<String> =
            self.by_day.iter().filter_map(|row| row.groups[0].clone()).collect();
        with_calls.sort();
        let mut days = match chosen.scope.from {
            Some(from) if chosen.scope.to.is_none() => clock.days_since(from),
            _ => {
                with_calls.dedup();
                with_calls
            }
        };
        days.drain(..days.len().saturating_sub(MOST_DAYS));
        days
    }

    pub(super) fn cost_by_day(&self, days: &[String], chosen: &Chosen) -> Option<Bars> {
        let dollars = |row: &Spend| row.cost_usd.0 as f64 / PICO;
        // What has no price is named above the charts; a bar of $0 would say that it cost nothing.
        let mut series = self.series(days, dollars);
        series.retain(|one| one.figures.iter().any(|dollars| *dollars > 0.0));
        let show = |dollars: f64| money(PicoUsd((dollars * PICO).round() as i128));
        (!days.is_empty())
            .then(|| Bars::new("Cost per day", &linked(days, chosen), series, show, chosen.csv("day")))
    }

    /// Returns a series for each part, in the order of the days.
    fn series(&self, days: &[String], figure: impl Fn(&Spend) -> f64) -> Vec<Series> {
        let mut parts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in &self.by_day {
            let Some(at) = row.groups[0].as_ref().and_then(|day| days.binary_search(day).ok()) else {
                continue;
            };
            let name = name_of(row, 1);
            parts.entry(name).or_insert_with(|| vec![0.0; days.len()])[at] += figure(row);
        }
        parts.into_iter().map(|(name, figures)| Series { name, figures }).collect()
    }

    /// Returns the sums of each day.
    fn day_sums(&self, days: &[String]) -> Vec<Spend> {
        let mut sums = vec![Spend::default(); days.len()];
        for row in &self.by_day {
            if let Some(at) = row.groups[0].as_ref().and_then(|day| days.binary_search(day).ok()) {
                sums[at].add(row);
            }
        }
        sums
    }

    pub(super) fn tokens_by_day(&self, days: &[String], chosen: &Chosen) -> Option<Bars> {
        let sums = self.day_sums(days);
        let series = [
            ("read from the cache", (|row| row.cache_read_tokens) as fn(&Spend) -> u64),
            ("written to the cache", |row| row.cache_write_5m_tokens + row.cache_write_1h_tokens),
            ("input without the cache", |row| row.uncached_input_tokens),
            ("output", |row| row.output_tokens),
        ]
        .map(|(name, figure)| Series {
            name: name.to_owned(),
            figures: sums.iter().map(|row| figure(row) as f64).collect(),
        });
        let show = |tokens: f64| short(tokens as u64);
        (!days.is_empty()).then(|| {
            Bars::new("Tokens per day", &linked(days, chosen), series.into(), show, chosen.csv("tokens"))
        })
    }

    pub(super) fn cache_by_day(&self, days: &[String], chosen: &Chosen) -> Option<Lines> {
        let sums = self.day_sums(days);
        let ratios: Vec<_> = days.iter().cloned().zip(sums.iter().map(Spend::cache_hit_ratio)).collect();
        let target = self.targets.cache_hit_ratio;
        (!days.is_empty()).then(|| {
            Lines::new("Share of the input read from the cache", &ratios, target, chosen.csv("cache"))
        })
    }

    pub(super) fn ranked(&self, chosen: &Chosen, part: &'static str) -> Ranked {
        let row = |row: &Spend| {
            let word = row.groups[0].as_deref();
            ranked_row(row, name_of(row, 0), word.map(|word| chosen.sessions(&[(part, Some(word))])))
        };
        Ranked::new("Where it goes", self.by_part.iter().map(row).collect(), RANKED, chosen.csv("parts"))
    }

    pub(super) fn dearest(&self, chosen: &Chosen) -> Ranked {
        let row =
            |row: &Spend| ranked_row(row, name_of(row, 0), row.groups[0].as_deref().map(links::session));
        let rows = self.by_session.iter().take(RANKED + 1).map(row).collect();
        let mut ranked = Ranked::new("Dearest sessions", rows, RANKED, chosen.csv("sessions"));
        if self.by_session.len() > RANKED {
            ranked.more = Some(format!("{RANKED} of {} shown", self.by_session.len()));
        }
        ranked
    }

    pub(super) fn by_hour(&self, chosen: &Chosen) -> Heat {
        let mut figures = [[0.0; 24]; 7];
        for row in &self.by_hour {
            let at = |place: usize| row.groups[place].as_deref().and_then(|word| word.parse::<usize>().ok());
            if let (Some(day @ 1..=7), Some(hour @ 0..=23)) = (at(0), at(1)) {
                figures[day - 1][hour] += row.cost_usd.0 as f64 / PICO;
            }
        }
        let show = |dollars: f64| money(PicoUsd((dollars * PICO).round() as i128));
        Heat::new("Cost by day of the week and hour", &figures, show, chosen.csv("hours"))
    }
}

/// Returns the days, each with the address of its sessions.
fn linked(days: &[String], chosen: &Chosen) -> Vec<(String, String)> {
    days.iter().map(|day| (day.clone(), chosen.sessions(&[("from", Some(day)), ("to", Some(day))]))).collect()
}

fn name_of(row: &Spend, place: usize) -> String {
    row.groups[place]
        .as_deref()
        .map(one_line)
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "(not known)".to_owned())
}

fn ranked_row(row: &Spend, name: String, href: Option<String>) -> RankedRow {
    let cost = of_spend(row);
    RankedRow {
        name,
        href,
        words: cost.words,
        detail: format!("{}, {} in", counted(row.calls, "call", "calls"), short(row.input_tokens())),
        figure: row.cost_usd.0 as f64 / PICO,
        share: 0.0,
    }
}
