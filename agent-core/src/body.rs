//! What an event says: one variant a type, one struct a payload.
//!
//! Every payload keeps the fields that it does not know in `other`, and an event of an unknown type is kept
//! whole as [`Body::Other`].

use serde_json::Map;
use serde_json::value::RawValue;

use crate::Json;

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

mod context;
mod model;
mod money;
mod prompt;
mod session;
mod tool;
mod user;
mod work;

pub use context::*;
pub use model::*;
pub use money::*;
pub use prompt::*;
pub use session::*;
pub use tool::*;
pub use user::*;
pub use work::*;

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
    PriceApplied(PriceApplied) = "price.applied",
    BudgetSet(BudgetSet) = "budget.set",
    AlertPending(Note) = "alert.pending",
    AlertFired(Note) = "alert.fired",
    AlertResolved(Note) = "alert.resolved",
    NotificationSent(Note) = "notification.sent",
    NotificationFailed(Note) = "notification.failed",
}
