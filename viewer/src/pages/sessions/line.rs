//! One line of the list.

use agent_core::Status;
use store::SessionRow;

use crate::format::{UNKNOWN, counted, duration, known, output_tokens, short, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::money;
use crate::pages::session::told_as_cut;
use crate::pages::troubles::Troubles;
use crate::pages::words::{self, Word};
use crate::times::{Clock, ShownTime};

/// One session as the list shows it.
#[derive(Debug)]
pub(crate) struct SessionLine {
    pub(crate) href: String,
    pub(crate) status: Word,
    /// How it ended, and what that means.
    pub(crate) ended: (&'static str, &'static str),
    /// Its title, or its name where it has none.
    pub(crate) title: String,
    /// The session's name at its source.
    pub(crate) name: String,
    /// Agent, project, user.
    pub(crate) about: Vec<String>,
    pub(crate) models: String,
    pub(crate) models_all: String,
    pub(crate) turns: String,
    /// Turns that nobody answered, and what that means.
    pub(crate) unanswered: Option<(String, String)>,
    pub(crate) tools: String,
    /// What failed, a line for each kind; empty when nothing did.
    pub(crate) bad: String,
    /// What was refused or broken off, likewise.
    pub(crate) mild: String,
    pub(crate) error_href: Option<String>,
    pub(crate) tokens: Tokens,
    pub(crate) cost: String,
    pub(crate) cost_title: String,
    pub(crate) duration: String,
    pub(crate) last: ShownTime,
    /// When it began and how long ago it ended: `from 14:12 · 3 h ago`.
    pub(crate) when: String,
    pub(crate) when_title: String,
    pub(crate) children: Option<Children>,
    /// `sub-agent` or `fork`.
    pub(crate) kind: Option<&'static str>,
    /// Whether it came from a session that is not here.
    pub(crate) is_orphan: bool,
    pub(crate) unread: Option<String>,
}

/// The tokens of a session.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) input: String,
    pub(crate) read: String,
    pub(crate) written: String,
    pub(crate) output: String,
    /// The estimated output, where the source's figure is not final.
    pub(crate) estimate: Option<String>,
    pub(crate) title: String,
}

/// The sessions that came from one.
#[derive(Debug)]
pub(crate) struct Children {
    pub(crate) words: String,
    pub(crate) href: String,
}

/// What is told of a session by rows other than its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    pub(super) children: u64,
    pub(super) unanswered: u32,
    pub(super) is_orphan: bool,
}

impl SessionLine {
    /// `words` are those of a search: its hits are shown where the line leads.
    pub(super) fn new(row: &SessionRow, around: Around, words: Option<&str>, clock: &Clock) -> Self {
        let status = row.status_at(clock.now());
        let models: Vec<String> = words::names(&row.models).iter().map(|model| one_line(model)).collect();
        let title =
            row.title.as_deref().map(|title| one_line(&told_as_cut(title))).filter(|title| !title.is_empty());
        let troubles = Troubles::of_session(row);
        let about = [&row.agent, &row.project, &row.user];
        let cost = money::of_session(row);
        let (started, last) = (clock.show(row.started_at), clock.show(row.ended_at.or(row.started_at)));
        Self {
            href: links::with_query(&links::session(&row.session), &[("q", words)]),
            status: words::status(status),
            ended: words::ending(status, &row.end_reason),
            title: title.unwrap_or_else(|| one_line(&row.session)),
            name: one_line(&row.session),
            about: about.into_iter().flatten().map(|word| one_line(word)).collect(),
            models: first_and_more(&models),
            models_all: models.join(", "),
            turns: whole(row.turns.into()),
            unanswered: unanswered(around.unanswered, status),
            tools: whole(row.tool_calls.into()),
            bad: in_lines(&troubles.bad),
            mild: in_lines(&troubles.mild),
            error_href: row.first_error_turn.map(|turn| links::turn(&row.session, turn)),
            tokens: Tokens::new(row),
            cost: cost.words,
            cost_title: cost.title,
            duration: known(row.duration_ms.filter(|&ms| ms > 0), duration),
            when: when(&started, &last),
            when_title: when_title(&started, &last),
            last,
            children: (around.children > 0).then(|| Children {
                words: counted(around.children, "child", "children"),
                href: links::with_query("/sessions", &[("parent", Some(&row.session))]),
            }),
            kind: row.parent_kind.as_deref().map(|kind| if kind == "fork" { "fork" } else { "sub-agent" }),
            is_orphan: around.is_orphan,
            unread: (row.events_refused > 0)
                .then(|| counted(row.events_refused, "piece unread", "pieces unread")),
        }
    }
}

