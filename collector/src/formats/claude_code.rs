//! placeholder until written
use std::path::Path;
use store::{Mapped, Mapper, Row, Source};
use super::{Described, Format, Layout};
/// The format.
pub(super) struct ClaudeCode;
impl Mapper for ClaudeCode {
    fn format(&self) -> &'static str { "claude-code" }
    fn version(&self) -> u32 { 1 }
    fn map(&self, _source: &Source, _row: Row<'_>, _out: &mut Mapped) {}
}
impl Format for ClaudeCode {
    fn sniff(&self, _head: &[u8]) -> Option<Layout> { None }
    fn describe(&self, _path: &Path, _head: &[u8]) -> Described { unimplemented!() }
}
