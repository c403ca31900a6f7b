//! A tool call with its result under it.

use std::io;

use agent_core::{Timestamp, ToolCalled, ToolEnded, ToolStatus};

use super::Depth;
use super::heading::between;
use super::input::Input;
use super::turn::{INDENT, head};
use crate::format::duration;
use crate::pages::event_text::output_text;
use crate::reports::look::{Ink, Paper};
use crate::reports::plain::printable;

/// Stands before each line of what a tool gave back.
const OUTPUT: &str = "    │ ";

/// A call and its result, as far as each is in the turn, with their times.
pub(super) struct Call<'a> {
    pub(super) called: Option<(Option<Timestamp>, &'a ToolCalled)>,
    pub(super) ended: Option<(Option<Timestamp>, &'a ToolEnded)>,
}

impl Call<'_> {
    pub(super) fn write(&self, depth: Depth, paper: &mut Paper<'_>) -> io::Result<()> {
        self.write_call(depth, paper)?;
        match self.ended {
            Some((ts, end)) => self.write_end(ts, end, depth, paper),
            None if depth.running => paper.words(INDENT.len(), Some(Ink::Quiet), "no result yet"),
            None => paper.words(INDENT.len(), Some(Ink::Warning), "no result in the source"),
        }
    }

    fn write_call(&self, depth: Depth, paper: &mut Paper<'_>) -> io::Result<()> {
        let Some((ts, call)) = self.called else {
            let name = self.ended.and_then(|(ts, end)| Some((ts, end.name.as_deref()?)));
            let (ts, name) = name.unwrap_or((None, "a call that is not in the source"));
            return head(ts, Ink::Name, name, "", depth, paper);
        };
        let input = Input::new(call.input.as_ref());
        head(ts, Ink::Name, &call.name, input.head(), depth, paper)?;
        input.write(INDENT, depth, paper)
    }

    fn write_end(
        &self,
        ts: Option<Timestamp>,
        end: &ToolEnded,
        depth: Depth,
        paper: &mut Paper<'_>,
    ) -> io::Result<()> {
        let (word, ink) = status_word(end.status);
        let took = end.duration_ms.map(duration).or_else(|| {
            let called = self.called.and_then(|(ts, _)| ts)?;
            Some(between(called, ts?))
        });
        let exit = end.exit_code.map(|code| format!("exit code {code}"));
        let output = end.output.as_ref().map(output_text).unwrap_or_default();
        let empty = output.trim().is_empty().then(|| "no output".to_owned());
        let kind = end.error.as_ref().and_then(|error| error.kind.clone()).map(|kind| printable(&kind));
        let facts: Vec<String> = [kind, exit, took, empty].into_iter().flatten().collect();
        let facts: String = facts.iter().map(|fact| format!(", {fact}")).collect();
        let words = format!("{}{facts}", paper.paint(ink, word));
        paper.line(&format!("{INDENT}{words}"))?;
        // Words that the output gives, too, are not said twice.
        let error = end.error.as_ref().and_then(|error| error.message.as_deref());
        if let Some(error) = error.filter(|error| !output.contains(error.trim())) {
            paper.text(INDENT, Some(ink), error, depth.room(6, 2))?;
        }
        let room = if matches!(ink, Ink::Bad) { depth.room(12, 8) } else { depth.room(6, 4) };
        paper.text(OUTPUT, None, &output, room)
    }
}

/// Returns what is said of how a call ended. What failed is loud; what never ran is told apart.
const fn status_word(status: Option<ToolStatus>) -> (&'static str, Ink) {
    match status {
        Some(ToolStatus::Succeeded) => ("ok", Ink::Added),
        Some(ToolStatus::Failed) => ("FAILED", Ink::Bad),
        Some(ToolStatus::Rejected) => ("rejected", Ink::Warning),
        Some(ToolStatus::Cancelled) => ("cancelled", Ink::Warning),
        Some(ToolStatus::Unknown) | None => ("ended, the source does not tell how", Ink::Quiet),
    }
}
