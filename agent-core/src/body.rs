//! What an event says: one variant a type, one struct a payload.
//!
//! Every payload keeps the fields that it does not know in `other`, and an event of an unknown type is kept
//! whole as [`Body::Other`].

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::status::words;
use crate::{
    Block, ChunkKind, EndReason, Json, PicoUsd, PromptChange, Status, ToolStatus, Usage, UsageQuality,
};

/// Declares a payload: all fields are optional unless marked `!`, and unknown fields are kept.
macro_rules! payload {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$fdoc])* #[serde(default, skip_serializing_if = "is_default")] pub $field: $ty,)*
            /// Fields that this version does not know.
            #[serde(flatten)]
            pub other: Map<String, Value>,
        }
    };
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares [`Body`] with the name and the payload of each type.
macro_rules! bodies {
    ($($variant:ident($payload:ty) = $name:literal),+ $(,)?) => {
        /// What happened, with its payload.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the names of the variants are the names of the types")]
        pub enum Body {
            $($variant($payload),)+
            /// A type that this version does not know, whole.
            Other {
                /// The type's name.
                name: String,
                /// Its payload as it was written.
                data: Option<Json>,
            },
        }

        impl Body {
            /// Returns the type's name as it stands in `type`.
            pub fn name(&self) -> &str {
                match self { $(Self::$variant(_) => $name,)+ Self::Other { name, .. } => name }
            }

            /// Reads the payload of the type `name`; an absent payload is an empty one.
            pub(crate) fn read(name: &str, data: Option<&RawValue>) -> Result<Self, serde_json::Error> {
                let text = data.map_or("{}", RawValue::get);
                Ok(match name {
                    $($name => Self::$variant(serde_json::from_str(text)?),)+
                    _ => Self::Other { name: name.to_owned(), data: data.map(Json::copy) },
                })
            }

            /// Returns the payload as JSON.
            pub fn data(&self) -> Json {
                match self {
                    $(Self::$variant(payload) => Json::of(payload),)+
                    Self::Other { data, .. } => data.clone().unwrap_or_else(|| Json::of(&Map::new())),
                }
            }

            /// All names of known types.
            pub const NAMES: &[&str] = &[$($name),+];
        }
    };
}

bodies! {
    SessionStarted(SessionStarted) = "session.started",
    SessionTitled(SessionTitled) = "session.titled",
    SessionEnded(Ended) = "session.ended",
    RunStarted(RunStarted) = "run.started",
    RunEnded(Ended) = "run.ended",
    RunResumed(RunResumed) = "run.resumed",
    TurnStarted(TurnStarted) = "turn.started",
    TurnEnded(Ended) = "turn.ended",
    UserMessaged(UserMessaged) = "user.messaged",
    MessageQueued(UserMessaged) = "message.queued",
    MessageUnqueued(Unqueued) = "message.unqueued",
    UserInterrupted(UserInterrupted) = "user.interrupted",
    UserRetried(UserRetried) = "user.retried",
    UserRated(UserRated) = "user.rated",
    UserEdited(UserEdited) = "user.edited",
    ChunkDefined(ChunkDefined) = "chunk.defined",
    PromptAssembled(PromptAssembled) = "prompt.assembled",
    ModelRequested(ModelRequested) = "model.requested",
    ModelResponded(ModelResponded) = "model.responded",
    ModelFailed(ModelFailed) = "model.failed",
    ToolCalled(ToolCalled) = "tool.called",
    ToolAttempted(ToolAttempted) = "tool.attempted",
    ToolEnded(ToolEnded) = "tool.ended",
    ToolReported(ToolReported) = "tool.reported",
    PolicyDecided(Note) = "policy.decided",
    GuardTripped(Note) = "guard.tripped",
    ControlRequested(Note) = "control.requested",
    ControlObeyed(Note) = "control.obeyed",
    CheckpointSaved(Note) = "checkpoint.saved",
    InterruptRequested(Note) = "interrupt.requested",
    ContextAdded(ContextAdded) = "context.added",
    ContextCompacted(ContextCompacted) = "context.compacted",
    ContextRefused(Note) = "context.refused",
    ResultStored(Note) = "result.stored",
    MemoryWritten(LearningNote) = "memory.written",
    MemoryRecalled(LearningNote) = "memory.recalled",
    MemoryRejected(LearningNote) = "memory.rejected",
    MemoryEvicted(LearningNote) = "memory.evicted",
    SkillListed(LearningNote) = "skill.listed",
    SkillMatched(LearningNote) = "skill.matched",
    SkillRejected(LearningNote) = "skill.rejected",
    SkillCreated(LearningNote) = "skill.created",
    SkillUpdated(LearningNote) = "skill.updated",
    SkillDeprecated(LearningNote) = "skill.deprecated",
    SkillWriteRejected(LearningNote) = "skill.write_rejected",
    PlanUpdated(Note) = "plan.updated",
    ArtifactProduced(ArtifactProduced) = "artifact.produced",
    SubagentStarted(Subagent) = "subagent.started",
    SubagentEnded(Subagent) = "subagent.ended",
    ScoreRecorded(ScoreRecorded) = "score.recorded",
    CaseMarked(Note) = "case.marked",
    CommentAdded(Note) = "comment.added",
    AlertAcked(Note) = "alert.acked",
    SilenceSet(Note) = "silence.set",
    PriceImported(Note) = "price.imported",
    BudgetSet(Note) = "budget.set",
    AlertPending(Note) = "alert.pending",
    AlertFired(Note) = "alert.fired",
    AlertResolved(Note) = "alert.resolved",
    NotificationSent(Note) = "notification.sent",
    NotificationFailed(Note) = "notification.failed",
}

