//! `prices` and `budget`: what models cost, and what may be spent.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use agent_core::price::PriceTable;
use agent_core::{BudgetPeriod, BudgetScope, BudgetSet, PicoUsd};
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use viewer::reports::{PricesAsked, Question};

use crate::cli::Common;

/// What `prices` can do.
#[derive(Debug, Subcommand)]
pub enum PricesCommand {
    /// List prices, in dollars for a million tokens
    List {
        /// A word that the provider or the model contains
        #[arg(default_value = "")]
        word: String,
    },
    /// Tell what is doubtful: an old table, sources that differ, own prices that look wrong
    Check {
        /// Check this file of own prices and do nothing else
        file: Option<PathBuf>,
    },
    /// Take in a file of own prices, which come before the table
    #[command(
        after_help = "The file is a JSON list: [{\"model\": \"my-model\", \"provider\": \"acme\", \"from\": \"2026-12-01\", \"usd_per_million_tokens\": {\"input\": \"1.50\", \"cache_read\": \"0.15\", \"output\": \"6\"}}]. Only model and rates are needed; more rates: cache_write, cache_write_1h, reasoning; until, service (batch, flex, priority, fast), above: [{\"tokens\": 200000, \"usd_per_million_tokens\": {...}}]."
    )]
    Import {
        /// The file
        file: PathBuf,
    },
    /// Tell what own prices add to the table and change in it
    Diff,
    /// Have all that is recorded priced by the table of today; what it cost before is kept
    Apply,
}

/// Does what is asked of prices.
pub fn prices(common: &Common, command: PricesCommand) -> anyhow::Result<ExitCode> {
    let what = match command {
        PricesCommand::List { word } => PricesAsked::List { word },
        PricesCommand::Check { file: Some(file) } => {
            let count = PriceTable::check_own_file(&file)?;
            eprintln!("dashcam: {}: {count} prices", file.display());
            return Ok(ExitCode::SUCCESS);
        }
        PricesCommand::Check { file: None } => PricesAsked::Check,
        PricesCommand::Import { file } => {
            PriceTable::check_own_file(&file)?;
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            PricesAsked::Import { name, text, by: who() }
        }
        PricesCommand::Diff => PricesAsked::Diff,
        PricesCommand::Apply => PricesAsked::Apply { by: who() },
    };
    crate::questions::ask(common, &Question::Prices { what })
}

/// What `budget` takes.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// The ceiling in dollars; the ceilings are listed without one
    #[arg(value_parser = ceiling)]
    usd: Option<PicoUsd>,
    /// What it holds for
    #[arg(long, value_enum, default_value_t = Period::Month)]
    per: Period,
    /// For this user only
    #[arg(long, group = "whose")]
    user: Option<String>,
    /// For this agent only
    #[arg(long, group = "whose")]
    agent: Option<String>,
    /// For this project only
    #[arg(long, group = "whose")]
    project: Option<String>,
    /// For this model only
    #[arg(long, group = "whose")]
    model: Option<String>,
    /// Take the ceiling away
    #[arg(long, conflicts_with = "usd")]
    remove: bool,
    /// Why
    #[arg(long)]
    why: Option<String>,
}

/// What a ceiling holds for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Period {
    /// All that is spent in a calendar month
    Month,
    /// What one task may cost
    Task,
}

/// Lists the ceilings, or sets one.
pub fn budget(common: &Common, args: BudgetArgs) -> anyhow::Result<ExitCode> {
    let scopes = [
        (BudgetScope::User, args.user),
        (BudgetScope::Agent, args.agent),
        (BudgetScope::Project, args.project),
        (BudgetScope::Model, args.model),
    ];
    let named = scopes.into_iter().find_map(|(scope, name)| Some((scope, name?)));
    let (scope, name) = named.map_or((BudgetScope::All, None), |(scope, name)| (scope, Some(name)));
    let set = (args.usd.is_some() || args.remove).then(|| BudgetSet {
        period: Some(match args.per {
            Period::Month => BudgetPeriod::Month,
            Period::Task => BudgetPeriod::Task,
        }),
        scope: Some(scope),
        name,
        budget_usd: args.usd,
        by: who(),
        why: args.why,
        ..BudgetSet::default()
    });
    crate::questions::ask(common, &Question::Budgets { set })
}

/// Returns who is at the terminal, as the system knows them.
fn who() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty())
}

fn ceiling(text: &str) -> Result<PicoUsd, &'static str> {
    PicoUsd::from_decimal(text.trim_start_matches('$'))
        .filter(|ceiling| ceiling.0 > 0)
        .ok_or("a number of dollars above 0 is asked for, such as 200 or 12.50")
}
