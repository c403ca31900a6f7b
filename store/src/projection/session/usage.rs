//! Tokens, money and how far they can be trusted.

use agent_core::{Body, Event, ModelResponded, Usage, UsageQuality};
use serde::{Deserialize, Serialize};

use super::super::tables::ModelCallRow;
use super::super::text::estimated_tokens;
use super::Session;

/// A response whose text would be more than this many times its output tokens has a placeholder figure.
const PLACEHOLDER_FACTOR: u64 = 3;

/// What a piece says of its response's tokens.
#[derive(Clone, Copy)]
pub(super) struct Figures {
    pub(super) usage: Usage,
    stand: Stand,
}

/// How figures stand to those of the same response before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// They are all of the response so far.
    Whole,
    /// They come on top of them.
    More,
    /// They stand in their place.
    Instead,
}

/// The way in which tokens were reported, for sources that do it in two ways side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    /// With the sum of the session, and of a response of which nothing else told.
    Summed,
    /// Of one response by itself.
    Single,
}

/// The figures of a call that the sums above it are made of.
#[derive(Clone, Copy)]
struct Counted {
    usage: Usage,
    quality: UsageQuality,
    estimated_output: Option<u64>,
    reported_cost: Option<i64>,
}

impl Figures {
    /// Whether they are of the response that was reported last, told better.
    pub(super) fn are_of_last(self) -> bool {
        self.stand == Stand::Instead
    }
}

impl Session {
    /// Returns the figures that the piece adds to its response; nothing when it repeats a report.
    pub(super) fn figures_of(&mut self, piece: &ModelResponded) -> Option<Figures> {
        let reported = Figures { usage: piece.usage, stand: Stand::Whole };
        let earlier = self.follow_report(piece);
        let Some(so_far) = piece.usage_so_far else {
            let stand = if earlier == Some(Report::Summed) { Stand::Instead } else { Stand::Whole };
            return Some(Figures { stand, ..reported });
        };
        let before = self.carry.response.so_far.replace(so_far);
        if before == Some(so_far) || earlier == Some(Report::Single) {
            return None;
        }
        if buckets(piece.usage).iter().any(|tokens| tokens.is_some_and(|tokens| tokens > 0)) {
            return Some(reported);
        }
        Some(Figures { usage: growth(before.unwrap_or_default(), so_far), stand: Stand::More })
    }

    /// Notes how the piece reports tokens and returns the report before it that is of the same response:
    /// of the other way, with nothing between that begins another.
    fn follow_report(&mut self, piece: &ModelResponded) -> Option<Report> {
        let before = self.carry.last_report.take();
        let now = match piece.usage_so_far {
            _ if !piece.content.is_empty() => None,
            Some(_) => Some(Report::Summed),
            None => (piece.last_piece && !piece.usage.is_empty()).then_some(Report::Single),
        };
        let of_both = before.filter(|before| now.is_some_and(|now| now != *before));
        // What follows a response that was told in both ways is another.
        self.carry.last_report = now.filter(|_| of_both.is_none());
        of_both
    }

    /// What is no report begins something of which the next report may be.
    pub(super) fn forget_report(&mut self, body: &Body) {
        if !matches!(body, Body::ModelResponded(_) | Body::Other { .. }) {
            self.carry.last_report = None;
        }
    }

    pub(super) fn add_piece(
        &mut self,
        turn: u32,
        call: u32,
        event: &Event,
        piece: &ModelResponded,
        figures: Figures,
    ) {
        let model = piece.model.clone().or_else(|| self.carry.model.clone());
        let provider = piece.provider.clone().or_else(|| self.carry.provider.clone());
        let Some(row) = self.calls.get_mut((turn, call)) else { return };
        let before = counted(row);
        row.model = row.model.take().or(model);
        row.provider = row.provider.take().or(provider);
        row.response_id = row.response_id.take().or_else(|| piece.response_id.clone());
        row.ended_at = row.ended_at.max(event.ts);
        row.time_to_first_token_ms = row.time_to_first_token_ms.or(piece.time_to_first_token_ms);
        row.duration_ms = row.duration_ms.max(piece.duration_ms);
        if piece.finish_reason.is_some() {
            row.finish_reason.clone_from(&piece.finish_reason);
        }
        if piece.service_tier.is_some() {
            row.service_tier.clone_from(&piece.service_tier);
        }
        row.visible_bytes += piece.content.iter().map(|block| block.text_len() as u64).sum::<u64>();
        if let Some(cost) = piece.reported_cost_usd.and_then(|cost| i64::try_from(cost.0).ok()) {
            row.reported_cost_picousd = row.reported_cost_picousd.max(Some(cost));
        }
        let Figures { usage, stand } = figures;
        set_usage(
            row,
            match stand {
                Stand::Whole => before.usage.max(usage),
                Stand::More => before.usage.plus(usage),
                Stand::Instead => usage.or(before.usage),
            },
        );
        judge(row, before.quality, said_quality(piece, usage));
        let after = counted(row);
        let model = row.model.clone();
        self.account(turn, before, after);
        self.note_model(turn, model);
    }

