//! From when to when sessions, runs and turns went.

use agent_core::Timestamp;

use super::Session;

impl Session {
    /// Stretches the session, its current run and the event's turn to the event's time.
    pub(super) fn note_time(&mut self, ts: Option<Timestamp>, turn: u32) {
        let Some(ts) = ts else { return };
        let row = &mut self.row;
        row.started_at = Some(row.started_at.map_or(ts, |start| start.min(ts)));
        row.ended_at = row.ended_at.max(Some(ts));
        row.duration_ms = millis_between(row.started_at, row.ended_at);
        for (started_at, ended_at) in [
            self.turns.get_mut(turn).map(|turn| (&mut turn.started_at, &mut turn.ended_at)),
            self.runs.get_mut(self.carry.run.number).map(|run| (&mut run.started_at, &mut run.ended_at)),
        ]
        .into_iter()
        .flatten()
        {
            *started_at = started_at.or(Some(ts));
            *ended_at = (*ended_at).max(Some(ts));
        }
        if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.duration_ms = millis_between(run.started_at, run.ended_at);
        }
    }
}

pub(super) fn millis_between(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<u64> {
    u64::try_from(end?.millis_since(start?)).ok()
}