impl Tokens {
    fn new(row: &SessionRow) -> Self {
        let estimate = words::estimate(row.output_tokens, row.estimated_output_tokens, &row.usage_quality);
        let output = output_tokens(row.output_tokens, &row.usage_quality, whole);
        let exact = format!(
            "uncached input {} · cache read {} · cache write {} · output {output} ({})",
            known(row.uncached_input_tokens, whole),
            known(row.cache_read_tokens, whole),
            known(row.cache_write_tokens(), whole),
            words::usage_quality(&row.usage_quality),
        );
        Self {
            input: known(row.uncached_input_tokens, short),
            read: known(row.cache_read_tokens, short),
            written: known(row.cache_write_tokens(), short),
            output: output_tokens(row.output_tokens, &row.usage_quality, short),
            title: match estimate {
                Some(tokens) => format!("{exact} · est. output {} ({})", whole(tokens), words::ESTIMATE),
                None => exact,
            },
            estimate: estimate
                .filter(|&tokens| row.output_tokens.map(short) != Some(short(tokens)))
                .map(|tokens| format!("est. {} out", short(tokens))),
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

/// Returns the turns that the session's row does not count, with what holds of them.
fn unanswered(count: u32, status: Status) -> Option<(String, String)> {
    let words = words::unanswered_turns(count, status == Status::Running)?;
    Some((format!("+{count}"), format!("answered turns, and {words}")))
}

/// A beginning on another day leaves no room for more.
fn when(started: &ShownTime, last: &ShownTime) -> String {
    if last.minute.is_empty() {
        "no times".to_owned()
    } else if started.minute.is_empty() || (&started.day, &started.minute) == (&last.day, &last.minute) {
        last.relative.clone()
    } else if started.day == last.day {
        format!("from {} · {}", started.minute, last.relative)
    } else {
        format!("from {} {}", started.day, started.minute)
    }
}

fn in_lines(words: &str) -> String {
    words.replace(" · ", "\n")
}

fn when_title(started: &ShownTime, last: &ShownTime) -> String {
    match (started.relative.as_str(), last.relative.as_str()) {
        (_, UNKNOWN) => last.absolute.clone(),
        (UNKNOWN, _) => format!("last event {}", last.absolute),
        _ => format!("from {} to {}", started.absolute, last.absolute),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(day: &str, minute: &str) -> ShownTime {
        ShownTime { day: day.to_owned(), minute: minute.to_owned(), ..Default::default() }
    }

    #[test]
    fn the_beginning_is_told_as_far_as_it_differs() {
        let last = ShownTime { relative: "3 h ago".to_owned(), ..time("today", "15:03") };
        assert_eq!(when(&time("today", "15:03"), &last), "3 h ago");
        assert_eq!(when(&time("today", "14:12"), &last), "from 14:12 · 3 h ago");
        assert_eq!(when(&time("yesterday", "15:03"), &last), "from yesterday 15:03");
        assert_eq!(when(&time("—", ""), &time("—", "")), "no times");
    }

    #[test]
    fn only_one_turn_can_still_be_answered() {
        assert_eq!(unanswered(0, Status::Running), None);
        let title = |count, status| unanswered(count, status).map(|(_, title)| title).unwrap_or_default();
        assert_eq!(title(1, Status::Running), "answered turns, and 1 not answered yet");
        assert_eq!(title(2, Status::Running), "answered turns, and 2 without an answer");
        assert_eq!(title(2, Status::Completed), "answered turns, and 2 never answered");
    }
}
