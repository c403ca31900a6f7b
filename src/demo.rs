//! `dashcam demo`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use collector::demo::write_demo;
use collector::{Importer, Noticing};

use crate::cli::Common;
use crate::serve::{self, Served};

/// What `demo` takes.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// The address of the pages
    #[arg(long, default_value = "127.0.0.1:7117", value_name = "ADDRESS")]
    viewer: SocketAddr,
    /// The address where agents send events
    #[arg(long, default_value = "127.0.0.1:4318", value_name = "ADDRESS")]
    intake: SocketAddr,
    /// Write the session files into DIR and end
    #[arg(long, value_name = "DIR", conflicts_with_all = ["viewer", "intake"])]
    write: Option<PathBuf>,
}

/// Writes the example sessions; unless only the files are wanted, imports and serves them until Ctrl-C.
pub fn run(common: &Common, args: &DemoArgs) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &args.write {
        for file in write_demo(folder)? {
            eprintln!("dashcam: an example session is in {}", file.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let noticing = Noticing::default();
    let mut served = Served { folders: Vec::new(), noticing, viewer: args.viewer, intake: args.intake };
    served.check()?;
    let store = crate::data::open(common)?;
    let folder = store.folder().join("demo");
    let files = write_demo(&folder)?;
    let importer = Importer::new(store.clone());
    for file in &files {
        importer.import(file, &mut |_| {}).with_context(|| format!("cannot import {}", file.display()))?;
    }
    eprintln!("dashcam: {} example sessions are in {}", files.len(), folder.display());
    drop(importer);
    served.folders.push(folder);
    serve::until_interrupt(&store, served)?;
    Ok(ExitCode::SUCCESS)
}
