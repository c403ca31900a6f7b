//! The thread that keeps the projection up with the journal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Projection, ProjectionError};
use crate::{Position, StoreError};

/// Events in one transaction when there is much to do: large batches are what DuckDB is quick at.
const BATCH_EVENTS: usize = 12_000;
/// How long the thread waits for more before it writes a little.
const GATHER: Duration = Duration::from_millis(40);
/// Events written since the last checkpoint after which one is made, at the next quiet moment.
const CHECKPOINT_EVENTS: u64 = 120_000;
/// Quiet time after which what was written goes from the log into the file.
const QUIET: Duration = Duration::from_secs(5);

/// How far the projection has come.
#[derive(Debug, Default)]
struct Progress {
    position: Position,
    /// The sessions that the last commit changed.
    changed: Arc<Vec<u32>>,
    /// Why the tables are not kept up, if they are not.
    failed: Option<Arc<str>>,
}

/// What the thread is told.
enum Order {
    /// There are new records.
    CatchUp,
    /// Other tables are to take the place of these.
    Replace(Replacement, SyncSender<Result<(), ProjectionError>>),
}

/// Puts other tables in the place of those it is given, and returns those that stand there then and whether
/// it went well. The outer error says that there are none.
pub(crate) type Replacement =
    Box<dyn FnOnce(Projection) -> Result<(Projection, Result<(), ProjectionError>), ProjectionError> + Send>;

/// The running thread.
pub(crate) struct Worker {
    wake: Option<SyncSender<Order>>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    stopping: AtomicBool,
    /// A plain lock: held to copy a few words, never across a query or an await.
    progress: Mutex<Progress>,
    moved: Condvar,
    changes: tokio::sync::watch::Sender<crate::Change>,
}

impl Worker {
    /// Starts the thread. `last` tells where the journal ends.
    pub(crate) fn start(projection: Projection, last: impl Fn() -> Position + Send + 'static) -> Self {
        let progress = Progress { position: projection.position(), ..Default::default() };
        let (changes, _) = tokio::sync::watch::channel(crate::Change::default());
        let state = Arc::new(State {
            stopping: AtomicBool::new(false),
            progress: Mutex::new(progress),
            moved: Condvar::new(),
            changes,
        });
        let (wake, woken) = sync_channel(1);
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("projection".to_owned())
            .spawn(move || run(projection, &last, &woken, &shared))
            .expect("the system gives a thread at the start");
        Self { wake: Some(wake), state, thread: Some(thread) }
    }

    /// Returns a handle that tells the thread of new records.
    pub(crate) fn waker(&self) -> impl Fn() + Send + Clone + 'static {
        let wake = self.wake.clone();
        move || {
            if let Some(Err(TrySendError::Disconnected(_))) =
                wake.as_ref().map(|wake| wake.try_send(Order::CatchUp))
            {
                tracing::debug!("the projection has ended");
            }
        }
    }

    /// Returns the position of the last record that the tables hold.
    pub(crate) fn position(&self) -> Position {
        self.state.progress.lock().expect("no holder of this lock panics").position
    }

    /// Follows what the commits change.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<crate::Change> {
        self.state.changes.subscribe()
    }

    /// Waits until the tables hold `position`. Blocks; returns what is wrong when they are not kept up.
    pub(crate) fn wait_for(&self, position: Position) -> Result<(), Arc<str>> {
        // Woken by what moves; the time only bounds one wait.
        while !self.wait_for_at_most(position, QUIET)? {}
        Ok(())
    }

    /// Waits at most so long until the tables hold `position`; returns whether they do. Blocks; the error is
    /// what is wrong when they are not kept up.
    pub(crate) fn wait_for_at_most(&self, position: Position, time: Duration) -> Result<bool, Arc<str>> {
        let until = Instant::now() + time;
        let mut progress = self.state.progress.lock().expect("no holder of this lock panics");
        while progress.position < position {
            if let Some(failed) = &progress.failed {
                return Err(Arc::clone(failed));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            progress =
                self.state.moved.wait_timeout(progress, left).expect("no holder of this lock panics").0;
        }
        Ok(true)
    }

    /// Has other tables take the place of these, after the present batch. Blocks until it is done.
    pub(crate) fn replace(&self, replacement: Replacement) -> Result<(), StoreError> {
        let (done, answer) = sync_channel(1);
        let ended = || StoreError::Stopped("the projection has ended".into());
        let wake = self.wake.as_ref().ok_or_else(ended)?;
        wake.send(Order::Replace(replacement, done)).map_err(|_| ended())?;
        Ok(answer.recv().map_err(|_| ended())??)
    }

    /// Ends the thread after its present batch.
    pub(crate) fn stop(mut self) {
        self.state.stopping.store(true, Ordering::Relaxed);
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the projection had panicked");
        }
    }
}

