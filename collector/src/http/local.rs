//! Imports that a local command asks for while Dashcam runs.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Json, State};
use axum::response::Response;
use axum::routing::post;
use serde::{Deserialize, Serialize};

use crate::Importer;
use crate::report::{FileLine, ImportReport, import_path};

/// What is to be imported.
#[derive(Debug, Serialize, Deserialize)]
pub struct ImportRequest {
    /// Absolute paths.
    pub paths: Vec<PathBuf>,
}

/// One line of the answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportNews {
    /// A file was imported.
    File(FileLine),
    /// Something went wrong.
    Problem(String),
    /// All is done; so many files were of no known format.
    Done {
        /// Files of no known format.
        not_sessions: u64,
    },
}

/// Returns the route.
pub(super) fn local_router(importer: Arc<Importer>) -> Router {
    Router::new().route("/api/import", post(import)).with_state(importer)
}

async fn import(State(importer): State<Arc<Importer>>, Json(request): Json<ImportRequest>) -> Response {
    // One line waits while the next is made; a reader that is gone ends the import of further files.
    let (lines, answer) = tokio::sync::mpsc::channel::<Bytes>(16);
    tokio::task::spawn_blocking(move || {
        let send = |news: &ImportNews| {
            let mut line = serde_json::to_vec(news).expect("the news have string keys only");
            line.push(b'\n');
            lines.blocking_send(line.into()).map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))
        };
        let mut report = ImportReport::default();
        for path in &request.paths {
            let mut emit = |line: &FileLine| send(&ImportNews::File(line.clone()));
            if import_path(&importer, path, &mut |_| {}, &mut emit, &mut report).is_err() {
                return;
            }
        }
        for problem in report.problems {
            if send(&ImportNews::Problem(problem)).is_err() {
                return;
            }
        }
        // Whoever asked may have gone.
        let _ = send(&ImportNews::Done { not_sessions: report.not_sessions });
    });
    Response::new(Body::from_stream(Lines(answer)))
}

/// The lines as a stream.
struct Lines(tokio::sync::mpsc::Receiver<Bytes>);

impl futures_core::Stream for Lines {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
