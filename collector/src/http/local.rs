//! Imports that a local command asks for while Dashcam runs.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Json, State};
use axum::response::Response;
use axum::routing::post;
use futures_util::stream::poll_fn;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;

use crate::report::{Ended, FileLine, ImportReport, Importing};
use crate::{Importer, Stop};

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
    /// All is done, or it ended before its end.
    Done {
        /// Files of no known format.
        not_sessions: u64,
        /// Links to nothing, pipes, sockets and devices in folders.
        #[serde(default)]
        not_files: u64,
        /// Why it ended before its last file, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<Ended>,
    },
}

/// What the handler needs.
#[derive(Clone)]
struct Local {
    importer: Arc<Importer>,
    stop: Stop,
}

/// Returns the route; imports in hand end soon after `stop` is told.
pub(super) fn local_router(importer: Arc<Importer>, stop: Stop) -> Router {
    Router::new().route("/api/import", post(import)).with_state(Local { importer, stop })
}

async fn import(State(local): State<Local>, Json(request): Json<ImportRequest>) -> Response {
    // One line waits while the next is made.
    let (lines, mut answer) = tokio::sync::mpsc::channel::<Bytes>(16);
    tokio::task::spawn_blocking(move || {
        // Whoever asked may have gone: then there is nobody left to tell, and the import has ended.
        let _ = import_paths(&local, &request.paths, &lines);
    });
    let pieces =
        poll_fn(move |context| answer.poll_recv(context).map(|piece| piece.map(Ok::<_, Infallible>)));
    Response::new(Body::from_stream(pieces))
}

/// Imports the files and sends the news; ends soon when nobody reads them any more.
fn import_paths(local: &Local, paths: &[PathBuf], lines: &Sender<Bytes>) -> io::Result<()> {
    let stop = local.stop.narrower();
    let mut progress = |_| {
        if lines.is_closed() {
            stop.tell();
        }
    };
    let mut emit = |line: &FileLine| send(lines, &ImportNews::File(line.clone()));
    let mut importing = Importing {
        importer: &local.importer,
        stop: &stop,
        progress: &mut progress,
        emit: &mut emit,
        report: ImportReport::default(),
    };
    for path in paths {
        importing.path(path)?;
        if importing.report.ended.is_some() {
            break;
        }
    }
    let ImportReport { not_sessions, not_files, problems, ended } = importing.report;
    problems.into_iter().try_for_each(|problem| send(lines, &ImportNews::Problem(problem)))?;
    send(lines, &ImportNews::Done { not_sessions, not_files, ended })
}

fn send(lines: &Sender<Bytes>, news: &ImportNews) -> io::Result<()> {
    let mut line = serde_json::to_vec(news).expect("the news have string keys only");
    line.push(b'\n');
    lines.blocking_send(line.into()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
}
