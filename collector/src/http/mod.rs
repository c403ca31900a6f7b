//! What comes in over HTTP: the event API, and what a local command asks a running Dashcam to do.

mod body;
mod events;
pub(crate) mod explain;
mod guard;
mod local;

use std::future::Future;
use std::io;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use axum::{Router, middleware};
use store::Store;
use tokio::net::TcpListener;

use crate::{Gate, Importer, Limits, Stop};
pub use local::{ImportNews, ImportRequest};

/// Compressed bytes of one request; a larger body is refused with 413.
const MAX_BODY_BYTES: usize = 16 << 20;

/// What the handlers need.
#[derive(Clone)]
pub(crate) struct Intake {
    gate: Gate,
    recent: Arc<events::RecentIds>,
}

/// Returns the routes for senders of events.
///
/// They ask for no token on loopback, so that exporters work with no settings, but refuse whatever a
/// browser sends.
pub fn router(store: Store) -> Router {
    let intake = Intake { gate: Gate::new(store, Limits::default()), recent: Arc::default() };
    Router::new()
        .route("/v1/events", post(events::post_events))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(guard::refuse_browsers))
        .with_state(intake)
}

/// Serves the routes until `stop` is ready, then finishes what is in hand.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    store: Store,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router(store)).with_graceful_shutdown(stop).await
}

/// Returns the routes by which a local command has a running Dashcam import files. They must stand behind
/// the reader's token: whoever may use them can have any file of this user read.
///
/// Imports in hand end soon after `stop` is told.
pub fn import_router(importer: Arc<Importer>, stop: Stop) -> Router {
    local::local_router(importer, stop)
}
