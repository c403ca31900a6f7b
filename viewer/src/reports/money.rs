//! `dashcam prices` and `dashcam budget`.

use std::io::Write;

use agent_core::price::{Change, Complaint, ListedPrice, PriceTable};
use agent_core::{Body, BudgetPeriod, BudgetScope, BudgetSet, PicoUsd, Timestamp};
use serde::{Deserialize, Serialize};
use store::Store;

use super::look::{Ink, Paper};
use super::plain::printable;
use super::table::{Column, Table};
use super::{Notes, ReportError, Style, json_line};
use crate::format::{known, money};

/// What is asked of prices.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "prices", rename_all = "snake_case")]
pub enum PricesAsked {
    /// Those whose provider or model contains a word.
    List {
        /// The word; all where it is empty.
        word: String,
    },
    /// What is doubtful about them.
    Check,
    /// How the table of the data folder differs from the one that is built in.
    Diff,
    /// Take in a file of own prices.
    Import {
        /// The file's name.
        name: String,
        /// What stands in it.
        text: String,
        /// Who does it.
        by: Option<String>,
    },
    /// Have all that is recorded priced by the table of today.
    Apply {
        /// Who does it.
        by: Option<String>,
    },
}

pub(super) fn prices(
    store: &Store,
    asked: &PricesAsked,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    match asked {
        PricesAsked::List { word } => list(&*store.price_table()?, word, style, out),
        PricesAsked::Check => check(store, style, out),
        PricesAsked::Diff => diff(&*store.price_table()?, style, out),
        PricesAsked::Import { name, text, by } => {
            let count = store.import_prices(name, text.as_bytes(), by.clone())?;
            Ok(note(format!(
                "{count} prices taken in; `dashcam prices apply` has all that is recorded priced by them"
            )))
        }
        PricesAsked::Apply { by } => {
            let repriced = store.reprice(by.clone(), &mut |_, _| {})?;
            Ok(note(format!(
                "priced by the table {}: {} sessions changed, from {} to {}",
                repriced.table,
                repriced.sessions,
                money(repriced.before_usd),
                money(repriced.now_usd)
            )))
        }
    }
}

fn note(line: String) -> Notes {
    Notes { lines: vec![line], faulty: false }
}

fn list(table: &PriceTable, word: &str, style: &Style, out: &mut dyn Write) -> Result<Notes, ReportError> {
    let prices = table.list(word);
    match style {
        Style::Json => prices.iter().try_for_each(|price| json_line(out, price))?,
        Style::Text(look) => list_table(&prices, &mut Paper::new(look, out)?)?,
    }
    let mut lines =
        vec![format!("table {}, made {} of {}", table.hash(), table.made(), table.sources().join(" and "))];
    if prices.is_empty() {
        lines.push("no price fits".to_owned());
    }
    Ok(Notes { lines, faulty: false })
}

fn list_table(prices: &[ListedPrice], paper: &mut Paper<'_>) -> Result<(), ReportError> {
    let mut headings: Vec<Column> = ["PROVIDER", "MODEL", "WHEN"].map(Column::words).into();
    headings.extend(["IN", "CACHE READ", "WRITE 5M", "WRITE 1H", "OUT"].map(Column::figures));
    let mut table = Table::new(headings);
    for price in prices {
        let rates = &price.usd_per_million_tokens;
        let rate = |rate: Option<u64>| known(rate, |rate| PicoUsd(rate.into()).to_string());
        table.row(vec![
            printable(&price.provider),
            printable(&price.model),
            when(price),
            rate(rates.input),
            rate(rates.cache_read),
            rate(rates.cache_write),
            rate(rates.cache_write_1h),
            rate(rates.output),
        ]);
    }
    write_table(table, paper)
}

