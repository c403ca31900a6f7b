//! What runs until Ctrl-C: the pages, the event API, the watcher.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use collector::{Importer, Noticing, Stop, WatchNews, Watcher};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use store::Store;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::interrupt;
use crate::running::{Announced, Running, token};

/// Time that open requests have to finish after Ctrl-C.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// What is served and followed.
#[derive(Debug)]
pub struct Served {
    /// Folders with session files.
    pub folders: Vec<PathBuf>,
    /// How changes in them are noticed.
    pub noticing: Noticing,
    /// The address of the pages.
    pub viewer: SocketAddr,
    /// The address where agents send events.
    pub intake: SocketAddr,
}

impl Served {
    /// Refuses addresses that others than this machine could reach.
    pub fn check(&self) -> anyhow::Result<()> {
        for address in [self.viewer, self.intake] {
            anyhow::ensure!(
                address.ip().is_loopback(),
                "{address} is not on loopback; other addresses are not served yet"
            );
        }
        Ok(())
    }
}

/// Serves the store and follows the folders until Ctrl-C.
pub fn until_interrupt(store: &Store, served: Served) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let server = Server::start(store, &served).await?;
        let watcher = server.watch(served.folders, served.noticing);
        interrupt::wanted().await?;
        eprintln!("dashcam: ending; once more ends it at once");
        tokio::spawn(interrupt::end_at_next());
        server.end(watcher).await
    });
    runtime.shutdown_timeout(FINISH_WITHIN);
    done
}

/// The servers that run, and what ends them.
struct Server {
    importer: Arc<Importer>,
    pages: JoinHandle<io::Result<()>>,
    events: JoinHandle<io::Result<()>>,
    /// Both servers end when it is dropped.
    serving: watch::Sender<()>,
    /// Ends imports that a local command asked for.
    imports: Stop,
    announced: Announced,
}

impl Server {
    async fn start(store: &Store, served: &Served) -> anyhow::Result<Self> {
        let token = token(store.folder())?;
        let pages = bind(served.viewer, "serve pages").await?;
        let events = bind(served.intake, "take events").await?;
        let address = pages.local_addr()?;
        let state = viewer::AppState::new(store.clone(), &token, Vec::new());
        let running = Running { viewer: format!("http://{address}"), token };
        let announced = running.announce(store.folder())?;
        eprintln!("dashcam: pages at {}", viewer::one_time_link(&state, address));
        eprintln!("dashcam: events at http://{}/v1/events", events.local_addr()?);
        let (serving, _) = watch::channel(());
        let (importer, imports) = (Arc::new(Importer::new(store.clone())), Stop::default());
        let local = collector::http::import_router(Arc::clone(&importer), imports.clone());
        let pages = tokio::spawn(viewer::serve(pages, state, local, dropped(serving.subscribe())));
        let events =
            tokio::spawn(collector::http::serve(events, store.clone(), dropped(serving.subscribe())));
        Ok(Self { importer, pages, events, serving, imports, announced })
    }

    fn watch(&self, folders: Vec<PathBuf>, noticing: Noticing) -> Watcher {
        for folder in &folders {
            let note = if folder.exists() { "" } else { " (it is not there yet)" };
            eprintln!("dashcam: watching {}{note}", folder.display());
        }
        eprintln!("dashcam: Ctrl-C ends it");
        Watcher::start(Arc::clone(&self.importer), folders, noticing, report_news())
    }

    /// Ends the watcher and the servers; requests that take longer (a page that follows a session) are
    /// broken off.
    async fn end(self, watcher: Watcher) -> anyhow::Result<()> {
        drop(self.announced);
        drop(self.serving);
        self.imports.tell();
        tokio::task::spawn_blocking(move || drop(watcher)).await?;
        let finished = tokio::time::timeout(FINISH_WITHIN, async {
            self.pages.await??;
            self.events.await??;
            anyhow::Ok(())
        });
        finished.await.unwrap_or(Ok(()))
    }
}

async fn bind(address: SocketAddr, what: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot {what} at {address}"))
}

/// Waits until the sender is dropped.
async fn dropped(mut sender: watch::Receiver<()>) {
    while sender.changed().await.is_ok() {}
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
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_length(bytes);
            bar.set_position(0);
        }
        WatchNews::Read(bytes) if loading => bar.inc(bytes),
        WatchNews::Following { sessions } => {
            loading = false;
            bar.finish_and_clear();
            eprintln!("dashcam: {sessions} session files read; following what is written");
        }
        WatchNews::Problem(problem) => bar.suspend(|| eprintln!("dashcam: {problem}")),
        WatchNews::Waits(words) => {
            bar.suspend(|| eprintln!("dashcam: watching waits for room and tries again: {words}"));
        }
        WatchNews::GoesOn => bar.suspend(|| eprintln!("dashcam: there is room again; watching goes on")),
        WatchNews::Stopped(words) => {
            bar.finish_and_clear();
            eprintln!("dashcam: {words}; the next start goes on there");
        }
        WatchNews::Found { .. } | WatchNews::Read(_) => {}
    }
}
