//! Pages that go on are told of it.

use std::time::Duration;

use axum::body::Body;
use tower::ServiceExt;

use crate::app::{App, Session, TOKEN, request};

/// Reads what the stream sends within the time.
async fn first_notice(app: &App, path: &str, then: impl FnOnce()) -> Option<String> {
    let ask =
        request("GET", path).header("authorization", format!("Bearer {TOKEN}")).body(Body::empty()).unwrap();
    let response = app.router().oneshot(ask).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut notices = response.into_body().into_data_stream();
    then();
    let first = tokio::time::timeout(Duration::from_secs(3), futures_util::StreamExt::next(&mut notices))
        .await
        .ok()?;
    Some(String::from_utf8_lossy(&first.unwrap().unwrap()).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_session_is_told_and_that_of_another_is_not() {
    let app = App::with(&[Session::new("a").asks("x"), Session::new("b").asks("y")]);
    let notice = first_notice(&app, "/live?session=a", || app.add(&Session::new("a").says("more"))).await;
    assert!(notice.unwrap().contains("event: change"));
    let other = first_notice(&app, "/live?session=a", || app.add(&Session::new("b").says("more"))).await;
    assert_eq!(other, None);
    let any = first_notice(&app, "/live", || app.add(&Session::new("c").asks("new"))).await;
    assert!(any.unwrap().contains("event: change"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_ends_although_somebody_follows() {
    let app = App::with(&[Session::new("a").asks("x")]);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(viewer::serve(listener, app.state.clone(), axum::Router::new(), async {
        let _ = stopped.await;
    }));
    let mut follower = tokio::net::TcpStream::connect(address).await.unwrap();
    let ask = format!("GET /live HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    tokio::io::AsyncWriteExt::write_all(&mut follower, ask.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut follower, &mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(3), server).await.unwrap().unwrap().unwrap();
}