    /// Counts text of a response that comes by other events: the arguments of tool calls are text that the
    /// model wrote, and count when its output figure is judged.
    pub(super) fn count_visible(&mut self, (turn, call): (u32, u32), bytes: u64) {
        let Some(row) = self.calls.get_mut((turn, call)) else { return };
        let before = counted(row);
        row.visible_bytes += bytes;
        judge(row, before.quality, UsageQuality::Missing);
        let after = counted(row);
        self.account(turn, before, after);
    }

    /// Takes the tokens of the whole session, where its source counted no single response.
    pub(super) fn take_totals(&mut self, total: Usage) {
        let counts = &self.carry.quality_counts;
        let has_figures =
            QUALITIES.iter().any(|&quality| quality != UsageQuality::Missing && counts[quality as usize] > 0);
        if has_figures || total.is_empty() {
            return;
        }
        let sums = &mut self.row;
        sums.uncached_input_tokens = total.uncached_input;
        sums.cache_read_tokens = total.cache_read;
        sums.cache_write_5m_tokens = total.cache_write_5m;
        sums.cache_write_1h_tokens = total.cache_write_1h;
        sums.output_tokens = total.output;
        sums.reasoning_tokens = total.reasoning;
        // The agent's own count, which no provider confirms.
        sums.usage_quality = UsageQuality::Estimated.as_str().to_owned();
    }

    /// Moves the session's and the turn's sums from what a call was to what it is.
    fn account(&mut self, turn: u32, before: Counted, after: Counted) {
        // A better report of the same response may say less.
        let (new, old) = (after.usage, before.usage);
        let (new_writes, old_writes) = (new.cache_write(), old.cache_write());
        let more_estimated = (after.estimated_output, before.estimated_output.unwrap_or(0));
        let sums = &mut self.row;
        move_sum(&mut sums.estimated_output_tokens, more_estimated);
        for (sum, (new, old)) in [
            (&mut sums.uncached_input_tokens, (new.uncached_input, old.uncached_input)),
            (&mut sums.cache_read_tokens, (new.cache_read, old.cache_read)),
            (&mut sums.cache_write_5m_tokens, (new.cache_write_5m, old.cache_write_5m)),
            (&mut sums.cache_write_1h_tokens, (new.cache_write_1h, old.cache_write_1h)),
            (&mut sums.output_tokens, (new.output, old.output)),
            (&mut sums.reasoning_tokens, (new.reasoning, old.reasoning)),
        ] {
            move_sum(sum, (new, old.unwrap_or(0)));
        }
        if after.reported_cost != before.reported_cost {
            self.carry.costs_by_call = true;
            let more = after.reported_cost.unwrap_or(0).saturating_sub(before.reported_cost.unwrap_or(0));
            sums.reported_cost_picousd = Some(sums.reported_cost_picousd.unwrap_or(0).saturating_add(more));
        }
        sums.peak_prompt_tokens = sums.peak_prompt_tokens.max(after.usage.prompt());
        let counts = &mut self.carry.quality_counts;
        counts[before.quality as usize] = counts[before.quality as usize].saturating_sub(1);
        counts[after.quality as usize] += 1;
        self.row.usage_quality = quality_of_sum(&self.carry.quality_counts).as_str().to_owned();
        if let Some(row) = self.turns.get_mut(turn) {
            for (sum, (new, old)) in [
                (&mut row.uncached_input_tokens, (new.uncached_input, old.uncached_input)),
                (&mut row.cache_read_tokens, (new.cache_read, old.cache_read)),
                (&mut row.cache_write_tokens, (new_writes, old_writes)),
                (&mut row.output_tokens, (new.output, old.output)),
                (&mut row.reasoning_tokens, (new.reasoning, old.reasoning)),
            ] {
                move_sum(sum, (new, old.unwrap_or(0)));
            }
            move_sum(&mut row.estimated_output_tokens, more_estimated);
            row.usage_quality = after.quality.as_str().to_owned();
        }
    }
}

const QUALITIES: [UsageQuality; 5] = [
    UsageQuality::Final,
    UsageQuality::Partial,
    UsageQuality::Placeholder,
    UsageQuality::Estimated,
    UsageQuality::Missing,
];

/// Puts the new figure of a call in the place of its old one.
fn move_sum(sum: &mut Option<u64>, (new, old): (Option<u64>, u64)) {
    if let Some(new) = new {
        *sum = Some(sum.unwrap_or(0).saturating_sub(old).saturating_add(new));
    }
}

