//! Calls of models, and errors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::is_default;
use crate::{Block, PicoUsd, Usage, UsageQuality};

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
        /// The way it was served in, in the provider's word: `standard`, `batch`, `flex`, `priority`.
        service_tier: Option<String>,
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
