//! Measures import, pages and prompts against raw limits taken in the same run, and prints a table.
//!
//! `make bench` runs it; `ARGS='-- --megabytes 200'` changes the size of the input. Results with data,
//! machine and date are kept in `benches/RESULTS.md`.

#![allow(clippy::print_stdout, reason = "its result goes to the terminal")]

mod input;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use agent_core::{ChunkKind, PromptPart, Recorder};
use anyhow::Context;
use collector::Importer;
use store::Store;

/// Times that each query is asked; the median is reported.
const ROUNDS: usize = 41;

fn main() -> anyhow::Result<()> {
    let megabytes = argument("--megabytes").unwrap_or(100);
    let folder = tempfile::tempdir()?;
    println!("| what | figure | raw limit in the same run | ratio |\n|---|---|---|---|");
    import(folder.path(), megabytes)?;
    pages(folder.path())?;
    prompts(folder.path())?;
    Ok(())
}

fn argument(name: &str) -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

/// Importing files of Claude Code, against reading and cutting the same files into lines.
fn import(folder: &Path, megabytes: u64) -> anyhow::Result<()> {
    let files = folder.join("import");
    let truth = input::claude_code_files(&files, megabytes * 1_000_000, 5_000_000)?;
    let started = Instant::now();
    let mut rows = 0;
    for file in collector::files_below(&files, &mut |_, _| {}) {
        let mut reader = BufReader::with_capacity(1 << 18, File::open(&file.path)?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            rows += 1;
            line.clear();
        }
    }
    let raw = started.elapsed();
    anyhow::ensure!(rows == truth.rows, "the raw reading saw {rows} of {} rows", truth.rows);

    let started = Instant::now();
    let store = import_all(&folder.join("import-data"), &files)?;
    let took = started.elapsed();
    let list = store.sessions(&Default::default(), agent_core::Timestamp::now())?;
    let responses: u64 = list.sessions.iter().map(|row| u64::from(row.model_calls)).sum();
    anyhow::ensure!(responses == truth.responses, "{responses} of {} responses", truth.responses);
    let rate = |took: Duration| truth.bytes as f64 / 1e6 / took.as_secs_f64();
    println!(
        "| import of {megabytes} MB of Claude Code files, to the queryable end | {:.0} MB/s | {:.0} MB/s (read, cut into lines) | {:.3} |",
        rate(took),
        rate(raw),
        rate(took) / rate(raw)
    );
    println!("| peak memory of that import | {} MB | | |", peak_memory_mb()?);
    let journal = store.journal().bytes_on_disk();
    let tables = std::fs::metadata(store.folder().join("dashcam.duckdb"))?.len();
    let events = store.report()?.events;
    println!(
        "| disk per event, everything kept | {} bytes | {} bytes of input per event | {:.3} |",
        (journal + tables) / events,
        truth.bytes / events,
        (journal + tables) as f64 / truth.bytes as f64
    );
    Ok(())
}

fn import_all(data: &Path, files: &Path) -> anyhow::Result<Store> {
    let store = Store::open(data, collector::mappers())?;
    let importer = Importer::new(store.clone());
    for file in collector::files_below(files, &mut |_, _| {}) {
        importer.import(&file.path, &mut |_| {})?;
    }
    store.wait_until_projected(store.journal().last())?;
    Ok(store)
}

/// Pages of a session with 100,000 events, over HTTP, at its beginning and its end.
fn pages(folder: &Path) -> anyhow::Result<()> {
    let files = folder.join("long");
    let truth = input::claude_code_session(&files, 100_000)?;
    let store = import_all(&folder.join("long-data"), &files)?;
    let row = store.session(&truth.session)?;
    let last = store.last_turn(row.session_key)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (address, token) = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let state = viewer::AppState::new(store.clone(), "bench", Vec::new());
        tokio::spawn(viewer::serve(listener, state, axum::Router::new(), std::future::pending()));
        anyhow::Ok((address, "bench"))
    })?;
    let events = row.events_stored;
    for (name, path) in [
        (format!("session page, {events} events"), format!("/sessions/{}", truth.session)),
        ("turn page, turn 1".to_owned(), format!("/sessions/{}/turns/1", truth.session)),
        (format!("turn page, turn {last}"), format!("/sessions/{}/turns/{last}", truth.session)),
        ("session list".to_owned(), "/sessions".to_owned()),
    ] {
        let (took, bytes) = page(&format!("{address}{path}"), token)?;
        let (bare, _) = page(&format!("{address}/healthz"), token)?;
        println!(
            "| {name} | {:.1} ms, {} kB | {:.1} ms (an empty answer) | {:.1} |",
            took.as_secs_f64() * 1e3,
            bytes / 1000,
            bare.as_secs_f64() * 1e3,
            took.as_secs_f64() / bare.as_secs_f64()
        );
    }
    runtime.shutdown_background();
    Ok(())
}

