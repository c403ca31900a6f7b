//! The tables of the projection, one struct each.
//!
//! Plain columns only, so that the same tables can stand in a lake: no keys, indexes, sequences or enums.
//! Rows are appended; the few that change while a session is worked on are deleted and appended again in
//! the transaction of the batch that changes them.

use agent_core::Timestamp;
use duckdb::arrow::datatypes::{Field, Schema};
use duckdb::arrow::record_batch::RecordBatch;

use super::columns::{Cell, table};

table! {
    /// A place that records came from, with what was read of it.
    SourceRow = "main"."sources" {
        /// Its number in the journal.
        source_id: u32,
        /// The format.
        format: String,
        /// The place.
        path: String,
        /// The session that its rows belong to.
        session: String,
        /// Rows in the journal.
        rows: u64,
        /// Events made of them and stored.
        events: u64,
        /// Events that were known already.
        duplicates: u64,
        /// Pieces that could not be read.
        unread: u64,
        /// The position of the record that opened it.
        opened: u64,
        /// The position of its last record.
        position: u64,
    }
}

table! {
    /// A piece of a source that could not be read.
    UnreadRow = "main"."unread" {
        /// The source.
        source_id: u32,
        /// The row's number.
        row: u64,
        /// Why.
        reason: String,
        /// The record.
        position: u64,
    }
}

table! {
    /// One session.
    SessionRow = "main"."sessions" {
        /// Its number here.
        session_key: u32,
        /// Its name at its source.
        session: String,
        /// The format that it was read from, or `api`.
        source: Option<String>,
        /// The session it came from.
        parent: Option<String>,
        /// How: `subagent` or `fork`.
        parent_kind: Option<String>,
        /// A fork: the last turn of the parent that it shares.
        parent_turn: Option<u32>,
        /// A sub-agent: the call that started it.
        parent_call: Option<String>,
        /// Who asked.
        user: Option<String>,
        /// The agent.
        agent: Option<String>,
        /// Its version.
        agent_version: Option<String>,
        /// A JSON list of the models that served it, in order of first use.
        models: String,
        /// A JSON list of the tools that it called.
        tools: String,
        /// The project.
        project: Option<String>,
        /// The working folder.
        cwd: Option<String>,
        /// The branch.
        git_branch: Option<String>,
        /// The permission mode.
        permission_mode: Option<String>,
        /// A JSON list of its tags.
        tags: String,
        /// The title: the source's, else the first request.
        title: Option<String>,
        /// The earliest time in it.
        started_at: Option<Timestamp>,
        /// The latest time in it.
        ended_at: Option<Timestamp>,
        /// From first to last, in milliseconds.
        duration_ms: Option<u64>,
        /// How it stands, `agent_core::Status`.
        status: String,
        /// Why it ended, `agent_core::EndReason`.
        end_reason: String,
        /// Turns with a response.
        turns: u32,
        /// Turns that have a row and no response: not answered yet, or never.
        unanswered_turns: u32,
        /// Runs (requests of the user).
        runs: u32,
        /// Responses of models.
        model_calls: u32,
        /// Calls of models that failed.
        failed_model_calls: u32,
        /// Tool calls.
        tool_calls: u32,
        /// Tool calls that did not succeed: failed, refused, broken off.
        failed_tool_calls: u32,
        /// Of these, refused before they ran.
        rejected_tool_calls: u32,
        /// Of these, broken off.
        cancelled_tool_calls: u32,
        /// Times the user broke it off.
        interrupts: u32,
        /// Times its context was compacted.
        compactions: u32,
        /// Tokens.
        uncached_input_tokens: Option<u64>,
        /// Tokens.
        cache_read_tokens: Option<u64>,
        /// Tokens.
        cache_write_5m_tokens: Option<u64>,
        /// Tokens.
        cache_write_1h_tokens: Option<u64>,
        /// Tokens.
        output_tokens: Option<u64>,
        /// The same with each figure that is not whole raised to visible characters / 4 where that is more.
        estimated_output_tokens: Option<u64>,
        /// Tokens.
        reasoning_tokens: Option<u64>,
        /// The worst quality among its figures.
        usage_quality: String,
        /// What the agent says it cost, in 1e-12 USD.
        reported_cost_picousd: Option<i64>,
        /// What its calls cost by the price table, as far as they have a price, in 1e-12 USD.
        cost_picousd: Option<i64>,
        /// Calls of models that have no price.
        unpriced_calls: u32,
        /// Calls of models of which a part has no price.
        partly_unpriced_calls: u32,
        /// What it cost by the table before the last one that it was priced by.
        earlier_cost_picousd: Option<i64>,
        /// That table.
        earlier_price_table: Option<String>,
        /// The largest prompt, in tokens.
        peak_prompt_tokens: Option<u64>,
        /// The first turn in which a tool or a model call failed; refused and broken off ones do not count.
        first_error_turn: Option<u32>,
        /// Events that the source says it wrote.
        events_emitted: Option<u64>,
        /// Of these, how many never came.
        events_missing: Option<u64>,
        /// Events that came in.
        events_received: u64,
        /// Events that are kept.
        events_stored: u64,
        /// Events that were known already.
        events_duplicate: u64,
        /// Pieces that could not be read.
        events_refused: u64,
        /// 64 bits of the id of its first message, by which copies of its beginning are found; absent in the
        /// copies.
        root: Option<u64>,
        /// The position of the last record that changed it.
        position: u64,
        /// What the projection needs to go on with it, as JSON.
        carry: String,
    }
}

