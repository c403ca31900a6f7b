use serde_json::json;
use store::Mappers;

use super::*;
use crate::{Gate, Limits};

fn intake(folder: &tempfile::TempDir, limits: Limits) -> Intake {
    let store = Store::open(folder.path(), Mappers::default()).expect("it opens");
    Intake { gate: Gate::new(store, limits), recent: std::sync::Arc::default() }
}

fn post(intake: &Intake, kinds: &[&str]) -> Result<Answer, (StatusCode, String)> {
    let lines: String = (1..)
        .zip(kinds)
        .map(|(number, kind)| {
            let id = format!("01900000-0000-7000-8000-{number:012x}");
            format!("{}\n", json!({"v": 1, "id": id, "session": "s", "type": kind, "data": {}}))
        })
        .collect();
    take_in(intake, &HeaderMap::new(), lines.into()).map_err(|refusal| match refusal {
        Refusal::Body(status, reason) => (status, reason),
        Refusal::Full(full) => (StatusCode::TOO_MANY_REQUESTS, full.to_string()),
        Refusal::Busy => (StatusCode::TOO_MANY_REQUESTS, String::new()),
        Refusal::Failed(reason) => (StatusCode::SERVICE_UNAVAILABLE, reason),
    })
}

#[test]
fn on_a_nearly_full_disk_only_control_and_guards_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let intake = intake(&folder, Limits { min_free_bytes: u64::MAX, ..Limits::default() });
    for bulk in [&["user.messaged"][..], &["guard.tripped", "user.messaged"]] {
        let (status, reason) = post(&intake, bulk).expect_err("there is no room for bulk");
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        assert!(reason.contains(folder.path().to_str().expect("text")), "{reason}");
        assert!(reason.contains("bytes free"), "{reason}");
    }
    assert_eq!(intake.gate.store().journal().last().0, 0, "what was refused left no trace");
    let taken =
        post(&intake, &["guard.tripped", "control.requested", "policy.decided", "interrupt.requested"]);
    assert_eq!(taken.map(|answer| answer.accepted), Ok(4));
}

#[test]
fn a_long_body_is_refused_before_it_is_read_while_there_is_no_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let intake = intake(&folder, Limits { min_free_bytes: u64::MAX, ..Limits::default() });
    // Each event has about 100 bytes.
    let many = vec!["guard.tripped"; MAX_CONTROL_BODY_BYTES / 50];
    assert_eq!(
        post(&intake, &many).map(|_| ()).map_err(|(status, _)| status),
        Err(StatusCode::TOO_MANY_REQUESTS)
    );
}

#[test]
fn with_room_all_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let intake = intake(&folder, Limits { min_free_bytes: 0, ..Limits::default() });
    assert_eq!(post(&intake, &["user.messaged", "guard.tripped"]).map(|answer| answer.accepted), Ok(2));
}
