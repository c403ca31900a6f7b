//! Putting what changed of a session into the batch.

use super::super::batch::Batch;
use super::super::tables::SessionRow;
use super::Session;

impl Session {
    /// Puts what changed into the batch; returns whether anything had.
    pub(in crate::projection) fn flush(&mut self, batch: &mut Batch) -> bool {
        if !self.changed {
            return false;
        }
        self.settle_status();
        self.row.carry = serde_json::to_string(&self.carry).expect("the carry has string keys only");
        let key = self.row.session_key;
        if self.written {
            batch.delete::<SessionRow>(&format!("session_key = {key}"));
        }
        batch.sessions.push(self.row.clone());
        self.written = true;
        self.changed = false;
        let (turn, run) = (self.carry.turn.number, self.carry.run.number);
        self.runs.flush(
            batch,
            |batch| &mut batch.runs,
            |row| format!("session_key = {key} AND run = {}", row.run),
            |&number, _| number == run,
        );
        self.turns.flush(
            batch,
            |batch| &mut batch.turns,
            |row| format!("session_key = {key} AND turn = {}", row.turn),
            |&number, _| number == turn,
        );
        self.calls.flush(
            batch,
            |batch| &mut batch.model_calls,
            |row| format!("session_key = {key} AND turn = {} AND call = {}", row.turn, row.call),
            |&(number, _), _| number == turn,
        );
        self.tools.flush(
            batch,
            |batch| &mut batch.tool_calls,
            |row| format!("session_key = {key} AND call = {}", row.call),
            |_, row| row.status.is_none(),
        );
        true
    }
}
