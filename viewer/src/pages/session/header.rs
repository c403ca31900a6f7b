//! What stands above a session: what it is, how it went, what was lost of it.

use store::{SessionRow, SourceRow, UnreadPiece};

use super::Known;
use crate::format::{UNKNOWN, counted, dollars, duration, known, output_tokens, short, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// What stands above a session.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// The name as a value in an address.
    pub(crate) encoded: String,
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) status: Word,
    pub(crate) ended: Option<&'static str>,
    pub(crate) started: ShownTime,
    pub(crate) last: ShownTime,
    pub(crate) facts: Vec<Fact>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) parent: Option<Relative>,
    pub(crate) children: Vec<Relative>,
    pub(crate) more_children: Option<(String, String)>,
    pub(crate) first_error: Option<FirstError>,
    pub(crate) losses: Losses,
}

/// A word about the session.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

/// A figure of the session.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) title: String,
    pub(crate) is_bad: bool,
}

/// A session that this one came from, or that came from it.
#[derive(Debug)]
pub(crate) struct Relative {
    pub(crate) href: String,
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) status: Word,
    pub(crate) detail: String,
}

/// The line that leads to where it went wrong.
#[derive(Debug)]
pub(crate) struct FirstError {
    pub(crate) href: String,
    pub(crate) turn: String,
    pub(crate) what: String,
    pub(crate) words: String,
    pub(crate) more: Option<String>,
}

/// What came in, and what of it is not there.
#[derive(Debug)]
pub(crate) struct Losses {
    pub(crate) is_whole: bool,
    pub(crate) summary: String,
    pub(crate) counts: Vec<Fact>,
    pub(crate) unread: Vec<Unread>,
    pub(crate) unread_words: String,
    pub(crate) sources: Vec<String>,
}

/// A piece that could not be read.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) place: String,
    pub(crate) reason: String,
    pub(crate) raw: String,
}

impl Header {
    pub(super) fn new(known: &Known, clock: &Clock) -> Self {
        let row = &known.session;
        Self {
            name: one_line(&row.session),
            encoded: links::encode(&row.session),
            href: links::session(&row.session),
            title: title(row),
            status: words::status(row.status_at(clock.now())),
            ended: words::end_reason(&row.end_reason),
            started: clock.show(row.started_at),
            last: clock.show(row.ended_at),
            facts: facts(row),
            figures: figures(row),
            parent: row.parent.as_ref().map(|parent| parent_link(row, parent)),
            children: known.children.iter().map(|child| child_link(child, clock)).collect(),
            more_children: more_children(known),
            first_error: first_error(known),
            losses: Losses::new(row, &known.unread, &known.sources),
        }
    }
}

/// Returns what the session is called on pages.
pub(crate) fn title(row: &SessionRow) -> String {
    let title = row.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    title.unwrap_or_else(|| one_line(&row.session))
}

fn facts(row: &SessionRow) -> Vec<Fact> {
    let agent = row.agent.as_ref().map(|agent| match &row.agent_version {
        Some(version) => format!("{agent} {version}"),
        None => agent.clone(),
    });
    let models = Some(words::names(&row.models).join(", ")).filter(|models| !models.is_empty());
    let all = [
        ("agent", agent),
        ("model", models),
        ("user", row.user.clone()),
        ("project", row.project.clone()),
        ("folder", row.cwd.clone()),
        ("branch", row.git_branch.clone()),
        ("permissions", row.permission_mode.clone()),
    ];
    all.into_iter().filter_map(|(name, value)| Some(Fact { name, value: one_line(&value?) })).collect()
}

fn figures(row: &SessionRow) -> Vec<Figure> {
    let errors = row.failed_tool_calls + row.failed_model_calls;
    let figure = |name, value: String, title: String| Figure { name, value, title, is_bad: false };
    let tokens = |name, tokens: Option<u64>| {
        figure(name, known(tokens, short), known(tokens, |tokens| format!("{} tokens", whole(tokens))))
    };
    let mut all = vec![
        figure("turns", whole(row.turns.into()), counted(row.runs.into(), "request", "requests")),
        figure(
            "tool calls",
            whole(row.tool_calls.into()),
            format!("{} failed", whole(row.failed_tool_calls.into())),
        ),
        Figure {
            is_bad: errors > 0,
            ..figure(
                "errors",
                whole(errors.into()),
                format!(
                    "{} tool calls and {} model calls failed",
                    row.failed_tool_calls, row.failed_model_calls
                ),
            )
        },
        figure("duration", known(row.duration_ms, duration), "from the first event to the last".to_owned()),
        tokens("input", row.uncached_input_tokens),
        tokens("cache read", row.cache_read_tokens),
        tokens("cache write", row.cache_write_tokens()),
        figure(
            "output",
            output_tokens(row.output_tokens, &row.usage_quality, short),
            format!(
                "{} tokens; {}",
                output_tokens(row.output_tokens, &row.usage_quality, whole),
                words::usage_quality(&row.usage_quality)
            ),
        ),
        tokens("peak prompt", row.peak_prompt_tokens),
        figure("cost", known(row.reported_cost_picousd, dollars), cost_title(row)),
    ];
    if row.compactions > 0 {
        all.push(figure(
            "compactions",
            whole(row.compactions.into()),
            "times the context was made smaller".to_owned(),
        ));
    }
    if row.interrupts > 0 {
        all.push(figure(
            "interrupts",
            whole(row.interrupts.into()),
            "times the user broke it off".to_owned(),
        ));
    }
    all
}