payload! {
    /// Who works, on what, for whom. It may come again with more; the latest word on a field counts.
    SessionStarted {
        /// The agent's name, such as `claude-code`.
        agent: Option<String>,
        /// The agent's version.
        agent_version: Option<String>,
        /// Who asked.
        user: Option<String>,
        /// The project, a short name.
        project: Option<String>,
        /// A title for lists.
        title: Option<String>,
        /// The working folder.
        cwd: Option<String>,
        /// The branch of the working folder.
        git_branch: Option<String>,
        /// The permission mode at the start.
        permission_mode: Option<String>,
        /// Free labels.
        tags: Vec<String>,
        /// The session that this one came from.
        parent: Option<ParentLink>,
        /// The money that it may spend.
        budget_usd: Option<PicoUsd>,
    }
}

/// Ties a session to the one it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParentLink {
    /// The parent's session.
    pub session: String,
    /// How the two hang together.
    pub kind: ParentKind,
    /// The tool call in the parent that started this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

words! {
    /// How a session came from its parent.
    ParentKind {
        /// The parent's agent started it to do a part of its work.
        Subagent = "subagent",
        /// It goes on from a point of the parent's history.
        Fork = "fork",
    }
}

payload! {
    /// A better name for the session.
    SessionTitled {
        /// The title.
        title: String,
    }
}

payload! {
    /// A session, run or turn ended.
    Ended {
        /// How.
        status: Option<Status>,
        /// Why.
        end_reason: Option<EndReason>,
        /// How long it took, as its source says, in milliseconds.
        duration_ms: Option<u64>,
        /// The reason in words, or the evidence.
        detail: Option<String>,
        /// What it cost in all, as its source says.
        reported_cost_usd: Option<PicoUsd>,
        /// All its tokens, as its source counted them; for sources that say nothing of single responses.
        usage: Usage,
    }
}

payload! {
    /// A run (task) started.
    RunStarted {
        /// What is asked.
        task: Option<String>,
        /// The money that it may spend.
        budget_usd: Option<PicoUsd>,
    }
}

payload! {
    /// A run went on after a stop.
    RunResumed {
        /// Why.
        reason: Option<String>,
    }
}

payload! {
    /// A round of the model begins, or its settings change: what stands here holds for the responses after it.
    TurnStarted {
        /// The model that will be asked.
        model: Option<String>,
        /// The provider.
        provider: Option<String>,
        /// The working folder.
        cwd: Option<String>,
        /// The permission mode.
        permission_mode: Option<String>,
    }
}

