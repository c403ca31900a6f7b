//! Calls of models: each response counted once, however many pieces it comes in.

use agent_core::{Block, Event, ModelFailed, ModelResponded, Usage, UsageQuality};

use super::super::prompt::PromptState;
use super::super::tables::ModelCallRow;
use super::super::text::{hash64, preview};
use super::{Context, LastThing, Session};

/// A response whose text would be more than this many times its output tokens has a placeholder figure.
const PLACEHOLDER_FACTOR: u64 = 3;

impl Session {
    pub(super) fn model_responded(
        &mut self,
        event: &Event,
        piece: &ModelResponded,
        context: &mut Context<'_>,
    ) -> duckdb::Result<u32> {
        let Some(usage) = self.usage_of(piece) else {
            // The same sum of the session again: a repeat of a report that was counted.
            self.carry.response_open = false;
            return Ok(self.carry.turn);
        };
        let known = piece.response_id.as_deref().map(hash64).map(|id| (id, self.responses.get(&id).copied()));
        let (turn, call) = match known {
            Some((_, Some(place))) => place,
            Some((id, None)) => self.new_call(id, event, context),
            None if self.carry.response_open => (self.carry.turn, self.carry.call),
            // Some sources write a response's usage after the results of its calls.
            None if piece.content.is_empty() && self.carry.awaits_usage => (self.carry.turn, self.carry.call),
            // A report with no response before it (of a compaction, say) is a call with nothing to show.
            None => self.new_call(hash64(&event.id.to_string()), event, context),
        };
        self.load_turn(turn, context.database)?;
        self.load_call(turn, call, context.database)?;
        if !usage.is_empty() {
            self.carry.awaits_usage = false;
        }
        self.add_piece(turn, call, event, piece, usage);
        self.carry.response_open = !piece.last_piece;
        self.note_response(turn, event, piece);
        Ok(turn)
    }

    /// Returns the usage that the piece adds to its response; nothing when it repeats a report.
    fn usage_of(&mut self, piece: &ModelResponded) -> Option<Usage> {
        let Some(so_far) = piece.usage_so_far else { return Some(piece.usage) };
        let before = self.carry.usage_so_far.replace(so_far);
        if before == Some(so_far) {
            return None;
        }
        let given = [piece.usage.uncached_input, piece.usage.cache_read, piece.usage.output];
        if given.iter().any(|tokens| tokens.is_some_and(|tokens| tokens > 0)) {
            return Some(piece.usage);
        }
        Some(growth(before.unwrap_or_default(), so_far))
    }