fn cost_title(row: &SessionRow) -> String {
    match row.reported_cost_picousd {
        Some(_) => "as the agent reported it".to_owned(),
        None => "the source reports no cost".to_owned(),
    }
}

fn parent_link(row: &SessionRow, parent: &str) -> Relative {
    let is_fork = row.parent_kind.as_deref() == Some("fork");
    let href = match (&row.parent_call, row.parent_turn) {
        (Some(call), _) => links::with_query(&links::session(parent), &[("call", Some(call))]),
        (None, Some(turn)) => links::turn(parent, turn),
        (None, None) => links::session(parent),
    };
    let detail = match row.parent_turn {
        Some(turn) if is_fork => format!("shares its turns up to {turn}"),
        _ => String::new(),
    };
    let kind = if is_fork { "Fork of" } else { "Sub-agent of" };
    Relative { href, kind, title: one_line(parent), status: Word::default(), detail }
}

fn child_link(row: &SessionRow, clock: &Clock) -> Relative {
    Relative {
        href: links::session(&row.session),
        kind: if row.parent_kind.as_deref() == Some("fork") { "fork" } else { "sub-agent" },
        title: title(row),
        status: words::status(row.status_at(clock.now())),
        detail: format!(
            "{} · {}",
            counted(row.turns.into(), "turn", "turns"),
            counted((row.failed_tool_calls + row.failed_model_calls).into(), "error", "errors")
        ),
    }
}

fn more_children(known: &Known) -> Option<(String, String)> {
    let shown = known.children.len() as u64;
    (known.children_count > shown).then(|| {
        let words = format!("{shown} of {} shown", whole(known.children_count));
        (words, links::with_query("/sessions", &[("parent", Some(&known.session.session))]))
    })
}

fn first_error(known: &Known) -> Option<FirstError> {
    let (turn, call) = known.first_error.as_ref()?;
    let errors = u64::from(known.session.failed_tool_calls + known.session.failed_model_calls);
    let what = match call {
        Some(call) => format!("{} {}", one_line(&call.name), words::tool_status(call.status.as_deref()).text),
        None => "the model call failed".to_owned(),
    };
    let anchor =
        call.as_ref().map_or_else(String::new, |call| format!("#call-{}", links::encode(&call.call_id)));
    Some(FirstError {
        href: format!("{}{anchor}", links::turn(&known.session.session, turn.turn)),
        turn: whole(turn.turn.into()),
        what,
        words: turn.error_preview.as_deref().map(one_line).unwrap_or_default(),
        more: (errors > 1).then(|| format!("{} in all", counted(errors, "error", "errors"))),
    })
}

impl Losses {
    fn new(row: &SessionRow, unread: &[UnreadPiece], sources: &[SourceRow]) -> Self {
        let missing = row.events_missing;
        let is_whole = row.events_refused == 0 && missing.unwrap_or(0) == 0;
        let fact = |name, value| Fact { name, value };
        let counts = vec![
            fact(
                "written by the source",
                row.events_emitted.map_or_else(|| format!("{UNKNOWN} (it does not count)"), whole),
            ),
            fact("received", whole(row.events_received)),
            fact("stored", whole(row.events_stored)),
            fact("came twice", whole(row.events_duplicate)),
            fact("could not be read", whole(row.events_refused)),
        ];
        let summary = match (row.events_refused, missing.unwrap_or(0)) {
            (0, 0) => format!("{} stored, nothing lost", counted(row.events_stored, "event", "events")),
            (0, missing) => format!("{} missing", counted(missing, "event", "events")),
            (refused, 0) => format!("{} could not be read", counted(refused, "piece", "pieces")),
            (refused, missing) => format!("{} unread, {} missing", whole(refused), whole(missing)),
        };
        let shown = unread.len() as u64;
        Self {
            is_whole,
            summary,
            counts,
            unread: unread.iter().map(|piece| unread_line(piece, sources)).collect(),
            unread_words: if row.events_refused > shown {
                format!("{shown} of {} shown", whole(row.events_refused))
            } else {
                String::new()
            },
            sources: sources.iter().map(source_line).collect(),
        }
    }
}

fn unread_line(piece: &UnreadPiece, sources: &[SourceRow]) -> Unread {
    let path = sources
        .iter()
        .find(|source| source.source_id == piece.source_id)
        .map(|source| one_line(&source.path));
    Unread {
        place: format!("{}:{}", path.unwrap_or_else(|| "(source not known)".to_owned()), piece.row),
        reason: one_line(&piece.reason),
        raw: links::raw(piece.position),
    }
}

fn source_line(source: &SourceRow) -> String {
    format!(
        "{} ({}, {})",
        one_line(&source.path),
        one_line(&source.format),
        counted(source.rows, "row", "rows")
    )
}
