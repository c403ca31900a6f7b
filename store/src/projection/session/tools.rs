//! Tool calls and their results, paired by the call's id.

use agent_core::{ErrorInfo, Event, ToolCalled, ToolEnded, ToolReported, ToolStatus};
use duckdb::Connection;

use super::super::signature::{is_timeout, signature};
use super::super::tables::ToolCallRow;
use super::super::text::{hash64, preview, preview_of};
use super::names::add_name;
use super::times::millis_between;
use super::{Context, LastThing, Place, Session};
use crate::telling::telling_input;

impl Session {
    pub(super) fn tool_called(
        &mut self,
        event: &Event,
        call: &ToolCalled,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<u32> {
        if let Some(turn) = self.turn_of_open_call(&call.call_id, context.database)? {
            // The same call told once more: the first stands, this one stays in reach as an event.
            return Ok(turn);
        }
        let turn = self.asking_turn(event);
        self.load_turn(turn, context.database)?;
        self.row.tool_calls += 1;
        self.carry.last_thing = LastThing::Response { calls_tools: true };
        add_name(&mut self.row.tools, &call.name);
        let input = call.input.as_ref();
        let input_bytes = input.map_or(0, |input| input.get().len() as u64);
        self.insert_tool(ToolCallRow {
            turn,
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            input_preview: input.map(|input| preview(&telling_input(input))).unwrap_or_default(),
            input_bytes,
            started_at: event.ts,
            position: place.position,
            sub: place.sub,
            ..Default::default()
        });
        if let Some(row) = self.turns.get_mut(turn) {
            row.tool_calls += 1;
            add_name(&mut row.tools, &call.name);
        }
        self.add_to_run(turn, 1, Unsuccessful::default(), context.database)?;
        if let Some(response) = self.carry.response.place.filter(|response| response.0 == turn) {
            self.load_call(response.0, response.1, context.database)?;
            self.count_visible(response, input_bytes);
        }
        Ok(turn)
    }

    /// Returns the turn of a call that has no result yet.
    fn turn_of_open_call(&mut self, call_id: &str, database: &Connection) -> duckdb::Result<Option<u32>> {
        let Some(&number) = self.call_numbers.get(&hash64(call_id)) else { return Ok(None) };
        self.load_tool(number, database)?;
        Ok(self.tools.get(number).filter(|row| row.end_position.is_none()).map(|row| row.turn))
    }

    /// Returns the turn whose response asks for a tool: the one that the event names, else that of the last
    /// response, though some context may have opened the next turn since.
    fn asking_turn(&mut self, event: &Event) -> u32 {
        match self.carry.response.place {
            Some((turn, _)) if !self.carry.turn.responded && !self.in_native_turn => turn,
            _ => self.turn_with_row(event),
        }
    }

    fn turn_with_row(&mut self, event: &Event) -> u32 {
        if self.carry.turn.number == 0 {
            self.input_turn();
        }
        self.ensure_turn(event.ts);
        self.carry.turn.number
    }

    fn insert_tool(&mut self, row: ToolCallRow) -> u32 {
        self.carry.next_tool_call += 1;
        let number = self.carry.next_tool_call;
        self.call_numbers.insert(hash64(&row.call_id), number);
        self.tools.insert_new(number, ToolCallRow { session_key: self.row.session_key, call: number, ..row });
        number
    }

    pub(super) fn tool_ended(
        &mut self,
        event: &Event,
        end: &ToolEnded,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<u32> {
        // What the provider runs itself ends in the middle of the response.
        if end.other.get("within_response") != Some(&serde_json::Value::Bool(true)) {
            self.carry.response.open = false;
        }
        let number = match self.call_numbers.get(&hash64(&end.call_id)) {
            Some(&number) => number,
            None => self.result_without_call(event, end, place),
        };
        self.load_tool(number, context.database)?;
        let Some(row) = self.tools.get(number) else { return Ok(self.carry.turn.number) };
        let turn = row.turn;
        if row.end_position.is_some() {
            // A second result of one call: the first stands, this one stays in reach as an event.
            return Ok(turn);
        }
        if self.carry.last_thing != LastThing::Interrupt {
            self.carry.last_thing = LastThing::ToolResult;
        }
        self.set_result(number, event, end, place, context)?;
        Ok(turn)
    }

    /// Takes in a later revision of a result: it stands in the place of the one before.
    pub(super) fn amend_result(
        &mut self,
        event: &Event,
        end: &ToolEnded,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<()> {
        let Some(&number) = self.call_numbers.get(&hash64(&end.call_id)) else { return Ok(()) };
        self.load_tool(number, context.database)?;
        self.set_result(number, event, end, place, context)
    }

    fn set_result(
        &mut self,
        number: u32,
        event: &Event,
        end: &ToolEnded,
        place: Place,
        context: &mut Context<'_>,
    ) -> duckdb::Result<()> {
        let Some(row) = self.tools.get_mut(number) else { return Ok(()) };
        let before = status_of(row);
        // Without a result, what stands there is what was told beside it: that is no guess.
        let reported = before.filter(|_| row.end_position.is_none());
        let said = end.status.unwrap_or(ToolStatus::Unknown);
        let status = reported.map_or(said, |reported| told_by_both(reported, said));
        row.status = Some(status.as_str().to_owned());
        row.exit_code = row.exit_code.filter(|_| reported.is_some()).or(end.exit_code);
        let words = words_of(end.error.as_ref()).filter(|_| status == said);
        let words = words.or_else(|| row.output_preview.take().filter(|_| reported.is_some()));
        row.output_preview = words.or_else(|| end.output.as_ref().map(preview_of));
        row.output_bytes = end.output.as_ref().map(|output| output.get().len() as u64);
        row.ended_at = event.ts;
        let duration = row.duration_ms.filter(|_| reported.is_some()).or(end.duration_ms);
        row.duration_ms = duration.or_else(|| millis_between(row.started_at, event.ts));
        row.end_position = Some(place.position);
        row.end_sub = Some(place.sub);
        self.status_changed(number, before, status, context)
    }

    /// Takes in what is told of a call's end beside its result. Where no call has the id, it is a part of one
    /// that is told as a whole, and stays in reach as an event.
    pub(super) fn tool_reported(
        &mut self,
        event: &Event,
        report: &ToolReported,
        context: &mut Context<'_>,
    ) -> duckdb::Result<u32> {
        let Some(&number) = self.call_numbers.get(&hash64(&report.call_id)) else {
            return Ok(self.carry.turn.number);
        };
        self.load_tool(number, context.database)?;
        let Some(row) = self.tools.get_mut(number) else { return Ok(self.carry.turn.number) };
        let turn = row.turn;
        let before = status_of(row);
        let Some(reported) = report.status else { return Ok(turn) };
        let status = told_by_both(reported, before.unwrap_or(ToolStatus::Unknown));
        row.status = Some(status.as_str().to_owned());
        row.exit_code = report.exit_code.or(row.exit_code);
        // A result may come while the process runs on; a report comes at its end.
        row.duration_ms = report.duration_ms.or(row.duration_ms);
        row.ended_at = row.ended_at.or(event.ts);
        if status == reported && before != Some(status) {
            row.output_preview = words_of(report.error.as_ref()).or_else(|| row.output_preview.take());
        }
        self.status_changed(number, before, status, context)?;
        Ok(turn)
    }

    /// Counts anew how a call ended.
    fn status_changed(
        &mut self,
        number: u32,
        before: Option<ToolStatus>,
        status: ToolStatus,
        context: &mut Context<'_>,
    ) -> duckdb::Result<()> {
        let Some(row) = self.tools.get_mut(number) else { return Ok(()) };
        let failed_words = row.output_preview.as_deref().filter(|_| is_error(status));
        row.error_signature = failed_words.and_then(signature);
        row.timed_out = is_error(status) && is_timeout(row.output_preview.as_deref(), row.exit_code);
        let (turn, words, name) = (row.turn, row.output_preview.clone(), row.name.clone());
        self.load_turn(turn, context.database)?;
        self.count_edit(&name, turn, (before, status), context.database)?;
        if is_error(status) && !before.is_some_and(is_error) {
            self.first_error(turn);
        }
        let change = Unsuccessful::of(status).minus(Unsuccessful::of(before.unwrap_or(ToolStatus::Unknown)));
        self.count_unsuccessful(turn, change, words, context.database)
    }

    /// Counts a call that did not succeed, or takes it back when a later revision says otherwise. Where the
    /// first error is stays then: it was there to be seen.
    fn count_unsuccessful(
        &mut self,
        turn: u32,
        change: Unsuccessful,
        words: Option<String>,
        database: &Connection,
    ) -> duckdb::Result<()> {
        if change == Unsuccessful::default() {
            return Ok(());
        }
        let sums = &mut self.row;
        change.add_to([
            &mut sums.failed_tool_calls,
            &mut sums.rejected_tool_calls,
            &mut sums.cancelled_tool_calls,
        ]);
        self.load_turn(turn, database)?;
        if let Some(row) = self.turns.get_mut(turn) {
            change.add_to([
                &mut row.failed_tool_calls,
                &mut row.rejected_tool_calls,
                &mut row.cancelled_tool_calls,
            ]);
            row.error_preview = row.error_preview.take().or(words.filter(|_| change.all > 0));
        }
        self.add_to_run(turn, 0, change, database)
    }

    /// Counts calls for the run that the turn belongs to.
    fn add_to_run(
        &mut self,
        turn: u32,
        calls: u32,
        unsuccessful: Unsuccessful,
        database: &Connection,
    ) -> duckdb::Result<()> {
        let run = self.turns.get(turn).map_or(self.carry.run.number, |row| row.run);
        self.load_run(run, database)?;
        if let Some(run) = self.runs.get_mut(run) {
            run.tool_calls += calls;
            unsuccessful.add_to([
                &mut run.failed_tool_calls,
                &mut run.rejected_tool_calls,
                &mut run.cancelled_tool_calls,
            ]);
        }
        Ok(())
    }

    /// A result whose call is not in the source (the file is a slice) still has its row.
    fn result_without_call(&mut self, event: &Event, end: &ToolEnded, place: Place) -> u32 {
        let turn = self.turn_with_row(event);
        self.insert_tool(ToolCallRow {
            turn,
            call_id: end.call_id.clone(),
            name: end.name.clone().unwrap_or_else(|| "(call not in the source)".to_owned()),
            position: place.position,
            sub: place.sub,
            ..Default::default()
        })
    }
}

/// Tool calls that did not succeed, or how many more of them there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Unsuccessful {
    all: i32,
    /// Of these, refused before they ran.
    rejected: i32,
    /// Of these, broken off.
    cancelled: i32,
}

impl Unsuccessful {
    fn of(status: ToolStatus) -> Self {
        Self {
            all: i32::from(!matches!(status, ToolStatus::Succeeded | ToolStatus::Unknown)),
            rejected: i32::from(status == ToolStatus::Rejected),
            cancelled: i32::from(status == ToolStatus::Cancelled),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            all: self.all - other.all,
            rejected: self.rejected - other.rejected,
            cancelled: self.cancelled - other.cancelled,
        }
    }

    /// Adds to the sums of all, refused and broken off calls.
    fn add_to(self, sums: [&mut u32; 3]) {
        for (sum, more) in sums.into_iter().zip([self.all, self.rejected, self.cancelled]) {
            *sum = sum.saturating_add_signed(more);
        }
    }
}

fn status_of(row: &ToolCallRow) -> Option<ToolStatus> {
    row.status.as_deref().and_then(ToolStatus::from_word)
}

/// Returns how a call ended of which a report and a result tell: the report is the source's own word, but
/// only the result says who refused a call or broke it off.
fn told_by_both(reported: ToolStatus, by_result: ToolStatus) -> ToolStatus {
    match by_result {
        ToolStatus::Rejected | ToolStatus::Cancelled => by_result,
        _ => reported,
    }
}

fn words_of(error: Option<&ErrorInfo>) -> Option<String> {
    error?.message.as_deref().map(preview)
}

/// Whether the call went wrong by itself: nobody refused it or broke it off.
fn is_error(status: ToolStatus) -> bool {
    let unsuccessful = Unsuccessful::of(status);
    unsuccessful.all > unsuccessful.rejected + unsuccessful.cancelled
}
