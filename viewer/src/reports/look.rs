//! How text for a person at a terminal looks: its width, its colours, its zone.

use std::io::{self, Write};

use agent_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::ReportError;
use super::excerpt::{Excerpt, Room, shortened};
use super::plain::{pieces, printable, printable_line};
use crate::times::Clock;
use crate::typed_time::read_zone;

/// How text is to look. The process that asks knows the terminal; the one that answers may be another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Columns of the terminal; lines are not broken when absent.
    pub columns: Option<usize>,
    /// Whether escapes for colours may be written.
    pub colour: bool,
    /// The zone of the times shown, as `TypedTimes::zone_text` gives it.
    pub zone: String,
}

/// The narrowest terminal that lines are broken for.
const MIN_COLUMNS: usize = 40;

/// What a piece of text is, by which it gets its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// A heading.
    Heading,
    /// Somebody's name, or what is called.
    Name,
    /// Something that is there to be passed over.
    Quiet,
    /// Something went wrong.
    Bad,
    /// Something was refused or broken off.
    Warning,
    /// Something new.
    Added,
    /// Something that is gone.
    Removed,
}

impl Ink {
    const fn codes(self) -> &'static str {
        match self {
            Self::Heading => "1",
            Self::Name => "1;36",
            Self::Quiet => "2",
            Self::Bad => "1;31",
            Self::Warning => "33",
            Self::Added => "32",
            Self::Removed => "31",
        }
    }
}

/// What text is written on.
pub(super) struct Paper<'a> {
    out: &'a mut dyn Write,
    columns: Option<usize>,
    colour: bool,
    /// The zone and the present.
    pub(super) clock: Clock,
}

impl<'a> Paper<'a> {
    pub(super) fn new(look: &Look, out: &'a mut dyn Write) -> Result<Self, ReportError> {
        let clock = Clock::new(read_zone(&look.zone)?, Timestamp::now());
        let columns = look.columns.map(|columns| columns.max(MIN_COLUMNS));
        Ok(Self { out, columns, colour: look.colour, clock })
    }

    /// Returns the columns of the terminal; nothing when lines are not to be broken.
    pub(super) const fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Returns our own words in their colour.
    pub(super) fn paint(&self, ink: Ink, words: &str) -> String {
        if self.colour { format!("\x1b[{}m{words}\x1b[0m", ink.codes()) } else { words.to_owned() }
    }

    /// Writes a line as it is.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", line.trim_end())
    }

    /// Writes words on one line, broken where the terminal ends, the later pieces under the first.
    pub(super) fn words(&mut self, indent: usize, ink: Option<Ink>, words: &str) -> io::Result<()> {
        self.prefixed(&" ".repeat(indent), ink, &printable(words))
    }

    /// Writes as much of a text as there is room for; each line begins with `prefix`.
    pub(super) fn text(&mut self, prefix: &str, ink: Option<Ink>, text: &str, room: Room) -> io::Result<()> {
        let excerpt = Excerpt::new(text, room);
        for line in &excerpt.first {
            self.prefixed(prefix, ink, &self.content(line))?;
        }
        if let Some(words) = excerpt.cut() {
            self.prefixed(prefix, Some(Ink::Quiet), &words)?;
        }
        for line in &excerpt.last {
            self.prefixed(prefix, ink, &self.content(line))?;
        }
        Ok(())
    }

    /// Writes one line of a text, be it empty.
    pub(super) fn text_line(
        &mut self,
        prefix: &str,
        ink: Option<Ink>,
        line: &str,
        room: Room,
    ) -> io::Result<()> {
        self.prefixed(prefix, ink, &self.content(&shortened(line, room)))
    }

    /// Returns a line of a session. Where lines are broken, tabs become spaces, so that its width is known.
    fn content(&self, line: &str) -> String {
        printable_line(line, self.columns.is_some())
    }

    fn prefixed(&mut self, prefix: &str, ink: Option<Ink>, line: &str) -> io::Result<()> {
        let width = self.columns.map(|columns| columns - prefix.chars().count().min(MIN_COLUMNS / 2));
        for piece in pieces(line, width) {
            let piece = match ink {
                Some(ink) if !piece.is_empty() => self.paint(ink, piece),
                _ => piece.to_owned(),
            };
            self.line(&format!("{prefix}{piece}"))?;
        }
        Ok(())
    }
}
