//! Measures the questions behind the dashboards at 10^5, 10^6 and 10^7 events, each against a plain scan of one
//! column in the same run, and prints a table.
//!
//! The first 10^5 events come in as any do; the rest are copies of their rows, with other sessions and times,
//! spread over a year. `--largest N` stops at N events, `--keep DIR` leaves the data there.

#![allow(clippy::print_stdout, reason = "its result goes to the terminal")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_core::{
    Body, Event, EventId, LearningNote, ModelResponded, SessionStarted, Timestamp, ToolCalled, ToolEnded,
    ToolStatus, Usage, UsageQuality, UserMessaged,
};
use duckdb::Connection;
use jiff::tz::TimeZone;
use store::metrics::{Group, LearningKind, Scope};
use store::{Mappers, Record, RecordKind, SessionFilter, SourceId, Store, StoreError};

/// Sessions that are told; the others are copies.
const SESSIONS: u64 = 1000;
/// Events of each: see [`tell`].
const EVENTS: u64 = 100;
/// Times that each question is asked; the median is reported.
const ROUNDS: usize = 9;
const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;
/// The end of the year that the sessions are spread over.
const END: i64 = 1_796_083_200_000_000;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let largest = argument("--largest").and_then(|number| number.parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir()?;
    let data = argument("--keep").map_or_else(|| folder.path().to_owned(), PathBuf::from);
    if !data.join("dashcam.duckdb").is_file() {
        tell_all(&data)?;
    }
    println!("| question | 10^5 | 10^6 | 10^7 |\n|---|---|---|---|");
    let mut columns = Vec::new();
    // A folder that was kept has all its rows already, and one column.
    let kept = argument("--kept").is_some();
    let mut copies = 1;
    for events in [100_000, 1_000_000, 10_000_000] {
        if events > largest {
            break;
        }
        if kept && events < largest {
            continue;
        }
        if !kept {
            copy_rows(&data, copies, events / (SESSIONS * EVENTS))?;
        }
        copies = events / (SESSIONS * EVENTS);
        columns.push(measure(&data)?);
    }
    for at in 0..columns[0].len() {
        let cells = columns.iter().map(|column| column[at].1.clone()).collect::<Vec<_>>().join(" | ");
        println!("| {} | {cells} |", columns[0][at].0);
    }
    Ok(())
}

fn argument(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

fn tell_all(data: &Path) -> Result<(), Failure> {
    let store = Store::open(data, Mappers::default())?;
    for session in 0..SESSIONS {
        let records = tell(session).into_iter().map(|event| Record {
            kind: RecordKind::Event,
            source: SourceId(0),
            number: 0,
            read_to: 0,
            bytes: event.to_json().into_bytes(),
        });
        store.append(records.collect())?;
    }
    store.wait_until_projected(store.journal().last())?;
    Ok(())
}

/// Returns a session of 100 events: its beginning, 4 tasks of 8 turns with a tool's call each, a memory a task
/// but the last.
fn tell(session: u64) -> Vec<Event> {
    let name = format!("session-{session:06}");
    let start = END - 365 * DAY_MICROS + session as i64 * (3 * DAY_MICROS / SESSIONS as i64);
    let mut events = Vec::with_capacity(EVENTS as usize);
    let mut add = |body| {
        let n = events.len() as i64;
        let id = EventId::derived(&[name.as_bytes(), &n.to_le_bytes()]);
        events
            .push(Event::new(id, name.clone(), body).at(Some(Timestamp::from_micros(start + n * 2_000_000))));
    };
    add(Body::SessionStarted(SessionStarted {
        agent: Some(format!("agent-{}", session % 3)),
        agent_version: Some(format!("1.{}", session % 5)),
        user: Some(format!("user-{}", session % 40)),
        project: Some(format!("project-{}", session % 25)),
        ..Default::default()
    }));
    for task in 0..4_u64 {
        add(Body::UserMessaged(UserMessaged {
            text: format!("task {task} of {session}"),
            ..Default::default()
        }));
        if task < 3 {
            let key = format!("memory-{}", (session + task) % 300);
            add(Body::MemoryRecalled(LearningNote { key, ..Default::default() }));
        }
        for turn in 0..8_u64 {
            let number = task * 8 + turn;
            add(Body::ModelResponded(ModelResponded {
                model: Some(format!("model-{}", session % 4)),
                response_id: Some(format!("r{session}-{number}")),
                finish_reason: Some("end_turn".to_owned()),
                usage: Usage {
                    uncached_input: Some(200 + number),
                    cache_read: Some(20_000 + 100 * number),
                    cache_write_5m: Some(1_000),
                    output: Some(300 + session % 100),
                    ..Default::default()
                },
                usage_quality: Some(UsageQuality::Final),
                duration_ms: Some(1_000 + (session * 7 + number * 13) % 9_000),
                last_piece: true,
                ..Default::default()
            }));
            if turn < 7 {
                let call_id = format!("c{session}-{number}");
                let tool = ["Read", "Bash", "Edit", "Grep", "Write"][(number % 5) as usize];
                add(Body::ToolCalled(ToolCalled {
                    call_id: call_id.clone(),
                    name: tool.to_owned(),
                    ..Default::default()
                }));
                let status = if (session + number).is_multiple_of(17) {
                    ToolStatus::Failed
                } else {
                    ToolStatus::Succeeded
                };
                add(Body::ToolEnded(ToolEnded { call_id, status: Some(status), ..Default::default() }));
            }
        }
    }
    events.truncate(EVENTS as usize);
    events
}

/// Adds copies of the rows of the first sessions, so that there are `to` of each, of which `from` are there. The
/// copies follow each other over the year.
fn copy_rows(data: &Path, from: u64, to: u64) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let connection = Connection::open(data.join("dashcam.duckdb"))?;
    connection
        .execute_batch("SET threads = 2; SET memory_limit = '4GB'; SET preserve_insertion_order = true;")?;
    let tables = "SELECT schema_name || '.' || table_name FROM duckdb_tables()
        WHERE table_name IN ('sessions', 'events', 'run_ends', 'turns', 'model_calls', 'usage', 'tool_calls', 'memory_events')";
    let names: Vec<String> =
        connection.prepare(tables)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in names {
        let times: Vec<String> = connection
            .prepare(&format!("SELECT column_name FROM (DESCRIBE {table}) WHERE column_type = 'TIMESTAMP'"))?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut changes = vec![format!("session_key + ({SESSIONS} * k)::UINTEGER AS session_key")];
        changes.extend(
            times.iter().map(|time| format!("{time} + to_days((k * 362 // {to})::INTEGER) AS {time}")),
        );
        if table == "main.sessions" {
            changes.push("session || '-' || k AS session".to_owned());
        }
        connection.execute_batch(&format!(
            "INSERT INTO {table} SELECT * EXCLUDE (k) REPLACE ({}) FROM {table}, range({from}, {to}) AS copies(k)
            WHERE session_key <= {SESSIONS} ORDER BY k, session_key",
            changes.join(", ")
        ))?;
    }
    connection.execute_batch("CHECKPOINT")?;
    Ok(())
}

