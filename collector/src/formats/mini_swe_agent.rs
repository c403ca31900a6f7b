//! placeholder until written
use std::path::Path;
use store::{Mapped, Mapper, Row, Source};
use super::{Described, Format, Layout};
/// The format.
pub(super) struct MiniSweAgent;
impl Mapper for MiniSweAgent {
    fn format(&self) -> &'static str { "mini-swe-agent" }
    fn version(&self) -> u32 { 1 }
    fn map(&self, _source: &Source, _row: Row<'_>, _out: &mut Mapped) {}
}
impl Format for MiniSweAgent {
    fn sniff(&self, _head: &[u8]) -> Option<Layout> { None }
    fn describe(&self, _path: &Path, _head: &[u8]) -> Described { unimplemented!() }
}
