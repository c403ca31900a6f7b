//! The chapters of a session: what the user asked, one line each.

use agent_core::Status;
use store::RunRow;

use super::said::told_as_cut;
use super::{Known, WINDOW};
use crate::format::{counted, duration, whole};
use crate::links;
use crate::markup::one_line;
use crate::pages::troubles::Troubles;
use crate::pages::words::{self, Word};

/// Chapters named; of more, those around the turns that are shown.
const CHAPTERS: usize = 40;
/// How many of them stand before the one that is shown.
const CHAPTERS_BEFORE: usize = 4;

/// The chapters of a session.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) chapters: Vec<Chapter>,
    /// Such as `40 of 214 shown`.
    pub(crate) cut: Option<String>,
}

/// One run.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) href: String,
    pub(crate) number: u32,
    pub(crate) task: String,
    pub(crate) status: Word,
    pub(crate) detail: String,
    pub(crate) troubles: Troubles,
    pub(crate) is_here: bool,
}

impl Outline {
    pub(super) fn new(known: &Known) -> Self {
        let runs = &known.runs;
        let here = runs.iter().rposition(|run| run.first_turn <= known.from).unwrap_or(0);
        let first = here.saturating_sub(CHAPTERS_BEFORE).min(runs.len().saturating_sub(CHAPTERS));
        let chapters = runs
            .iter()
            .enumerate()
            .skip(first)
            .take(CHAPTERS)
            .map(|(at, run)| chapter(known, run, at == here, at + 1 == runs.len()))
            .collect();
        let cut =
            (runs.len() > CHAPTERS).then(|| format!("{CHAPTERS} of {} shown", whole(runs.len() as u64)));
        Self { chapters, cut }
    }
}

fn chapter(known: &Known, run: &RunRow, is_here: bool, is_last: bool) -> Chapter {
    let name = &known.session.session;
    let in_window = (known.from..known.from.saturating_add(WINDOW)).contains(&run.first_turn);
    let turn = run.first_turn;
    let href = if in_window && known.found.is_none() {
        format!("#t{turn}")
    } else {
        format!("{}?from={turn}#t{turn}", links::session(name))
    };
    let task = one_line(&told_as_cut(&run.task_preview));
    let status = Status::from_word(&run.status).unwrap_or(Status::Unknown);
    let is_going_on = is_last && status == Status::Unknown && known.is_running;
    Chapter {
        href,
        number: run.run,
        task: if task.is_empty() { "(no words)".to_owned() } else { task },
        status: words::status(if is_going_on { Status::Running } else { status }),
        detail: detail(run, is_last && known.is_running),
        troubles: Troubles::of_run(run),
        is_here,
    }
}

fn detail(run: &RunRow, may_come: bool) -> String {
    if run.turns == 0 {
        return words::unanswered(may_come).to_owned();
    }
    let turns = counted(run.turns.into(), "turn", "turns");
    match run.duration_ms.filter(|&ms| ms > 0) {
        Some(ms) => format!("{turns} · {}", duration(ms)),
        None => turns,
    }
}
