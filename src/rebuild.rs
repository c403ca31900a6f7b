//! `dashcam rebuild`.

use std::io::Write;
use std::process::ExitCode;

use indicatif::ProgressBar;
use store::{Store, StoreError};
use viewer::reports::Question;

use crate::cli::Common;

/// Makes the tables again from the journal; where a Dashcam runs on the folder, by that one.
pub fn run(common: &Common) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::new(0);
    let done = Store::rebuild(&crate::data::folder(common)?, collector::mappers(), &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    match done {
        Ok(records) => {
            if common.json {
                writeln!(std::io::stdout(), "{{\"records\":{records}}}")?;
            }
            eprintln!("dashcam: made the tables again from {records} records");
            Ok(ExitCode::SUCCESS)
        }
        Err(StoreError::InUse { process, .. }) => {
            eprintln!("dashcam: process {process} makes the tables again; its pages go on meanwhile");
            crate::questions::ask(common, &Question::Rebuild)
        }
        Err(error) => Err(error.into()),
    }
}
