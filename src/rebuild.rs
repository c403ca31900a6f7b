//! `dashcam rebuild`.

use std::process::ExitCode;

use indicatif::ProgressBar;
use store::{Store, StoreError};
use viewer::reports::{Question, Rebuilt};

use crate::cli::{Common, FAULTY};

/// Makes the tables again from the journal; where a Dashcam runs on the folder, by that one.
pub fn run(common: &Common) -> anyhow::Result<ExitCode> {
    let folder = crate::data::filled_folder(common)?;
    let bar = ProgressBar::new(0);
    let done = Store::rebuild(&folder, collector::mappers(), &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    match done {
        Ok(records) => {
            let rebuilt = Rebuilt::of(&crate::data::open(common)?, records)?;
            if common.json {
                rebuilt.write(&mut std::io::stdout())?;
            }
            eprintln!("dashcam: {}", rebuilt.words());
            Ok(match rebuilt.loss_words() {
                Some(words) => {
                    eprintln!("dashcam: {words}");
                    ExitCode::from(FAULTY)
                }
                None => ExitCode::SUCCESS,
            })
        }
        Err(StoreError::InUse { process, .. }) => {
            eprintln!("dashcam: process {process} makes the tables again; its pages go on meanwhile");
            crate::questions::ask(common, &Question::Rebuild)
        }
        Err(error) => Err(error.into()),
    }
}
