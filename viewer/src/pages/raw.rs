//! Records as they came in: `/raw/{position}`, and those of a turn.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use store::{Position, RawRecord};

use super::content::{Content, Room, Space};
use super::session::header::title;
use super::turn::turn_row;
use super::{Frame, html};
use crate::AppState;
use crate::errors::PageError;
use crate::format::{bytes, counted};
use crate::links;
use crate::markup::one_line;

/// Records of a turn on one page.
const RECORDS: usize = 60;

/// Shows one record, byte for byte.
pub(crate) async fn show(
    State(state): State<AppState>,
    Path(position): Path<u64>,
) -> Result<Response, PageError> {
    if position == 0 || Position(position) > state.store().journal().last() {
        return Err(PageError::NotFound { what: "record", name: position.to_string() });
    }
    let record = state.ask(move |store| store.raw_record(Position(position))).await?;
    Ok(plain(record.bytes))
}

/// Returns bytes as plain text that no browser will take for anything else.
pub(super) fn plain(bytes: Vec<u8>) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox; frame-ancestors 'none'"),
    ];
    (headers, bytes).into_response()
}

#[derive(Template)]
#[template(path = "records.html")]
struct RecordsPage {
    frame: Frame,
    session: String,
    session_href: String,
    back: String,
    turn: u32,
    last: u32,
    first: Option<String>,
    before: Option<String>,
    after: Option<String>,
    latest: Option<String>,
    records: Vec<RecordView>,
    cut: Option<String>,
}

struct RecordView {
    place: String,
    size: String,
    href: String,
    content: Content,
}

/// Shows the records that a turn's events came from.
pub(crate) async fn records(
    State(state): State<AppState>,
    Path((session, turn)): Path<(String, u32)>,
) -> Result<Html<String>, PageError> {
    let (session, records, last) = state
        .ask(move |store| {
            let session = store.session(&session)?;
            // A turn that is not there has no page of records either; what came before the first has none but this.
            if turn > 0 {
                turn_row(store, &session, turn)?;
            }
            let last = store.last_turn(session.session_key)?;
            let records = store.turn_records(session.session_key, turn)?;
            Ok::<_, PageError>((session, records, last))
        })
        .await?;
    let mut space = Space::of_page();
    let to = |turn: u32| format!("{}/records", links::turn(&session.session, turn));
    html(&RecordsPage {
        frame: Frame::new(&format!("Records of turn {turn} · {}", title(&session))),
        session: title(&session),
        session_href: links::session(&session.session),
        back: links::turn(&session.session, turn),
        turn,
        last,
        first: (turn > 1).then(|| to(1)),
        before: (turn > 1).then(|| to(turn - 1)),
        after: (turn < last).then(|| to(turn + 1)),
        latest: (turn < last).then(|| to(last)),
        cut: (records.len() > RECORDS)
            .then(|| format!("{RECORDS} of {} shown", counted(records.len() as u64, "record", "records"))),
        records: records.iter().take(RECORDS).map(|record| view(record, &mut space)).collect(),
    })
}

fn view(record: &RawRecord, space: &mut Space) -> RecordView {
    let href = links::raw(record.position.0);
    let text = String::from_utf8_lossy(&record.bytes);
    RecordView {
        place: match &record.place {
            Some((path, number)) => format!("{}:{number}", one_line(path)),
            None => format!("sent to the event API, record {}", record.position.0),
        },
        size: bytes(record.bytes.len() as u64),
        content: space.content(&text, href.clone(), Room::Narrow),
        href,
    }
}
