//! The pages in a real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::program::{Program, event_at, eventually, write};

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

/// Text that would do harm if a page took it for markup.
const HOSTILE: &str =
    "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\u{1b}[31m\u{202e}";

#[test]
fn an_engineer_finds_the_failing_turn() {
    let program = Program::new();
    let files = program.files();
    let demo = program.run(&["demo", "--write", files.to_str().expect("it is text")]);
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    let hostile = files.join("web.jsonl");
    // A session is followed while it runs, so its events happen now.
    let now = agent_core::Timestamp::now().to_string();
    let turn = |number: u64| {
        let (response, call) = (format!("r{number}"), format!("c{number}"));
        [
            ("user.messaged", json!({"text": HOSTILE})),
            ("model.responded", json!({"response_id": response, "model": HOSTILE, "content": [{"type": "text", "text": HOSTILE}]})),
            ("tool.called", json!({"call_id": call, "name": HOSTILE, "input": {"command": HOSTILE}})),
            ("tool.ended", json!({"call_id": call, "status": "failed", "output": HOSTILE})),
        ]
        .iter()
        .zip(0..)
        .map(|((kind, data), n)| event_at(&now, "s-web", number * 10 + n, kind, data))
        .collect::<String>()
    };
    write(&hostile, &turn(1));
    let up = program.up(&["--watch", files.to_str().expect("it is text")]);
    let broken = eventually("the demo's broken session", || {
        let sessions = program.json(&["sessions"]);
        (sessions.len() == 5).then(|| {
            sessions.into_iter().find_map(|row| {
                row["session"].as_str().filter(|name| name.contains("broken")).map(str::to_owned)
            })
        })?
    });
    let walk = Command::new("node")
        .arg(scripts().join("walk.mjs"))
        .args([&up.link, broken.as_str(), hostile.to_str().expect("it is text"), &turn(2)])
        .output()
        .expect("node is there: `make test` gets the browser tests' modules");
    assert!(
        walk.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&walk.stdout),
        String::from_utf8_lossy(&walk.stderr)
    );
}
