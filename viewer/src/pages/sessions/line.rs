//! One line of the list.

use store::SessionRow;

use crate::format::{counted, dollars, duration, known, output_tokens, short, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// One session as the list shows it.
#[derive(Debug)]
pub(crate) struct SessionLine {
    pub(crate) href: String,
    pub(crate) status: Word,
    pub(crate) title: String,
    /// The session's name where it has no title, shortened.
    pub(crate) name: String,
    /// Agent, project, user.
    pub(crate) about: Vec<String>,
    pub(crate) models: String,
    pub(crate) models_all: String,
    pub(crate) turns: String,
    pub(crate) tools: String,
    pub(crate) errors: u32,
    pub(crate) error_href: Option<String>,
    pub(crate) input: String,
    pub(crate) cached: String,
    pub(crate) output: String,
    pub(crate) tokens_title: String,
    pub(crate) cost: String,
    pub(crate) cost_title: &'static str,
    pub(crate) duration: String,
    pub(crate) ended: &'static str,
    pub(crate) last: ShownTime,
    pub(crate) children: Option<Children>,
    /// `sub-agent` or `fork`.
    pub(crate) kind: Option<&'static str>,
    pub(crate) unread: Option<String>,
}

/// The sessions that came from one.
#[derive(Debug)]
pub(crate) struct Children {
    pub(crate) words: String,
    pub(crate) href: String,
}

impl SessionLine {
    pub(super) fn new(row: &SessionRow, children: u64, clock: &Clock) -> Self {
        let errors = row.failed_tool_calls + row.failed_model_calls;
        let models: Vec<String> = words::names(&row.models).iter().map(|model| one_line(model)).collect();
        let title = row.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        let about = [&row.agent, &row.project, &row.user];
        Self {
            href: links::session(&row.session),
            status: words::status(row.status_at(clock.now())),
            title: title.unwrap_or_else(|| "(no title)".to_owned()),
            name: one_line(&row.session),
            about: about.into_iter().flatten().map(|word| one_line(word)).collect(),
            models: first_and_more(&models),
            models_all: models.join(", "),
            turns: whole(row.turns.into()),
            tools: whole(row.tool_calls.into()),
            errors,
            error_href: row.first_error_turn.map(|turn| links::turn(&row.session, turn)),
            input: known(row.uncached_input_tokens, short),
            cached: known(row.cache_read_tokens, short),
            output: output_tokens(row.output_tokens, &row.usage_quality, short),
            tokens_title: tokens_title(row),
            cost: known(row.reported_cost_picousd, dollars),
            cost_title: if row.reported_cost_picousd.is_some() {
                "as the agent reported it"
            } else {
                "the source reports no cost"
            },
            duration: known(row.duration_ms, duration),
            ended: words::end_reason(&row.end_reason).unwrap_or(""),
            last: clock.show(row.ended_at.or(row.started_at)),
            children: (children > 0).then(|| Children {
                words: counted(children, "child", "children"),
                href: links::with_query("/sessions", &[("parent", Some(&row.session))]),
            }),
            kind: row.parent_kind.as_deref().map(|kind| if kind == "fork" { "fork" } else { "sub-agent" }),
            unread: (row.events_refused > 0)
                .then(|| counted(row.events_refused, "piece unread", "pieces unread")),
        }
    }
}

fn first_and_more(models: &[String]) -> String {
    match models {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    }
}

fn tokens_title(row: &SessionRow) -> String {
    format!(
        "uncached input {} · cache read {} · cache write {} · output {} ({})",
        known(row.uncached_input_tokens, whole),
        known(row.cache_read_tokens, whole),
        known(row.cache_write_tokens(), whole),
        output_tokens(row.output_tokens, &row.usage_quality, whole),
        words::usage_quality(&row.usage_quality),
    )
}
