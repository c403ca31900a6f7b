//! Previews and hashes of text.

use agent_core::Json;

/// The longest preview in bytes: enough for a row of a list, small enough for a hot table.
const PREVIEW_BYTES: usize = 256;

/// Returns the beginning of `text` for a list: without the space around it, at most 256 bytes.
pub(crate) fn preview(text: &str) -> String {
    let text = text.trim_start();
    let cut = &text[..text.floor_char_boundary(PREVIEW_BYTES)];
    cut.trim_end().to_owned()
}

/// Returns the beginning of a value for a list, without reading all of a long one.
pub(crate) fn preview_of(value: &Json) -> String {
    // Four times as much as is kept: space at its beginning is left out.
    preview(&value.beginning(4 * PREVIEW_BYTES))
}

/// Returns 64 bits of a hash that is the same on every machine and in every version.
pub(crate) fn hash64(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("the hash is longer"))
}

/// Returns about how many tokens `bytes` of text are.
pub(crate) const fn estimated_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
