//! The example agent: its loop is that of any agent, its model reads from a script.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_core::{
    ArtifactProduced, Block, Body, ChunkKind, ContextCompacted, EndReason, Ended, ErrorInfo, Json,
    LearningNote, ModelFailed, ModelRequested, ModelResponded, Note, Origin, PromptPart, Recorder,
    RunStarted, SessionStarted, Status, ToolAttempted, ToolCalled, ToolEnded, ToolStatus, TurnStarted, Usage,
    UsageQuality, UserInterrupted, UserMessaged,
};
use serde_json::{Map, Value, json};

use super::DemoError;
use super::project::read;
use super::request::Request;
use super::tools::{self, Ran, Tool};

/// The name of the model: what it says stands in a script.
pub(super) const MODEL: &str = "scripted";
/// The agent's name.
pub(super) const AGENT: &str = "dashcam-demo";
/// Bytes for one token, by which tokens are estimated.
const BYTES_PER_TOKEN: u64 = 4;
/// The risk from which a call needs a person's consent.
const RISK_NEEDS_CONSENT: &str = "L3";

/// What the model says in one turn.
#[derive(Default)]
pub(super) struct Answer<'a> {
    pub(super) reasoning: &'a str,
    pub(super) text: &'a str,
    /// Tools to call, with their inputs.
    pub(super) calls: Vec<(&'a Tool, Value)>,
}

/// A call that the model asked for.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) input: Value,
    risk: &'static str,
}

/// One session of the agent at work.
pub(super) struct Agent {
    recorder: Recorder,
    session: String,
    project: PathBuf,
    request: Request,
    runs: u32,
    turns: u32,
    calls: u32,
    turn_started: Instant,
    run_started: Instant,
}

