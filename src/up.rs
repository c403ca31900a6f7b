//! `dashcam up`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use collector::{Noticing, agent_places};

use crate::cli::Common;
use crate::serve::{self, Served};

/// What `up` takes.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// A folder with session files; may be given several times
    #[arg(long, value_name = "DIR")]
    watch: Vec<PathBuf>,
    /// Watch only the folders given with --watch, not the homes of agents
    #[arg(long)]
    no_homes: bool,
    /// Look at all files every two seconds, where the file system tells of no changes (network folders)
    #[arg(long)]
    poll: bool,
    /// The address of the pages
    #[arg(long, default_value = "127.0.0.1:7117", value_name = "ADDRESS")]
    viewer: SocketAddr,
    /// The address where agents send events
    #[arg(long, default_value = "127.0.0.1:4318", value_name = "ADDRESS")]
    intake: SocketAddr,
}

/// Watches and serves until Ctrl-C.
pub fn run(common: &Common, args: &UpArgs) -> anyhow::Result<ExitCode> {
    let mut folders = args.watch.clone();
    if !args.no_homes {
        folders.extend(agent_places().into_iter().map(|place| place.folder));
    }
    let noticing = if args.poll { Noticing::Polling } else { Noticing::Events };
    let served = Served { folders, noticing, viewer: args.viewer, intake: args.intake };
    served.check()?;
    let store = crate::data::open(common)?;
    if served.folders.is_empty() {
        eprintln!(
            "dashcam: nothing to watch: no Claude Code or Codex home was found; give --watch DIR, or try `dashcam demo`"
        );
    }
    serve::until_interrupt(&store, served)?;
    Ok(ExitCode::SUCCESS)
}