words! {
    /// Whose words a message in the user's place is.
    Origin {
        /// A person typed it; it starts a run.
        Human = "human",
        /// The agent's runtime put it in.
        Injected = "injected",
        /// A slash command or its expansion.
        Command = "command",
        /// What a local command printed.
        CommandOutput = "command_output",
        /// The summary that stands for compacted history.
        CompactSummary = "compact_summary",
        /// The parent agent's order to a sub-agent; it starts a run.
        Agent = "agent",
    }
}

payload! {
    /// A message in the user's place of the conversation.
    UserMessaged {
        /// Whose words it is; a person's when absent.
        origin: Option<Origin>,
        /// The words.
        text: String,
        /// What is not words: pictures and files.
        media: Vec<Block>,
        /// What the person typed, where the text is what a runtime made of it.
        typed: Option<String>,
        /// What it is in the prompt, where the origin alone does not tell.
        kind: Option<ChunkKind>,
        /// Where it comes from: a file, a hook, a command.
        source: Option<String>,
        /// Why it is in front of the model.
        reason: Option<String>,
        /// Whether the source as a rule tells it once more, and better: it counts only where it does not.
        is_copy: bool,
        /// Whether it came in while the agent worked: it is of the run that goes on.
        joins_run: bool,
    }
}

impl UserMessaged {
    /// Returns whether the message asks for something.
    pub fn is_request(&self) -> bool {
        matches!(self.origin, None | Some(Origin::Human | Origin::Agent))
    }

    /// Returns whether the message asks for new work and so starts a run.
    pub fn starts_run(&self) -> bool {
        self.is_request() && !self.joins_run
    }

    /// Returns the words for lists and titles: those that were typed.
    pub fn shown(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.text)
    }
}

words! {
    /// How a message left the queue.
    QueueExit {
        /// It came before the model in the run that went on; no other message says it.
        Delivered = "delivered",
        /// A message of its own says it.
        Repeated = "repeated",
        /// It was taken back: the model never got it.
        Withdrawn = "withdrawn",
    }
}

payload! {
    /// A message left the queue that messages wait in while the agent works: the first one, unless it is
    /// named by its words.
    Unqueued {
        /// How.
        how: Option<QueueExit>,
        /// What it says, where the source says it again.
        message: Option<UserMessaged>,
        /// The id of the delivery, where the source writes down each: news for another agent wait in the
        /// same queue.
        delivery: Option<String>,
        /// Whether all that waited left with it.
        all: bool,
    }
}

payload! {
    /// The user broke the agent off.
    UserInterrupted {
        /// What was going on: `response` or `tool`.
        during: Option<String>,
    }
}

payload! {
    /// The user asked for the same again.
    UserRetried {
        /// The turn that did not please.
        of_turn: Option<String>,
    }
}

payload! {
    /// The user judged.
    UserRated {
        /// The judgement, -1 to 1.
        rating: Option<f64>,
        /// In words.
        comment: Option<String>,
    }
}

payload! {
    /// How much of the agent's work the user kept.
    UserEdited {
        /// The file.
        path: Option<String>,
        /// Lines of the agent that stayed.
        lines_kept: Option<u64>,
        /// Lines of the agent that the user changed.
        lines_changed: Option<u64>,
    }
}

payload! {
    /// The bytes of a chunk, written once per file.
    ChunkDefined {
        /// BLAKE3 of the bytes, in hex.
        hash: String,
        /// The bytes when they are UTF-8.
        text: Option<String>,
        /// The bytes in base64 when they are not.
        base64: Option<String>,
    }
}

payload! {
    /// A prompt was put together; `changes` gives its chunk list.
    PromptAssembled {
        /// BLAKE3 of the whole body, in hex.
        body_hash: String,
        /// The chunk list as a change to the one of the prompt assembled before it in this session.
        changes: Vec<PromptChange>,
        /// What was left out of it, and why.
        left_out: Vec<LeftOut>,
    }
}

/// Something that was not put into a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What it was.
    pub source: String,
    /// Why it was left out: trimmed, compacted, over budget.
    pub reason: String,
    /// Its size in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

