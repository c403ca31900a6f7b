//! Ctrl-C, and SIGTERM alike.

use std::process;

use anyhow::Context;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

/// Exit code of a process that SIGINT ended.
pub const INTERRUPTED: u8 = 130;

/// Waits for the next signal to end.
pub async fn wanted() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Ends the process at the next signal, whatever it does: what was acknowledged is safe on disk, the rest is
/// read again at the next start.
pub async fn end_at_next() {
    if wanted().await.is_ok() {
        process::exit(INTERRUPTED.into());
    }
}

/// Calls `told` at the first signal, from a thread of its own; the second ends the process at once.
pub fn at_first(told: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wait = move || {
        runtime.block_on(async {
            if wanted().await.is_ok() {
                told();
                end_at_next().await;
            }
        });
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).context("cannot wait for Ctrl-C")?;
    Ok(())
}
