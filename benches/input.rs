//! Input for benchmarks: session files with the traits of real ones, and the counts that are true of them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// What is true of the files.
pub struct Truth {
    /// Their bytes.
    pub bytes: u64,
    /// Their rows.
    pub rows: u64,
    /// Responses of models.
    pub responses: u64,
    /// The last session's name.
    pub session: String,
}

/// Words of a small vocabulary in an order that follows from the seed: it compresses like code and prose.
pub struct Text(u64);

const WORDS: [&str; 24] = [
    "the ", "journal ", "returns ", "a ", "record ", "fn ", "open(", "path: ", "&Path) ", "-> ", "Result ",
    "of ", "turns ", "and ", "each ", "prompt ", "is ", "written ", "once; ", "let ", "mut ", "state ", "= ",
    "0x",
];

impl Text {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2) + 1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Returns a number below `below`.
    pub fn below(&mut self, below: u64) -> u64 {
        self.next() % below
    }

    /// Returns at least `len` bytes of text.
    pub fn take(&mut self, len: u64) -> String {
        let mut text = String::new();
        while (text.len() as u64) < len {
            match self.below(28) {
                word @ 0..24 => text.push_str(WORDS[word as usize]),
                _ => text.push_str(&format!("{:x} ", self.next())),
            }
        }
        text
    }
}

/// Writes files of Claude Code of `file_bytes` each, `bytes` in all.
pub fn claude_code_files(folder: &Path, bytes: u64, file_bytes: u64) -> std::io::Result<Truth> {
    let mut truth = Truth { bytes: 0, rows: 0, responses: 0, session: String::new() };
    let mut number = 0;
    while truth.bytes < bytes {
        let end = truth.bytes + file_bytes.min(bytes - truth.bytes);
        write_session(folder, number, &mut truth, |truth, _| truth.bytes < end)?;
        number += 1;
    }
    Ok(truth)
}

/// Writes one session with at least so many events (each row of it is one event or more).
pub fn claude_code_session(folder: &Path, events: u64) -> std::io::Result<Truth> {
    let mut truth = Truth { bytes: 0, rows: 0, responses: 0, session: String::new() };
    // A round of the model below gives five events.
    write_session(folder, 0, &mut truth, |_, rounds| rounds * 5 < events)?;
    Ok(truth)
}

fn write_session(
    folder: &Path,
    number: u64,
    truth: &mut Truth,
    go_on: impl Fn(&Truth, u64) -> bool,
) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    truth.session = format!("00000000-0000-4000-8000-{number:012x}");
    let mut writer = Rows {
        file: BufWriter::new(File::create(folder.join(format!("{}.jsonl", truth.session)))?),
        text: Text::new(number),
        parent: None,
        seconds: 0,
        number,
        count: 0,
    };
    let mut context = 12_000;
    let request = writer.text.take(400);
    writer.row(truth, "user", &format!("\"message\":{{\"role\":\"user\",\"content\":{request:?}}}"))?;
    let mut rounds = 0;
    while go_on(truth, rounds) {
        writer.round(truth, rounds, &mut context)?;
        rounds += 1;
        if context > 160_000 {
            let metadata = format!(
                "\"subtype\":\"compact_boundary\",\"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":{context}}}"
            );
            writer.row(truth, "system", &metadata)?;
            let summary = writer.text.take(6_000);
            writer.row(
                truth,
                "user",
                &format!(
                    "\"isCompactSummary\":true,\"message\":{{\"role\":\"user\",\"content\":{summary:?}}}"
                ),
            )?;
            context = 15_000;
        }
    }
    writer.file.flush()
}

struct Rows {
    file: BufWriter<File>,
    text: Text,
    parent: Option<String>,
    seconds: u64,
    number: u64,
    count: u64,
}

impl Rows {
    fn row(&mut self, truth: &mut Truth, kind: &str, fields: &str) -> std::io::Result<()> {
        self.count += 1;
        let uuid = format!("{:08x}-0000-4000-8000-{:012x}", self.number, self.count);
        let parent = self.parent.as_ref().map_or_else(|| "null".to_owned(), |parent| format!("{parent:?}"));
        let (day, rest) = (self.seconds / 86_400 % 28 + 1, self.seconds % 86_400);
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/ann/demo\",\"sessionId\":\"{}\",\"version\":\"2.1.30\",\"gitBranch\":\"main\",\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-09-{day:02}T{:02}:{:02}:{:02}.000Z\",{fields}}}\n",
            truth.session,
            rest / 3600,
            rest / 60 % 60,
            rest % 60,
        );
        self.file.write_all(line.as_bytes())?;
        truth.bytes += line.len() as u64;
        truth.rows += 1;
        self.parent = Some(uuid);
        Ok(())
    }

    /// One response over three rows, with a tool call, and its result.
    fn round(&mut self, truth: &mut Truth, round: u64, context: &mut u64) -> std::io::Result<()> {
        self.seconds += 5 + self.text.below(40);
        let created = 200 + self.text.below(2800);
        let output = 40 + self.text.below(860);
        let (id, call) = (format!("msg_{}_{round}", self.number), format!("toolu_{}_{round}", self.number));
        let (thinking, words, command) = (self.text.take(600), self.text.take(250), self.text.take(100));
        let blocks = [
            format!("{{\"type\":\"thinking\",\"thinking\":{thinking:?},\"signature\":\"c2ln\"}}"),
            format!("{{\"type\":\"text\",\"text\":{words:?}}}"),
            format!(
                "{{\"type\":\"tool_use\",\"id\":{call:?},\"name\":\"Bash\",\"input\":{{\"command\":{command:?}}}}}"
            ),
        ];
        for (at, block) in (1..).zip(&blocks) {
            let (tokens, stop) = if at == 3 { (output, "\"tool_use\"") } else { (at, "null") };
            let message = format!(
                "\"requestId\":\"req_{round}\",\"message\":{{\"model\":\"claude-sonnet-4-5\",\"id\":{id:?},\"type\":\"message\",\"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":{stop},\"usage\":{{\"input_tokens\":5,\"cache_creation_input_tokens\":{created},\"cache_read_input_tokens\":{context},\"output_tokens\":{tokens},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{created},\"ephemeral_1h_input_tokens\":0}}}}}}"
            );
            self.row(truth, "assistant", &message)?;
        }
        truth.responses += 1;
        *context += created;
        self.seconds += 1 + self.text.below(20);
        let len = 400 + self.text.below(3000);
        let result = self.text.take(len);
        let failed = self.text.below(25) == 0;
        let message = format!(
            "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":{call:?},\"type\":\"tool_result\",\"content\":{result:?},\"is_error\":{failed}}}]}},\"toolUseResult\":{{\"stdout\":{result:?},\"stderr\":\"\",\"interrupted\":false}}"
        );
        self.row(truth, "user", &message)
    }
}