fn run(mut projection: Projection, last: &dyn Fn() -> Position, woken: &Receiver<Order>, state: &State) {
    let _guard = TellsOfPanic(state);
    let mut since_checkpoint = 0;
    loop {
        match woken.recv_timeout(QUIET) {
            Ok(Order::CatchUp) => std::thread::sleep(GATHER),
            Ok(Order::Replace(replacement, done)) => match replacement(projection) {
                Ok((new, answer)) => {
                    projection = new;
                    since_checkpoint = 0;
                    // Whoever asked waits for it.
                    let _ = done.send(answer);
                }
                Err(error) => {
                    state.fail(&error);
                    let _ = done.send(Err(error));
                    return;
                }
            },
            Err(RecvTimeoutError::Timeout) if since_checkpoint > 0 => {
                since_checkpoint = 0;
                checkpoint(&projection);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Err(error) = catch_up(&mut projection, last, state, &mut since_checkpoint) {
            state.fail(&error);
            if error.is_damage() {
                super::mark_damaged(projection.path());
            }
            // A full disk, say, may pass: what the tables hold is whole, and the next try goes on from there.
            if let Err(error) = projection.start_from_tables() {
                tracing::error!(%error, "the projection has ended");
                break;
            }
        }
    }
    if since_checkpoint > 0 {
        checkpoint(&projection);
    }
}

fn catch_up(
    projection: &mut Projection,
    last: &dyn Fn() -> Position,
    state: &State,
    since_checkpoint: &mut u64,
) -> Result<(), ProjectionError> {
    loop {
        let end = last();
        if projection.position() >= end || state.stopping.load(Ordering::Relaxed) {
            return Ok(());
        }
        let before = projection.position();
        let started = Instant::now();
        let go_on = || !state.stopping.load(Ordering::Relaxed);
        let changed = projection.advance_while(end, BATCH_EVENTS, &go_on)?;
        let records = projection.position().0 - before.0;
        tracing::debug!(records, elapsed_ms = started.elapsed().as_millis(), "projected");
        *since_checkpoint += records;
        state.publish(|progress| {
            progress.position = projection.position();
            progress.failed = None;
            progress.changed = Arc::new(changed);
        });
        if *since_checkpoint >= CHECKPOINT_EVENTS {
            *since_checkpoint = 0;
            checkpoint(projection);
        }
    }
}

/// A checkpoint that fails is tried again at the next quiet moment; nothing is lost by it.
fn checkpoint(projection: &Projection) {
    if let Err(error) = projection.checkpoint() {
        tracing::warn!(%error, "no checkpoint this time");
    }
}

/// Whoever waits for the tables is told when the thread panics: the panic itself has been printed by then.
struct TellsOfPanic<'a>(&'a State);

impl Drop for TellsOfPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.publish(|progress| progress.failed = Some("the projection panicked".into()));
        }
    }
}

impl State {
    fn fail(&self, error: &ProjectionError) {
        let words = error.to_string();
        let mut is_new = false;
        self.publish(|progress| {
            is_new = progress.failed.as_deref() != Some(words.as_str());
            progress.failed = Some(words.as_str().into());
        });
        if is_new {
            tracing::error!(%error, "the tables are not kept up; the journal goes on");
        }
    }

    fn publish(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.lock().expect("no holder of this lock panics");
        change(&mut progress);
        self.changes.send_replace(crate::Change {
            position: progress.position,
            sessions: Arc::clone(&progress.changed),
        });
        self.moved.notify_all();
    }
}
