//! Tool calls and their results, paired by the call's id.

use agent_core::{Event, ToolCalled, ToolEnded, ToolStatus};

use super::super::tables::ToolCallRow;
use super::super::text::{hash64, preview};
use super::calls::add_name;
use super::{Context, LastThing, Place, Session, millis_between};

impl Session {
    pub(super) fn tool_called(&mut self, event: &Event, call: &ToolCalled, place: Place) -> u32 {
        if self.carry.turn == 0 {
            self.input_turn();
        }
        self.ensure_turn(event.ts);
        let turn = self.carry.turn;
        self.row.tool_calls += 1;
        self.carry.last_thing = LastThing::Response { calls_tools: true };
        add_name(&mut self.row.tools, &call.name);
        let number = self.next_tool_call();
        let input = call.input.as_ref();
        self.tools.insert_new(
            hash64(&call.call_id),
            ToolCallRow {
                session_key: self.row.session_key,
                turn,
                call: number,
                call_id: call.call_id.clone(),
                name: call.name.clone(),
                input_preview: input.map(|input| preview(&telling_input(input))).unwrap_or_default(),
                input_bytes: input.map_or(0, |input| input.get().len() as u64),
                started_at: event.ts,
                position: place.position,
                sub: place.sub,
                ..Default::default()
            },
        );
        if let Some(row) = self.turns.get_mut(turn) {
            row.tool_calls += 1;
            add_name(&mut row.tools, &call.name);
        }
        if let Some(run) = self.runs.get_mut(self.carry.run) {
            run.tool_calls += 1;
        }
        self.count_visible(input.map_or(0, |input| input.get().len() as u64));
        turn
    }

    /// The arguments are text that the model wrote: they count when its output figure is judged.
    fn count_visible(&mut self, bytes: u64) {
        if let Some(row) = self.calls.get_mut((self.carry.turn, self.carry.call)) {
            row.visible_bytes += bytes;
        }
    }

    fn next_tool_call(&mut self) -> u32 {
        self.carry.next_tool_call += 1;
        self.carry.next_tool_call
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
            self.carry.response_open = false;
        }
        let id = hash64(&end.call_id);
        self.load_tool(id, &end.call_id, context.database)?;
        if !self.tools.contains(id) {
            self.result_without_call(event, end, place);
        }
        let Some(row) = self.tools.get_mut(id) else { return Ok(self.carry.turn) };
        let turn = row.turn;
        if row.end_position.is_some() {
            // A second result of one call: the first stands, this one stays in reach as an event.
            return Ok(turn);
        }
        let status = end.status.unwrap_or(ToolStatus::Unknown);
        row.status = Some(status.as_str().to_owned());
        row.exit_code = end.exit_code;
        row.output_preview = end.output.as_ref().map(|output| preview(&output.to_display()));
        row.output_bytes = end.output.as_ref().map(|output| output.get().len() as u64);
        row.ended_at = event.ts;
        row.duration_ms = end.duration_ms.or_else(|| millis_between(row.started_at, event.ts));
        row.end_position = Some(place.position);
        row.end_sub = Some(place.sub);
        let words = end
            .error
            .as_ref()
            .and_then(|error| error.message.as_deref())
            .map(preview)
            .or_else(|| row.output_preview.clone());
        if self.carry.last_thing != LastThing::Interrupt {
            self.carry.last_thing = LastThing::ToolResult;
        }
        if !matches!(status, ToolStatus::Succeeded | ToolStatus::Unknown) {
            self.tool_failed(turn, words, context)?;
        }
        Ok(turn)
    }

    fn tool_failed(&mut self, turn: u32, words: Option<String>, context: &mut Context<'_>) -> duckdb::Result<()> {
        self.row.failed_tool_calls += 1;
        self.first_error(turn);
        self.load_turn(turn, context.database)?;
        if let Some(row) = self.turns.get_mut(turn) {
            row.failed_tool_calls += 1;
            row.error_preview = row.error_preview.take().or(words);
        }
        if let Some(run) = self.runs.get_mut(self.carry.run) {
            run.failed_tool_calls += 1;
        }
        Ok(())
    }

    fn load_tool(&mut self, id: u64, call_id: &str, database: &duckdb::Connection) -> duckdb::Result<()> {
        if !self.written || self.tools.contains(id) {
            return Ok(());
        }
        let sql = format!(
            "SELECT {} FROM behavior.tool_calls WHERE session_key = ? AND call_id = ?",
            <ToolCallRow as super::super::columns::Table>::COLUMNS
        );
        let mut statement = database.prepare_cached(&sql)?;
        let mut rows = statement.query(duckdb::params![self.row.session_key, call_id])?;
        if let Some(row) = rows.next()? {
            self.tools.insert_loaded(id, <ToolCallRow as super::super::columns::Table>::read(row, 0)?);
        }
        Ok(())
    }

    /// A result whose call is not in the source (the file is a slice) still has its row.
    fn result_without_call(&mut self, event: &Event, end: &ToolEnded, place: Place) {
        if self.carry.turn == 0 {
            self.input_turn();
        }
        self.ensure_turn(event.ts);
        let number = self.next_tool_call();
        self.tools.insert_new(
            hash64(&end.call_id),
            ToolCallRow {
                session_key: self.row.session_key,
                turn: self.carry.turn,
                call: number,
                call_id: end.call_id.clone(),
                name: end.name.clone().unwrap_or_else(|| "(call not in the source)".to_owned()),
                position: place.position,
                sub: place.sub,
                ..Default::default()
            },
        );
    }
}

/// Returns the part of an input that tells most: the command, the path, the pattern, before the rest.
fn telling_input(input: &agent_core::Json) -> String {
    const TELLING: [&str; 11] =
        ["command", "cmd", "file_path", "path", "pattern", "query", "url", "prompt", "description", "skill", "text"];
    let value = input.to_value();
    let Some(fields) = value.as_object() else { return input.to_display() };
    let found = TELLING.iter().find_map(|key| fields.get(*key));
    match found {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Array(words)) if words.iter().all(serde_json::Value::is_string) => {
            words.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(" ")
        }
        _ => input.get().to_owned(),
    }
}
