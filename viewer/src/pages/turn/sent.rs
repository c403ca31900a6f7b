//! What was sent: the prompt of a turn by its parts, and how near it is to what the model saw.

use agent_core::{Event, Fidelity};
use rustc_hash::FxHashSet;
use store::{ModelCallRow, Prompt, PromptPartRow, PromptSummary, SessionRow, Store, StoreError, TurnRow};

use super::anchor;
use super::parts::{PartView, Previews, describe, preview, with_events};
use super::segments::{Bar, Reported, bar};
use crate::format::{bytes, counted, short};
use crate::links;
use crate::markup::one_line;
use crate::pages::content::{Room, Space};
use crate::pages::event_text::text_of;
use crate::pages::session::prompt_tokens;

/// New parts shown with what stands in them.
const NEW_PARTS: usize = 24;
/// Old parts listed from the beginning.
const FIRST_PARTS: u32 = 8;
/// Old parts listed from the end.
const LAST_PARTS: u32 = 20;

/// What the store says of a prompt.
pub(crate) struct KnownPrompt {
    summary: PromptSummary,
    fidelity: FidelityView,
    new_parts: Vec<(PromptPartRow, Option<Event>)>,
    new_count: usize,
    new_numbers: FxHashSet<u32>,
    previews: Previews,
}

impl KnownPrompt {
    /// Returns nothing when the turn has no prompt. `call` is the attempt asked for, else the last.
    pub(super) fn read(
        store: &Store,
        session: &SessionRow,
        turn: u32,
        call: Option<u32>,
    ) -> Result<Option<Self>, StoreError> {
        let key = session.session_key;
        let summary = store.prompt_summary(key, turn, call, FIRST_PARTS, LAST_PARTS)?;
        let Some(mut summary) = summary else { return Ok(None) };
        let mut new = std::mem::take(&mut summary.new);
        new.retain(|row| row.kind != "framing");
        let new_count = new.len();
        let new_numbers = new.iter().map(|row| row.part).collect();
        new.truncate(NEW_PARTS);
        // What stands between the parts is no part.
        summary.first.retain(|row| row.kind != "framing");
        summary.last.retain(|row| row.kind != "framing");
        // A small prompt is verified while the page is made, a larger one when asked.
        let fidelity = match store.small_prompt(session, turn, &summary)? {
            Some(prompt) => FidelityView::checked(&prompt),
            None => {
                let turn = links::turn(&session.session, turn);
                let check = format!("{turn}/fidelity?call={}", summary.call);
                FidelityView::unchecked(&summary, check)
            }
        };
        let mut lists = [&mut summary.first, &mut summary.last, &mut new];
        let previews = describe(store, key, &mut lists)?;
        let new_parts = with_events(store, new)?;
        Ok(Some(Self { summary, fidelity, new_parts, new_count, new_numbers, previews }))
    }
}

/// How near a prompt is to what the model saw.
#[derive(Debug)]
pub(crate) struct FidelityView {
    pub(crate) word: &'static str,
    pub(crate) class: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) missing: Vec<String>,
    pub(crate) damaged: Option<String>,
    /// Where it is checked byte by byte.
    pub(crate) check: Option<String>,
}

impl FidelityView {
    /// Returns what reading the whole prompt has shown.
    pub(crate) fn checked(prompt: &Prompt) -> Self {
        let (word, class, meaning) = match prompt.fidelity {
            Fidelity::Exact => {
                ("exact", "ok", "the bytes of the request were recorded, and their hash agrees")
            }
            Fidelity::Rebuilt => {
                ("rebuilt", "info", "put together from the transcript, which holds all parts")
            }
            Fidelity::Partial => ("partial", "warn", "put together from a source that lacks parts"),
        };
        Self {
            word,
            class,
            meaning,
            missing: prompt.missing.iter().map(|words| one_line(words)).collect(),
            damaged: prompt.damaged.clone(),
            check: None,
        }
    }

    /// Returns what the list of parts shows; the bytes have not been read.
    fn unchecked(summary: &PromptSummary, check: String) -> Self {
        let missing: Vec<String> = [("system", "the system prompt"), ("tool_schema", "the tool schemas")]
            .into_iter()
            .filter(|(kind, _)| {
                summary.body_hash.is_none() && !summary.kinds.iter().any(|sum| sum.kind == *kind)
            })
            .map(|(_, words)| words.to_owned())
            .collect();
        let (word, class, meaning) = match (&summary.body_hash, missing.is_empty()) {
            (Some(_), _) => (
                "recorded",
                "info",
                "the bytes of the request were recorded; their hash has not been checked yet",
            ),
            (None, true) => (
                "rebuilt",
                "info",
                "put together from the transcript; its parts have not been looked into yet",
            ),
            (None, false) => ("partial", "warn", "put together from a source that lacks parts"),
        };
        Self { word, class, meaning, missing, damaged: None, check: Some(check) }
    }
}

