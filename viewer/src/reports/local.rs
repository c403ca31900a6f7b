//! Answers to subcommands that find Dashcam running: `POST /api/ask`.
//!
//! The answer is a run of frames, each a byte that says what it is, its length in four bytes (little
//! endian), and its content: `o` output, `n` the notes as JSON (the last frame of a good answer), `e` the
//! error in words.

use std::convert::Infallible;
use std::io::{self, BufWriter, Read, Write};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Json, State};
use axum::response::Response;
use axum::routing::post;
use futures_util::stream::poll_fn;
use serde::{Deserialize, Serialize};
use store::Store;
use tokio::sync::mpsc::{Sender, channel};

use super::{Notes, Question, Style, answer};

/// A question and how its answer is to be written.
#[derive(Debug, Serialize, Deserialize)]
pub struct AskRequest {
    /// The question.
    pub question: Question,
    /// The style of the answer.
    pub style: Style,
}

const OUTPUT: u8 = b'o';
const NOTES: u8 = b'n';
const ERROR: u8 = b'e';
/// Output is sent in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;
/// A frame that says it is longer is none of ours.
const MAX_FRAME_BYTES: u32 = 1 << 24;

/// Returns the route. It must stand behind the reader's token.
pub fn router(store: Store) -> Router {
    Router::new().route("/api/ask", post(ask)).with_state(store)
}

async fn ask(State(store): State<Store>, Json(request): Json<AskRequest>) -> Response {
    // A few pieces wait for a slow reader; the answer is made no faster than it is read.
    let (frames, mut stream) = channel::<Bytes>(4);
    tokio::task::spawn_blocking(move || {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, FrameWriter(frames.clone()));
        let answered = answer(&store, &request.question, &request.style, &mut out);
        let flushed = out.flush();
        let last = match (answered, flushed) {
            (Ok(notes), Ok(())) => {
                frame(NOTES, &serde_json::to_vec(&notes).expect("notes have string keys only"))
            }
            (Err(error), _) => frame(ERROR, error.to_string().as_bytes()),
            // Whoever asked has gone.
            (Ok(_), Err(_)) => return,
        };
        // Whoever asked may have gone.
        let _ = frames.blocking_send(last);
    });
    let pieces =
        poll_fn(move |context| stream.poll_recv(context).map(|piece| piece.map(Ok::<_, Infallible>)));
    Response::new(Body::from_stream(pieces))
}

fn frame(kind: u8, content: &[u8]) -> Bytes {
    let len = u32::try_from(content.len()).expect("pieces are small");
    let mut frame = Vec::with_capacity(content.len() + 5);
    frame.push(kind);
    frame.extend_from_slice(&len.to_le_bytes());
    frame.extend_from_slice(content);
    frame.into()
}

struct FrameWriter(Sender<Bytes>);

impl Write for FrameWriter {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        let content = &content[..content.len().min(PIECE_BYTES)];
        self.0
            .blocking_send(frame(OUTPUT, content))
            .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads an answer: output goes to `out`, the notes are returned. The error carries what the other side said.
pub fn read_answer(mut answer: impl Read, out: &mut dyn Write) -> io::Result<Notes> {
    loop {
        let mut head = [0; 5];
        answer.read_exact(&mut head)?;
        let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        if len > MAX_FRAME_BYTES {
            return Err(io::Error::other("the answer is none of a dashcam"));
        }
        let mut content = vec![0; len as usize];
        answer.read_exact(&mut content)?;
        match head[0] {
            OUTPUT => out.write_all(&content)?,
            NOTES => return serde_json::from_slice(&content).map_err(io::Error::other),
            ERROR => return Err(io::Error::other(String::from_utf8_lossy(&content).into_owned())),
            other => return Err(io::Error::other(format!("the answer has an unknown frame {other}"))),
        }
    }
}
