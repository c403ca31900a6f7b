//! The terminal that text is written to.

use console::Term;
use viewer::reports::Look;
use viewer::typed_time::TypedTimes;

use crate::cli::Common;

/// Returns how text for standard output is to look: broken and coloured for a terminal, plain for a pipe or
/// a file. `COLUMNS` sets the width, `NO_COLOR` forbids colours.
pub fn look(common: &Common) -> anyhow::Result<Look> {
    let terminal = Term::stdout();
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = || terminal.size_checked().map(|(_, columns)| usize::from(columns));
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
    Ok(Look {
        columns: set.or_else(own).filter(|&columns| columns > 0),
        colour: terminal.is_term() && !no_colour && !is_dumb,
        zone: TypedTimes::new(common.tz.as_deref())?.zone_text(),
    })
}
