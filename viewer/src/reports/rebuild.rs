//! `dashcam rebuild`: what came of it. Where a Dashcam runs, the tables are made again beside those that
//! answer.

use std::io::{self, Write};

use serde::Serialize;
use store::Store;

use super::{Notes, ReportError, Style, json_line};

/// What a rebuild came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Records that are in the journal, the lost ones counted.
    records: u64,
    /// Records of these that the journal has lost.
    lost_records: u64,
}

impl Rebuilt {
    /// Asks a store whose tables were made of so many records what they lack.
    pub fn of(store: &Store, records: u64) -> Result<Self, ReportError> {
        Ok(Self { records, lost_records: lost_records(store)? })
    }

    /// Writes it as a line of JSON.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        json_line(out, self)
    }

    /// Returns a sentence that it is done.
    pub fn words(&self) -> String {
        format!("made the tables again from {} records", self.records - self.lost_records)
    }

    /// Returns a sentence on what the tables lack, if they lack anything.
    pub fn loss_words(&self) -> Option<String> {
        let them = match self.lost_records {
            0 => return None,
            1 => "1 record".to_owned(),
            more => format!("{more} records"),
        };
        Some(format!(
            "the journal has lost {them} of {}: the tables lack what was in them; `dashcam doctor` tells which",
            self.records
        ))
    }
}

fn lost_records(store: &Store) -> Result<u64, ReportError> {
    Ok(store.losses()?.iter().map(store::Loss::records).sum())
}

pub(super) fn write(store: &Store, style: &Style, out: &mut dyn Write) -> Result<Notes, ReportError> {
    let records = store.rebuild_while_open(&mut |_, _| {})?;
    let rebuilt = Rebuilt::of(store, records)?;
    if *style == Style::Json {
        rebuilt.write(out)?;
    }
    let loss = rebuilt.loss_words();
    let faulty = loss.is_some();
    let lines = [format!("{}, while the old ones answered", rebuilt.words())].into_iter().chain(loss);
    Ok(Notes { lines: lines.collect(), faulty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_told_in_a_sentence() {
        let of = |lost_records| Rebuilt { records: 10, lost_records };
        assert_eq!(
            (of(0).words().as_str(), of(0).loss_words()),
            ("made the tables again from 10 records", None)
        );
        assert_eq!(of(3).words(), "made the tables again from 7 records");
        let words = of(3).loss_words().unwrap_or_default();
        assert!(words.starts_with("the journal has lost 3 records of 10: "), "{words}");
    }
}
