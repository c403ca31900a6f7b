//! One turn: its events in order, each result under its call.

use std::io;

use agent_core::{Body, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};
use store::{FullEvent, SessionRow, TurnRow};
use unicode_width::UnicodeWidthStr;

use super::Depth;
use super::call::Call;
use super::events::{Said, said};
use super::heading;
use super::quiet::Quiet;
use crate::reports::ReportError;
use crate::reports::look::{Ink, Paper};
use crate::reports::plain::{cut, pieces, printable};

/// Stands before what belongs to the line above.
pub(super) const INDENT: &str = "    ";
/// Columns of what stands beside a name where not all is shown.
const BESIDE: usize = 300;

/// Writes turns.
pub(super) struct TurnWriter {
    session: String,
    depth: Depth,
    hidden: u64,
}

impl TurnWriter {
    pub(super) fn new(session: &SessionRow, depth: Depth) -> Self {
        Self { session: session.session.clone(), depth, hidden: 0 }
    }

    /// Returns how many events were passed over.
    pub(super) const fn hidden(&self) -> u64 {
        self.hidden
    }

    /// Writes a turn.
    pub(super) fn write(
        &mut self,
        turn: u32,
        row: Option<&TurnRow>,
        events: &[FullEvent],
        paper: &mut Paper<'_>,
    ) -> Result<(), ReportError> {
        let mut page = Page::new(events, self.depth);
        // Before the first turn there often are only events that keep the books.
        if turn > 0 || self.depth.all || events.iter().any(|full| page.shows(&full.event.body)) {
            heading::of_turn(turn, row, paper)?;
        }
        for at in 0..events.len() {
            page.write(at, paper)?;
        }
        page.end(paper)?;
        self.hidden += page.hidden;
        if self.depth.whole && row.is_some_and(|row| row.responded) {
            paper.line("")?;
            let words = format!("`dashcam prompt {} {turn}` prints what was sent to the model", self.session);
            paper.words(0, Some(Ink::Quiet), &words)?;
        }
        Ok(())
    }
}

/// A turn that is being written.
struct Page<'a> {
    events: &'a [FullEvent],
    depth: Depth,
    /// The events that end calls, by the call's id, the last first.
    ends: FxHashMap<&'a str, Vec<usize>>,
    called: FxHashSet<&'a str>,
    /// Ends that stand under their calls.
    taken: FxHashSet<usize>,
    quiet: Quiet,
    /// Who spoke last: a name is not said again.
    speaker: String,
    hidden: u64,
}

impl<'a> Page<'a> {
    fn new(events: &'a [FullEvent], depth: Depth) -> Self {
        let mut ends: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut called = FxHashSet::default();
        for (at, full) in events.iter().enumerate().rev() {
            match &full.event.body {
                Body::ToolEnded(end) => ends.entry(&end.call_id).or_default().push(at),
                Body::ToolCalled(call) => drop(called.insert(call.call_id.as_str())),
                _ => {}
            }
        }
        let (taken, quiet) = (FxHashSet::default(), Quiet::default());
        Self { events, depth, ends, called, taken, quiet, speaker: String::new(), hidden: 0 }
    }

    /// Returns whether an event of this kind is shown.
    fn shows(&self, body: &Body) -> bool {
        matches!(body, Body::ToolCalled(_) | Body::ToolEnded(_))
            || Quiet::default().take(body)
            || said(body, self.depth, &self.called).is_some_and(|said| !said.is_empty())
    }

    fn write(&mut self, at: usize, paper: &mut Paper<'_>) -> io::Result<()> {
        let FullEvent { n, event, .. } = &self.events[at];
        match &event.body {
            Body::ToolCalled(call) => {
                let end = self.ends.get_mut(call.call_id.as_str()).and_then(Vec::pop);
                self.taken.extend(end);
                let ended = end.and_then(|end| self.end_at(end));
                self.write_call(&Call { called: Some((event.ts, call)), ended }, paper)
            }
            Body::ToolEnded(_) if self.taken.contains(&at) => Ok(()),
            Body::ToolEnded(end) => {
                self.taken.insert(at);
                if let Some(ends) = self.ends.get_mut(end.call_id.as_str()) {
                    ends.retain(|other| *other != at);
                }
                self.write_call(&Call { called: None, ended: Some((event.ts, end)) }, paper)
            }
            body if !self.depth.whole && self.quiet.take(body) => Ok(()),
            body => match said(body, self.depth, &self.called) {
                Some(said) => said.iter().try_for_each(|said| self.write_said(event.ts, said, paper)),
                None if self.depth.all => {
                    let words = format!("{} (event {n})", body.name());
                    self.write_said(event.ts, &Said::line("", &words, Ink::Quiet), paper)
                }
                None => {
                    self.hidden += 1;
                    Ok(())
                }
            },
        }
    }

    fn end_at(&self, at: usize) -> Option<(Option<Timestamp>, &'a agent_core::ToolEnded)> {
        let event = &self.events[at].event;
        match &event.body {
            Body::ToolEnded(end) => Some((event.ts, end)),
            _ => None,
        }
    }

    fn write_call(&mut self, call: &Call<'_>, paper: &mut Paper<'_>) -> io::Result<()> {
        self.end(paper)?;
        call.write(self.depth, paper)
    }

    fn write_said(&mut self, ts: Option<Timestamp>, said: &Said, paper: &mut Paper<'_>) -> io::Result<()> {
        if said.name != self.speaker || !said.goes_on {
            self.end(paper)?;
            head(ts, said.ink, &said.name, &said.beside, self.depth, paper)?;
            self.speaker.clone_from(&said.name);
        }
        paper.text(INDENT, said.text_ink, &said.text, said.room)
    }

    /// Ends what may go on: the quiet events before, and who spoke.
    fn end(&mut self, paper: &mut Paper<'_>) -> io::Result<()> {
        self.speaker.clear();
        for line in self.quiet.lines() {
            head(None, Ink::Quiet, "", &line, self.depth, paper)?;
        }
        Ok(())
    }
}

/// Writes the line that an event begins with: its time, a name, and what stands beside it.
pub(super) fn head(
    ts: Option<Timestamp>,
    ink: Ink,
    name: &str,
    beside: &str,
    depth: Depth,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    let time = match (depth.timed, paper.clock.written(ts, "%H:%M:%S")) {
        (false, _) => String::new(),
        (true, Some(time)) => format!("{time} "),
        (true, None) => " ".repeat(9),
    };
    let name = printable(name);
    let gap = if name.is_empty() || beside.is_empty() { "" } else { "  " };
    let beside = printable(beside);
    let beside = if depth.whole { beside } else { cut(&beside, BESIDE) };
    let used = time.width() + name.width() + gap.len();
    let first = match paper.columns() {
        Some(columns) if columns < used + 10 => "",
        Some(columns) => pieces(&beside, Some(columns - used)).swap_remove(0),
        None => beside.as_str(),
    };
    let rest = beside[first.len()..].trim_start();
    let (is_nameless, time_width) = (name.is_empty(), time.width());
    let shown = if is_nameless { paper.paint(ink, first) } else { first.to_owned() };
    let name = if is_nameless { name } else { paper.paint(ink, &name) };
    let time = paper.paint(Ink::Quiet, &time);
    paper.line(&format!("{time}{name}{gap}{shown}"))?;
    match (rest.is_empty(), is_nameless) {
        (true, _) => Ok(()),
        (false, true) => paper.words(time_width, Some(ink), rest),
        (false, false) => paper.words(INDENT.len(), None, rest),
    }
}
