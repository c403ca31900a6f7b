//! Runs the viewer on a listener until it is told to stop.

use std::future::Future;
use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use crate::AppState;
use crate::router::router_with;

/// How long requests in hand may take when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// Serves the pages on `listener`, and `others` behind the same checks, until `shutdown` is done; then requests in hand get five seconds.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    state: AppState,
    others: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let mut closing = state.closing();
    let told = state.clone();
    let stop = async move {
        shutdown.await;
        told.close();
    };
    let server = axum::serve(listener, router_with(state, others)).with_graceful_shutdown(stop);
    let out_of_time = async move {
        // The sender lives in the state, which the server holds.
        let _ = closing.wait_for(|closing| *closing).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = server.into_future() => result,
        () = out_of_time => Ok(()),
    }
}