table! {
    /// One event, without its payload: that stands in the journal.
    EventRow = "main"."events" {
        /// The session.
        session_key: u32,
        /// Its place in the session, from 0.
        n: u32,
        /// When.
        ts: Option<Timestamp>,
        /// What.
        event_type: String,
        /// The turn.
        turn: u32,
        /// The record.
        position: u64,
        /// Which of the record's events.
        sub: u16,
        /// 64 bits of its id and revision.
        id: u64,
        /// Its revision.
        rev: u64,
        /// 64 bits of its fact.
        fact: Option<u64>,
        /// 64 bits of its step.
        step: Option<u64>,
    }
}

table! {
    /// One run: from a request of the user to its end.
    RunRow = "behavior"."run_ends" {
        /// The session.
        session_key: u32,
        /// Its number in the session, from 1.
        run: u32,
        /// The first turn.
        first_turn: u32,
        /// The last turn with a response so far.
        last_turn: u32,
        /// The request, at most 256 bytes.
        task_preview: String,
        /// When it began.
        started_at: Option<Timestamp>,
        /// When its last event came.
        ended_at: Option<Timestamp>,
        /// Its duration.
        duration_ms: Option<u64>,
        /// Turns.
        turns: u32,
        /// Tool calls.
        tool_calls: u32,
        /// Tool calls that did not succeed: failed, refused, broken off.
        failed_tool_calls: u32,
        /// Of these, refused before they ran.
        rejected_tool_calls: u32,
        /// Of these, broken off.
        cancelled_tool_calls: u32,
        /// The model of its last response.
        model: Option<String>,
        /// Calls of models that failed.
        failed_model_calls: u32,
        /// What its calls cost by the price table, as far as they have a price, in 1e-12 USD.
        cost_picousd: Option<i64>,
        /// Calls of models that have no price, or of which a part has none.
        unpriced_calls: u32,
        /// Whether the user asked for the same once more: said so, went back to an earlier place, or repeated
        /// the words.
        retried: bool,
        /// Times the user broke it off.
        interrupts: u32,
        /// Calls that were to change a file and ended.
        edits: u32,
        /// Of these, done and left as the agent made them.
        edits_kept: u32,
        /// How it ended.
        status: String,
        /// Why.
        end_reason: String,
    }
}

