//! How the rows of a file are to be read: what one row alone cannot tell.

use agent_core::SessionStarted;
use serde::Deserialize;
use serde_json::Value;

use super::wire::{Message, Record, StepPrompt};
use crate::document::DocumentHead;

/// It keeps its first name, under which journals hold it.
const HISTORY_TELLS: &str = "swe_agent_history_only";
const TASK_INDEX: &str = "swe_agent_task_index";

/// Where the task stands when the head does not show it: there is at most one demonstration in most files,
/// and a user's message at these places cannot be a result, for a response would have to stand before it.
const USUAL_TASK_INDEX: u64 = 2;

/// How many of the first rows of a history name its session.
const NAMING_MESSAGES: usize = 3;

/// How the rows of a file are to be read. `describe` makes it from the head and leaves it in the source's
/// `about`, where the mapper finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Whether the history gives responses, calls and results: there are no steps, or (before 1.0) steps that
    /// do not hold what was sent, as the history does.
    pub(super) history_tells: bool,
    /// Which message of the history is the task.
    pub(super) task_index: Option<u64>,
}

#[derive(Deserialize)]
struct HistoryRow {
    history: Message,
}

#[derive(Deserialize)]
struct StepRow {
    trajectory: StepPrompt,
}

impl Reading {
    /// Finds out from a file's head, whose header is `header`. Every known writer puts the steps before the
    /// history, so a history with no steps before it has none, and `info` after it, so with that in the head
    /// the history is whole.
    pub(super) fn of(head: &DocumentHead, header: Option<&Record>) -> Self {
        let rows =
            |key: &'static str| head.elements.iter().filter(move |(of, _)| *of == key).map(|(_, row)| row);
        let in_history = first_users(
            rows("history").filter_map(|row| Some(serde_json::from_slice::<HistoryRow>(row).ok()?.history)),
        );
        let first_step =
            rows("trajectory").next().and_then(|row| serde_json::from_slice::<StepRow>(row).ok());
        let history_is_whole = in_history.is_some() && header.is_some_and(|header| header.info.is_some());
        let is_sparse = first_step.as_ref().is_some_and(|step| step.trajectory.is_sparse());
        let sent_first = || first_users(first_step?.trajectory.messages_or_query()?.into_iter());
        Self {
            history_tells: !has_steps(head) || (is_sparse && history_is_whole),
            task_index: in_history.or_else(sent_first),
        }
    }

    /// Leaves it in `about`.
    pub(super) fn leave_in(self, about: &mut SessionStarted) {
        about.other.insert(HISTORY_TELLS.to_owned(), Value::from(self.history_tells));
        if let Some(index) = self.task_index {
            about.other.insert(TASK_INDEX.to_owned(), Value::from(index));
        }
    }

    /// Finds it in `about`.
    pub(super) fn left_in(about: &SessionStarted) -> Self {
        Self {
            history_tells: about.other.get(HISTORY_TELLS).and_then(Value::as_bool).unwrap_or(false),
            task_index: about.other.get(TASK_INDEX).and_then(Value::as_u64),
        }
    }

    /// Says whether a user's message at `index` of the history is the task.
    pub(super) fn is_task(self, index: u64) -> bool {
        self.task_index.map_or(index <= USUAL_TASK_INDEX, |task| index == task)
    }
}

fn has_steps(head: &DocumentHead) -> bool {
    head.begun.iter().any(|(key, _)| *key == "trajectory")
}

/// Returns the rows whose bytes name the session: the first step, which holds the prompt or the time it
/// took, or the first messages. `bytes` is the head; a row that is longer names by its beginning.
pub(super) fn naming_rows<'a>(head: &'a DocumentHead, bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let (key, count) = if has_steps(head) { ("trajectory", 1) } else { ("history", NAMING_MESSAGES) };
    let rows = head.elements.iter().filter(|(of, _)| *of == key).map(|(_, row)| row.as_slice());
    let rows: Vec<_> = rows.take(count).collect();
    if !rows.is_empty() {
        return rows;
    }
    head.begun.iter().filter(|(of, _)| *of == key).map(|(_, at)| &bytes[*at..]).collect()
}

fn first_users(messages: impl Iterator<Item = Message>) -> Option<u64> {
    messages.zip(0..).find(|(message, _)| message.is_users()).map(|(_, index)| index)
}
