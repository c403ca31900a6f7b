//! Request bodies, unpacked within limits.

use std::io::{self, Read};

use axum::http::{HeaderMap, StatusCode, header};

/// Unpacked bytes of one request.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;
/// A body that unpacks to more than this many times its size is a bomb, not events.
const MAX_RATIO: u64 = 100;
/// Below this size the ratio says nothing: a small body of equal events packs very well.
const RATIO_FROM_BYTES: u64 = 4 << 20;

/// Returns the body without its content encoding (gzip, zstd or none); the error is what to answer.
pub(super) fn unpack(headers: &HeaderMap, body: Vec<u8>) -> Result<Vec<u8>, (StatusCode, String)> {
    let encoding =
        headers.get(header::CONTENT_ENCODING).map_or("", |value| value.to_str().unwrap_or("?")).trim();
    let packed = body.len() as u64;
    let unpacked = match encoding {
        "" | "identity" => return Ok(body),
        "gzip" | "x-gzip" => read_within_limits(flate2::read::MultiGzDecoder::new(&body[..]), packed),
        "zstd" => zstd::stream::read::Decoder::new(&body[..])
            .and_then(|decoder| read_within_limits(decoder, packed)),
        other => {
            let reason = format!("the content encoding {other:?} is not known; use gzip, zstd or none");
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        }
    };
    unpacked.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
        _ => (StatusCode::BAD_REQUEST, format!("the body is no {encoding}: {error}")),
    })
}

fn read_within_limits(reader: impl Read, packed: u64) -> io::Result<Vec<u8>> {
    let limit = MAX_UNPACKED_BYTES.min((packed * MAX_RATIO).max(RATIO_FROM_BYTES));
    let mut unpacked = Vec::new();
    reader.take(limit + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > limit {
        let reason = format!("the body unpacks to more than {limit} bytes; send smaller batches");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(unpacked)
}