table! {
    /// One turn: a prompt, its response, the tool calls and their results.
    TurnRow = "behavior"."turns" {
        /// The session.
        session_key: u32,
        /// Its number in the session, from 1.
        turn: u32,
        /// The run.
        run: u32,
        /// Its number in the run, from 1.
        run_turn: u32,
        /// The turn's native key: links to it survive a new mapping.
        native: Option<String>,
        /// Whether a model responded in it.
        responded: bool,
        /// When its first event came.
        started_at: Option<Timestamp>,
        /// When its last event came.
        ended_at: Option<Timestamp>,
        /// The first event's place.
        first_n: u32,
        /// The last event's place.
        last_n: u32,
        /// Whether the user asked before it.
        asked: bool,
        /// The user's words before it, at most 256 bytes.
        user_preview: Option<String>,
        /// The model's words, at most 256 bytes.
        response_preview: Option<String>,
        /// The model.
        model: Option<String>,
        /// Why the model stopped.
        finish_reason: Option<String>,
        /// The names of the tools called, a JSON list.
        tools: String,
        /// Tool calls.
        tool_calls: u32,
        /// Tool calls that did not succeed: failed, refused, broken off.
        failed_tool_calls: u32,
        /// Of these, refused before they ran.
        rejected_tool_calls: u32,
        /// Of these, broken off.
        cancelled_tool_calls: u32,
        /// Failed calls of the model.
        failed_model_calls: u32,
        /// The first error's words, at most 256 bytes.
        error_preview: Option<String>,
        /// Whether the user broke it off.
        interrupted: bool,
        /// Whether the context was compacted before it.
        compacted: bool,
        /// Tokens.
        uncached_input_tokens: Option<u64>,
        /// Tokens.
        cache_read_tokens: Option<u64>,
        /// Tokens.
        cache_write_tokens: Option<u64>,
        /// Tokens.
        output_tokens: Option<u64>,
        /// The same with each figure that is not whole raised to visible characters / 4 where that is more.
        estimated_output_tokens: Option<u64>,
        /// Tokens.
        reasoning_tokens: Option<u64>,
        /// How far the tokens can be trusted.
        usage_quality: String,
        /// What its calls cost by the price table, as far as they have a price, in 1e-12 USD.
        cost_picousd: Option<i64>,
        /// Calls of models that have no price, or of which a part has none.
        unpriced_calls: u32,
    }
}

table! {
    /// One call of a model: the attempts of a turn are its calls 1, 2, ...
    ModelCallRow = "cost"."model_calls" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// Its number in the turn, from 1.
        call: u32,
        /// The run.
        run: u32,
        /// The provider's id of the response.
        response_id: Option<String>,
        /// 64 bits that tell responses of the session apart.
        response: u64,
        /// When its first piece came.
        started_at: Option<Timestamp>,
        /// When its last piece came.
        ended_at: Option<Timestamp>,
        /// The provider.
        provider: Option<String>,
        /// The model that served.
        model: Option<String>,
        /// Why it stopped.
        finish_reason: Option<String>,
        /// What went wrong, at most 256 bytes.
        error_preview: Option<String>,
        /// Whether it failed.
        failed: bool,
        /// Tokens.
        uncached_input_tokens: Option<u64>,
        /// Tokens.
        cache_read_tokens: Option<u64>,
        /// Tokens.
        cache_write_5m_tokens: Option<u64>,
        /// Tokens.
        cache_write_1h_tokens: Option<u64>,
        /// Tokens.
        output_tokens: Option<u64>,
        /// The same with each figure that is not whole raised to visible characters / 4 where that is more.
        estimated_output_tokens: Option<u64>,
        /// Tokens.
        reasoning_tokens: Option<u64>,
        /// How far the tokens can be trusted.
        usage_quality: String,
        /// Bytes of text in the response, by which placeholders are found.
        visible_bytes: u64,
        /// To the first token.
        time_to_first_token_ms: Option<u64>,
        /// From request to end, as reported.
        duration_ms: Option<u64>,
        /// The way it was served in, where that has a price of its own: `batch`, `flex`, `priority`.
        service_tier: Option<String>,
        /// What the agent says it cost, in 1e-12 USD.
        reported_cost_picousd: Option<i64>,
        /// What it cost by the price table, as far as it has a price, in 1e-12 USD.
        cost_picousd: Option<i64>,
        /// `priced`, `partly_unpriced`, `unpriced`, or `not_charged` for a call that failed.
        cost_status: String,
        /// Why it has no price, or a part of it has none.
        unpriced_reason: Option<String>,
        /// The table that it was priced by.
        price_table: Option<String>,
    }
}

