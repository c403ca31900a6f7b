//! What stands above a session: what it is, how it went, what was lost of it.

use agent_core::Status;
use store::{SessionRow, SourceRow, ToolCallRow, TurnRow, UnreadPiece};

use super::Known;
use super::said::told_as_cut;
use crate::format::{UNKNOWN, counted, duration, known, output_tokens, short, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::money;
use crate::pages::troubles::Troubles;
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
    /// How it ended, and what that means.
    pub(crate) ended: (&'static str, &'static str),
    pub(crate) started: ShownTime,
    pub(crate) last: ShownTime,
    /// Whether both are on one day.
    pub(crate) is_one_day: bool,
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
    /// What has to be known of it, in small.
    pub(crate) note: Option<String>,
    pub(crate) title: String,
    pub(crate) is_bad: bool,
}

/// A session that this one came from, or that came from it.
#[derive(Debug)]
pub(crate) struct Relative {
    /// Absent when it is not here.
    pub(crate) href: Option<String>,
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
        let status = row.status_at(clock.now());
        let (started, last) = (clock.show(row.started_at), clock.show(row.ended_at));
        Self {
            name: one_line(&row.session),
            encoded: links::encode(&row.session),
            href: links::session(&row.session),
            title: title(row),
            status: words::status(status),
            ended: words::ending(status, &row.end_reason),
            is_one_day: started.day == last.day,
            started,
            last,
            facts: facts(row),
            figures: figures(known, status),
            parent: row.parent.as_ref().map(|parent| parent_link(known, parent)),
            children: known.children.iter().map(|child| child_link(child, clock)).collect(),
            more_children: more_children(known),
            first_error: first_error(known),
            losses: Losses::new(row, &known.unread, &known.sources),
        }
    }
}

/// Returns what the session is called on pages.
pub(crate) fn title(row: &SessionRow) -> String {
    let title = row.title.as_deref().map(|title| one_line(&told_as_cut(title)));
    let title = title.filter(|title| !title.is_empty());
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

fn figure(name: &'static str, value: String, title: &str) -> Figure {
    Figure { name, value, note: None, title: title.to_owned(), is_bad: false }
}

fn tokens(name: &'static str, tokens: Option<u64>) -> Figure {
    let title = tokens.map_or_else(
        || "the source gives no such figure".to_owned(),
        |tokens| format!("{} tokens, as reported", whole(tokens)),
    );
    figure(name, known(tokens, short), &title)
}

fn figures(of: &Known, status: Status) -> Vec<Figure> {
    let row = &of.session;
    let mut all = vec![
        turns(of, status),
        figure("tool calls", whole(row.tool_calls.into()), "calls of tools, whatever became of them"),
        errors(row),
        duration_figure(row),
        tokens("input", row.uncached_input_tokens),
        tokens("cache read", row.cache_read_tokens),
        tokens("cache write", row.cache_write_tokens()),
        output(row),
        tokens("peak prompt", row.peak_prompt_tokens),
        cost(row),
    ];
    if row.compactions > 0 {
        let title = "times the context was made smaller";
        all.push(figure("compactions", whole(row.compactions.into()), title));
    }
    if row.interrupts > 0 {
        all.push(figure("interrupts", whole(row.interrupts.into()), "times the user broke it off"));
    }
    all
}

/// Turns without an answer have a number too, so that the last number may be greater than this figure.
fn turns(of: &Known, status: Status) -> Figure {
    let row = &of.session;
    let requests = counted(row.runs.into(), "request", "requests");
    let answered = counted(row.turns.into(), "answered turn", "answered turns");
    Figure {
        note: words::unanswered_turns(of.counts.unanswered, status == Status::Running)
            .map(|words| format!("+ {words}")),
        ..figure("turns", whole(row.turns.into()), &format!("{answered}, {requests}"))
    }
}

/// Only what failed by itself is an error; what was refused or broken off stands beside it.
fn errors(row: &SessionRow) -> Figure {
    let troubles = Troubles::of_session(row);
    let title = "calls that failed by themselves; refused ones and those broken off are told apart";
    Figure {
        is_bad: troubles.errors > 0,
        value: if troubles.errors > 0 { troubles.bad } else { "0".to_owned() },
        note: Some(troubles.mild).filter(|words| !words.is_empty()),
        ..figure("errors", String::new(), title)
    }
}

fn duration_figure(row: &SessionRow) -> Figure {
    let title = match row.duration_ms {
        Some(0) => "all its events carry the same time",
        Some(_) => "from the first event to the last",
        None => "the source tells no times",
    };
    figure("duration", known(row.duration_ms.filter(|&ms| ms > 0), duration), title)
}

fn output(row: &SessionRow) -> Figure {
    let quality = words::usage_quality(&row.usage_quality);
    let reported = output_tokens(row.output_tokens, &row.usage_quality, whole);
    let estimate = words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality);
    let title = match estimate {
        Some(tokens) => format!("{reported} tokens; {quality}. {} {}", whole(tokens), words::ESTIMATE),
        None => format!("{reported} tokens; {quality}"),
    };
    Figure {
        note: estimate
            .filter(|&tokens| row.output_tokens.map(short) != Some(short(tokens)))
            .map(|tokens| format!("est. {}", short(tokens))),
        ..figure("output", output_tokens(row.output_tokens, &row.usage_quality, short), &title)
    }
}

