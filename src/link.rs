//! `dashcam link`.

use std::io::Write;
use std::process::ExitCode;

use crate::cli::Common;
use crate::running::Running;

/// Prints a fresh link to the pages of the Dashcam that runs on the data folder; it lets one browser in, once.
pub fn run(common: &Common) -> anyhow::Result<ExitCode> {
    let link = Running::find(&crate::data::folder(common)?)?.link()?;
    let mut out = std::io::stdout();
    if common.json {
        writeln!(out, "{}", serde_json::json!({ "link": link }))?;
    } else {
        writeln!(out, "{link}")?;
    }
    Ok(ExitCode::SUCCESS)
}
