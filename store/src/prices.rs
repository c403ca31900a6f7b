//! The price table of a data folder: the one that is built in, with the folder's own prices before it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_core::price::{OwnPriceError, PriceTable};
use agent_core::{Body, EarlierCost, Note, PicoUsd, PriceApplied};

use crate::rebuild::Progress;
use crate::{Store, StoreError};

/// Sessions named by one event of a change of prices.
const SESSIONS_AN_EVENT: usize = 1000;

/// Returns the folder of own prices.
fn folder_of_prices(data: &Path) -> PathBuf {
    data.join("prices")
}

/// Returns the table that prices what comes in. Own prices that cannot be read do not stop intake: they are left out,
/// and the log says so, as `dashcam prices check` does.
pub(crate) fn table_of(data: &Path) -> Arc<PriceTable> {
    let built_in = PriceTable::built_in();
    built_in.with_own_prices(&folder_of_prices(data)).unwrap_or_else(|error| {
        tracing::error!(%error, "own prices are left out");
        built_in
    })
}

/// What a change of prices came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repriced {
    /// The hash of the table that holds now.
    pub table: String,
    /// Sessions whose figure changed.
    pub sessions: u64,
    /// What these cost before.
    pub before_usd: PicoUsd,
    /// What they cost now.
    pub now_usd: PicoUsd,
}

/// Sessions with their cost and its table.
type Figures = Vec<(String, Option<i64>, String)>;

impl Store {
    /// Returns the price table: the one that is built in, with the folder's own prices before it.
    pub fn price_table(&self) -> Result<Arc<PriceTable>, OwnPriceError> {
        PriceTable::built_in().with_own_prices(&folder_of_prices(self.folder()))
    }

    /// Takes in a file of own prices under a name, and writes down that it did. What comes in from the next start or
    /// [`Self::reprice`] on is priced by it. Blocks; not for async threads.
    pub fn import_prices(&self, name: &str, text: &[u8], by: Option<String>) -> Result<usize, StoreError> {
        let folder = folder_of_prices(self.folder());
        let fail = |action, path: &Path| {
            let path = path.to_owned();
            move |cause| StoreError::Io { action, path, cause }
        };
        fs::create_dir_all(&folder).map_err(fail("make", &folder))?;
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
        let stem = name.trim_end_matches(".json").trim_start_matches('.');
        let (path, beside) = (folder.join(format!("{stem}.json")), folder.join(format!("{stem}.new")));
        fs::write(&beside, text).map_err(fail("write", &beside))?;
        let count = PriceTable::check_own_file(&beside).inspect_err(|_| {
            // What is no price file is not left lying about; that it cannot be removed changes nothing.
            fs::remove_file(&beside).ok();
        })?;
        fs::rename(&beside, &path).map_err(fail("put in place", &path))?;
        let hash = blake3::hash(text).to_hex();
        let whom = by.map_or_else(String::new, |by| format!(" by {by}"));
        let detail = format!("{stem}.json: {count} prices, {hash}{whom}");
        self.decide(Body::PriceImported(Note { detail: Some(detail), ..Note::default() }))?;
        Ok(count)
    }

    /// Has all that is recorded priced by the table of today, and keeps what it cost before. The tables are made
    /// again meanwhile, beside those that answer. Blocks; not for async threads.
    pub fn reprice(&self, by: Option<String>, progress: Progress<'_>) -> Result<Repriced, StoreError> {
        let table = self.price_table()?.hash().to_owned();
        let before = self.figures_by_other_tables(&table)?;
        self.rebuild_while_open(progress)?;
        let mut earlier = Vec::new();
        let mut repriced =
            Repriced { table: table.clone(), sessions: 0, before_usd: PicoUsd(0), now_usd: PicoUsd(0) };
        for (session, cost, by_table) in before {
            let now = self.session(&session)?.cost_picousd;
            if now == cost {
                continue;
            }
            repriced.sessions += 1;
            repriced.before_usd.0 += i128::from(cost.unwrap_or(0));
            repriced.now_usd.0 += i128::from(now.unwrap_or(0));
            // A session that had no price has no figure to be kept.
            if let Some(cost) = cost {
                earlier.push(EarlierCost { session, cost_usd: PicoUsd(cost.into()), table: by_table });
            }
        }
        for some in earlier.chunks(SESSIONS_AN_EVENT) {
            let applied = PriceApplied {
                table: table.clone(),
                earlier: some.to_vec(),
                by: by.clone(),
                ..PriceApplied::default()
            };
            self.decide(Body::PriceApplied(applied))?;
        }
        Ok(repriced)
    }

    /// Returns how many calls of models are priced by another table than that of today.
    pub fn calls_by_other_tables(&self) -> Result<u64, StoreError> {
        let table = self.price_table()?.hash().to_owned();
        let sql = "SELECT count(*)::UBIGINT FROM cost.model_calls WHERE price_table <> ?";
        self.read(|connection| Ok(connection.prepare_cached(sql)?.query_row([table], |row| row.get(0))?))
    }

    fn figures_by_other_tables(&self, table: &str) -> Result<Figures, StoreError> {
        let sql = "SELECT s.session, s.cost_picousd, max(c.price_table) FROM cost.model_calls c
            JOIN main.sessions s ON s.session_key = c.session_key
            WHERE c.price_table <> ? GROUP BY 1, 2 ORDER BY 1";
        self.read_wide(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
