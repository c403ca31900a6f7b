//! The name of one observation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Names one observation; the same thing read twice has one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(Uuid);

impl EventId {
    /// Returns a new time-ordered id (UUIDv7).
    pub fn new_v7() -> Self {
        Self(Uuid::now_v7())
    }

    /// Returns the id that follows from `parts`: equal parts give equal ids on every machine.
    ///
    /// It is a UUIDv8 made of a BLAKE3 hash; each part is hashed with its length before it, so that no two
    /// lists of parts run together.
    pub fn derived(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns 64 well-mixed bits of the id, enough to tell the events of one session apart.
    pub fn hash64(self) -> u64 {
        let (high, low) = self.0.as_u64_pair();
        // The version and variant bits are fixed and a v7 id starts with its time: mix both halves.
        (high ^ low.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ low
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(Self)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