fn when(price: &ListedPrice) -> String {
    [
        price.is_own.then(|| "own".to_owned()),
        price.service.map(|service| service.as_str().to_owned()),
        price.from.as_ref().map(|from| format!("from {from}")),
        price.until.as_ref().map(|until| format!("until {until}")),
        price.hours.as_ref().map(|(start, end)| format!("{start}-{end} UTC")),
        price.above_tokens.map(|tokens| format!("above {tokens}")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

fn check(store: &Store, style: &Style, out: &mut dyn Write) -> Result<Notes, ReportError> {
    let today = Timestamp::now().to_string();
    let table = store.price_table()?;
    let complaints = table.check(today.split('T').next().unwrap_or_default());
    match style {
        Style::Json => complaints.iter().try_for_each(|complaint| json_line(out, complaint))?,
        Style::Text(look) => {
            let mut paper = Paper::new(look, out)?;
            for complaint in &complaints {
                paper.line(&printable(&complaint_words(complaint)))?;
            }
        }
    }
    let mut lines = Vec::new();
    let others = store.calls_by_other_tables()?;
    if others > 0 {
        lines.push(format!(
            "{others} calls are priced by another table; `dashcam prices apply` prices them anew"
        ));
    }
    // That the sources differ somewhere, and that models retire, is how things are; the rest is to be mended.
    let faulty = complaints
        .iter()
        .any(|complaint| !matches!(complaint, Complaint::SourcesDiffer { .. } | Complaint::Retired { .. }));
    Ok(Notes { lines, faulty })
}

fn complaint_words(complaint: &Complaint) -> String {
    match complaint {
        Complaint::Old { made, days } => {
            format!("the table was made {made}, {days} days ago: a newer Dashcam has a newer one")
        }
        Complaint::SourcesDiffer { provider, model, other } => {
            let rates: Vec<String> = other.iter().map(|(bucket, rate)| format!("{bucket} ${rate}")).collect();
            format!("{provider}/{model}: the other source has {}", rates.join(", "))
        }
        Complaint::Retired { provider, model, since } => {
            format!("{provider}/{model}: served no more since {since}")
        }
        Complaint::Overlap { model } => {
            format!("{model}: two own prices hold at the same time, the later one counts")
        }
        Complaint::OddRate { model, bucket, rate } => {
            format!("{model}: {bucket} costs ${rate} for a million tokens; is that meant?")
        }
    }
}

fn diff(table: &PriceTable, style: &Style, out: &mut dyn Write) -> Result<Notes, ReportError> {
    let differences = PriceTable::built_in().differences(table);
    match style {
        Style::Json => differences.iter().try_for_each(|difference| json_line(out, difference))?,
        Style::Text(look) => {
            let mut paper = Paper::new(look, out)?;
            for difference in &differences {
                let word = match difference.change {
                    Change::Added { .. } => "added",
                    Change::Removed { .. } => "removed",
                    Change::Changed { .. } => "changed",
                };
                paper.line(&printable(&format!("{word}: {}/{}", difference.provider, difference.price)))?;
            }
        }
    }
    let none = differences.is_empty().then(|| "the folder has no prices of its own".to_owned());
    Ok(Notes { lines: none.into_iter().collect(), faulty: false })
}

/// A ceiling for scripts, with what is spent of it.
#[derive(Serialize)]
struct BudgetLine<'a> {
    period: BudgetPeriod,
    scope: BudgetScope,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    ceiling_usd: PicoUsd,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

pub(super) fn budgets(
    store: &Store,
    set: Option<&BudgetSet>,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    if let Some(set) = set {
        store.decide(Body::BudgetSet(set.clone()))?;
    }
    let budgets = store.budgets()?;
    match style {
        Style::Json => {
            for budget in &budgets {
                let line = BudgetLine {
                    period: budget.period,
                    scope: budget.scope,
                    name: &budget.name,
                    ceiling_usd: budget.ceiling_usd,
                    set_at: budget.set_at,
                    set_by: budget.set_by.as_deref(),
                    why: budget.why.as_deref(),
                };
                json_line(out, &line)?;
            }
        }
        Style::Text(look) => {
            let mut paper = Paper::new(look, out)?;
            let mut table = Table::new(vec![
                Column::words("FOR"),
                Column::words("WHOSE"),
                Column::figures("CEILING"),
                Column::words("SET"),
                Column::words("BY"),
                Column::words("WHY"),
            ]);
            for budget in &budgets {
                table.row(vec![
                    format!("a {}", budget.period.as_str()),
                    printable(&format!("{} {}", budget.scope.as_str(), budget.name)),
                    money(budget.ceiling_usd),
                    known(paper.clock.written(budget.set_at, "%Y-%m-%d %H:%M"), |time| time),
                    known(budget.set_by.as_deref(), printable),
                    known(budget.why.as_deref(), printable),
                ]);
            }
            if !budgets.is_empty() {
                write_table(table, &mut paper)?;
            }
        }
    }
    let none = "no ceiling is set; `dashcam budget 200` sets one for a month of everybody";
    Ok(Notes { lines: if budgets.is_empty() { vec![none.to_owned()] } else { Vec::new() }, faulty: false })
}

fn write_table(table: Table, paper: &mut Paper<'_>) -> Result<(), ReportError> {
    for (at, line) in table.lines().iter().enumerate() {
        let line = if at == 0 { paper.paint(Ink::Quiet, line) } else { line.clone() };
        paper.line(&line)?;
    }
    Ok(())
}