/// Returns what each question takes, with its ratio to the plain scan.
fn measure(data: &Path) -> Result<Vec<(String, String)>, Failure> {
    let raw = plain_scan(data)?;
    let started = Instant::now();
    let store = Store::open(data, Mappers::default())?;
    let list = || {
        store.sessions(&SessionFilter { limit: Some(50), ..Default::default() }, Timestamp::from_micros(END))
    };
    list()?;
    let opened = started.elapsed();
    let mut rows = vec![
        ("plain scan of one column of the calls of models".to_owned(), words(raw, raw)),
        ("open the folder, first list of sessions".to_owned(), words(opened, raw)),
        ("list of sessions".to_owned(), words(median(list)?, raw)),
    ];
    let zone = TimeZone::get("Europe/Berlin")?;
    for (period, days) in [("30 days", 30), ("a year", 365)] {
        let from = Some(Timestamp::from_micros(END - days * DAY_MICROS));
        let scope = Scope { from, to: Some(Timestamp::from_micros(END)), ..Default::default() };
        let of_user = Scope { user: Some("user-7".to_owned()), ..scope.clone() };
        let mut ask = |name: &str, question: &dyn Fn() -> Result<usize, StoreError>| -> Result<(), Failure> {
            eprintln!("{name}, {period}");
            rows.push((format!("{name}, {period}"), words(median(question)?, raw)));
            Ok(())
        };
        ask("cost by day and model", &|| Ok(store.spend(&scope, &[Group::Day, Group::Model], &zone)?.len()))?;
        ask("cost by user", &|| Ok(store.spend(&scope, &[Group::User], &zone)?.len()))?;
        ask("cost of one user by day", &|| Ok(store.spend(&of_user, &[Group::Day], &zone)?.len()))?;
        ask("cost by weekday and hour", &|| {
            Ok(store.spend(&scope, &[Group::Weekday, Group::Hour], &zone)?.len())
        })?;
        ask("cost by session", &|| Ok(store.spend(&scope, &[Group::Session], &zone)?.len()))?;
        ask("tasks by day", &|| Ok(store.tasks(&scope, &[Group::Day], &zone)?.len()))?;
        ask("tools", &|| Ok(store.tools(&scope, &[], &zone)?.len()))?;
        ask("failures of tools", &|| Ok(store.tool_errors(&scope, 20)?.len()))?;
        ask("models", &|| Ok(store.models(&scope, &[Group::Model], &zone)?.len()))?;
        ask("memories", &|| Ok(store.learned(LearningKind::Memory, &scope)?.len()))?;
    }
    Ok(rows)
}

/// Returns how long one thread of DuckDB takes to add up one column of the calls of models.
fn plain_scan(data: &Path) -> Result<Duration, Failure> {
    let connection = Connection::open(data.join("dashcam.duckdb"))?;
    connection.execute_batch("SET threads = 1")?;
    let mut statement = connection.prepare("SELECT sum(output_tokens)::UBIGINT FROM cost.model_calls")?;
    Ok(median(|| Ok(statement.query_row([], |row| row.get::<_, u64>(0))?))?)
}

fn median<T>(mut question: impl FnMut() -> Result<T, StoreError>) -> Result<Duration, StoreError> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Instant::now();
        question()?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}

fn words(took: Duration, raw: Duration) -> String {
    format!("{:.1} ms ({:.1})", took.as_secs_f64() * 1e3, took.as_secs_f64() / raw.as_secs_f64())
}
