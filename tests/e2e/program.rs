//! A Dashcam with a data folder of its own, on free ports.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The data folder of one test.
pub struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A folder for files to be read.
    pub fn files(&self) -> PathBuf {
        let files = self.folder.path().join("files");
        std::fs::create_dir_all(&files).expect("a folder");
        files
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dashcam"));
        command.arg("--data").arg(self.data()).args(arguments);
        // No home of an agent on the machine that runs the tests is read.
        command.env("HOME", self.folder.path()).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        command.env("TZ", "UTC");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// Runs it, checks that it succeeded, and returns the lines of JSON.
    pub fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let mut with_json = vec!["--json"];
        with_json.extend(arguments);
        let output = self.run(&with_json);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        json_lines(&output.stdout)
    }

    /// Starts `up`, waits until it has read what is there, and returns it.
    pub fn up(&self, arguments: &[&str]) -> Up {
        let mut all = vec!["up", "--no-homes", "--viewer", "127.0.0.1:0", "--intake", "127.0.0.1:0"];
        all.extend(arguments);
        let mut child = self
            .command(&all)
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut up = Up { child, link: String::new(), intake: String::new() };
        loop {
            let line = lines.next().expect("it tells its addresses").expect("it is text");
            if let Some((_, link)) = line.split_once("pages at ") {
                up.link = link.to_owned();
            }
            if let Some((_, address)) = line.split_once("events at http://") {
                up.intake = address.trim_end_matches("/v1/events").to_owned();
            }
            if line.contains("following what is written") {
                break;
            }
        }
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        up
    }
}

/// A running `up`; it is killed when the test ends.
pub struct Up {
    pub child: Child,
    /// The link that lets a browser in.
    pub link: String,
    /// Host and port of the event API.
    pub intake: String,
}

impl Up {
    /// Sends SIGINT and waits for the end; returns the exit code.
    pub fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
        self.child.wait().expect("it ends").code()
    }

    /// Posts to the event API and returns status and body.
    pub fn post(&self, body: &[u8], headers: &[(&str, &str)]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.intake).expect("it listens");
        let mut request =
            format!("POST /v1/events HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("Host: {}\r\n", self.intake));
        }
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream.write_all(body).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn json_lines(text: &[u8]) -> Vec<Value> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("a line of JSON"))
        .collect()
}

/// Waits until `check` gives something, at most ten seconds.
pub fn eventually<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not happen in ten seconds");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Returns an event of Dashcam's own format as a line.
pub fn event(session: &str, number: u64, kind: &str, data: &Value) -> String {
    event_at(
        &format!("2026-11-30T15:{:02}:{:02}Z", number / 60 % 60, number % 60),
        session,
        number,
        kind,
        data,
    )
}

/// Returns an event that happened at `ts`.
pub fn event_at(ts: &str, session: &str, number: u64, kind: &str, data: &Value) -> String {
    let line = serde_json::json!({
        "v": 1,
        "id": format!("01900000-0000-7000-8000-{:012x}", number + hash(session)),
        "ts": ts,
        "session": session,
        "type": kind,
        "data": data,
    });
    format!("{line}\n")
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| (hash * 31 + u64::from(byte)) % (1 << 40)) << 4
}

/// Returns a session of Dashcam's own format: `turns` requests, each with a response and a tool call.
pub fn session(name: &str, turns: u64) -> String {
    let mut lines = String::new();
    for turn in 0..turns {
        let n = turn * 10;
        let call = format!("call-{turn}");
        lines +=
            &event(name, n + 1, "user.messaged", &serde_json::json!({"text": format!("request {turn}")}));
        lines += &event(
            name,
            n + 2,
            "model.responded",
            &serde_json::json!({
                "response_id": format!("{name}-r{turn}"), "model": "m-1", "finish_reason": "tool_use",
                "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "call_id": call, "name": "Bash"}],
                "usage": {"uncached_input": 10, "output": 5}, "usage_quality": "final",
            }),
        );
        lines += &event(
            name,
            n + 3,
            "tool.called",
            &serde_json::json!({"call_id": call, "name": "Bash", "input": {"command": format!("ls {turn}")}}),
        );
        lines += &event(
            name,
            n + 4,
            "tool.ended",
            &serde_json::json!({"call_id": call, "status": if turn % 5 == 4 { "failed" } else { "succeeded" }, "output": "text"}),
        );
    }
    lines
}

/// Writes a file whole.
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("it can be written");
}
