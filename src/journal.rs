//! `dashcam journal`.

use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::Subcommand;
use store::{Journal, Position};

use crate::cli::Common;

/// What can be done with the journal.
#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Print records as JSON Lines
    Cat {
        /// The first record
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// The last record [default: the last there is]
        #[arg(long)]
        to: Option<u64>,
    },
    /// Verify every commit and the chain between them
    Verify,
}

/// Looks into the journal.
pub fn run(common: &Common, command: &JournalCommand) -> anyhow::Result<ExitCode> {
    let (journal, _) = Journal::open(&crate::data::folder(common)?.join("journal"))?;
    match *command {
        JournalCommand::Cat { from, to } => cat(&journal, from, to.unwrap_or(journal.last().0)),
        JournalCommand::Verify => {
            writeln!(std::io::stdout(), "{} records hold", journal.verify()?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn cat(journal: &Journal, from: u64, to: u64) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for position in from.max(1)..=to {
        let line = journal.read(Position(position))?.to_json_line(Position(position));
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
