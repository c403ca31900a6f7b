//! Every route of the viewer.

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};

use crate::pages::{
    costs, diff, event_text, figures, home, live, login, part, prompt, raw, session, sessions, turn,
};
use crate::{AppState, assets, errors, middleware, reports};

/// Returns the pages over a store, with all checks in front of them.
pub fn router(state: AppState) -> Router {
    router_with(state, Router::new())
}

/// Returns the pages, and behind the same checks the answers to local commands and the routes of others.
pub(crate) fn router_with(state: AppState, others: Router) -> Router {
    let guarded = Router::new()
        .route("/", get(home::show))
        .route("/quality", get(figures::quality))
        .route("/tools", get(figures::tools))
        .route("/models", get(figures::models))
        .route("/learning", get(figures::learning))
        .route("/costs", get(costs::show))
        .route("/costs/ceiling", post(costs::set_ceiling))
        .route("/sessions", get(sessions::show))
        .route("/sessions/{session}", get(session::show))
        .route("/sessions/{session}/turns", get(turn::go))
        .route("/sessions/{session}/turns/{turn}", get(turn::show))
        .route("/sessions/{session}/turns/{turn}/diff", get(diff::show))
        .route("/sessions/{session}/turns/{turn}/prompt", get(prompt::show))
        .route("/sessions/{session}/turns/{turn}/fidelity", get(prompt::fidelity))
        .route("/sessions/{session}/turns/{turn}/records", get(raw::records))
        .route("/sessions/{session}/parts/{part}", get(part::show))
        .route("/sessions/{session}/events/{n}/text", get(event_text::show))
        .route("/raw/{position}", get(raw::show))
        .route("/live", get(live::follow))
        .route("/api/link", post(login::make_link))
        .layer(map_response(errors::as_page))
        .merge(reports::router(state.store().clone()).with_state(()))
        .merge(others.with_state(()))
        .fallback(home::nothing_here)
        .layer(from_fn_with_state(state.clone(), middleware::require_token));
    let open = Router::new()
        .route("/healthz", get(home::health))
        .route("/login", get(login::enter).post(login::give))
        .route("/assets/{name}", get(assets::serve));
    middleware::around(open.merge(guarded), &state).with_state(state)
}