impl Agent {
    /// Starts a session that is recorded in `file`.
    pub(super) fn start(
        file: &Path,
        session: &str,
        project: &Path,
        request: Request,
        about: SessionStarted,
    ) -> Result<Self, DemoError> {
        let mut agent = Self {
            recorder: Recorder::open(file, session)?,
            session: session.to_owned(),
            project: project.to_owned(),
            request,
            runs: 0,
            turns: 0,
            calls: 0,
            turn_started: Instant::now(),
            run_started: Instant::now(),
        };
        agent.record(Body::SessionStarted(SessionStarted {
            agent: Some(AGENT.to_owned()),
            agent_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            user: Some("demo".to_owned()),
            project: project.file_name().map(|name| name.to_string_lossy().into_owned()),
            cwd: Some(project.to_string_lossy().into_owned()),
            permission_mode: Some("auto below L3".to_owned()),
            tags: vec!["demo".to_owned()],
            ..about
        }))?;
        Ok(agent)
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    pub(super) fn record(&mut self, body: Body) -> Result<(), DemoError> {
        self.recorder.record(body)?;
        Ok(())
    }

    /// Puts a memory file of the project before the model.
    pub(super) fn recall(&mut self, path: &str, reason: &str) -> Result<(), DemoError> {
        let text = read(&self.project.join(path))?;
        self.request.add_knowledge(&text, ChunkKind::Memory, path, reason);
        self.record(Body::MemoryRecalled(note(path, reason, text)))
    }

    /// Puts a skill file of the project before the model.
    pub(super) fn use_skill(&mut self, name: &str, path: &str, reason: &str) -> Result<(), DemoError> {
        let text = read(&self.project.join(path))?;
        self.request.add_knowledge(&text, ChunkKind::Skill, name, reason);
        self.record(Body::SkillMatched(note(name, reason, text)))
    }

    /// Takes a request of the user and starts a run.
    pub(super) fn ask(&mut self, text: &str, origin: Origin) -> Result<(), DemoError> {
        self.runs += 1;
        self.run_started = Instant::now();
        self.recorder.set_run(Some(format!("run-{}", self.runs)));
        self.request.add_user(text);
        self.record(Body::RunStarted(RunStarted { task: Some(text.to_owned()), ..Default::default() }))?;
        self.record(Body::UserMessaged(UserMessaged {
            origin: Some(origin),
            text: text.to_owned(),
            ..Default::default()
        }))
    }

    /// Does one whole turn and returns how its tools ended.
    pub(super) fn turn(&mut self, answer: Answer<'_>) -> Result<Vec<Ran>, DemoError> {
        self.begin_turn()?;
        let calls = self.respond(answer)?;
        let ran = calls.iter().map(|call| self.run_call(call)).collect::<Result<_, _>>()?;
        self.end_turn(Status::Completed)?;
        Ok(ran)
    }

    pub(super) fn begin_turn(&mut self) -> Result<(), DemoError> {
        self.turns += 1;
        self.turn_started = Instant::now();
        self.recorder.set_turn(Some(self.turn_key()));
        self.record(Body::TurnStarted(TurnStarted {
            model: Some(MODEL.to_owned()),
            provider: Some(MODEL.to_owned()),
            ..Default::default()
        }))
    }

    /// Sends the request and records it as it is; the script's failure comes back.
    pub(super) fn fail_once(&mut self, retry_in: Duration) -> Result<(), DemoError> {
        self.send()?;
        self.record(Body::ModelFailed(ModelFailed {
            model: Some(MODEL.to_owned()),
            error: ErrorInfo {
                kind: Some("overloaded".to_owned()),
                message: Some("the scripted model plays an overloaded server".to_owned()),
                http_status: Some(529),
                retryable: Some(true),
                blame: Some("provider".to_owned()),
                suggested_action: Some("wait and try again".to_owned()),
                ..Default::default()
            },
            attempt: Some(1),
            retry_in_ms: u64::try_from(retry_in.as_millis()).ok(),
            ..Default::default()
        }))?;
        std::thread::sleep(retry_in);
        Ok(())
    }

    /// Sends the request, takes the model's answer and returns the calls it asks for.
    pub(super) fn respond(&mut self, answer: Answer<'_>) -> Result<Vec<Call>, DemoError> {
        let prompt_bytes = self.send()?;
        let turn = self.turn_key();
        let finish_reason = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
        let calls: Vec<Call> =
            answer.calls.into_iter().map(|(tool, input)| self.new_call(tool, input)).collect();
        let output_bytes = answer.reasoning.len()
            + answer.text.len()
            + calls.iter().map(|call| Json::of(&call.input).get().len()).sum::<usize>();
        let reasoning = (!answer.reasoning.is_empty())
            .then(|| Block::Reasoning { text: answer.reasoning.to_owned(), hidden: false });
        let text = (!answer.text.is_empty()).then(|| Block::Text { text: answer.text.to_owned() });
        let tool_uses =
            calls.iter().map(|call| Block::ToolUse { call_id: call.id.clone(), name: call.name.to_owned() });
        self.record(Body::ModelResponded(ModelResponded {
            provider: Some(MODEL.to_owned()),
            model: Some(MODEL.to_owned()),
            response_id: Some(format!("{MODEL}-{turn}")),
            content: reasoning.into_iter().chain(text).chain(tool_uses).collect(),
            finish_reason: Some(finish_reason.to_owned()),
            usage: Usage {
                uncached_input: Some(estimated_tokens(prompt_bytes)),
                output: Some(estimated_tokens(output_bytes)),
                ..Usage::default()
            },
            usage_quality: Some(UsageQuality::Estimated),
            last_piece: true,
            ..Default::default()
        }))?;
        if !answer.text.is_empty() {
            self.request.add_answer(answer.text, &turn);
        }
        for call in &calls {
            self.request.add_call(&call.id, call.name, &call.input, &turn);
        }
        for call in &calls {
            self.record(Body::ToolCalled(ToolCalled {
                call_id: call.id.clone(),
                name: call.name.to_owned(),
                input: Some(Json::of(&call.input)),
                action_id: Some(format!("action-{}", call.id)),
                risk: Some(call.risk.to_owned()),
                ..Default::default()
            }))?;
        }
        Ok(calls)
    }

    /// Has the policy decide on the call, runs it when it may, and gives the model what came of it.
    pub(super) fn run_call(&mut self, call: &Call) -> Result<Ran, DemoError> {
        let is_allowed = call.risk != RISK_NEEDS_CONSENT;
        self.decide(call, is_allowed)?;
        if !is_allowed {
            let output = "refused: this needs a person's consent, and nobody gave it";
            let ran = Ran { status: ToolStatus::Rejected, ..tools::succeeded(output.to_owned()) };
            self.end_call(call, &ran)?;
            return Ok(ran);
        }
        self.attempt(call)?;
        let ran = tools::run(call.name, &call.input, &self.project)?;
        self.end_call(call, &ran)?;
        self.note_effects(call, &ran)?;
        Ok(ran)
    }

    fn decide(&mut self, call: &Call, is_allowed: bool) -> Result<(), DemoError> {
        let (decision, detail) = match is_allowed {
            true => ("allow", format!("{} calls run without asking", call.risk)),
            false => ("deny", format!("{} calls need a person's consent", call.risk)),
        };
        self.record(Body::PolicyDecided(told(
            &detail,
            json!({"call_id": call.id, "tool": call.name, "risk": call.risk, "decision": decision, "by": "policy"}),
        )))
    }

    pub(super) fn attempt(&mut self, call: &Call) -> Result<(), DemoError> {
        self.record(Body::ToolAttempted(ToolAttempted {
            call_id: call.id.clone(),
            attempt_id: Some(format!("{}-1", call.id)),
            executor: Some("local".to_owned()),
            ..Default::default()
        }))
    }

    pub(super) fn end_call(&mut self, call: &Call, ran: &Ran) -> Result<(), DemoError> {
        let did_run = matches!(ran.status, ToolStatus::Succeeded | ToolStatus::Failed);
        self.request.add_result(&call.id, call.name, &ran.output, ran.status != ToolStatus::Succeeded);
        self.record(Body::ToolEnded(ToolEnded {
            call_id: call.id.clone(),
            status: Some(ran.status),
            output: Some(Json::string(&ran.output)),
            exit_code: ran.exit_code,
            duration_ms: did_run.then_some(ran.duration_ms),
            name: Some(call.name.to_owned()),
            ..Default::default()
        }))
    }

    fn note_effects(&mut self, call: &Call, ran: &Ran) -> Result<(), DemoError> {
        if ran.status != ToolStatus::Succeeded {
            return Ok(());
        }
        let text = |key: &str| call.input[key].as_str().unwrap_or_default().to_owned();
        match call.name {
            "write_file" => self.record(Body::ArtifactProduced(ArtifactProduced {
                kind: Some("file".to_owned()),
                uri: Some(text("path")),
                call_id: Some(call.id.clone()),
                text: Some(text("content")),
                ..Default::default()
            })),
            "update_plan" => {
                let plan = text("plan");
                self.request.set_plan(&plan);
                let steps: Vec<&str> = plan.lines().collect();
                self.record(Body::PlanUpdated(told(&plan, json!({"call_id": call.id, "steps": steps}))))
            }
            _ => Ok(()),
        }
    }

    /// The user breaks the call off before it has begun.
    pub(super) fn interrupt(&mut self, call: &Call) -> Result<(), DemoError> {
        self.record(Body::UserInterrupted(UserInterrupted {
            during: Some("tool".to_owned()),
            ..Default::default()
        }))?;
        let ran = Ran {
            status: ToolStatus::Cancelled,
            ..tools::succeeded("broken off by the user before it ran".to_owned())
        };
        self.end_call(call, &ran)
    }

    /// Puts a summary in the place of the conversation so far.
    pub(super) fn compact(&mut self, summary: &str) -> Result<(), DemoError> {
        let before = self.request.len();
        self.request.compact(summary, &format!("turns t1 to t{}", self.turns));
        let mut other = Map::new();
        other.insert("tokens_basis".to_owned(), json!("estimated"));
        let after = self.request.len();
        self.record(Body::ContextCompacted(ContextCompacted {
            trigger: Some("auto".to_owned()),
            tokens_before: Some(estimated_tokens(before)),
            tokens_after: Some(estimated_tokens(after)),
            replacement: Some(Json::string(summary)),
            other,
            ..Default::default()
        }))
    }

    pub(super) fn end_turn(&mut self, status: Status) -> Result<(), DemoError> {
        let duration_ms = Some(tools::millis(self.turn_started));
        self.record(Body::TurnEnded(Ended { status: Some(status), duration_ms, ..Default::default() }))?;
        self.recorder.set_turn(None);
        Ok(())
    }

    pub(super) fn end_run(&mut self, status: Status, reason: EndReason) -> Result<(), DemoError> {
        let duration_ms = Some(tools::millis(self.run_started));
        self.record(Body::RunEnded(Ended { duration_ms, ..ended(status, reason) }))
    }

    pub(super) fn end_session(&mut self, status: Status, reason: EndReason) -> Result<(), DemoError> {
        self.recorder.set_run(None);
        self.record(Body::SessionEnded(ended(status, reason)))
    }

    /// Records the request byte for byte and returns its size.
    fn send(&mut self) -> Result<usize, DemoError> {
        let pieces = self.request.pieces();
        let parts: Vec<PromptPart<'_>> = pieces.iter().map(|piece| piece.as_part()).collect();
        self.recorder.record_prompt(&parts, self.request.left_out.clone())?;
        self.record(Body::ModelRequested(ModelRequested {
            provider: Some(MODEL.to_owned()),
            model: Some(MODEL.to_owned()),
            ..Default::default()
        }))?;
        Ok(parts.iter().map(|part| part.bytes.len()).sum())
    }

    fn new_call(&mut self, tool: &Tool, input: Value) -> Call {
        self.calls += 1;
        Call { id: format!("call-{}", self.calls), name: tool.name, input, risk: tool.risk }
    }

    fn turn_key(&self) -> String {
        format!("t{}", self.turns)
    }
}

fn estimated_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

fn ended(status: Status, reason: EndReason) -> Ended {
    Ended { status: Some(status), end_reason: Some(reason), ..Default::default() }
}

fn note(key: &str, source: &str, text: String) -> LearningNote {
    LearningNote {
        key: key.to_owned(),
        source: Some(source.to_owned()),
        text: Some(text),
        ..Default::default()
    }
}

/// Returns a note with a sentence and further fields.
fn told(detail: &str, fields: Value) -> Note {
    let other = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Note { detail: Some(detail.to_owned()), other }
}