/// What was sent, ready to be shown.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) fidelity: FidelityView,
    pub(crate) size: String,
    pub(crate) attempt: Option<String>,
    pub(crate) attempts: Vec<(u32, String, bool)>,
    pub(crate) bar: Bar,
    pub(crate) new_parts: Vec<PartView>,
    pub(crate) new_words: String,
    pub(crate) new_cut: Option<String>,
    pub(crate) first: Vec<PartView>,
    pub(crate) last: Vec<PartView>,
    pub(crate) between: Option<String>,
    pub(crate) all_words: String,
    pub(crate) all_href: String,
    pub(crate) bytes_href: String,
    pub(crate) left_out: Vec<String>,
}

impl Sent {
    pub(super) fn new(
        session: &str,
        turn: &TurnRow,
        model_calls: &[ModelCallRow],
        known: KnownPrompt,
        space: &mut Space,
    ) -> Self {
        let KnownPrompt { summary, fidelity, new_parts, new_count, new_numbers, previews } = known;
        let reported = reported(turn, model_calls, summary.call);
        let bar = bar(&summary, &Reported { tokens: reported, missing: &fidelity.missing });
        let PromptSummary { call, calls, left_out, kinds, first, last, .. } = summary;
        let here = links::turn(session, turn.turn);
        let total_bytes: u64 = kinds.iter().map(|sum| sum.bytes).sum();
        let tokens = kinds.iter().map(|sum| sum.tokens).sum::<Option<u64>>();
        let part_count: u64 = kinds.iter().filter(|sum| sum.kind != "framing").map(|sum| sum.parts).sum();
        let hidden = part_count.saturating_sub((first.len() + last.len()) as u64);
        let list = |rows: Vec<PromptPartRow>| {
            rows.iter()
                .map(|row| PartView::new(session, row, new_numbers.contains(&row.part), &previews))
                .collect()
        };
        let with_content = new_parts.len();
        Self {
            size: match tokens {
                Some(tokens) => format!("≈ {} tokens · {}", short(tokens), bytes(total_bytes)),
                None => bytes(total_bytes),
            },
            attempt: (calls.len() > 1).then(|| format!("attempt {call} of {}", calls.len())),
            attempts: calls
                .iter()
                .map(|&other| (other, format!("{here}?call={other}"), other == call))
                .filter(|_| calls.len() > 1)
                .collect(),
            bar,
            new_words: counted(new_count as u64, "part", "parts"),
            new_cut: (new_count > with_content)
                .then(|| format!("{with_content} of {new_count} new parts shown")),
            new_parts: new_parts
                .into_iter()
                .map(|(row, event)| new_part(session, &row, event.as_ref(), &previews, space))
                .collect(),
            first: list(first),
            last: list(last),
            between: (hidden > 0).then(|| format!("{} not listed here", counted(hidden, "part", "parts"))),
            all_words: counted(part_count, "part", "parts"),
            all_href: format!("{here}/prompt?call={call}"),
            bytes_href: format!("{here}/prompt?call={call}&bytes=1"),
            left_out: left_out.iter().map(left_out_words).collect(),
            fidelity,
        }
    }
}

/// Returns the size of the prompt as the provider gave it: of this attempt, else of the turn.
fn reported(turn: &TurnRow, calls: &[ModelCallRow], call: u32) -> Option<u64> {
    let row = calls.iter().find(|row| row.call == call);
    let of_call = row.and_then(|row| {
        let figures = [
            row.uncached_input_tokens,
            row.cache_read_tokens,
            row.cache_write_5m_tokens,
            row.cache_write_1h_tokens,
        ];
        figures.iter().any(Option::is_some).then(|| figures.iter().flatten().sum())
    });
    let of_turn = || prompt_tokens(turn).filter(|_| calls.len() < 2);
    of_call.or_else(of_turn).filter(|&tokens| tokens > 0)
}

fn left_out_words(item: &agent_core::LeftOut) -> String {
    let tokens = item.tokens.map_or_else(String::new, |tokens| format!(", {} tokens", short(tokens)));
    format!("{}: {}{tokens}", one_line(&item.source), one_line(&item.reason))
}

/// What a person asked lies open; the rest is folded.
fn new_part(
    session: &str,
    row: &PromptPartRow,
    event: Option<&Event>,
    previews: &Previews,
    space: &mut Space,
) -> PartView {
    let mut view = PartView::new(session, row, true, previews);
    let is_request = row.kind == "user";
    let room = if is_request { Room::Wide } else { Room::Narrow };
    if let Some(event) = event {
        let text = text_of(&event.body);
        view.anchor = Some(anchor::block(&event.id, 0));
        if view.preview.is_empty() {
            view.preview = preview(&text);
        }
        view.content = Some(space.content(&text, view.href.clone(), room));
    }
    view.is_open = is_request;
    view
}
