//! Tokens and money of one model response.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::status::words;

/// Tokens of one response in disjoint buckets; a bucket that the source does not give is absent, never 0.
///
/// `prompt = uncached_input + cache_read + cache_write`; `reasoning` is a part of `output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that came from no cache and went into none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncached_input: Option<u64>,
    /// Input tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input tokens written to the cache for five minutes (or for a time that the source does not tell).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_5m: Option<u64>,
    /// Input tokens written to the cache for one hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// Output tokens, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// How many of the output tokens were reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Returns all cache writes, whatever their time to live; absent when the source gives none of them.
    pub fn cache_write(&self) -> Option<u64> {
        sum(self.cache_write_5m, self.cache_write_1h)
    }

    /// Returns the size of the prompt in tokens; absent when the source gives no input figure at all.
    pub fn prompt(&self) -> Option<u64> {
        sum(sum(self.uncached_input, self.cache_read), self.cache_write())
    }

    /// Returns whether no bucket is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the bucket-wise larger of two observations of one response: a response that grows over
    /// several rows repeats its input and raises its output.
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| a.max(b))
    }

    /// Returns each bucket as given here, else as in `other`.
    pub fn or(self, other: Self) -> Self {
        self.zip(other, |own, _| own)
    }

    /// Returns the bucket-wise sum. Absurd figures of a source stop at the largest number and nothing else.
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    fn zip(self, other: Self, f: fn(u64, u64) -> u64) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(f(a, b)),
            (a, b) => a.or(b),
        };
        Self {
            uncached_input: both(self.uncached_input, other.uncached_input),
            cache_read: both(self.cache_read, other.cache_read),
            cache_write_5m: both(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: both(self.cache_write_1h, other.cache_write_1h),
            output: both(self.output, other.output),
            reasoning: both(self.reasoning, other.reasoning),
        }
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

words! {
    /// How far the figures of a [`Usage`] can be trusted, best first.
    UsageQuality {
        /// The provider's last word on the response.
        Final = "final",
        /// The response was still growing when this was written.
        Partial = "partial",
        /// The source is known to write too small figures, and the visible text shows it.
        Placeholder = "placeholder",
        /// Computed from the text.
        Estimated = "estimated",
        /// The source gives none.
        Missing = "missing",
    }
}

impl UsageQuality {
    /// Returns the less trustworthy of two, which is what a sum over both rests on.
    pub fn worse(self, other: Self) -> Self {
        if (self as u8) >= (other as u8) { self } else { other }
    }
}

/// Money: an integer number of pico-dollars (1e-12 USD); in JSON a decimal string in dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PicoUsd(pub i128);

const PICO_PER_USD: i128 = 1_000_000_000_000;

impl PicoUsd {
    /// Reads a decimal number of dollars ("0.012345", "1e-05"); digits below a pico-dollar are cut off.
    ///
    /// Returns nothing when the text is no finite decimal number.
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut value: i128 = 0;
        for digit in whole.chars().chain(fraction.chars()) {
            value = value.checked_mul(10)?.checked_add(i128::from(digit.to_digit(10)?))?;
        }
        // The value of the digits is value * 10^-fraction_len * 10^exponent dollars.
        let shift = exponent.checked_add(12)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let pico = if shift >= 0 {
            value.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?
        } else {
            value / 10_i128.checked_pow(shift.unsigned_abs()).unwrap_or(i128::MAX)
        };
        Some(Self(if negative { -pico } else { pico }))
    }
}

impl fmt::Display for PicoUsd {
    /// Writes dollars as a decimal with at least two and at most twelve places ("12.50", "0.000001").
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let whole = magnitude / PICO_PER_USD.unsigned_abs();
        let fraction = format!("{:012}", magnitude % PICO_PER_USD.unsigned_abs());
        let kept = fraction.trim_end_matches('0').len().max(2);
        write!(f, "{sign}{whole}.{}", &fraction[..kept])
    }
}

impl Serialize for PicoUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PicoUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::from_decimal(&text).ok_or_else(|| serde::de::Error::custom("not a decimal number of dollars"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_read_and_written_exactly() {
        for (text, pico, shown) in [
            ("0.012345", 12_345_000_000, "0.012345"),
            ("12.5", 12_500_000_000_000, "12.50"),
            ("1e-05", 10_000_000, "0.00001"),
            ("3", 3_000_000_000_000, "3.00"),
            ("-0.10", -100_000_000_000, "-0.10"),
            ("0.0000000000019", 1, "0.000000000001"),
        ] {
            let money = PicoUsd::from_decimal(text).expect(text);
            assert_eq!(money.0, pico, "{text}");
            assert_eq!(money.to_string(), shown, "{text}");
        }
        for bad in ["", ".", "x", "1.2.3", "NaN", "1e999999", "1e2147483647", "0.1234567890123e-2147483648"] {
            assert_eq!(PicoUsd::from_decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn absent_buckets_stay_absent() {
        let input = Usage { uncached_input: Some(3), ..Usage::default() };
        let read = Usage { cache_read: Some(5), ..Usage::default() };
        let both = input.plus(read);
        assert_eq!(both.prompt(), Some(8));
        assert_eq!(both.output, None);
        assert_eq!(Usage::default().prompt(), None);
    }

    #[test]
    fn what_one_report_lacks_the_other_gives() {
        let less = Usage { uncached_input: Some(3), ..Usage::default() };
        let more = Usage { uncached_input: Some(9), output: Some(5), ..Usage::default() };
        assert_eq!(less.or(more), Usage { uncached_input: Some(3), output: Some(5), ..Usage::default() });
    }

    #[test]
    fn absurd_figures_stop_at_the_largest_number() {
        let most = Usage { uncached_input: Some(u64::MAX), cache_read: Some(1), ..Usage::default() };
        assert_eq!(most.prompt(), Some(u64::MAX));
        assert_eq!(most.plus(most).uncached_input, Some(u64::MAX));
    }
}
