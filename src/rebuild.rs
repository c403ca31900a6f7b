//! `dashcam rebuild`.

use std::process::ExitCode;

use indicatif::ProgressBar;
use store::Store;

use crate::cli::Common;

/// Makes the tables again from the journal.
pub fn run(common: &Common) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::new(0);
    let records = Store::rebuild(&crate::data::folder(common)?, collector::mappers(), &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    eprintln!("dashcam: made the tables again from {records} records");
    Ok(ExitCode::SUCCESS)
}
