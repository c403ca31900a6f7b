//! `dashcam import`.

use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use anyhow::Context;
use clap::Args;
use collector::http::{ImportNews, ImportRequest};
use collector::report::{Ended, FileLine, ImportReport, Importing};
use collector::{Importer, Stop};
use indicatif::{ProgressBar, ProgressStyle};
use store::{Store, StoreError};

use crate::cli::{Common, FAILED, FAULTY};
use crate::interrupt::{self, INTERRUPTED};
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
    let stop = Stop::default();
    let told = stop.clone();
    interrupt::at_first(move || told.tell())?;
    let mut outcome = ImportReport::default();
    for path in &args.paths {
        outcome = import_path(common.json, importer, &stop, path, outcome)
            .with_context(|| format!("cannot import {}", path.display()))?;
        if outcome.ended.is_some() {
            break;
        }
    }
    Ok(tell(&outcome))
}

fn import_path(
    json: bool,
    importer: &Importer,
    stop: &Stop,
    path: &Path,
    report: ImportReport,
) -> io::Result<ImportReport> {
    let mut out = io::stdout();
    let bar = bar_for(path);
    let mut emit = |line: &FileLine| bar.suspend(|| write_line(&mut out, json, line));
    let mut progress = |bytes| bar.inc(bytes);
    let mut importing = Importing { importer, stop, progress: &mut progress, emit: &mut emit, report };
    importing.path(path)?;
    let report = importing.report;
    bar.finish_and_clear();
    Ok(report)
}

/// Has the Dashcam that runs on the data folder read the files.
fn import_there(common: &Common, args: &ImportArgs, running: &Running) -> anyhow::Result<ExitCode> {
    let absolute =
        |path: &PathBuf| std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    let request = ImportRequest { paths: args.paths.iter().map(absolute).collect::<Result<_, _>>()? };
    interrupt::at_first(|| {
        eprintln!(
            "dashcam: stopped; the running dashcam keeps what it has read, the same import goes on there"
        );
        process::exit(INTERRUPTED.into());
    })?;
    let mut out = io::stdout();
    let mut outcome = ImportReport::default();
    running.import(&request, &mut |news| {
        match news {
            ImportNews::File(line) => write_line(&mut out, common.json, &line)?,
            ImportNews::Problem(problem) => outcome.problems.push(problem),
            ImportNews::Done { not_sessions, not_files, ended } => {
                (outcome.not_sessions, outcome.not_files) = (not_sessions, not_files);
                outcome.ended = ended;
            }
        }
        Ok(())
    })?;
    Ok(tell(&outcome))
}

fn write_line(out: &mut Stdout, json: bool, line: &FileLine) -> io::Result<()> {
    if json {
        let line = serde_json::to_string(line)?;
        return writeln!(out, "{line}");
    }
    // Of a file that nothing was read of, standard error tells in text.
    if line.format.is_none() {
        return Ok(());
    }
    writeln!(out, "{line}")
}

fn tell(outcome: &ImportReport) -> ExitCode {
    for problem in &outcome.problems {
        eprintln!("dashcam: {problem}");
    }
    if outcome.not_sessions > 0 {
        eprintln!("dashcam: {} files are of no known session format", outcome.not_sessions);
    }
    if outcome.not_files > 0 {
        eprintln!("dashcam: left out: {} links to nothing, pipes, sockets or devices", outcome.not_files);
    }
    match &outcome.ended {
        Some(Ended::Stopped(words)) => {
            eprintln!("dashcam: {words}; the same import goes on there");
            ExitCode::from(INTERRUPTED)
        }
        Some(Ended::Full(words)) => {
            eprintln!("dashcam: {words}");
            ExitCode::from(FAILED)
        }
        None if outcome.problems.is_empty() => ExitCode::SUCCESS,
        None => ExitCode::from(FAULTY),
    }
}

fn bar_for(path: &Path) -> ProgressBar {
    let bytes: u64 = collector::files_below(path, &mut |_, _| {}).iter().map(|file| file.bytes).sum();
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .expect("the template is right");
    ProgressBar::new(bytes).with_style(style)
}
