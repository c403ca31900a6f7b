//! The rows that one transaction writes.

use duckdb::Connection;

use super::columns::Table;
use super::rollup::Stale;
use super::tables::*;

/// Rows to append, and statements that first remove the rows they replace.
#[derive(Default)]
pub(super) struct Batch {
    deletes: Vec<String>,
    pub(super) sources: Vec<SourceRow>,
    pub(super) unread: Vec<UnreadRow>,
    pub(super) sessions: Vec<SessionRow>,
    pub(super) events: Vec<EventRow>,
    pub(super) runs: Vec<RunRow>,
    pub(super) turns: Vec<TurnRow>,
    pub(super) model_calls: Vec<ModelCallRow>,
    pub(super) tool_calls: Vec<ToolCallRow>,
    pub(super) parts: Vec<PartRow>,
    pub(super) prompts: Vec<PromptRow>,
    pub(super) chunks: Vec<ChunkRow>,
    pub(super) memory_events: Vec<MemoryEventRow>,
    pub(super) skill_events: Vec<SkillEventRow>,
    pub(super) scores: Vec<ScoreRow>,
    pub(super) budgets: Vec<BudgetRow>,
    pub(super) repricings: Vec<RepricingRow>,
    pub(super) edits: Vec<EditRow>,
    stale: Stale,
}

impl Batch {
    /// Returns how many rows wait, by which the size of a batch is bounded.
    pub(super) fn len(&self) -> usize {
        self.events.len() + self.unread.len()
    }

    /// Has the rows of `T` for which `condition` holds removed before new ones are appended.
    pub(super) fn delete<T: Table>(&mut self, condition: &str) {
        self.deletes.push(format!("DELETE FROM {} WHERE {condition}", T::full_name()));
    }

    /// Writes everything, within the transaction that is open on `connection`, and is empty again.
    pub(super) fn write(&mut self, connection: &Connection) -> duckdb::Result<()> {
        for statement in self.deletes.drain(..) {
            connection.execute_batch(&statement)?;
        }
        append(connection, &mut self.sources)?;
        append(connection, &mut self.unread)?;
        append(connection, &mut self.sessions)?;
        append(connection, &mut self.events)?;
        append(connection, &mut self.runs)?;
        append(connection, &mut self.turns)?;
        self.stale.note(&self.model_calls);
        append(connection, &mut self.model_calls)?;
        self.stale.settle(connection)?;
        append(connection, &mut self.tool_calls)?;
        append(connection, &mut self.parts)?;
        append(connection, &mut self.prompts)?;
        append(connection, &mut self.chunks)?;
        append(connection, &mut self.memory_events)?;
        append(connection, &mut self.skill_events)?;
        append(connection, &mut self.scores)?;
        append(connection, &mut self.budgets)?;
        append(connection, &mut self.repricings)?;
        append(connection, &mut self.edits)
    }
}

fn append<T: Table>(connection: &Connection, rows: &mut Vec<T>) -> duckdb::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let batch = T::batch(rows).map_err(|error| duckdb::Error::ToSqlConversionFailure(Box::new(error)))?;
    rows.clear();
    let mut appender = connection.appender_to_db(T::NAME, T::SCHEMA)?;
    appender.append_record_batch(batch)?;
    appender.flush()
}

/// Returns the statements that make all tables.
pub(super) fn ddl() -> String {
    let tables = [
        SourceRow::ddl(),
        UnreadRow::ddl(),
        SessionRow::ddl(),
        EventRow::ddl(),
        RunRow::ddl(),
        TurnRow::ddl(),
        ModelCallRow::ddl(),
        UsageRow::ddl(),
        ToolCallRow::ddl(),
        PartRow::ddl(),
        PromptRow::ddl(),
        ChunkRow::ddl(),
        MemoryEventRow::ddl(),
        SkillEventRow::ddl(),
        ScoreRow::ddl(),
        BudgetRow::ddl(),
        RepricingRow::ddl(),
        EditRow::ddl(),
    ];
    format!(
        "CREATE SCHEMA behavior; CREATE SCHEMA cost; CREATE SCHEMA quality; CREATE SCHEMA learning;
         CREATE TABLE main.meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL);
         {};",
        tables.join(";\n")
    )
}
