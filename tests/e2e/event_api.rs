//! `POST /v1/events`.

use serde_json::{Value, json};

use crate::program::{Program, event, eventually, session};

#[test]
fn each_event_is_answered_for() {
    let program = Program::new();
    let up = program.up(&[]);
    let good = event("s-api", 1, "user.messaged", &json!({"text": "hello"}));
    let unknown = event("s-api", 2, "robot.danced", &json!({"steps": 3}));
    let body = format!("{good}{{\"v\":1}}\n\n{good}{unknown}not json\n");
    let (status, answer) = up.post(body.as_bytes(), &[]);
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(
        (&answer["accepted"], &answer["duplicate"], &answer["refused"]),
        (&json!(2), &json!(1), &json!(2))
    );
    let outcomes: Vec<(u64, &str)> = answer["events"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| (event["line"].as_u64().expect("a line"), event["outcome"].as_str().expect("a word")))
        .collect();
    assert_eq!(
        outcomes,
        [(1, "accepted"), (2, "refused"), (4, "duplicate"), (5, "accepted"), (6, "refused")]
    );

    // Sent again later, also after a restart, they are known.
    let (_, again) = up.post(good.as_bytes(), &[]);
    assert!(again.contains("\"duplicate\":1"), "{again}");
    eventually("the session", || (program.json(&["sessions"]).len() == 1).then_some(()));
    assert_eq!(up.interrupt(), Some(0));
    let up = program.up(&[]);
    let (_, again) = up.post(good.as_bytes(), &[]);
    assert!(again.contains("\"duplicate\":1"), "{again}");
    let shown = program.json(&["show", "s-api"]);
    assert_eq!(shown[1]["type"], "robot.danced");
    assert_eq!(shown[1]["data"]["steps"], 3);
}

#[test]
fn packed_bodies_are_taken_and_bombs_refused() {
    let program = Program::new();
    let up = program.up(&[]);
    let text = session("s-packed", 20);
    let gzip = {
        let mut child = std::process::Command::new("gzip")
            .arg("-c")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("gzip runs");
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), text.as_bytes())
            .expect("it reads");
        child.wait_with_output().expect("it ends").stdout
    };
    let (status, answer) = up.post(&gzip, &[("Content-Encoding", "gzip")]);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("\"accepted\":80"), "{answer}");
    assert_eq!(up.post(b"x", &[("Content-Encoding", "gzip")]).0, 400);
    assert_eq!(up.post(b"x", &[("Content-Encoding", "br")]).0, 415);

    let bomb = std::process::Command::new("sh")
        .args(["-c", "head -c 100000000 /dev/zero | gzip -c"])
        .output()
        .expect("sh runs")
        .stdout;
    assert_eq!(up.post(&bomb, &[("Content-Encoding", "gzip")]).0, 413);
}

#[test]
fn browsers_and_foreign_hosts_are_refused() {
    let program = Program::new();
    let up = program.up(&[]);
    let body = event("s-web", 1, "user.messaged", &json!({"text": "hello"}));
    assert_eq!(up.post(body.as_bytes(), &[("Origin", "http://evil.example")]).0, 403);
    assert_eq!(up.post(body.as_bytes(), &[("Sec-Fetch-Site", "same-site")]).0, 403);
    assert_eq!(up.post(body.as_bytes(), &[("Host", "evil.example")]).0, 403);
    assert_eq!(up.post(body.as_bytes(), &[]).0, 200);
}

#[test]
fn a_refusal_says_what_is_wrong_and_how_it_should_be() {
    let program = Program::new();
    let up = program.up(&[]);
    let good = event("s-api", 1, "user.messaged", &json!({"text": "hello"}));
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        good.replace(from, to)
    };
    let body = [
        "not json\n".to_owned(),
        with("2026-11-30T15:00:01Z", "yesterday"),
        with("\"s-api\"", "7"),
        with("\"hello\"", "[1]"),
    ]
    .concat();
    let (status, answer) = up.post(body.as_bytes(), &[]);
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let parts = [
        ["no JSON", "such as {\"v\":1,"],
        ["`ts` is \"yesterday\"", "such as \"2026-12-01T15:00:00Z\""],
        ["`session` is 7", "a string that is not empty was expected"],
        ["`data.text` of `user.messaged` is [1]", "expected a string"],
    ];
    for (at, parts) in parts.iter().enumerate() {
        let refused = &answer["events"][at];
        assert_eq!((&refused["line"], &refused["outcome"]), (&json!(at + 1), &json!("refused")));
        let reason = refused["reason"].as_str().expect("a reason");
        parts.iter().for_each(|part| assert!(reason.contains(part), "{reason}"));
    }
    assert_eq!(answer["refused"], 4);
}

#[test]
fn a_body_over_the_limit_is_told_the_limit() {
    let program = Program::new();
    let up = program.up(&[]);
    let (status, answer) = up.post(&vec![b'\n'; (16 << 20) + 1], &[]);
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("16777216 bytes") && answer.contains("smaller"), "{answer}");
}
