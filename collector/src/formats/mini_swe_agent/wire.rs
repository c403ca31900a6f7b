//! What stands in a trajectory file, as far as it is read.

use agent_core::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::chat::{ModelStats, ToolCall};

/// One record: the header, a message, or the closing `info`.
#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) messages: Option<Message>,
    /// A message of a document that is nothing but the list.
    #[serde(default, rename = "")]
    pub(super) in_list: Option<Message>,
    #[serde(default)]
    pub(super) info: Option<Info>,
    #[serde(default)]
    pub(super) trajectory_format: Option<String>,
    #[serde(default)]
    pub(super) instance_id: Option<String>,
}

/// A record that must be a message.
#[derive(Deserialize)]
pub(super) struct Element {
    pub(super) messages: Message,
}

#[derive(Deserialize)]
pub(super) struct Info {
    #[serde(default)]
    pub(super) model_stats: Option<ModelStats>,
    #[serde(default)]
    pub(super) config: Option<Config>,
    #[serde(default)]
    pub(super) mini_version: Option<String>,
    #[serde(default)]
    pub(super) exit_status: Option<String>,
    #[serde(default)]
    pub(super) submission: Option<String>,
}

impl Info {
    /// Says whether it can only be this agent's: others also have an `info`.
    pub(super) fn is_telling(&self) -> bool {
        self.model_stats.is_some() || self.mini_version.is_some()
    }

    /// Returns the first part of the version that wrote it.
    pub(super) fn major_version(&self) -> Option<u32> {
        self.mini_version.as_deref()?.split('.').next()?.parse().ok()
    }
}

#[derive(Deserialize)]
pub(super) struct Config {
    #[serde(default)]
    pub(super) model: Option<ModelConfig>,
    /// The class of the model, with its module.
    #[serde(default)]
    pub(super) model_type: Option<String>,
    #[serde(default)]
    pub(super) environment: Option<Environment>,
    #[serde(default)]
    pub(super) tools: Option<Tools>,
}

#[derive(Deserialize)]
pub(super) struct ModelConfig {
    #[serde(default)]
    pub(super) model_name: Option<String>,
    #[serde(default)]
    pub(super) tools: Option<Tools>,
    #[serde(default)]
    pub(super) model_kwargs: Option<ModelKwargs>,
}

#[derive(Deserialize)]
pub(super) struct ModelKwargs {
    #[serde(default)]
    pub(super) tools: Option<Tools>,
}

#[derive(Deserialize)]
pub(super) struct Environment {
    #[serde(default)]
    pub(super) cwd: Option<String>,
}

/// The schemas of the tools, as they were sent.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Tools(pub(super) Json);

/// A message of the conversation, a whole response of the responses API, or a result of one of its calls.
#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) role: Option<String>,
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) reasoning_content: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
    /// The time, where 1.x wrote it.
    #[serde(default)]
    pub(super) timestamp: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) extra: Option<Extra>,
    /// `function_call_output` for a result in the responses API.
    #[serde(default)]
    pub(super) r#type: Option<String>,
    #[serde(default)]
    pub(super) call_id: Option<String>,
    /// The result's text in one case, the response's items in the other.
    #[serde(default)]
    pub(super) output: Option<Box<RawValue>>,
    /// `response` for a whole response of the responses API, which the fields below belong to.
    #[serde(default)]
    pub(super) object: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Box<RawValue>>,
}

impl Message {
    /// Says whether only this agent writes such a message.
    pub(super) fn is_telling(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| {
            extra.actions.is_some()
                || extra.response.is_some()
                || extra.returncode.is_some()
                || extra.raw_output
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Extra {
    #[serde(default)]
    pub(super) actions: Option<Vec<Action>>,
    #[serde(default)]
    pub(super) response: Option<Response>,
    #[serde(default)]
    pub(super) cost: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) timestamp: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) returncode: Option<i64>,
    /// What went wrong when the command could not be run.
    #[serde(default)]
    pub(super) exception_info: Option<String>,
    /// Why a `user` message came that is neither the task nor a result.
    #[serde(default)]
    pub(super) interrupt_type: Option<String>,
    /// Whether the command's output before the template is there.
    #[serde(default, deserialize_with = "is_there")]
    pub(super) raw_output: bool,
}

fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
}

#[derive(Deserialize)]
pub(super) struct Action {
    #[serde(default)]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
}

/// The provider's answer as the client library gave it.
#[derive(Deserialize)]
pub(super) struct Response {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    /// In place of `choices` in the responses API.
    #[serde(default)]
    pub(super) output: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) message: Option<ChoiceMessage>,
}

#[derive(Deserialize)]
pub(super) struct ChoiceMessage {
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
}

/// One item of a response in the responses API.
#[derive(Deserialize)]
pub(super) struct Item {
    pub(super) r#type: String,
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) summary: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) call_id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Option<Box<RawValue>>,
}
