//! Names of blocks, by which a link leads to one.

use agent_core::EventId;

/// Returns the name of a block of an event. It follows from the event's id, and that from the source: so a link
/// holds when the file is read anew.
pub(super) fn block(event: &EventId, index: usize) -> String {
    let hash = blake3::hash(event.to_string().as_bytes()).to_hex();
    match index {
        0 => format!("b-{}", &hash[..12]),
        index => format!("b-{}-{index}", &hash[..12]),
    }
}
