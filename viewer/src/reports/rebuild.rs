//! `dashcam rebuild` where a Dashcam runs: the tables are made again beside those that answer.

use std::io::Write;

use serde::Serialize;
use store::Store;

use super::{Notes, ReportError, Style, json_line};

#[derive(Serialize)]
struct RebuildLine {
    records: u64,
}

pub(super) fn write(store: &Store, style: &Style, out: &mut dyn Write) -> Result<Notes, ReportError> {
    let records = store.rebuild_while_open(&mut |_, _| {})?;
    if *style == Style::Json {
        json_line(out, &RebuildLine { records })?;
    }
    let lines = vec![format!("made the tables again from {records} records, while the old ones answered")];
    Ok(Notes { lines, faulty: false })
}
