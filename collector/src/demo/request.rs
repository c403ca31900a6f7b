//! The request bodies that the example agent sends, in the shape of the Messages API, cut into parts.

use agent_core::{ChunkKind, Json, LeftOut, PromptPart};
use serde_json::{Value, json};

use super::tools::Tool;

/// What the next request will say.
pub(super) struct Request {
    system: Vec<Piece>,
    tools: Vec<Piece>,
    messages: Vec<Message>,
    plan: Option<Piece>,
    /// What was taken out of it.
    pub(super) left_out: Vec<LeftOut>,
}

struct Message {
    role: &'static str,
    content: Vec<Piece>,
}

/// One part of the body: JSON, or what stands between two pieces of JSON.
pub(super) struct Piece {
    text: String,
    kind: ChunkKind,
    source: Option<String>,
    reason: Option<String>,
}

impl Piece {
    fn new(value: &Value, kind: ChunkKind, source: Option<&str>, reason: Option<&str>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { text: Json::of(value).get().to_owned(), kind, source: owned(source), reason: owned(reason) }
    }

    fn framing(text: &str) -> Self {
        Self { text: text.to_owned(), kind: ChunkKind::Framing, source: None, reason: None }
    }

    /// Returns the piece for the recorder.
    pub(super) fn as_part(&self) -> PromptPart<'_> {
        PromptPart {
            bytes: self.text.as_bytes(),
            kind: self.kind,
            source: self.source.as_deref(),
            reason: self.reason.as_deref(),
            tokens: None,
        }
    }

    fn copy(&self) -> Self {
        Self {
            text: self.text.clone(),
            kind: self.kind,
            source: self.source.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl Request {
    pub(super) fn new(system_prompt: &str, tools: &[&Tool]) -> Self {
        let system = Piece::new(&text_block(system_prompt), ChunkKind::System, Some("dashcam-demo"), None);
        let schema = |tool: &&Tool| {
            Piece::new(&tool.schema(), ChunkKind::ToolSchema, Some(tool.name), Some("enabled"))
        };
        Self {
            system: vec![system],
            tools: tools.iter().map(schema).collect(),
            messages: Vec::new(),
            plan: None,
            left_out: Vec::new(),
        }
    }

    /// Puts a memory or a skill behind the system prompt.
    pub(super) fn add_knowledge(&mut self, text: &str, kind: ChunkKind, source: &str, reason: &str) {
        self.system.push(Piece::new(&text_block(text), kind, Some(source), Some(reason)));
    }

    /// Adds what the user asks; what was asked before is history now.
    pub(super) fn add_user(&mut self, text: &str) {
        for piece in self.messages.iter_mut().flat_map(|message| &mut message.content) {
            if piece.kind == ChunkKind::User {
                piece.kind = ChunkKind::History;
                piece.reason = Some("earlier in the conversation".to_owned());
            }
        }
        self.add("user", Piece::new(&text_block(text), ChunkKind::User, None, Some("the request")));
    }

    pub(super) fn add_answer(&mut self, text: &str, turn: &str) {
        self.add_history(&text_block(text), turn);
    }

    pub(super) fn add_call(&mut self, call_id: &str, name: &str, input: &Value, turn: &str) {
        self.add_history(&json!({"type": "tool_use", "id": call_id, "name": name, "input": input}), turn);
    }

    fn add_history(&mut self, block: &Value, turn: &str) {
        let reason = Some("earlier in the conversation");
        self.add("assistant", Piece::new(block, ChunkKind::History, Some(turn), reason));
    }

    pub(super) fn add_result(&mut self, call_id: &str, tool: &str, output: &str, failed: bool) {
        let block =
            json!({"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": failed});
        let reason = format!("result of {tool}");
        self.add("user", Piece::new(&block, ChunkKind::ToolResult, Some(call_id), Some(&reason)));
    }

    /// Sets the plan, which stands at the end of every request from now on.
    pub(super) fn set_plan(&mut self, plan: &str) {
        let text = format!("The plan as it stands:\n{plan}");
        self.plan =
            Some(Piece::new(&text_block(&text), ChunkKind::Plan, Some("update_plan"), Some("kept in sight")));
    }

    /// Puts a summary in the place of all messages; the last request of the user stays.
    pub(super) fn compact(&mut self, summary: &str, turns: &str) {
        let mut request = None;
        for piece in self.messages.drain(..).flat_map(|message| message.content) {
            match piece.kind {
                ChunkKind::User => request = Some(piece),
                ChunkKind::ToolResult => self.left_out.push(LeftOut {
                    source: piece.source.unwrap_or_default(),
                    reason: "compacted".to_owned(),
                    tokens: None,
                }),
                _ => {}
            }
        }
        let reason = Some("stands for compacted history");
        self.add("user", Piece::new(&text_block(summary), ChunkKind::History, Some(turns), reason));
        if let Some(request) = request {
            self.add("user", request);
        }
    }

    fn add(&mut self, role: &'static str, piece: Piece) {
        match self.messages.last_mut() {
            Some(message) if message.role == role => message.content.push(piece),
            _ => self.messages.push(Message { role, content: vec![piece] }),
        }
    }

    /// Returns the body: the texts one after the other are its JSON.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let head = format!("{{\"model\":\"{}\",\"max_tokens\":{MAX_TOKENS}", super::agent::MODEL);
        let mut out = vec![Piece { kind: ChunkKind::Params, ..Piece::framing(&head) }];
        put_list(&mut out, ",\"system\":[", &mut self.system.iter());
        out.push(Piece::framing("],\"tools\":["));
        put_list(&mut out, "", &mut self.tools.iter());
        out.push(Piece::framing("],\"messages\":["));
        for (n, message) in self.messages.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let open = format!("{comma}{{\"role\":\"{}\",\"content\":[", message.role);
            let is_last = n + 1 == self.messages.len();
            let plan = self.plan.iter().filter(|_| is_last);
            put_list(&mut out, &open, &mut message.content.iter().chain(plan));
            out.push(Piece::framing("]}"));
        }
        out.push(Piece::framing("]}"));
        out
    }

    /// Returns the size of the body in bytes.
    pub(super) fn len(&self) -> usize {
        self.pieces().iter().map(|piece| piece.text.len()).sum()
    }
}

const MAX_TOKENS: u32 = 1024;

fn put_list(out: &mut Vec<Piece>, open: &str, pieces: &mut dyn Iterator<Item = &Piece>) {
    if !open.is_empty() {
        out.push(Piece::framing(open));
    }
    for (n, piece) in pieces.enumerate() {
        if n > 0 {
            out.push(Piece::framing(","));
        }
        out.push(piece.copy());
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
