//! What stands in a trajectory file, as far as it is read.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::super::chat::{ModelStats, ToolCall};

/// One record: the header, a message of the history, a step, or the closing `info`.
#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) history: Option<Message>,
    #[serde(default)]
    pub(super) trajectory: Option<Step>,
    #[serde(default)]
    pub(super) info: Option<Info>,
    /// The run's settings: a string of JSON, or an object.
    #[serde(default)]
    pub(super) replay_config: Option<Box<RawValue>>,
}

/// A message of the history.
#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) role: Option<String>,
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) is_demo: Option<bool>,
    /// Why it is there: `observation`, `action`, ...
    #[serde(default)]
    pub(super) message_type: Option<String>,
    #[serde(default)]
    pub(super) action: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
    /// The calls that a result answers; in practice one.
    #[serde(default)]
    pub(super) tool_call_ids: Option<Vec<String>>,
}

impl Message {
    /// Says whether it is a user's message of this conversation and not of a demonstration.
    pub(super) fn is_users(&self) -> bool {
        self.role.as_deref() == Some("user") && self.is_demo != Some(true)
    }
}

/// One round of the agent.
#[derive(Deserialize)]
pub(super) struct Step {
    /// The list that was sent for this step (from 1.1 on).
    #[serde(default)]
    pub(super) query: Option<Vec<Message>>,
    /// The conversation after this step (in 1.0), as it is sent for the next.
    #[serde(default)]
    pub(super) messages: Option<Vec<Message>>,
    #[serde(default)]
    pub(super) action: Option<String>,
    #[serde(default)]
    pub(super) observation: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) response: Option<String>,
    #[serde(default)]
    pub(super) thought: Option<String>,
    /// What the agent's tools said of themselves after the command ran.
    #[serde(default)]
    pub(super) state: Option<Box<RawValue>>,
    /// In seconds.
    #[serde(default)]
    pub(super) execution_time: Option<f64>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    pub(super) thinking_blocks: Option<Vec<Thinking>>,
}

/// A block of reasoning.
#[derive(Deserialize)]
pub(super) struct Thinking {
    #[serde(default)]
    pub(super) thinking: Option<String>,
}

/// The list that stands in a step, as `describe` reads it.
#[derive(Deserialize)]
pub(super) struct StepPrompt {
    #[serde(default)]
    pub(super) messages: Option<Vec<Message>>,
    #[serde(default)]
    pub(super) query: Option<Vec<Message>>,
}

impl StepPrompt {
    /// Says whether there is no list.
    pub(super) fn is_sparse(&self) -> bool {
        self.messages.is_none() && self.query.is_none()
    }

    /// Returns the list.
    pub(super) fn messages_or_query(self) -> Option<Vec<Message>> {
        self.messages.or(self.query)
    }
}

#[derive(Deserialize)]
pub(super) struct Info {
    #[serde(default)]
    pub(super) exit_status: Option<String>,
    #[serde(default)]
    pub(super) submission: Option<String>,
    #[serde(default)]
    pub(super) model_stats: Option<ModelStats>,
    #[serde(default)]
    pub(super) swe_agent_version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ReplayConfig {
    #[serde(default)]
    pub(super) agent: Option<AgentConfig>,
    #[serde(default)]
    pub(super) problem_statement: Option<ProblemStatement>,
}

impl ReplayConfig {
    /// Reads the settings; nothing when they have another shape, for then they only lack a title and a model.
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        if raw.get().starts_with('"') {
            serde_json::from_str(&serde_json::from_str::<String>(raw.get()).ok()?).ok()
        } else {
            serde_json::from_str(raw.get()).ok()
        }
    }
}

#[derive(Deserialize)]
pub(super) struct AgentConfig {
    #[serde(default)]
    pub(super) model: Option<ModelConfig>,
    #[serde(default)]
    pub(super) tools: Option<ToolConfig>,
}

#[derive(Deserialize)]
pub(super) struct ToolConfig {
    #[serde(default)]
    pub(super) parse_function: Option<Parser>,
}

/// How the model's answers are read.
#[derive(Deserialize)]
pub(super) struct Parser {
    #[serde(default, rename = "type")]
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ModelConfig {
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ProblemStatement {
    #[serde(default)]
    pub(super) id: Option<String>,
}

/// What tells an element of a long array from those of other agents.
pub(super) trait Marks: DeserializeOwned {
    /// Says whether the element is this agent's.
    fn are_ours(&self) -> bool;
}

/// The marks of a message of the history.
#[derive(Deserialize)]
pub(super) struct HistoryMarks {
    history: MessageMarks,
}

#[derive(Deserialize)]
struct MessageMarks {
    role: Option<String>,
    agent: Option<IgnoredAny>,
    message_type: Option<IgnoredAny>,
    is_demo: Option<IgnoredAny>,
    thought: Option<IgnoredAny>,
}

impl Marks for HistoryMarks {
    fn are_ours(&self) -> bool {
        let MessageMarks { role, agent, message_type, is_demo, thought } = &self.history;
        role.is_some() && [agent, message_type, is_demo, thought].iter().any(|mark| mark.is_some())
    }
}

/// The marks of a step.
#[derive(Deserialize)]
pub(super) struct StepMarks {
    trajectory: ActionMarks,
}

#[derive(Deserialize)]
struct ActionMarks {
    action: Option<IgnoredAny>,
    observation: Option<IgnoredAny>,
    response: Option<IgnoredAny>,
}

impl Marks for StepMarks {
    fn are_ours(&self) -> bool {
        let ActionMarks { action, observation, response } = &self.trajectory;
        action.is_some() && observation.is_some() && response.is_some()
    }
}