table! {
    /// Sums over the calls of one model in one session and one quarter of an hour (UTC).
    UsageRow = "cost"."usage" {
        /// The session.
        session_key: u32,
        /// The beginning of the quarter; absent for calls without a time.
        quarter: Option<Timestamp>,
        /// The model that served.
        model: Option<String>,
        /// Calls that were answered.
        calls: u64,
        /// Calls that failed.
        failed_calls: u64,
        /// Tokens.
        uncached_input_tokens: u64,
        /// Tokens.
        cache_read_tokens: u64,
        /// Tokens.
        cache_write_5m_tokens: u64,
        /// Tokens.
        cache_write_1h_tokens: u64,
        /// Tokens.
        output_tokens: u64,
        /// The same with each figure that is not whole raised to visible characters / 4 where that is more.
        estimated_output_tokens: u64,
        /// Tokens.
        reasoning_tokens: u64,
        /// Calls whose tokens are not the provider's last word.
        untrusted_calls: u64,
        /// What the calls cost by the price table, as far as they have a price, in 1e-12 USD.
        cost_picousd: i64,
        /// The part of it that rests on tokens which are not the provider's last word.
        untrusted_cost_picousd: i64,
        /// Calls that have no price.
        unpriced_calls: u64,
        /// Calls of which a part has no price.
        partly_unpriced_calls: u64,
        /// What the agent says that they cost, in 1e-12 USD.
        reported_cost_picousd: Option<i64>,
        /// Calls of which the agent says what they cost.
        reported_calls: u64,
        /// What those cost by the price table, in 1e-12 USD.
        cost_of_reported_picousd: i64,
    }
}

table! {
    /// One tool call.
    ToolCallRow = "behavior"."tool_calls" {
        /// The session.
        session_key: u32,
        /// The turn that asked for it.
        turn: u32,
        /// Its number in the session, from 1.
        call: u32,
        /// Its id at the source.
        call_id: String,
        /// The tool.
        name: String,
        /// The input, at most 256 bytes.
        input_preview: String,
        /// Bytes of input.
        input_bytes: u64,
        /// How it ended; absent while it runs or when the source has no result.
        status: Option<String>,
        /// The exit code.
        exit_code: Option<i64>,
        /// The words of the error, else the output, at most 256 bytes.
        output_preview: Option<String>,
        /// Bytes of output.
        output_bytes: Option<u64>,
        /// When it was asked for.
        started_at: Option<Timestamp>,
        /// When its result came.
        ended_at: Option<Timestamp>,
        /// How long it ran: reported, else from call to result.
        duration_ms: Option<u64>,
        /// The words of its failure without numbers, names and places, by which equal failures are grouped.
        error_signature: Option<String>,
        /// Whether it failed because its time was up.
        timed_out: bool,
        /// Where the call's event stands: record.
        position: u64,
        /// Where the call's event stands: which of the record's events.
        sub: u16,
        /// Where the result's event stands.
        end_position: Option<u64>,
        /// Where the result's event stands.
        end_sub: Option<u16>,
    }
}