fn counted(row: &ModelCallRow) -> Counted {
    Counted {
        usage: usage_of_row(row),
        quality: UsageQuality::from_word(&row.usage_quality).unwrap_or(UsageQuality::Missing),
        estimated_output: row.estimated_output_tokens,
        reported_cost: row.reported_cost_picousd,
    }
}

/// Says anew how far a call's figures can be trusted, and what its output is estimated at.
fn judge(row: &mut ModelCallRow, before: UsageQuality, said: UsageQuality) {
    let quality = quality_now(row, before, said);
    row.usage_quality = quality.as_str().to_owned();
    row.estimated_output_tokens = match quality {
        UsageQuality::Final | UsageQuality::Estimated => row.output_tokens,
        _ => row.output_tokens.max(Some(estimated_tokens(row.visible_bytes)).filter(|&tokens| tokens > 0)),
    };
}

pub(super) fn usage_of_row(row: &ModelCallRow) -> Usage {
    Usage {
        uncached_input: row.uncached_input_tokens,
        cache_read: row.cache_read_tokens,
        cache_write_5m: row.cache_write_5m_tokens,
        cache_write_1h: row.cache_write_1h_tokens,
        output: row.output_tokens,
        reasoning: row.reasoning_tokens,
    }
}

fn set_usage(row: &mut ModelCallRow, usage: Usage) {
    row.uncached_input_tokens = usage.uncached_input;
    row.cache_read_tokens = usage.cache_read;
    row.cache_write_5m_tokens = usage.cache_write_5m;
    row.cache_write_1h_tokens = usage.cache_write_1h;
    row.output_tokens = usage.output;
    row.reasoning_tokens = usage.reasoning;
}

/// Returns how far the piece itself trusts its figures; where it does not say, a piece that tells why the
/// model stopped is the last one.
fn said_quality(piece: &ModelResponded, usage: Usage) -> UsageQuality {
    if usage.is_empty() {
        return piece.usage_quality.unwrap_or(UsageQuality::Missing);
    }
    let said = piece.usage_quality.filter(|&said| said != UsageQuality::Missing);
    let judged = if piece.finish_reason.is_some() { UsageQuality::Final } else { UsageQuality::Partial };
    said.unwrap_or(judged)
}

/// Returns the quality of a call after a piece: final once any piece was; else a placeholder when the text
/// shows that the figure is too small (formats.md: many versions write 1 to 9 tokens for whole pages).
fn quality_now(row: &ModelCallRow, before: UsageQuality, said: UsageQuality) -> UsageQuality {
    let best = if before == UsageQuality::Final || said == UsageQuality::Final {
        UsageQuality::Final
    } else if said == UsageQuality::Missing {
        before
    } else {
        said
    };
    let visible_tokens = estimated_tokens(row.visible_bytes);
    let too_small = visible_tokens > PLACEHOLDER_FACTOR.saturating_mul(row.output_tokens.unwrap_or(0));
    match best {
        UsageQuality::Partial | UsageQuality::Placeholder if too_small => UsageQuality::Placeholder,
        UsageQuality::Placeholder => UsageQuality::Partial,
        other => other,
    }
}

fn buckets(usage: Usage) -> [Option<u64>; 6] {
    let Usage { uncached_input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = usage;
    [uncached_input, cache_read, cache_write_5m, cache_write_1h, output, reasoning]
}

/// Returns what `after` has more than `before`, bucket by bucket; a bucket that shrank gives 0.
fn growth(before: Usage, after: Usage) -> Usage {
    let more = |before: Option<u64>, after: Option<u64>| {
        after.map(|after| after.saturating_sub(before.unwrap_or(0)))
    };
    Usage {
        uncached_input: more(before.uncached_input, after.uncached_input),
        cache_read: more(before.cache_read, after.cache_read),
        cache_write_5m: more(before.cache_write_5m, after.cache_write_5m),
        cache_write_1h: more(before.cache_write_1h, after.cache_write_1h),
        output: more(before.output, after.output),
        reasoning: more(before.reasoning, after.reasoning),
    }
}

/// Returns how far a sum over calls can be trusted: as far as its worst figure, and where some calls have
/// none, at most as a partial one.
fn quality_of_sum(counts: &[u32; 5]) -> UsageQuality {
    let mut present = QUALITIES.iter().filter(|&&quality| counts[quality as usize] > 0);
    let worst = present.rfind(|&&quality| quality != UsageQuality::Missing);
    match worst {
        None => UsageQuality::Missing,
        Some(&worst) if counts[UsageQuality::Missing as usize] > 0 => worst.worse(UsageQuality::Partial),
        Some(&worst) => worst,
    }
}
