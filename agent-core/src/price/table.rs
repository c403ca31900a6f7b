//! The price table: what is in it, and which price of it a model has.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::matching::without_date;
use super::own::OwnPrice;
use super::rates::{Rates, ServiceTier};
use super::wire::{Head, Model, Price, Provider};

/// Made by `agent-core/prices/generate.py`.
const BUILT_IN: &str = include_str!("../../prices/table.jsonl");
/// The version of the lines that this program reads.
const SCHEMA: u32 = 1;
/// Names of which the answer is remembered; when it is full it is emptied.
const REMEMBERED: usize = 4096;
/// Hosts whose names for models are looked through when no provider is given and the maker has no price, in order.
const HOSTS: [&str; 4] = ["aws", "google", "azure", "openrouter"];
/// Hex digits of a table's hash: enough to tell tables apart, few enough for every row.
const HASH_DIGITS: usize = 16;

/// Prices of models, with the dates at which they hold.
#[derive(Debug)]
pub struct PriceTable {
    hash: String,
    head: Head,
    pub(super) models: Vec<Model>,
    pub(super) own: Vec<OwnPrice>,
    providers: FxHashMap<String, ProviderEntry>,
    /// Each word for a provider.
    aliases: FxHashMap<String, String>,
    /// A plain lock: held to look up or put in one word.
    remembered: Mutex<Answers>,
}

/// The model that each provider and name mean, if any.
type Answers = FxHashMap<(Option<String>, String), Option<usize>>;

#[derive(Debug)]
struct ProviderEntry {
    line: Provider,
    by_name: FxHashMap<String, usize>,
    /// Models with a rule for their names, in order.
    by_rule: Vec<usize>,
}

/// Says why a text is no price table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A line is not one of a table.
    #[error("line {line}: {cause}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// The table is of another version.
    #[error("version {0} of the price table is not known; {SCHEMA} is")]
    Schema(u32),
    /// There is no line.
    #[error("the price table is empty")]
    Empty,
}

/// A price as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPrice {
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The way of being served; absent for the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceTier>,
    /// The first day (UTC) on which it holds; absent where it always did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The first day (UTC) on which it holds no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The time of the day (UTC) in which it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<(String, String)>,
    /// More input than so many tokens, for which these rates hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_tokens: Option<u64>,
    /// Dollars for a million tokens.
    pub usd_per_million_tokens: Rates,
    /// Whether it is from a file of one's own.
    pub is_own: bool,
}

impl PriceTable {
    /// Returns the table that this program was made with.
    pub fn built_in() -> Arc<Self> {
        static TABLE: LazyLock<Arc<PriceTable>> = LazyLock::new(|| {
            Arc::new(
                PriceTable::parse(BUILT_IN).expect("a test reads the table that this program is made with"),
            )
        });
        Arc::clone(&TABLE)
    }

    /// Reads a table.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
        let fail = |at: usize| move |cause| TableError::Line { line: at + 1, cause };
        let (at, first) = lines.next().ok_or(TableError::Empty)?;
        let head: Head = serde_json::from_str(first).map_err(fail(at))?;
        if head.schema != SCHEMA {
            return Err(TableError::Schema(head.schema));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex()[..HASH_DIGITS].to_owned();
        let mut table = Self {
            hash,
            head,
            models: Vec::new(),
            own: Vec::new(),
            providers: FxHashMap::default(),
            aliases: FxHashMap::default(),
            remembered: Mutex::default(),
        };
        for (at, line) in lines {
            if line.contains("\"model\":") {
                table.add_model(serde_json::from_str(line).map_err(fail(at))?);
            } else {
                table.add_provider(serde_json::from_str(line).map_err(fail(at))?);
            }
        }
        Ok(table)
    }

    fn add_provider(&mut self, line: Provider) {
        let id = line.provider.clone();
        for word in line.aliases.iter().chain([&id]) {
            self.aliases.insert(word.to_lowercase(), id.clone());
        }
        let entry = ProviderEntry { line, by_name: FxHashMap::default(), by_rule: Vec::new() };
        self.providers.insert(id, entry);
    }

    fn add_model(&mut self, model: Model) {
        let at = self.models.len();
        if let Some(provider) = self.providers.get_mut(&model.provider) {
            let own_name = [model.model.clone()];
            for name in model.names.as_deref().unwrap_or(&own_name) {
                provider.by_name.entry(name.to_lowercase()).or_insert(at);
            }
            if model.clause.is_some() {
                provider.by_rule.push(at);
            }
        }
        self.models.push(model);
    }