fn cost(row: &SessionRow) -> Figure {
    let cost = money::of_session(row);
    figure("cost", cost.words, &cost.title)
}

fn parent_link(of: &Known, name: &str) -> Relative {
    let row = &of.session;
    let is_fork = row.parent_kind.as_deref() == Some("fork");
    let href = match (&row.parent_call, row.parent_turn) {
        (Some(call), _) => links::with_query(&links::session(name), &[("call", Some(call))]),
        (None, Some(turn)) => links::turn(name, turn),
        (None, None) => links::session(name),
    };
    let detail = match row.parent_turn {
        Some(turn) if is_fork => format!("shares its turns up to {turn}"),
        _ => String::new(),
    };
    Relative {
        href: of.parent.is_some().then_some(href),
        kind: if is_fork { "Fork of" } else { "Sub-agent of" },
        title: of.parent.as_ref().map_or_else(|| one_line(name), title),
        status: Word::default(),
        detail,
    }
}

fn child_link(row: &SessionRow, clock: &Clock) -> Relative {
    let turns = counted(row.turns.into(), "turn", "turns");
    Relative {
        href: Some(links::session(&row.session)),
        kind: if row.parent_kind.as_deref() == Some("fork") { "fork" } else { "sub-agent" },
        title: title(row),
        status: words::status(row.status_at(clock.now())),
        detail: match Troubles::of_session(row).words() {
            Some(troubles) => format!("{turns} · {troubles}"),
            None => turns,
        },
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
    let troubles = Troubles::of_session(&known.session);
    let what = match call {
        Some(call) => format!("{} failed", one_line(&call.name)),
        None => "the model call failed".to_owned(),
    };
    let anchor =
        call.as_ref().map_or_else(String::new, |call| format!("#call-{}", links::encode(&call.call_id)));
    Some(FirstError {
        href: format!("{}{anchor}", links::turn(&known.session.session, turn.turn)),
        turn: whole(turn.turn.into()),
        what,
        words: error_words(turn, call.as_ref()),
        more: (troubles.errors > 1).then(|| format!("{} in all", troubles.bad)),
    })
}

/// The turn has the words of the first thing that went wrong in it, which may be a call that was refused.
fn error_words(turn: &TurnRow, call: Option<&ToolCallRow>) -> String {
    let has_other = turn.rejected_tool_calls + turn.cancelled_tool_calls > 0;
    let own = call.filter(|_| has_other).and_then(|call| call.output_preview.as_deref());
    let words = own.filter(|words| !words.is_empty()).or(turn.error_preview.as_deref());
    words.map(|words| one_line(&told_as_cut(words))).unwrap_or_default()
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
