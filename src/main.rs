//! The command line of Dashcam.

mod cli;
mod data;
mod demo;
mod full_disk;
mod import;
mod interrupt;
mod journal;
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
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("dashcam: {error:#}");
            if let Some(advice) = full_disk::advice(&error) {
                eprintln!("dashcam: {advice}");
            }
            ExitCode::from(cli::FAILED)
        }
    }
}
