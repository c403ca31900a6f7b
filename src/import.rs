//! `dashcam import`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use collector::{Importer, report};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Common, FAULTY};

/// What `import` takes.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Session files, or folders to look through
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Reads the files and reports on each.
pub fn run(common: &Common, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let importer = Importer::new(crate::data::open(common)?);
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
        report::import_path(&importer, path, &mut |bytes| bar.inc(bytes), &mut emit, &mut outcome)
            .with_context(|| format!("cannot import {}", path.display()))?;
        bar.finish_and_clear();
    }
    for problem in &outcome.problems {
        eprintln!("dashcam: {problem}");
    }
    if outcome.not_sessions > 0 {
        eprintln!("dashcam: {} files are of no known session format", outcome.not_sessions);
    }
    Ok(if outcome.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAULTY) })
}

fn bar_for(path: &std::path::Path) -> ProgressBar {
    let bytes: u64 = collector::files_below(path, &mut |_, _| {}).iter().map(|file| file.bytes).sum();
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .expect("the template is right");
    ProgressBar::new(bytes).with_style(style)
}
