//! `sessions`, `show`, `prompt`, `diff` and `doctor`: questions to the data folder.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::Args;
use store::SessionFilter;
use viewer::reports::{AskRequest, Notes, Question, ReportError, Style, answer};
use viewer::typed_time::{TimeError, TypedTimes};

use crate::cli::{Common, FAULTY};
use crate::data::Reached;

/// What `sessions` takes.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Who asked
    #[arg(long)]
    user: Option<String>,
    /// Active at or after: "yesterday 15:00", "2026-11-30", RFC 3339
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Active before
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// The agent, such as claude-code
    #[arg(long)]
    agent: Option<String>,
    /// A model that served it
    #[arg(long)]
    model: Option<String>,
    /// The project
    #[arg(long)]
    project: Option<String>,
    /// How it stands
    #[arg(long, value_parser = ["running", "completed", "failed", "cancelled", "handed_off", "unknown"])]
    status: Option<String>,
    /// A tool that it called
    #[arg(long)]
    tool: Option<String>,
    /// Words in titles, requests, answers, tool inputs and outputs (the first 256 bytes of each)
    #[arg(long)]
    text: Option<String>,
    /// Only sessions in which something failed
    #[arg(long)]
    errors: bool,
    /// Only the sub-agents and forks of this session
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = from_one)]
    limit: Option<u32>,
}

/// Lists sessions.
pub fn sessions(common: &Common, args: SessionsArgs) -> anyhow::Result<ExitCode> {
    let times = TypedTimes::new(common.tz.as_deref())?;
    let from = args.from.as_deref().map(|text| times.read(text)).transpose()?;
    let to = args.to.as_deref().map(|text| times.read(text)).transpose()?;
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(TimeError::Empty { from, to }.into());
    }
    // Text names the zone above its times.
    if common.json && (from.is_some() || to.is_some()) {
        eprintln!("dashcam: --from and --to are read in {}", times.zone_name());
    }
    let filter = SessionFilter {
        user: args.user,
        from,
        to,
        agent: args.agent,
        model: args.model,
        project: args.project,
        status: args.status,
        tool: args.tool,
        text: args.text,
        has_error: args.errors,
        parent: args.parent,
        top_only: false,
        limit: args.limit,
        after: None,
    };
    ask(common, &Question::Sessions { filter: Box::new(filter) })
}

/// What `show` takes.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The session's name, or a unique beginning of it
    session: String,
    /// Only this turn, with all that it holds in full
    #[arg(long, value_name = "N", value_parser = from_one)]
    turn: Option<u32>,
    /// Show the events that keep the books, too
    #[arg(long)]
    all: bool,
}

/// Prints events.
pub fn show(common: &Common, args: ShowArgs) -> anyhow::Result<ExitCode> {
    ask(common, &Question::Show { session: args.session, turn: args.turn, all: args.all })
}

/// What `prompt` takes.
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// The session's name, or a unique beginning of it
    session: String,
    /// The turn
    #[arg(value_parser = from_one)]
    turn: u32,
    /// The call of the model in the turn: more than one when it was tried again
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = from_one)]
    call: u32,
}

/// Prints a prompt.
pub fn prompt(common: &Common, args: PromptArgs) -> anyhow::Result<ExitCode> {
    ask(common, &Question::Prompt { session: args.session, turn: args.turn, call: args.call })
}

/// What `diff` takes.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The session's name, or a unique beginning of it
    session: String,
    /// The later turn
    #[arg(value_parser = from_one)]
    turn: u32,
    /// The earlier turn [default: the one before]
    #[arg(value_parser = from_one)]
    against: Option<u32>,
}

/// Prints what changed between two prompts.
pub fn diff(common: &Common, args: DiffArgs) -> anyhow::Result<ExitCode> {
    ask(common, &Question::Diff { session: args.session, turn: args.turn, against: args.against })
}

/// What `doctor` takes.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Verify every commit of the journal
    #[arg(long)]
    verify: bool,
}

/// Tells how the data folder is.
pub fn doctor(common: &Common, args: DoctorArgs) -> anyhow::Result<ExitCode> {
    ask(common, &Question::Doctor { verify: args.verify })
}

/// Reads a limit, or the number of a turn or of a call in it.
fn from_one(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("it must be a whole number from 1 on"),
    }
}

/// Prints the answer to a question, from the data folder or from the Dashcam that runs on it.
pub fn ask(common: &Common, question: &Question) -> anyhow::Result<ExitCode> {
    let style = if common.json { Style::Json } else { Style::Text(crate::terminal::look(common)?) };
    match write_answer(common, question, style) {
        Ok(notes) => {
            notes.lines.iter().for_each(|line| eprintln!("dashcam: {line}"));
            Ok(if notes.faulty { ExitCode::from(FAULTY) } else { ExitCode::SUCCESS })
        }
        // `dashcam show ... | head` is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error),
    }
}

fn write_answer(common: &Common, question: &Question, style: Style) -> anyhow::Result<Notes> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let notes = match crate::data::reach(common)? {
        Reached::Store(store) => answer(&store, question, &style, &mut out)?,
        Reached::Running(running) => {
            running.ask(&AskRequest { question: question.clone(), style }, &mut out)?
        }
    };
    out.flush().map_err(ReportError::Write)?;
    Ok(notes)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| match cause.downcast_ref::<ReportError>() {
        Some(ReportError::Write(error)) => error.kind() == ErrorKind::BrokenPipe,
        _ => {
            cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
        }
    })
}
