//! `dashcam metrics`.

use std::io::Write;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::metrics::{
    Group, LearningFigures, LearningKind, ModelFigures, Scope, Targets, TaskFigures, ToolFigures,
};
use store::{Store, StoreError};

use super::cost::{group_name, named_groups};
use super::look::{Ink, Paper};
use super::plain::printable;
use super::table::{Column, Table};
use super::{Notes, ReportError, Style, json_line};
use crate::format::{duration, known, percent};
use crate::typed_time::read_zone;

/// Which figures are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricClass {
    /// Tasks: how they end, how long they take, what the user makes of them.
    Task,
    /// Tools: calls, how they end, how long they take.
    Tool,
    /// Models: how fast they answer, how often they fail.
    Model,
    /// Skills: offered, called up, never used.
    Skill,
    /// Memories: written, recalled.
    Memory,
}

/// What is printed: a row a group, the same figures as cells and as JSON.
struct Sheet {
    headings: Vec<Column>,
    rows: Vec<Row>,
}

struct Row {
    groups: Vec<Option<String>>,
    cells: Vec<String>,
    figures: Map<String, Value>,
}

pub(super) fn write(
    store: &Store,
    scope: &Scope,
    by: Option<Group>,
    class: MetricClass,
    zone: &str,
    style: &Style,
    out: &mut dyn Write,
) -> Result<Notes, ReportError> {
    let sheet = sheet(store, scope, by, class, &read_zone(zone)?)?;
    let mut notes = Notes::default();
    if sheet.rows.is_empty() {
        notes.lines.push("nothing fits".to_owned());
    }
    match style {
        Style::Json => {
            for row in sheet.rows {
                let mut line = named_groups(by, &row.groups);
                line.extend(row.figures);
                json_line(out, &line)?;
            }
        }
        Style::Text(look) => write_table(sheet, by, &mut Paper::new(look, out)?)?,
    }
    Ok(notes)
}

fn sheet(
    store: &Store,
    scope: &Scope,
    by: Option<Group>,
    class: MetricClass,
    zone: &TimeZone,
) -> Result<Sheet, StoreError> {
    let groups: Vec<Group> = by.into_iter().collect();
    Ok(match class {
        MetricClass::Task => tasks(store.tasks(scope, &groups, zone)?, &Targets::default()),
        MetricClass::Tool => tools(store.tools(scope, &groups, zone)?),
        MetricClass::Model => {
            let groups = if groups.is_empty() { vec![Group::Model] } else { groups };
            models(store.models(scope, &groups, zone)?, by.is_none())
        }
        MetricClass::Skill => learning(learned(store, LearningKind::Skill, scope, &groups, zone)?),
        MetricClass::Memory => learning(learned(store, LearningKind::Memory, scope, &groups, zone)?),
    })
}

/// Returns what became of each memory or skill, or of all by group.
fn learned(
    store: &Store,
    kind: LearningKind,
    scope: &Scope,
    groups: &[Group],
    zone: &TimeZone,
) -> Result<Vec<LearningFigures>, StoreError> {
    if groups.is_empty() { store.learned(kind, scope) } else { store.learning(kind, scope, groups, zone) }
}

fn tasks(rows: Vec<TaskFigures>, targets: &Targets) -> Sheet {
    let over = |sign: &str, target: String, name: &str| Column::figures(format!("{name} ({sign} {target})"));
    let headings = vec![
        Column::figures("TASKS"),
        over(">", percent(targets.success_ratio), "SUCCESS"),
        over("<", duration(targets.duration_ms as u64), "MEAN TIME"),
        Column::figures("P95 TIME"),
        over("<", targets.turns.to_string(), "MEAN TURNS"),
        over("<", percent(targets.retry_ratio), "ASKED AGAIN"),
        Column::figures("BROKEN OFF"),
        Column::figures("EDITS KEPT"),
    ];
    let row = |row: TaskFigures| Row {
        cells: vec![
            row.runs.to_string(),
            known(row.success_ratio(), percent),
            known(row.mean_duration_ms, |ms| duration(ms as u64)),
            known(row.p95_duration_ms, duration),
            known(row.mean_turns, |turns| format!("{turns:.1}")),
            known(row.retry_ratio(), percent),
            row.interrupted.to_string(),
            known(row.kept_ratio(), percent),
        ],
        figures: figures(
            &row,
            [
                ("success_ratio", row.success_ratio()),
                ("retry_ratio", row.retry_ratio()),
                ("kept_ratio", row.kept_ratio()),
            ],
        ),
        groups: row.groups,
    };
    Sheet { headings, rows: rows.into_iter().map(row).collect() }
}