    fn new_call(&mut self, response: u64, event: &Event, context: &mut Context<'_>) -> (u32, u32) {
        // Attempts that a source puts into one turn by its native key are calls of that turn.
        let same_native_turn = event.turn.is_some() && self.carry.turn_native == event.turn;
        if !same_native_turn {
            self.input_turn();
        } else if self.carry.turn == 0 {
            self.carry.turn = 1;
        }
        self.ensure_turn(event.ts);
        self.carry.call += 1;
        let (turn, call) = (self.carry.turn, self.carry.call);
        PromptState::snapshot(&mut self.carry.prompt, self.row.session_key, turn, call, context.batch);
        self.responses.insert(response, (turn, call));
        self.carry.turn_responded = true;
        self.carry.run_responded = true;
        self.carry.awaits_usage = true;
        self.row.model_calls += 1;
        self.carry.quality_counts[UsageQuality::Missing as usize] += 1;
        self.calls.insert_new(
            (turn, call),
            ModelCallRow {
                session_key: self.row.session_key,
                turn,
                call,
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
        }
        if let Some(run) = self.runs.get_mut(self.carry.run) {
            run.last_turn = turn;
            run.turns = turn - run.first_turn + 1;
        }
        (turn, call)
    }

    fn load_call(&mut self, turn: u32, call: u32, database: &duckdb::Connection) -> duckdb::Result<()> {
        if self.written && !self.calls.contains((turn, call)) {
            let key = self.row.session_key;
            let condition = "session_key = ? AND turn = ? AND call = ?";
            for row in super::place::select::<ModelCallRow>(database, condition, [key, turn, call])? {
                self.calls.insert_loaded((turn, call), row);
            }
        }
        Ok(())
    }

    fn add_piece(&mut self, turn: u32, call: u32, event: &Event, piece: &ModelResponded, usage: Usage) {
        let model = piece.model.clone().or_else(|| self.carry.model.clone());
        let provider = piece.provider.clone().or_else(|| self.carry.provider.clone());
        let Some(row) = self.calls.get_mut((turn, call)) else { return };
        let before = (usage_of_row(row), quality_of(row), row.reported_cost_picousd);
        row.model = row.model.take().or(model);
        row.provider = row.provider.take().or(provider);
        row.response_id = row.response_id.take().or_else(|| piece.response_id.clone());
        row.ended_at = row.ended_at.max(event.ts);
        row.time_to_first_token_ms = row.time_to_first_token_ms.or(piece.time_to_first_token_ms);
        row.duration_ms = row.duration_ms.max(piece.duration_ms);
        if piece.finish_reason.is_some() {
            row.finish_reason.clone_from(&piece.finish_reason);
        }
        row.visible_bytes += piece.content.iter().map(|block| block.text_len() as u64).sum::<u64>();
        if let Some(cost) = piece.reported_cost_usd.and_then(|cost| i64::try_from(cost.0).ok()) {
            row.reported_cost_picousd = row.reported_cost_picousd.max(Some(cost));
        }
        set_usage(row, before.0.max(usage));
        let said = piece.usage_quality.unwrap_or(if usage.is_empty() { UsageQuality::Missing } else { UsageQuality::Partial });
        row.usage_quality = quality_now(row, before.1, said).as_str().to_owned();
        let after = (usage_of_row(row), quality_of(row), row.reported_cost_picousd);
        let model = row.model.clone();
        self.account(turn, before, after);
        self.note_model(turn, model);
    }

    /// Moves the session's and the turn's sums from what a call was to what it is.
    fn account(&mut self, turn: u32, before: (Usage, UsageQuality, Option<i64>), after: (Usage, UsageQuality, Option<i64>)) {
        let delta = growth(before.0, after.0);
        let sums = &mut self.row;
        for (sum, tokens) in [
            (&mut sums.uncached_input_tokens, delta.uncached_input),
            (&mut sums.cache_read_tokens, delta.cache_read),
            (&mut sums.cache_write_5m_tokens, delta.cache_write_5m),
            (&mut sums.cache_write_1h_tokens, delta.cache_write_1h),
            (&mut sums.output_tokens, delta.output),
            (&mut sums.reasoning_tokens, delta.reasoning),
        ] {
            add(sum, tokens);
        }
        if after.2 != before.2 {
            self.carry.costs_by_call = true;
            let more = after.2.unwrap_or(0) - before.2.unwrap_or(0);
            sums.reported_cost_picousd = Some(sums.reported_cost_picousd.unwrap_or(0) + more);
        }
        sums.peak_prompt_tokens = sums.peak_prompt_tokens.max(after.0.prompt());
        let counts = &mut self.carry.quality_counts;
        counts[before.1 as usize] = counts[before.1 as usize].saturating_sub(1);
        counts[after.1 as usize] += 1;
        let worst = QUALITIES.iter().rev().find(|&&quality| self.carry.quality_counts[quality as usize] > 0);
        self.row.usage_quality = worst.unwrap_or(&UsageQuality::Missing).as_str().to_owned();
        if let Some(row) = self.turns.get_mut(turn) {
            for (sum, tokens) in [
                (&mut row.uncached_input_tokens, delta.uncached_input),
                (&mut row.cache_read_tokens, delta.cache_read),
                (&mut row.cache_write_tokens, delta.cache_write()),
                (&mut row.output_tokens, delta.output),
                (&mut row.reasoning_tokens, delta.reasoning),
            ] {
                add(sum, tokens);
            }
            row.usage_quality = after.1.as_str().to_owned();
        }
    }

    fn note_model(&mut self, turn: u32, model: Option<String>) {
        let Some(model) = model else { return };
        add_name(&mut self.row.models, &model);
        if let Some(row) = self.turns.get_mut(turn) {
            row.model = Some(model);
        }
    }

    fn note_response(&mut self, turn: u32, event: &Event, piece: &ModelResponded) {
        let text = piece.content.iter().find_map(|block| match block {
            Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        let has_tool_use = piece.content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        if turn == self.carry.turn && !piece.content.is_empty() {
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

    pub(super) fn model_failed(&mut self, event: &Event, failure: &ModelFailed, context: &mut Context<'_>) -> u32 {
        let turn = self.input_turn();
        self.ensure_turn(event.ts);
        self.carry.call += 1;
        self.carry.response_open = false;
        self.carry.last_thing = LastThing::Failure;
        self.row.failed_model_calls += 1;
        self.first_error(turn);
        let call = self.carry.call;
        PromptState::snapshot(&mut self.carry.prompt, self.row.session_key, turn, call, context.batch);
        let words = failure.error.message.as_deref().or(failure.error.kind.as_deref()).map(preview);
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
                response: hash64(&event.id.to_string()),
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

const QUALITIES: [UsageQuality; 5] = [
    UsageQuality::Final,
    UsageQuality::Partial,
    UsageQuality::Placeholder,
    UsageQuality::Estimated,
    UsageQuality::Missing,
];

/// Adds a name to a JSON list of names, when it is not in it.
pub(super) fn add_name(list: &mut String, name: &str) {
    let quoted = serde_json::to_string(name).expect("a string is JSON");
    if list.contains(&quoted) {
        return;
    }
    list.pop();
    if list.len() > 1 {
        list.push(',');
    }
    list.push_str(&quoted);
    list.push(']');
}

fn add(sum: &mut Option<u64>, tokens: Option<u64>) {
    if let Some(tokens) = tokens {
        *sum = Some(sum.unwrap_or(0) + tokens);
    }
}

fn usage_of_row(row: &ModelCallRow) -> Usage {
    Usage {
        uncached_input: row.uncached_input_tokens,
        cache_read: row.cache_read_tokens,
        cache_write_5m: row.cache_write_5m_tokens,
        cache_write_1h: row.cache_write_1h_tokens,
        output: row.output_tokens,
        reasoning: row.reasoning_tokens,
    }
}

fn set_usage(row: &mut ModelCallRow, usage: Usage) {
    row.uncached_input_tokens = usage.uncached_input;
    row.cache_read_tokens = usage.cache_read;
    row.cache_write_5m_tokens = usage.cache_write_5m;
    row.cache_write_1h_tokens = usage.cache_write_1h;
    row.output_tokens = usage.output;
    row.reasoning_tokens = usage.reasoning;
}

fn quality_of(row: &ModelCallRow) -> UsageQuality {
    UsageQuality::from_word(&row.usage_quality).unwrap_or(UsageQuality::Missing)
}

/// Returns the quality of a call after a piece: final once any piece was; else a placeholder when the text
/// shows that the figure is too small (formats.md: many versions write 1 to 9 tokens for whole pages).
fn quality_now(row: &ModelCallRow, before: UsageQuality, said: UsageQuality) -> UsageQuality {
    let best = if before == UsageQuality::Final || said == UsageQuality::Final {
        UsageQuality::Final
    } else if said == UsageQuality::Missing {
        before
    } else {
        said
    };
    let visible_tokens = row.visible_bytes / 4;
    let too_small = visible_tokens > PLACEHOLDER_FACTOR * row.output_tokens.unwrap_or(0);
    match best {
        UsageQuality::Partial | UsageQuality::Placeholder if too_small => UsageQuality::Placeholder,
        UsageQuality::Placeholder => UsageQuality::Partial,
        other => other,
    }
}

/// Returns what `after` has more than `before`, bucket by bucket; a bucket that shrank gives 0.
fn growth(before: Usage, after: Usage) -> Usage {
    let more = |before: Option<u64>, after: Option<u64>| after.map(|after| after.saturating_sub(before.unwrap_or(0)));
    Usage {
        uncached_input: more(before.uncached_input, after.uncached_input),
        cache_read: more(before.cache_read, after.cache_read),
        cache_write_5m: more(before.cache_write_5m, after.cache_write_5m),
        cache_write_1h: more(before.cache_write_1h, after.cache_write_1h),
        output: more(before.output, after.output),
        reasoning: more(before.reasoning, after.reasoning),
    }
}
