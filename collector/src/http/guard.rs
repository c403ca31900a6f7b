//! Keeps web pages away from the intake: a page in a browser must not write into the record.

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Refuses requests that a browser sends (any `Origin` or fetch metadata) and those to a foreign host.
pub(super) async fn refuse_browsers(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let from_browser = headers.contains_key(header::ORIGIN)
        || ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"]
            .iter()
            .any(|name| headers.contains_key(*name));
    if from_browser {
        return refuse("requests from a browser are not taken here");
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_loopback_host) {
        return refuse("this address is for programs on this machine");
    }
    next.run(request).await
}

fn refuse(reason: &'static str) -> Response {
    (StatusCode::FORBIDDEN, reason).into_response()
}

/// Returns whether a `Host` header names this machine's loopback: a name that resolves to it by a rebinding
/// DNS server does not.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback_host;

    #[test]
    fn only_loopback_names_pass() {
        for host in ["localhost", "LOCALHOST:4318", "127.0.0.1:4318", "127.8.9.1", "[::1]:4318", "[::1]"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example:4318",
            "localhost.evil.example",
            "0.0.0.0",
            "[::2]:1",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