payload! {
    /// A request went to a model.
    ModelRequested {
        /// Who serves the model.
        provider: Option<String>,
        /// The model asked for.
        model: Option<String>,
        /// Parameters such as temperature.
        params: Map<String, Value>,
    }
}

payload! {
    /// A model answered, or a part of its answer came: pieces of one response carry the same `response_id`
    /// and are added up in order; usage is the largest reported.
    ModelResponded {
        /// Who served the model.
        provider: Option<String>,
        /// The model that served.
        model: Option<String>,
        /// The provider's id of the response. Pieces without one belong to the response that is open.
        response_id: Option<String>,
        /// The provider's id of the request.
        request_id: Option<String>,
        /// The pieces in order.
        content: Vec<Block>,
        /// Why the model stopped; absent while the response grows or where the source does not tell.
        finish_reason: Option<String>,
        /// Tokens of the whole response so far.
        usage: Usage,
        /// How far the figures can be trusted.
        usage_quality: Option<UsageQuality>,
        /// The usage as the provider wrote it.
        usage_raw: Option<Value>,
        /// Tokens of the session so far, where the source counts that way; the same sum twice is one report.
        usage_so_far: Option<Usage>,
        /// Whether this piece ends the open response.
        last_piece: bool,
        /// Whether the source as a rule tells the words once more, and better: they count only where it does
        /// not.
        is_copy: bool,
        /// Milliseconds from request to first token.
        time_to_first_token_ms: Option<u64>,
        /// Milliseconds from request to the last token.
        duration_ms: Option<u64>,
        /// The cost as the agent reported it.
        reported_cost_usd: Option<PicoUsd>,
    }
}

payload! {
    /// An error, as data.
    ErrorInfo {
        /// A short word for the kind, such as `rate_limit`.
        kind: Option<String>,
        /// The words of the error.
        message: Option<String>,
        /// The HTTP status, where there was one.
        http_status: Option<u16>,
        /// Whether trying again can help.
        retryable: Option<bool>,
        /// Whose fault it is.
        blame: Option<String>,
        /// The normalised message, by which equal errors are grouped.
        signature: Option<String>,
        /// What to do.
        suggested_action: Option<String>,
    }
}

payload! {
    /// A call of a model failed.
    ModelFailed {
        /// The model asked for.
        model: Option<String>,
        /// What went wrong.
        error: ErrorInfo,
        /// Which attempt it was, from 1.
        attempt: Option<u32>,
        /// Milliseconds until the next attempt.
        retry_in_ms: Option<u64>,
    }
}

payload! {
    /// The model asked for a tool.
    ToolCalled {
        /// The call's id, as the source names it.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them.
        input: Option<Json>,
        /// The logical action, which stays the same over attempts.
        action_id: Option<String>,
        /// The hash of what is intended.
        intent_hash: Option<String>,
        /// The risk, `L0` (reads) to `L3` (cannot be undone or goes outside).
        risk: Option<String>,
        /// Whether it stands only in the text of the response: in a prompt no call is sent beside that.
        in_text: bool,
    }
}

payload! {
    /// A tool began to run.
    ToolAttempted {
        /// The call.
        call_id: String,
        /// This attempt.
        attempt_id: Option<String>,
        /// Who runs it.
        executor: Option<String>,
    }
}

payload! {
    /// A tool call ended: exactly one a call.
    ToolEnded {
        /// The call.
        call_id: String,
        /// How it ended; unknown when absent.
        status: Option<ToolStatus>,
        /// What it gave back to the model: a JSON string for plain text.
        output: Option<Json>,
        /// What went wrong.
        error: Option<ErrorInfo>,
        /// The exit code of the process.
        exit_code: Option<i64>,
        /// How long it ran, in milliseconds.
        duration_ms: Option<u64>,
        /// What it left in the world, as a hash.
        effect_fingerprint: Option<String>,
        /// What it produced.
        artifacts: Vec<String>,
        /// The name of the tool, where the source says it again.
        name: Option<String>,
        /// Whether the model is sent it as a message of the user, since its call stands in a text.
        in_text: bool,
    }
}

