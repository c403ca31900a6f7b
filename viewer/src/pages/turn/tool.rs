//! One tool call: what was asked, what came of it.

use agent_core::{ToolCalled, ToolEnded};
use store::{SessionRow, ToolCallRow};

use super::fields::Input;
use crate::format::{bytes, counted, duration};
use crate::links;
use crate::markup::one_line;
use crate::pages::content::{Content, Room, Space};
use crate::pages::event_text::output_text;
use crate::pages::session::header::title;
use crate::pages::session::told_as_cut;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// What is said of an output above its turn.
const LINE_BYTES: usize = 300;

/// A tool call ready to be shown.
#[derive(Debug)]
pub(crate) struct ToolView {
    pub(crate) anchor: String,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) preview: String,
    pub(crate) status: Word,
    pub(crate) has_failed: bool,
    pub(crate) error_line: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration: Option<String>,
    pub(crate) started: ShownTime,
    pub(crate) risk: Option<String>,
    pub(crate) input: Option<Input>,
    pub(crate) input_size: String,
    pub(crate) input_href: Option<String>,
    pub(crate) output: Option<Content>,
    pub(crate) output_note: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) child: Option<Child>,
}

/// The sub-agent that a call started.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) detail: String,
}

impl ToolView {
    #[expect(clippy::too_many_arguments, reason = "each comes from another table")]
    pub(super) fn new(
        session: &str,
        id: &str,
        call: Option<(u32, &ToolCalled)>,
        end: Option<(u32, &ToolEnded)>,
        row: Option<&ToolCallRow>,
        child: Option<&SessionRow>,
        may_run: bool,
        clock: &Clock,
        space: &mut Space,
    ) -> Self {
        let name = call.map(|(_, call)| call.name.as_str()).or_else(|| row.map(|row| row.name.as_str()));
        let status = match end {
            Some((_, end)) => {
                words::tool_status(Some(end.status.map_or("unknown", |status| status.as_str())))
            }
            None => words::open_tool(may_run),
        };
        // What was refused or broken off is no error of the tool.
        let has_failed = status.class == "bad";
        let input_href = call.map(|(n, _)| links::event_text(session, n));
        let json = call.and_then(|(_, call)| call.input.as_ref());
        let output_room = if has_failed { Room::Wide } else { Room::Narrow };
        let output = end.and_then(|(n, end)| {
            let text = output_text(end.output.as_ref()?);
            Some((line_of(&text), space.content(&text, links::event_text(session, n), output_room)))
        });
        let (output_line, output) = output.unzip();
        let error = end.and_then(|(_, end)| end.error.as_ref()?.message.as_deref()).map(one_line);
        Self {
            anchor: format!("call-{}", links::encode(id)),
            id: one_line(id),
            name: name.map_or_else(|| "(call not in the source)".to_owned(), one_line),
            preview: row.map(|row| one_line(&told_as_cut(&row.input_preview))).unwrap_or_default(),
            status,
            has_failed,
            error_line: error.clone().or(output_line.clone()).unwrap_or_default(),
            exit_code: end.and_then(|(_, end)| end.exit_code),
            duration: row.and_then(|row| row.duration_ms).map(duration),
            started: clock.show(row.and_then(|row| row.started_at)),
            risk: call.and_then(|(_, call)| call.risk.as_deref()).map(one_line),
            input: json.zip(input_href.as_deref()).map(|(json, href)| Input::new(json, href, space)),
            input_size: json.map(|json| bytes(json.get().len() as u64)).unwrap_or_default(),
            input_href,
            output_note: match end {
                Some(_) => "The result is empty.",
                None if may_run => "No result yet.",
                None => "No result is in the source.",
            },
            output: output.filter(|content| !content.is_empty),
            // Words that the output gives too are not said twice.
            error: error.filter(|error| !output_line.is_some_and(|line| line.contains(error.as_str()))),
            child: child.map(child_link),
        }
    }
}

/// Returns the beginning of an output on a line, with a sign where it goes on.
fn line_of(text: &str) -> String {
    let beginning = &text[..text.floor_char_boundary(LINE_BYTES)];
    let line = one_line(beginning);
    if beginning.len() < text.len() { format!("{line} […]") } else { line }
}

fn child_link(child: &SessionRow) -> Child {
    Child {
        href: links::session(&child.session),
        title: title(child),
        detail: counted(child.turns.into(), "turn", "turns"),
    }
}
