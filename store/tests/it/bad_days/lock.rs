//! One process has a data folder.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use store::{Store, StoreError};

use crate::support::{mappers, open};

const HOLD: &str = "DASHCAM_TEST_HOLD";

/// Not a test by itself: what the process runs that has the folder.
#[test]
fn holds_the_folder_until_its_input_ends() {
    let Ok(folder) = std::env::var(HOLD) else { return };
    let _store = open(Path::new(&folder));
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nheld").and_then(|()| out.flush()).expect("somebody reads");
    std::io::stdin().lock().lines().for_each(drop);
}

#[test]
fn a_folder_in_use_says_by_whom() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["bad_days::lock::holds_the_folder_until_its_input_ends", "--exact", "--nocapture"])
        .env(HOLD, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.expect("a line") == "held"));

    let pid = child.id().to_string();
    for result in [
        Store::open(folder.path(), mappers()).map(drop),
        Store::rebuild(folder.path(), mappers(), &mut |_, _| {}).map(drop),
    ] {
        match result {
            Err(StoreError::InUse { process, .. }) => assert_eq!(process, pid),
            other => panic!("{other:?}"),
        }
    }
    // A process that is killed holds nothing any more.
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    open(folder.path());
}

#[test]
fn a_store_lets_the_folder_go_with_its_last_clone() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let clone = store.clone();
    drop(store);
    assert!(matches!(Store::open(folder.path(), mappers()), Err(StoreError::InUse { .. })));
    drop(clone);
    open(folder.path());
}

/// Transcripts hold what an agent saw: a folder that was there before is closed to others, too.
#[test]
fn a_folder_that_others_could_read_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let mode = || std::fs::metadata(folder.path()).expect("it is there").permissions().mode() & 0o777;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    drop(crate::support::open(folder.path()));
    assert_eq!(mode(), 0o700);
}
