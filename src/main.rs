//! The command line of Dashcam.

mod advice;
mod cli;
mod data;
mod demo;
mod figures;
mod full_disk;
mod import;
mod interrupt;
mod journal;
mod link;
mod log;
mod prices;
mod questions;
mod rebuild;
mod running;
mod serve;
mod terminal;
mod up;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let filter = EnvFilter::try_from_env("DASHCAM_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .event_format(log::Plain)
        .init();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("dashcam: {error:#}");
            if let Some(advice) = advice::on(&error) {
                eprintln!("dashcam: {advice}");
            }
            let is_typed = error.chain().any(|cause| cause.is::<viewer::typed_time::TimeError>());
            ExitCode::from(if is_typed { cli::NOT_KNOWN } else { cli::FAILED })
        }
    }
}