payload! {
    /// What a source tells of how a tool call ended beside its result, before or after it: what the tool gave
    /// back stands in `tool.ended` alone.
    ToolReported {
        /// The call.
        call_id: String,
        /// How it ended.
        status: Option<ToolStatus>,
        /// What went wrong.
        error: Option<ErrorInfo>,
        /// The exit code of the process.
        exit_code: Option<i64>,
        /// How long it ran, in milliseconds.
        duration_ms: Option<u64>,
    }
}

payload! {
    /// Something stands in the model's context from here on: what a transcript tells of the prompt besides
    /// messages, responses and results.
    ContextAdded {
        /// What it is; state when absent.
        kind: Option<ChunkKind>,
        /// Where it comes from.
        source: Option<String>,
        /// Why it is there.
        reason: Option<String>,
        /// A place that holds one value: what stood in it before leaves the context. The places `system`
        /// and `tools` stand before all messages.
        slot: Option<String>,
        /// The part as it stands in the request, or as near as the source has it.
        content: Option<Json>,
    }
}

payload! {
    /// The context was made smaller.
    ContextCompacted {
        /// Who asked for it: `auto` or `manual`.
        trigger: Option<String>,
        /// Tokens before.
        tokens_before: Option<u64>,
        /// Tokens after.
        tokens_after: Option<u64>,
        /// When given, only the results of these calls were blanked.
        dropped_calls: Option<Vec<String>>,
        /// What stands in the place of each blanked result; where it is absent, the results are gone whole.
        placeholder: Option<Json>,
        /// When given, only what these steps put into the context is gone: something better took its place,
        /// or it was taken back.
        dropped_steps: Option<Vec<String>>,
        /// When given, only the last so many requests (of a person or a parent agent) are gone, and all that
        /// came after the first of them: the conversation was taken back to before it.
        dropped_requests: Option<u32>,
        /// The history that stands in its place, where the source has it.
        replacement: Option<Json>,
        /// What of the history before stays as it was.
        kept: Option<KeptHistory>,
        /// Whether the blanked results are messages of the user, since their calls stand in texts.
        in_text: bool,
    }
}

/// What of the history before a compaction stays: what some steps put into the context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptHistory {
    /// The steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The first and the last one, where the source names only these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(String, String)>,
    /// The step that it stands behind: the compaction itself, or the summary that comes after it. Behind all
    /// that comes before the next call of the model when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

impl ContextCompacted {
    /// Returns whether all history before is gone, and not only what is named.
    pub fn is_full(&self) -> bool {
        self.dropped_calls.is_none() && self.dropped_steps.is_none() && self.dropped_requests.is_none()
    }
}

payload! {
    /// Something of memory or skills.
    LearningNote {
        /// The memory's key (a path) or the skill's name.
        key: String,
        /// Where it comes from: `nested_memory`, `Skill tool`, ...
        source: Option<String>,
        /// The tool call by which it happened.
        call_id: Option<String>,
        /// The content, where the source has it.
        text: Option<String>,
        /// How it went.
        outcome: Option<String>,
        /// Whether the call has only been asked for: it holds once that has succeeded.
        when_done: bool,
    }
}

payload! {
    /// A step produced something.
    ArtifactProduced {
        /// What: `file`, `pull_request`, `patch`, ...
        kind: Option<String>,
        /// Its place: a path or address.
        uri: Option<String>,
        /// The tool call that made it.
        call_id: Option<String>,
        /// The content, where it is small.
        text: Option<String>,
    }
}

payload! {
    /// A sub-agent began or ended.
    Subagent {
        /// Its session.
        session: Option<String>,
        /// The tool call that started it.
        call_id: Option<String>,
        /// Its name or type.
        name: Option<String>,
        /// How it ended.
        status: Option<Status>,
    }
}

payload! {
    /// Somebody or something judged.
    ScoreRecorded {
        /// What was judged.
        name: String,
        /// The figure.
        value: Option<f64>,
        /// In words.
        label: Option<String>,
        /// Who judged.
        by: Option<String>,
    }
}

payload! {
    /// A payload that nothing here computes with: its fields are all in `other`.
    Note {
        /// A sentence for the reader.
        detail: Option<String>,
    }
}
