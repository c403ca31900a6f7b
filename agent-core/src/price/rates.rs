//! Rates of a price, bucket by bucket.

use serde::{Deserialize, Deserializer, Serialize};

use crate::PicoUsd;
use crate::status::words;

words! {
    /// What tokens are billed as.
    Bucket {
        /// Input that came from no cache and went into none.
        Input = "input",
        /// Input read from the cache.
        CacheRead = "cache_read",
        /// Input written to the cache for five minutes.
        CacheWrite = "cache_write",
        /// Input written to the cache for one hour.
        CacheWrite1h = "cache_write_1h",
        /// Output without reasoning.
        Output = "output",
        /// Reasoning.
        Reasoning = "reasoning",
    }
}

words! {
    /// A way of being served that has a price of its own.
    ServiceTier {
        /// Answered within a day, for less.
        Batch = "batch",
        /// Answered when there is room, for less.
        Flex = "flex",
        /// Answered before others, for more.
        Priority = "priority",
        /// Answered faster, for more.
        Fast = "fast",
    }
}

/// Rates in pico-dollars for a million tokens; absent where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Input that came from no cache and went into none.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub input: Option<u64>,
    /// Input read from the cache.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_read: Option<u64>,
    /// Input written to the cache for five minutes.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write: Option<u64>,
    /// Input written to the cache for one hour.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write_1h: Option<u64>,
    /// Output.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub output: Option<u64>,
    /// Reasoning, where it does not cost what output costs.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub reasoning: Option<u64>,
    /// Sound.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub input_audio: Option<u64>,
    /// Sound read from the cache.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_read_audio: Option<u64>,
    /// Sound that was made.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub output_audio: Option<u64>,
    /// Pictures.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub input_image: Option<u64>,
    /// Pictures read from the cache.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_read_image: Option<u64>,
    /// Pictures that were made.
    #[serde(
        default,
        deserialize_with = "dollars",
        serialize_with = "decimal",
        skip_serializing_if = "Option::is_none"
    )]
    pub output_image: Option<u64>,
}

impl Rates {
    /// Returns the rate of a bucket.
    ///
    /// Where a price has no rate for writing to a cache at all, writing is ordinary input that is kept besides:
    /// so OpenAI and Google bill it. Reasoning is output where it has no rate of its own.
    pub fn of(&self, bucket: Bucket) -> Option<u64> {
        match bucket {
            Bucket::Input => self.input,
            Bucket::CacheRead => self.cache_read,
            Bucket::CacheWrite => {
                self.cache_write.or_else(|| self.input.filter(|_| self.cache_write_1h.is_none()))
            }
            Bucket::CacheWrite1h => {
                self.cache_write_1h.or_else(|| self.input.filter(|_| self.cache_write.is_none()))
            }
            Bucket::Output => self.output,
            Bucket::Reasoning => self.reasoning.or(self.output),
        }
    }

    /// Returns the rates that `later` has, and the others as they are here.
    pub fn overridden_by(self, later: &Self) -> Self {
        Self {
            input: later.input.or(self.input),
            cache_read: later.cache_read.or(self.cache_read),
            cache_write: later.cache_write.or(self.cache_write),
            cache_write_1h: later.cache_write_1h.or(self.cache_write_1h),
            output: later.output.or(self.output),
            reasoning: later.reasoning.or(self.reasoning),
            input_audio: later.input_audio.or(self.input_audio),
            cache_read_audio: later.cache_read_audio.or(self.cache_read_audio),
            output_audio: later.output_audio.or(self.output_audio),
            input_image: later.input_image.or(self.input_image),
            cache_read_image: later.cache_read_image.or(self.cache_read_image),
            output_image: later.output_image.or(self.output_image),
        }
    }

    /// Returns all rates that there are, with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("input", self.input),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("cache_write_1h", self.cache_write_1h),
            ("output", self.output),
            ("reasoning", self.reasoning),
            ("input_audio", self.input_audio),
            ("cache_read_audio", self.cache_read_audio),
            ("output_audio", self.output_audio),
            ("input_image", self.input_image),
            ("cache_read_image", self.cache_read_image),
            ("output_image", self.output_image),
        ]
        .into_iter()
        .filter_map(|(name, rate)| Some((name, rate?)))
    }
}

/// Reads dollars for a million tokens, a decimal in a string: at most twelve places, and not below 0.
fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    use serde::de::Error;
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    let rate =
        PicoUsd::from_decimal(&text).filter(|_| places <= 12).and_then(|rate| u64::try_from(rate.0).ok());
    rate.map(Some).ok_or_else(|| {
        Error::custom(format!(
            "{text:?} is no rate: dollars for a million tokens, such as \"2.50\", are asked for"
        ))
    })
}

fn decimal<S: serde::Serializer>(rate: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match rate {
        Some(rate) => serializer.collect_str(&PicoUsd(i128::from(*rate))),
        None => serializer.serialize_none(),
    }
}
