//! `dashcam up`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use collector::{Importer, WatchNews, Watcher, agent_places};
use indicatif::{ProgressBar, ProgressStyle};
use store::Store;
use tokio::net::TcpListener;

use crate::cli::Common;
use crate::running::{Running, token};

/// What `up` takes.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// A folder with session files; may be given several times
    #[arg(long, value_name = "DIR")]
    watch: Vec<PathBuf>,
    /// Watch only the folders given with --watch, not the homes of agents
    #[arg(long)]
    no_homes: bool,
    /// The address of the pages
    #[arg(long, default_value = "127.0.0.1:7117", value_name = "ADDRESS")]
    viewer: SocketAddr,
    /// The address where agents send events
    #[arg(long, default_value = "127.0.0.1:4318", value_name = "ADDRESS")]
    intake: SocketAddr,
}

/// Exit code of a process that SIGINT ended.
const ENDED_AT_ONCE: i32 = 130;
/// Time that open requests have to finish after Ctrl-C.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// Watches and serves until Ctrl-C.
pub fn run(common: &Common, args: &UpArgs) -> anyhow::Result<ExitCode> {
    for address in [args.viewer, args.intake] {
        anyhow::ensure!(
            address.ip().is_loopback(),
            "{address} is not on loopback; other addresses are not served yet"
        );
    }
    let mut folders = args.watch.clone();
    if !args.no_homes {
        folders.extend(agent_places().into_iter().map(|place| place.folder));
    }
    let store = crate::data::open(common)?;
    if folders.is_empty() {
        eprintln!(
            "dashcam: nothing to watch: no Claude Code or Codex home was found; give --watch DIR, or try `dashcam demo`"
        );
    }
    serve(&store, folders, args.viewer, args.intake)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the store and follows the folders until Ctrl-C.
pub fn serve(
    store: &Store,
    folders: Vec<PathBuf>,
    viewer: SocketAddr,
    intake: SocketAddr,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let importer = Arc::new(Importer::new(store.clone()));
    let token = token(store.folder())?;
    let served = runtime.block_on(async {
        let pages =
            TcpListener::bind(viewer).await.with_context(|| format!("cannot serve pages at {viewer}"))?;
        let events =
            TcpListener::bind(intake).await.with_context(|| format!("cannot take events at {intake}"))?;
        let address = format!("http://{}", pages.local_addr()?);
        let state = viewer::AppState::new(store.clone(), &token, Vec::new());
        let link = viewer::one_time_link(&state, pages.local_addr()?);
        let running = Running { viewer: address.clone(), token };
        let announced = running.announce(store.folder())?;
        eprintln!("dashcam: pages at {link}");
        eprintln!("dashcam: events at http://{}/v1/events", events.local_addr()?);
        for folder in &folders {
            let note = if folder.exists() { "" } else { " (it is not there yet)" };
            eprintln!("dashcam: watching {}{note}", folder.display());
        }
        eprintln!("dashcam: Ctrl-C ends it");
        let watcher = Watcher::start(Arc::clone(&importer), folders, report_news());
        let (stop, _) = tokio::sync::watch::channel(());
        let stopped = |mut told: tokio::sync::watch::Receiver<()>| async move {
            // The sender goes when it is time to stop.
            while told.changed().await.is_ok() {}
        };
        let pages = tokio::spawn(viewer::serve(
            pages,
            state,
            collector::http::import_router(importer),
            stopped(stop.subscribe()),
        ));
        let events = tokio::spawn(collector::http::serve(events, store.clone(), stopped(stop.subscribe())));
        wait_for_end().await?;
        eprintln!("dashcam: ending; once more ends it at once");
        tokio::spawn(async {
            if wait_for_end().await.is_ok() {
                // What was acknowledged is safe on disk; the rest is read again at the next start.
                std::process::exit(ENDED_AT_ONCE);
            }
        });
        drop(announced);
        drop(stop);
        tokio::task::spawn_blocking(move || drop(watcher)).await?;
        let finished = tokio::time::timeout(FINISH_WITHIN, async {
            pages.await??;
            events.await??;
            anyhow::Ok(())
        });
        // Requests that take longer (a page that follows a session) are broken off.
        finished.await.unwrap_or(Ok(()))
    });
    runtime.shutdown_timeout(FINISH_WITHIN);
    served
}

async fn wait_for_end() -> anyhow::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Returns what shows the watcher's news at the terminal.
fn report_news() -> impl FnMut(WatchNews) + Send + 'static {
    let bar = ProgressBar::hidden();
    let style = ProgressStyle::with_template("reading {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        .expect("the template is right");
    bar.set_style(style);
    let mut loading = true;
    move |news| match news {
        WatchNews::Found { bytes, .. } if loading => {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            bar.set_length(bytes);
        }
        WatchNews::Read(bytes) if loading => bar.inc(bytes),
        WatchNews::Following { sessions } => {
            loading = false;
            bar.finish_and_clear();
            eprintln!("dashcam: {sessions} session files read; following what is written");
        }
        WatchNews::Problem(problem) => bar.suspend(|| eprintln!("dashcam: {problem}")),
        WatchNews::Found { .. } | WatchNews::Read(_) => {}
    }
}