    /// Returns the same table with own prices before its own.
    pub(super) fn with_own(&self, own: Vec<OwnPrice>, text: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.hash.as_bytes());
        hasher.update(text);
        let mut table = Self {
            hash: hasher.finalize().to_hex()[..HASH_DIGITS].to_owned(),
            head: self.head.clone(),
            models: Vec::new(),
            own,
            providers: FxHashMap::default(),
            aliases: FxHashMap::default(),
            remembered: Mutex::default(),
        };
        for provider in self.providers.values() {
            table.add_provider(provider.line.clone());
        }
        for model in &self.models {
            table.add_model(model.clone());
        }
        table
    }

    /// Returns 16 hex digits that name the table and all that is in it.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the day on which the table was made.
    pub fn made(&self) -> &str {
        &self.head.made
    }

    /// Returns what the table was made of, such as `genai-prices 0.2.3`.
    pub fn sources(&self) -> Vec<String> {
        self.head.sources.iter().map(|source| format!("{} {}", source.name, source.version)).collect()
    }

    /// Returns how many models it has.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Returns whether it has no model.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Returns the provider that the word names; the word itself where none is known by it.
    pub(super) fn provider_id<'a>(&'a self, word: &'a str) -> &'a str {
        self.aliases.get(word).map_or(word, String::as_str)
    }

    /// Returns the model that the name as served means.
    ///
    /// With a provider that the table knows, it is one of that provider's, or of those whose prices hold there.
    /// Without, it is the maker's own price, then that of the first host in [`HOSTS`] that knows the name.
    pub(super) fn find(&self, provider: Option<&str>, model: &str) -> Option<&Model> {
        let key = (provider.map(str::to_lowercase), model.trim().to_lowercase());
        let known = self.remembered().get(&key).copied();
        let at = known.unwrap_or_else(|| {
            let at = self.look_for(key.0.as_deref(), &key.1);
            let mut remembered = self.remembered();
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
            remembered.insert(key, at);
            at
        });
        at.map(|at| &self.models[at])
    }

    fn remembered(&self) -> MutexGuard<'_, Answers> {
        // One insert is all that ever happens under the lock: what a panic leaves is whole.
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_for(&self, provider: Option<&str>, name: &str) -> Option<usize> {
        match provider.and_then(|word| self.aliases.get(word)) {
            Some(provider) => self.find_at(provider, name),
            None => self.find_anywhere(name),
        }
    }

    /// A name may carry its provider's before a slash or a point, be it once more.
    fn find_at(&self, provider: &str, name: &str) -> Option<usize> {
        let entry = self.providers.get(provider)?;
        let after_slash = name.split_once('/').filter(|(head, _)| self.provider_id(head) == provider);
        let after_point = name.split_once(&format!("{provider}.")).filter(|(head, _)| is_region(head));
        let bare = [after_slash, after_point].into_iter().flatten().map(|(_, tail)| tail);
        let own = std::iter::once(name)
            .chain(name.strip_prefix("models/"))
            .chain(bare)
            .find_map(|name| self.find_in(entry, name));
        own.or_else(|| entry.line.fallback.iter().find_map(|other| self.find_at(other, name)))
    }

    fn find_anywhere(&self, name: &str) -> Option<usize> {
        if let Some((head, tail)) = name.split_once('/')
            && let Some(provider) = self.aliases.get(head)
        {
            return self.find_at(provider, tail);
        }
        let maker = self
            .providers
            .values()
            .filter(|entry| entry.line.makes.as_ref().is_some_and(|makes| makes.fits_plainly(name)));
        let mut makers: Vec<&ProviderEntry> = maker.collect();
        makers.sort_unstable_by(|a, b| a.line.provider.cmp(&b.line.provider));
        let hosts = HOSTS.iter().filter_map(|host| self.providers.get(*host));
        makers.into_iter().chain(hosts).find_map(|entry| self.find_in(entry, name))
    }

    fn find_in(&self, entry: &ProviderEntry, name: &str) -> Option<usize> {
        let by_rule = || {
            entry
                .by_rule
                .iter()
                .copied()
                .find(|&at| self.models[at].clause.as_ref().is_some_and(|clause| clause.fits(name)))
        };
        let dated = || without_date(name).and_then(|bare| entry.by_name.get(bare).copied());
        entry.by_name.get(name).copied().or_else(by_rule).or_else(dated)
    }

    /// Returns the prices whose provider or model contains `word`, own ones first; all for an empty word.
    pub fn list(&self, word: &str) -> Vec<ListedPrice> {
        let word = word.to_lowercase();
        let fits = |listed: &ListedPrice| {
            listed.model.to_lowercase().contains(&word) || listed.provider.to_lowercase().contains(&word)
        };
        let own = self.own.iter().map(OwnPrice::listed);
        let built_in =
            self.models.iter().flat_map(|model| model.prices.iter().flat_map(|price| listed(model, price)));
        own.chain(built_in).filter(fits).collect()
    }
}

/// Returns whether nothing but a region stands before a maker's name, as in `us.anthropic.`.
fn is_region(head: &str) -> bool {
    head.is_empty() || head.ends_with('.')
}

fn listed<'a>(model: &'a Model, price: &'a Price) -> impl Iterator<Item = ListedPrice> + 'a {
    let above = price.above.iter().map(|above| (Some(above.tokens), price.rates.overridden_by(&above.rates)));
    std::iter::once((None, price.rates)).chain(above).map(|(above_tokens, rates)| ListedPrice {
        provider: model.provider.clone(),
        model: model.model.clone(),
        service: price.service,
        from: price.from.clone(),
        until: price.until.clone(),
        hours: price.hours.clone(),
        above_tokens,
        usd_per_million_tokens: rates,
        is_own: false,
    })
}
