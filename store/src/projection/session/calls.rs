//! Calls of models: each response counted once, however many pieces it comes in.

use agent_core::{Block, Event, ModelFailed, ModelResponded, UsageQuality};

use super::super::prompt::PromptState;
use super::super::tables::ModelCallRow;
use super::super::text::{hash64, preview};
use super::names::add_name;
use super::{Context, LastThing, Session};

impl Session {
    /// Takes in a piece of a response and returns its turn; nothing when it repeats a report.
    pub(super) fn model_responded(
        &mut self,
        event: &Event,
        piece: &ModelResponded,
        context: &mut Context<'_>,
    ) -> duckdb::Result<Option<u32>> {
        let Some(figures) = self.figures_of(piece) else {
            // The same sum of the session again: a repeat of a report that was counted.
            self.carry.response.open = false;
            return Ok(None);
        };
        let (turn, call) = match self.carry.response.place {
            Some(place) if figures.are_of_last() => place,
            _ => self.call_of(event, piece, context),
        };
        self.load_turn(turn, context.database)?;
        self.load_call(turn, call, context.database)?;
        if !figures.usage.is_empty() {
            self.carry.response.awaits_usage = false;
        }
        self.add_piece(turn, call, event, piece, figures);
        self.carry.response.place = Some((turn, call));
        self.carry.response.open = !piece.last_piece;
        self.note_response(turn, event, piece);
        Ok(Some(turn))
    }

    /// Returns the call that a piece belongs to, which begins with it when there is none.
    fn call_of(&mut self, event: &Event, piece: &ModelResponded, context: &mut Context<'_>) -> (u32, u32) {
        if let Some(id) = piece.response_id.as_deref().map(hash64) {
            let known = self.responses.get(&id).copied();
            return known.unwrap_or_else(|| self.new_call(id, event, piece, context));
        }
        // Some sources write a response's usage after the results of its calls.
        let has_usage = !piece.usage.is_empty() || piece.usage_so_far.is_some();
        let is_late_usage = self.carry.response.awaits_usage && has_usage && piece.content.is_empty();
        match self.carry.response.place {
            Some(place) if self.carry.response.open || is_late_usage => place,
            // A report with no response before it (of a compaction, say) is a call with nothing to show.
            _ => self.new_call(response_of(event), event, piece, context),
        }
    }

    /// Takes in a later revision of a piece: its figures, when its call is known.
    pub(super) fn amend_response(
        &mut self,
        event: &Event,
        turn: u32,
        piece: &ModelResponded,
        context: &mut Context<'_>,
    ) -> duckdb::Result<()> {
        let id = piece.response_id.as_deref().map_or_else(|| response_of(event), hash64);
        let Some(&(call_turn, call)) = self.responses.get(&id).filter(|place| place.0 == turn) else {
            return Ok(());
        };
        let Some(figures) = self.figures_of(piece) else { return Ok(()) };
        self.load_turn(call_turn, context.database)?;
        self.load_call(call_turn, call, context.database)?;
        // The content is the one that was seen before, grown or mended: it is not counted a second time.
        let content_less = ModelResponded { content: Vec::new(), ..piece.clone() };
        self.add_piece(call_turn, call, event, &content_less, figures);
        Ok(())
    }