fn page(url: &str, token: &str) -> anyhow::Result<(Duration, usize)> {
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let mut answer = ureq::get(url)
            .header("authorization", format!("Bearer {token}"))
            .call()
            .context(url.to_owned())?;
        let mut body = Vec::new();
        answer.body_mut().as_reader().read_to_end(&mut body)?;
        times.push(started.elapsed());
        bytes = body.len();
    }
    times.sort();
    Ok((times[ROUNDS / 2], bytes))
}

/// A session of 200 turns whose prompts repeat their history, recorded byte for byte.
fn prompts(folder: &Path) -> anyhow::Result<()> {
    let files = folder.join("prompts");
    std::fs::create_dir_all(&files)?;
    let bodies = record_prompts(&files.join("run.jsonl"))?;
    let logical: usize = bodies.iter().map(Vec::len).sum();
    let data = folder.join("prompts-data");
    drop(import_all(&data, &files)?);
    let whole = folder_bytes(&data)?;
    let bare = folder.join("bare");
    std::fs::create_dir_all(&bare)?;
    Recorder::open(&bare.join("run.jsonl"), "bare")?
        .record(agent_core::Body::UserMessaged(Default::default()))?;
    drop(import_all(&folder.join("bare-data"), &bare)?);
    let on_disk = whole - folder_bytes(&folder.join("bare-data"))?;
    println!(
        "| a data folder with prompts of 200 turns | {} kB | {} kB with one event | |",
        whole / 1000,
        (whole - on_disk) / 1000
    );
    println!(
        "| prompts of 200 turns on disk (the folder less its size with one event) | {} kB | {} kB of prompts | 1/{} |",
        on_disk / 1000,
        logical / 1000,
        logical as u64 / on_disk
    );
    let store = Store::open(&data, collector::mappers())?;
    let row = store.session("prompts")?;
    let mut times = Vec::new();
    let largest = bodies.last().map_or(0, Vec::len);
    for (turn, body) in (1..).zip(&bodies) {
        let started = Instant::now();
        let prompt = store.prompt(row.session_key, turn, 1)?;
        times.push(started.elapsed());
        anyhow::ensure!(prompt.body() == *body, "the prompt of turn {turn} came back changed");
    }
    let last = times[times.len() - 1];
    times.sort();
    println!(
        "| one prompt read back, verified | median {:.1} ms, the last ({} kB) {:.1} ms | | |",
        times[times.len() / 2].as_secs_f64() * 1e3,
        largest / 1000,
        last.as_secs_f64() * 1e3
    );
    Ok(())
}

fn record_prompts(path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut recorder = Recorder::open(path, "prompts")?;
    let mut text = input::Text::new(7);
    let system = format!("{{\"system\":{:?},\"messages\":[", text.take(12_000));
    let mut messages: Vec<String> = Vec::new();
    let mut bodies = Vec::new();
    for turn in 0..200 {
        messages.push(format!("{{\"role\":\"user\",\"content\":{:?}}},", text.take(600 + turn % 7 * 150)));
        let mut parts = vec![part(system.as_bytes(), ChunkKind::System)];
        parts.extend(messages.iter().map(|message| part(message.as_bytes(), ChunkKind::History)));
        parts.push(part(b"null]}", ChunkKind::Framing));
        bodies.push(parts.iter().flat_map(|part| part.bytes.iter().copied()).collect());
        recorder.set_turn(Some(format!("t{turn}")));
        recorder.record_prompt(&parts, Vec::new())?;
        recorder.record(agent_core::Body::ModelResponded(agent_core::ModelResponded {
            response_id: Some(format!("r{turn}")),
            content: vec![agent_core::Block::Text { text: text.take(300) }],
            ..Default::default()
        }))?;
    }
    Ok(bodies)
}

fn part(bytes: &[u8], kind: ChunkKind) -> PromptPart<'_> {
    PromptPart { bytes, kind, source: None, reason: None, tokens: None }
}

fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    Ok(collector::files_below(folder, &mut |_, _| {}).iter().map(|file| file.bytes).sum())
}

/// Returns the largest memory that this process has had, in MB.
fn peak_memory_mb() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes / 1000)
}
