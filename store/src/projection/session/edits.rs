//! What the agent changed in files, and what the user left of it.

use agent_core::{Body, Event, ToolStatus};
use duckdb::Connection;

use super::super::batch::Batch;
use super::super::tables::EditRow;
use super::{Place, Session};

/// The tools whose calls change files, by the names that the agents give them: Claude Code, Codex, SWE-agent,
/// our own.
const EDIT_TOOLS: &[&str] = &[
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Write",
    "apply_patch",
    "create_file",
    "edit_file",
    "str_replace_editor",
    "write_file",
];

impl Session {
    /// Counts a call that was to change a file, when how it ended is told or told anew.
    pub(super) fn count_edit(
        &mut self,
        tool: &str,
        turn: u32,
        (before, now): (Option<ToolStatus>, ToolStatus),
        database: &Connection,
    ) -> duckdb::Result<()> {
        if !EDIT_TOOLS.contains(&tool) {
            return Ok(());
        }
        let run = self.turns.get(turn).map_or(self.carry.run.number, |row| row.run);
        self.load_run(run, database)?;
        let Some(run) = self.runs.get_mut(run) else { return Ok(()) };
        let kept = |status: ToolStatus| u32::from(status == ToolStatus::Succeeded);
        run.edits += u32::from(before.is_none());
        run.edits_kept = (run.edits_kept + kept(now)).saturating_sub(before.map_or(0, kept));
        Ok(())
    }

    /// Writes down what the user made of a change; one that was changed again does not count as kept.
    pub(super) fn note_edit(&mut self, event: &Event, turn: u32, place: Place, batch: &mut Batch) {
        let Body::UserEdited(edited) = &event.body else { return };
        batch.edits.push(EditRow {
            session_key: self.row.session_key,
            turn,
            ts: event.ts,
            path: edited.path.clone(),
            lines_kept: edited.lines_kept,
            lines_changed: edited.lines_changed,
            position: place.position,
        });
        if edited.lines_changed.is_some_and(|lines| lines > 0)
            && let Some(run) = self.runs.get_mut(self.carry.run.number)
        {
            run.edits_kept = run.edits_kept.saturating_sub(1);
        }
    }
}