    fn new_call(
        &mut self,
        response: u64,
        event: &Event,
        piece: &ModelResponded,
        context: &mut Context<'_>,
    ) -> (u32, u32) {
        self.input_turn();
        self.ensure_turn(event.ts);
        self.carry.turn.call += 1;
        let (turn, call) = (self.carry.turn.number, self.carry.turn.call);
        self.settle_waiting(context.batch);
        PromptState::snapshot(&mut self.carry.prompt, self.row.session_key, turn, call, context.batch);
        self.responses.insert(response, (turn, call));
        self.carry.turn.responded = true;
        self.carry.run.responded = true;
        self.carry.response.awaits_usage = true;
        if !piece.content.is_empty() {
            self.carry.last_thing = LastThing::Nothing;
        }
        self.row.model_calls += 1;
        self.carry.quality_counts[UsageQuality::Missing as usize] += 1;
        self.calls.insert_new(
            (turn, call),
            ModelCallRow {
                session_key: self.row.session_key,
                turn,
                call,
                run: self.carry.run.number,
                response,
                started_at: event.ts,
                usage_quality: UsageQuality::Missing.as_str().to_owned(),
                ..Default::default()
            },
        );
        if let Some(row) = self.turns.get_mut(turn)
            && !row.responded
        {
            row.responded = true;
            self.row.turns += 1;
            self.row.unanswered_turns -= 1;
        }
        if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.last_turn = turn;
            run.turns = turn - run.first_turn + 1;
        }
        (turn, call)
    }

    pub(super) fn note_model(&mut self, turn: u32, model: Option<String>) {
        let Some(model) = model else { return };
        add_name(&mut self.row.models, &model);
        let Some(row) = self.turns.get_mut(turn) else { return };
        row.model = Some(model.clone());
        let run = row.run;
        if let Some(run) = self.runs.get_mut(run) {
            run.model = Some(model);
        }
    }

    fn note_response(&mut self, turn: u32, event: &Event, piece: &ModelResponded) {
        let text = piece.content.iter().find_map(|block| match block {
            Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        let has_tool_use = piece.content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        if turn == self.carry.turn.number && !piece.content.is_empty() {
            self.carry.last_thing = match self.carry.last_thing {
                LastThing::Response { calls_tools: true } => LastThing::Response { calls_tools: true },
                _ => LastThing::Response { calls_tools: has_tool_use },
            };
        }
        if let Some(row) = self.turns.get_mut(turn) {
            row.ended_at = row.ended_at.max(event.ts);
            if row.response_preview.is_none() {
                row.response_preview = text.map(preview);
            }
            if piece.finish_reason.is_some() {
                row.finish_reason.clone_from(&piece.finish_reason);
            }
        }
    }

    pub(super) fn model_failed(
        &mut self,
        event: &Event,
        failure: &ModelFailed,
        context: &mut Context<'_>,
    ) -> u32 {
        let turn = self.input_turn();
        self.ensure_turn(event.ts);
        self.carry.turn.call += 1;
        self.carry.response.place = None;
        self.carry.response.open = false;
        self.carry.last_thing = LastThing::Failure;
        self.row.failed_model_calls += 1;
        self.first_error(turn);
        let call = self.carry.turn.call;
        self.settle_waiting(context.batch);
        PromptState::snapshot(&mut self.carry.prompt, self.row.session_key, turn, call, context.batch);
        let words = failure.error.message.as_deref().or(failure.error.kind.as_deref()).map(preview);
        if let Some(run) = self.runs.get_mut(self.carry.run.number) {
            run.failed_model_calls += 1;
        }
        if let Some(row) = self.turns.get_mut(turn) {
            row.failed_model_calls += 1;
            row.error_preview = row.error_preview.take().or_else(|| words.clone());
        }
        self.calls.insert_new(
            (turn, call),
            ModelCallRow {
                session_key: self.row.session_key,
                turn,
                call,
                run: self.carry.run.number,
                response: response_of(event),
                started_at: event.ts,
                ended_at: event.ts,
                model: failure.model.clone().or_else(|| self.carry.model.clone()),
                error_preview: words,
                failed: true,
                usage_quality: UsageQuality::Missing.as_str().to_owned(),
                ..Default::default()
            },
        );
        turn
    }

    pub(super) fn first_error(&mut self, turn: u32) {
        let first = self.row.first_error_turn.unwrap_or(turn).min(turn);
        self.row.first_error_turn = Some(first);
    }
}

/// Returns what stands for the id of a response that has none.
fn response_of(event: &Event) -> u64 {
    hash64(&event.id.to_string())
}