fn tools(rows: Vec<ToolFigures>) -> Sheet {
    let mut headings = vec![Column::words("TOOL")];
    headings.extend(
        ["CALLS", "SUCCESS", "FAILED", "TIMED OUT", "REJECTED", "CANCELLED", "P50", "P95", "P99"]
            .map(Column::figures),
    );
    let row = |row: ToolFigures| Row {
        cells: vec![
            known(row.tool.as_deref(), printable),
            row.calls.to_string(),
            known(row.success_ratio(), percent),
            row.failed.to_string(),
            row.timed_out.to_string(),
            row.rejected.to_string(),
            row.cancelled.to_string(),
            known(row.p50_ms, duration),
            known(row.p95_ms, duration),
            known(row.p99_ms, duration),
        ],
        figures: figures(&row, [("success_ratio", row.success_ratio())]),
        groups: row.groups,
    };
    Sheet { headings, rows: rows.into_iter().map(row).collect() }
}

/// `by_model`: the groups are the models, whose names are cells then.
fn models(rows: Vec<ModelFigures>, by_model: bool) -> Sheet {
    let mut headings: Vec<Column> = by_model.then(|| Column::words("MODEL")).into_iter().collect();
    headings.extend(
        ["CALLS", "FAILED", "CUT OFF", "REFUSED", "P50 FIRST TOKEN", "P95 FIRST TOKEN", "P50", "P95", "P99"]
            .map(Column::figures),
    );
    let row = |row: ModelFigures| {
        let mut figures = figures(&row, []);
        let model = row.groups.first().cloned().flatten();
        let mut cells = Vec::new();
        if by_model {
            cells.push(known(model.as_deref(), printable));
            figures.extend(model.map(|model| ("model".to_owned(), json!(model))));
        }
        cells.extend([
            row.calls.to_string(),
            row.failed.to_string(),
            row.cut_off.to_string(),
            row.refused.to_string(),
            known(row.p50_first_token_ms, duration),
            known(row.p95_first_token_ms, duration),
            known(row.p50_ms, duration),
            known(row.p95_ms, duration),
            known(row.p99_ms, duration),
        ]);
        Row { cells, figures, groups: if by_model { Vec::new() } else { row.groups } }
    };
    Sheet { headings, rows: rows.into_iter().map(row).collect() }
}

fn learning(rows: Vec<LearningFigures>) -> Sheet {
    let mut headings = vec![Column::words("NAME")];
    headings.extend(
        ["OFFERED", "USED", "TASKS", "FAILED TASKS", "WRITTEN", "REJECTED", "WRITE REFUSED"]
            .map(Column::figures),
    );
    let row = |row: LearningFigures| Row {
        cells: vec![
            known(row.key.as_deref(), printable),
            row.listed.to_string(),
            row.used.to_string(),
            row.tasks.to_string(),
            row.failed_tasks.to_string(),
            row.written.to_string(),
            row.rejected.to_string(),
            row.write_rejected.to_string(),
        ],
        figures: figures(&row, []),
        groups: row.groups,
    };
    Sheet { headings, rows: rows.into_iter().map(row).collect() }
}

/// Returns the figures for scripts: what the store gives without what is not known, and what follows from it.
fn figures<const N: usize>(row: &impl Serialize, ratios: [(&str, Option<f64>); N]) -> Map<String, Value> {
    let Ok(Value::Object(mut figures)) = serde_json::to_value(row) else {
        unreachable!("figures are written as an object")
    };
    figures.remove("groups");
    figures.retain(|_, figure| !figure.is_null());
    figures.extend(ratios.into_iter().filter_map(|(name, ratio)| Some((name.to_owned(), json!(ratio?)))));
    figures
}

fn write_table(sheet: Sheet, by: Option<Group>, paper: &mut Paper<'_>) -> Result<(), ReportError> {
    let mut headings: Vec<Column> =
        by.iter().map(|group| Column::words(group_name(*group).to_uppercase())).collect();
    headings.extend(sheet.headings);
    let mut table = Table::new(headings);
    for row in sheet.rows {
        let mut cells: Vec<String> =
            row.groups.iter().map(|word| known(word.as_deref(), printable)).collect();
        cells.extend(row.cells);
        table.row(cells);
    }
    for (at, line) in table.lines().iter().enumerate() {
        let line = if at == 0 { paper.paint(Ink::Quiet, line) } else { line.clone() };
        paper.line(&line)?;
    }
    Ok(())
}
