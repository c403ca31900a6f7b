//! placeholder until written
use std::path::Path;
use store::{Mapped, Mapper, Row, Source};
use super::{Described, Format, Layout};
/// The format.
pub(super) struct Codex;
impl Mapper for Codex {
    fn format(&self) -> &'static str { "codex" }
    fn version(&self) -> u32 { 1 }
    fn map(&self, _source: &Source, _row: Row<'_>, _out: &mut Mapped) {}
}
impl Format for Codex {
    fn sniff(&self, _head: &[u8]) -> Option<Layout> { None }
    fn describe(&self, _path: &Path, _head: &[u8]) -> Described { unimplemented!() }
}