table! {
    /// One part that stands, or stood, in a session's prompts.
    PartRow = "main"."prompt_parts" {
        /// The session.
        session_key: u32,
        /// Its number in the session, from 0.
        part: u32,
        /// `agent_core::ChunkKind`.
        kind: String,
        /// Where it comes from.
        source: Option<String>,
        /// Why it is there.
        reason: Option<String>,
        /// The role of the message it belongs to.
        role: String,
        /// The number of the tool call that it is, or is the result of.
        tool_call: Option<u32>,
        /// Its size, exact for recorded prompts, near for rebuilt ones.
        bytes: u64,
        /// Its size in tokens.
        tokens: Option<u64>,
        /// How the tokens were counted.
        tokens_basis: Option<String>,
        /// The turn in whose prompt it stood first.
        turn: u32,
        /// The record that holds its bytes.
        position: u64,
        /// Which of the record's events.
        sub: u16,
        /// For a recorded prompt: the hash of the bytes.
        hash: Option<String>,
    }
}

table! {
    /// One prompt: which parts stood in it, in order.
    PromptRow = "main"."prompts" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// The call in the turn.
        call: u32,
        /// Ranges of part numbers, such as `0-4,7-12`, ends included.
        parts: String,
        /// How many parts.
        part_count: u32,
        /// The hash of the body, for recorded prompts.
        body_hash: Option<String>,
        /// What was left out, as JSON.
        left_out: Option<String>,
    }
}

table! {
    /// A chunk of recorded prompts: where its bytes stand.
    ChunkRow = "main"."chunks" {
        /// The session.
        session_key: u32,
        /// BLAKE3 in hex.
        hash: String,
        /// The record.
        position: u64,
        /// Which of the record's events.
        sub: u16,
        /// Its size.
        bytes: u64,
    }
}

table! {
    /// Something of memory.
    MemoryEventRow = "learning"."memory_events" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// When.
        ts: Option<Timestamp>,
        /// `written`, `recalled`, `rejected` or `evicted`.
        what: String,
        /// The memory's key.
        key: String,
        /// Where it comes from.
        source: Option<String>,
        /// The record.
        position: u64,
    }
}

table! {
    /// Something of skills.
    SkillEventRow = "learning"."skill_events" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// When.
        ts: Option<Timestamp>,
        /// `listed`, `matched`, `rejected`, `created`, `updated`, `deprecated` or `write_rejected`.
        what: String,
        /// The skill.
        skill: String,
        /// Where it comes from.
        source: Option<String>,
        /// The record.
        position: u64,
    }
}

table! {
    /// A judgement or a mark.
    ScoreRow = "quality"."scores" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// When.
        ts: Option<Timestamp>,
        /// What was judged.
        name: String,
        /// In words.
        label: Option<String>,
        /// The record.
        position: u64,
    }
}

table! {
    /// A ceiling that somebody set: the last one of its period and scope holds.
    BudgetRow = "cost"."budgets" {
        /// When it was set.
        ts: Option<Timestamp>,
        /// What it holds for: `month` or `task`.
        period: String,
        /// Whose money: `all`, `user`, `agent`, `project` or `model`.
        scope: String,
        /// Which one of them; empty for `all`.
        name: String,
        /// The ceiling, in 1e-12 USD; absent where it was taken away.
        ceiling_picousd: Option<i64>,
        /// Who set it.
        set_by: Option<String>,
        /// Why.
        why: Option<String>,
        /// The record.
        position: u64,
    }
}

table! {
    /// A change of the price table that was applied to what had been priced by another.
    RepricingRow = "cost"."repricings" {
        /// When.
        ts: Option<Timestamp>,
        /// The table before.
        table_before: String,
        /// The table after.
        table_after: String,
        /// Sessions whose figure changed.
        sessions: u64,
        /// What these cost before, in 1e-12 USD.
        cost_before_picousd: i64,
        /// The record.
        position: u64,
    }
}

table! {
    /// What the user made of a change that the agent made.
    EditRow = "quality"."edits" {
        /// The session.
        session_key: u32,
        /// The turn.
        turn: u32,
        /// When.
        ts: Option<Timestamp>,
        /// The file.
        path: Option<String>,
        /// Lines of the agent that the user kept.
        lines_kept: Option<u64>,
        /// Lines that the user changed.
        lines_changed: Option<u64>,
        /// The record.
        position: u64,
    }
}
