//! `dashcam import`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use collector::http::{ImportNews, ImportRequest};
use collector::{Importer, report};
use indicatif::{ProgressBar, ProgressStyle};

use store::{Store, StoreError};

use crate::cli::{Common, FAULTY};
use crate::running::Running;

/// What `import` takes.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Session files, or folders to look through
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Reads the files and reports on each.
pub fn run(common: &Common, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    match Store::open(&crate::data::folder(common)?, collector::mappers()) {
        Ok(store) => import_here(common, args, &Importer::new(store)),
        Err(StoreError::InUse { folder, .. }) => import_there(common, args, &Running::find(&folder)?),
        Err(error) => Err(error.into()),
    }
}

fn import_here(common: &Common, args: &ImportArgs, importer: &Importer) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let mut outcome = report::ImportReport::default();
    for path in &args.paths {
        let bar = bar_for(path);
        let mut emit = |line: &report::FileLine| -> std::io::Result<()> {
            if common.json {
                serde_json::to_writer(&mut out, line)?;
                return writeln!(out);
            }
            bar.suspend(|| writeln!(out, "{line}"))
        };
        report::import_path(importer, path, &mut |bytes| bar.inc(bytes), &mut emit, &mut outcome)
            .with_context(|| format!("cannot import {}", path.display()))?;
        bar.finish_and_clear();
    }
    Ok(tell(&outcome))
}

/// Has the Dashcam that runs on the data folder read the files.
fn import_there(common: &Common, args: &ImportArgs, running: &Running) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let absolute =
        |path: &PathBuf| std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    let request = ImportRequest { paths: args.paths.iter().map(absolute).collect::<Result<_, _>>()? };
    let mut outcome = report::ImportReport::default();
    running.import(&request, &mut |news| {
        match news {
            ImportNews::File(line) if common.json => {
                serde_json::to_writer(&mut out, &line)?;
                writeln!(out)?;
            }
            ImportNews::File(line) => writeln!(out, "{line}")?,
            ImportNews::Problem(problem) => outcome.problems.push(problem),
            ImportNews::Done { not_sessions } => outcome.not_sessions = not_sessions,
        }
        Ok(())
    })?;
    Ok(tell(&outcome))
}

fn tell(outcome: &report::ImportReport) -> ExitCode {
    for problem in &outcome.problems {
        eprintln!("dashcam: {problem}");
    }
    if outcome.not_sessions > 0 {
        eprintln!("dashcam: {} files are of no known session format", outcome.not_sessions);
    }
    if outcome.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAULTY) }
}

fn bar_for(path: &std::path::Path) -> ProgressBar {
    let bytes: u64 = collector::files_below(path, &mut |_, _| {}).iter().map(|file| file.bytes).sum();
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .expect("the template is right");
    ProgressBar::new(bytes).with_style(style)
}
