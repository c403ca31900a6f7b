//! Which tools the agent offers to the model: a fact of its version, which the files seldom repeat.
//!
//! 1.x offers none: the command stands in the text of the answer. 2.x offers one, `bash`, unless its model is
//! one of the text-based ones. What a model of somebody else's making offers, nobody can tell.

use agent_core::Json;
use serde_json::{Value, json};

use super::super::emit::Emit;
use super::wire::{Info, Record, Tools};

/// Where the agent keeps its own models; their names stand in the configuration.
const OWN_MODELS: &str = "minisweagent.models.";

/// What a run offers to the model.
enum Offer {
    Nothing,
    /// The schemas, and how they are known.
    Schemas(Json, &'static str),
}

/// Adds what the run of this header offers, where that is known.
pub(super) fn map(record: &Record, emit: &mut Emit<'_>) {
    match offer(record) {
        Some(Offer::Nothing) => none(emit),
        Some(Offer::Schemas(schemas, reason)) => emit.tools(schemas, reason),
        None => {}
    }
}

/// Adds that no tools are offered, so that no schemas are missing.
pub(super) fn none(emit: &mut Emit<'_>) {
    emit.tools(Json::of(&[(); 0]), "this agent sends no tools: its commands stand in the text");
}

fn offer(record: &Record) -> Option<Offer> {
    let info = record.info.as_ref();
    if let Some(Tools(schemas)) = info.and_then(schemas_of) {
        return Some(Offer::Schemas(schemas.clone(), "the configuration of the run"));
    }
    let is_first = match info.and_then(Info::major_version) {
        Some(major) => major < 2,
        None => record.trajectory_format.as_deref() == Some("mini-swe-agent-1"),
    };
    if is_first {
        return Some(Offer::Nothing);
    }
    let model = info?.config.as_ref()?.model_type.as_deref()?.strip_prefix(OWN_MODELS)?;
    if model.contains("textbased") {
        return Some(Offer::Nothing);
    }
    let reason = "what this version of the agent sends with each request";
    Some(Offer::Schemas(bash(model.contains("response")), reason))
}

/// Returns the schemas that the configuration holds.
fn schemas_of(info: &Info) -> Option<&Tools> {
    let config = info.config.as_ref()?;
    let model = config.model.as_ref();
    let of_model = model.and_then(|model| model.tools.as_ref());
    let of_request = || model.and_then(|model| model.model_kwargs.as_ref()?.tools.as_ref());
    config.tools.as_ref().or(of_model).or_else(of_request)
}

/// Returns the schema of `bash`; the responses API has no object around the function.
fn bash(is_flat: bool) -> Json {
    let mut function = json!({
        "name": "bash",
        "description": "Execute a bash command",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The bash command to execute"}},
            "required": ["command"],
        },
    });
    if is_flat {
        function["type"] = Value::from("function");
        return Json::of(&[function]);
    }
    Json::of(&[json!({"type": "function", "function": function})])
}
