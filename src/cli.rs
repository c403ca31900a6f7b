//! What can be typed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use viewer::typed_time::TypedTimes;

/// Exit code: the answer was given, and shows a fault or nothing found.
pub const FAULTY: u8 = 1;
/// Exit code: what was typed makes no sense; clap uses it, too.
pub const NOT_KNOWN: u8 = 2;
/// Exit code: it could not be done.
pub const FAILED: u8 = 3;

/// The flight recorder for AI agents.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 done with faults to look at, 2 words it does not know, 3 could not be done, 130 broken off by Ctrl-C."
)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every subcommand takes.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// The data folder [default: the platform's, such as ~/.local/share/dashcam]
    #[arg(long, global = true, env = "DASHCAM_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print JSON Lines for scripts
    #[arg(long, global = true)]
    pub json: bool,
    /// The time zone that times are given and shown in, such as Europe/Berlin [default: the machine's]
    #[arg(long, global = true, value_name = "ZONE")]
    pub tz: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch the places where agents keep their sessions, and serve the pages
    Up(crate::up::UpArgs),
    /// Read session files, once
    Import(crate::import::ImportArgs),
    /// List sessions, newest first
    #[command(
        after_help = "ERRORS: calls of tools that failed by themselves, and failed calls of models. NOT RUN: calls of tools that were rejected or cancelled. JSON's failed_tool_calls: all calls of tools that did not succeed."
    )]
    Sessions(crate::questions::SessionsArgs),
    /// Print the events of a session, or of one turn
    Show(crate::questions::ShowArgs),
    /// Print the prompt of a turn: its bytes on stdout, how exact it is on stderr
    Prompt(crate::questions::PromptArgs),
    /// Print what changed in the prompt from one turn to another
    Diff(crate::questions::DiffArgs),
    /// Tell what was spent: tokens and money, by day, model, user and so on
    Cost(crate::figures::CostArgs),
    /// Tell how agents do: tasks, tools, models, skills, memories
    Metrics(crate::figures::MetricsArgs),
    /// List, check, import and apply prices of models
    #[command(subcommand)]
    Prices(crate::prices::PricesCommand),
    /// List the ceilings for money, or set one
    Budget(crate::prices::BudgetArgs),
    /// Make the tables again from the journal
    Rebuild,
    /// Print a fresh link to the pages of the Dashcam that runs
    Link,
    /// Tell how the data folder is, and what is wrong with it
    Doctor(crate::questions::DoctorArgs),
    /// Write example sessions and open them
    Demo(crate::demo::DemoArgs),
    /// Look into the journal
    #[command(subcommand)]
    Journal(crate::journal::JournalCommand),
}

impl Cli {
    /// Runs the subcommand.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let common = &self.common;
        if let Some(data) = common.data.as_deref().filter(|data| data.is_file()) {
            anyhow::bail!("--data {} is a file; it must be a folder", data.display());
        }
        if let Some(zone) = common.tz.as_deref() {
            TypedTimes::new(Some(zone))?;
        }
        match self.command {
            Command::Up(args) => crate::up::run(common, &args),
            Command::Import(args) => crate::import::run(common, &args),
            Command::Sessions(args) => crate::questions::sessions(common, args),
            Command::Show(args) => crate::questions::show(common, args),
            Command::Prompt(args) => crate::questions::prompt(common, args),
            Command::Diff(args) => crate::questions::diff(common, args),
            Command::Cost(args) => crate::figures::cost(common, args),
            Command::Metrics(args) => crate::figures::metrics(common, args),
            Command::Prices(command) => crate::prices::prices(common, command),
            Command::Budget(args) => crate::prices::budget(common, args),
            Command::Rebuild => crate::rebuild::run(common),
            Command::Link => crate::link::run(common),
            Command::Doctor(args) => crate::questions::doctor(common, args),
            Command::Demo(args) => crate::demo::run(common, &args),
            Command::Journal(command) => crate::journal::run(common, &command),
        }
    }
}
