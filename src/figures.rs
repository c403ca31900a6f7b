//! `cost` and `metrics`: figures over many sessions.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use store::metrics::{Group, Scope};
use viewer::reports::{MetricClass, Question};
use viewer::typed_time::{TimeError, TypedTimes};

use crate::cli::Common;

/// Of what figures are asked.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// What began at or after: "yesterday 15:00", "2026-11-30", RFC 3339
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// What began before
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Who asked
    #[arg(long)]
    user: Option<String>,
    /// The agent, such as claude-code
    #[arg(long)]
    agent: Option<String>,
    /// The agent's version
    #[arg(long = "agent-version", value_name = "VERSION")]
    version: Option<String>,
    /// The model that served
    #[arg(long)]
    model: Option<String>,
    /// The project
    #[arg(long)]
    project: Option<String>,
    /// A tag of the session
    #[arg(long)]
    tag: Option<String>,
}

/// What `cost` takes.
#[derive(Debug, Args)]
pub struct CostArgs {
    /// A line each
    #[arg(long, value_enum)]
    by: Option<By>,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// What `metrics` takes.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    /// Which figures
    #[arg(value_enum, default_value_t = Class::Task)]
    class: Class,
    /// A line each
    #[arg(long, value_enum)]
    by: Option<By>,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// What figures are grouped by.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Day,
    Hour,
    Weekday,
    Agent,
    Model,
    User,
    Project,
    Version,
    Tag,
    Session,
}

impl By {
    fn group(self) -> Group {
        match self {
            Self::Day => Group::Day,
            Self::Hour => Group::Hour,
            Self::Weekday => Group::Weekday,
            Self::Agent => Group::Agent,
            Self::Model => Group::Model,
            Self::User => Group::User,
            Self::Project => Group::Project,
            Self::Version => Group::Version,
            Self::Tag => Group::Tag,
            Self::Session => Group::Session,
        }
    }
}

/// Which figures.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Class {
    /// How tasks end, how long they take, what the user makes of them
    Task,
    /// Calls of tools, how they end, how long they take
    Tool,
    /// How fast models answer, how often they fail
    Model,
    /// Skills that were offered, called up, never used
    Skill,
    /// Memories that were written and recalled
    Memory,
}

/// Tells what was spent.
pub fn cost(common: &Common, args: CostArgs) -> anyhow::Result<ExitCode> {
    let times = TypedTimes::new(common.tz.as_deref())?;
    let question = Question::Cost {
        scope: Box::new(scope(common, args.scope, &times)?),
        by: args.by.map(By::group),
        zone: times.zone_text(),
    };
    crate::questions::ask(common, &question)
}

/// Tells how agents do.
pub fn metrics(common: &Common, args: MetricsArgs) -> anyhow::Result<ExitCode> {
    let times = TypedTimes::new(common.tz.as_deref())?;
    let question = Question::Metrics {
        scope: Box::new(scope(common, args.scope, &times)?),
        by: args.by.map(By::group),
        class: match args.class {
            Class::Task => MetricClass::Task,
            Class::Tool => MetricClass::Tool,
            Class::Model => MetricClass::Model,
            Class::Skill => MetricClass::Skill,
            Class::Memory => MetricClass::Memory,
        },
        zone: times.zone_text(),
    };
    crate::questions::ask(common, &question)
}

fn scope(common: &Common, args: ScopeArgs, times: &TypedTimes) -> anyhow::Result<Scope> {
    let from = args.from.as_deref().map(|text| times.read(text)).transpose()?;
    let to = args.to.as_deref().map(|text| times.read(text)).transpose()?;
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(TimeError::Empty { from, to }.into());
    }
    if common.json {
        eprintln!("dashcam: days and hours are those of {}", times.zone_name());
    }
    Ok(Scope {
        from,
        to,
        agent: args.agent,
        model: args.model,
        user: args.user,
        project: args.project,
        version: args.version,
        tag: args.tag,
    })
}
