//! The whole session in one strip: a bar a turn, or a bar for several.

use std::fmt::Write;

use store::MinimapBucket;

use super::WINDOW;
use crate::format::{short, whole};
use crate::links;
use crate::pages::troubles::Troubles;

/// The strip's width in its own units.
const WIDTH: f64 = 1000.0;
/// Its height.
const HEIGHT: f64 = 48.0;
/// Fields that can be clicked: more would make the page heavy.
const FIELDS: usize = 60;

/// The strip, drawn with few elements whatever the number of turns: each path holds all bars of a kind.
#[derive(Debug)]
pub(crate) struct Minimap {
    /// All bars.
    pub(crate) bars: String,
    /// Bars with errors in them.
    pub(crate) errors: String,
    /// Marks over bars in which calls were refused or broken off, and none failed.
    pub(crate) mild: String,
    /// Marks where the user asked.
    pub(crate) requests: String,
    /// Lines where the context was compacted.
    pub(crate) compactions: String,
    /// What is shown below.
    pub(crate) window: (String, String),
    pub(crate) fields: Vec<Field>,
    pub(crate) last: String,
    pub(crate) peak: Option<String>,
    pub(crate) words: String,
    pub(crate) per_bar: Option<String>,
}

/// A part of the strip that leads somewhere.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) href: String,
    pub(crate) x: String,
    pub(crate) width: String,
    pub(crate) title: String,
}

impl Minimap {
    /// Returns nothing for a session without turns.
    pub(super) fn new(session: &str, buckets: &[MinimapBucket], last_turn: u32, from: u32) -> Option<Self> {
        if buckets.is_empty() || last_turn == 0 {
            return None;
        }
        let scale = Scale::new(buckets, last_turn);
        let mut map = Self {
            bars: String::new(),
            errors: String::new(),
            mild: String::new(),
            requests: String::new(),
            compactions: String::new(),
            window: scale.window(from),
            fields: fields(session, buckets, &scale),
            last: whole(last_turn.into()),
            peak: scale.peak.map(short),
            words: words(buckets, last_turn),
            per_bar: (scale.turns_per_bar > 1).then(|| format!("{} turns a bar", scale.turns_per_bar)),
        };
        for bucket in buckets {
            map.draw(bucket, &scale);
        }
        Some(map)
    }

    fn draw(&mut self, bucket: &MinimapBucket, scale: &Scale) {
        let (x, width) = scale.span(bucket.first_turn, bucket.last_turn);
        let height = scale.height(bucket.prompt_tokens);
        let bar = format!("M{x:.2} {:.1}h{width:.2}v{height:.1}h-{width:.2}z", HEIGHT - height);
        if bucket.errors > 0 {
            self.errors.push_str(&bar);
            let _ = write!(self.errors, "M{x:.2} 0h{width:.2}v5h-{width:.2}z");
        } else {
            self.bars.push_str(&bar);
            if bucket.rejected_tool_calls + bucket.cancelled_tool_calls > 0 {
                let _ = write!(self.mild, "M{x:.2} 0h{width:.2}v3h-{width:.2}z");
            }
        }
        if bucket.requests > 0 {
            let _ = write!(
                self.requests,
                "M{x:.2} {:.1}h{:.2}v4h-{:.2}z",
                HEIGHT + 2.0,
                width.min(4.0),
                width.min(4.0)
            );
        }
        if bucket.compactions > 0 {
            let _ = write!(self.compactions, "M{x:.2} 0V{HEIGHT:.1}");
        }
    }
}

struct Scale {
    turn_width: f64,
    peak: Option<u64>,
    turns_per_bar: u32,
    gap: f64,
}

impl Scale {
    fn new(buckets: &[MinimapBucket], last_turn: u32) -> Self {
        let turn_width = WIDTH / f64::from(last_turn.max(12));
        let turns_per_bar =
            buckets.iter().map(|bucket| bucket.last_turn - bucket.first_turn + 1).max().unwrap_or(1);
        let bar_width = turn_width * f64::from(turns_per_bar);
        Self {
            turn_width,
            peak: buckets.iter().filter_map(|bucket| bucket.prompt_tokens).max(),
            turns_per_bar,
            gap: (bar_width * 0.18).min(2.0),
        }
    }

    /// Returns where the bar of these turns begins, and its width.
    fn span(&self, first: u32, last: u32) -> (f64, f64) {
        let width = f64::from(last - first + 1) * self.turn_width;
        (f64::from(first - 1) * self.turn_width, (width - self.gap).max(0.4))
    }

    /// A turn whose prompt is not known has a low bar.
    fn height(&self, tokens: Option<u64>) -> f64 {
        let share = match (tokens, self.peak) {
            #[expect(clippy::cast_precision_loss, reason = "it is drawn in 48 steps")]
            (Some(tokens), Some(peak)) => tokens as f64 / peak.max(1) as f64,
            _ => 0.0,
        };
        8.0 + share * (HEIGHT - 8.0 - 8.0)
    }

    fn window(&self, from: u32) -> (String, String) {
        let x = f64::from(from.max(1) - 1) * self.turn_width;
        let width = (f64::from(WINDOW) * self.turn_width).min(WIDTH - x);
        (format!("{x:.2}"), format!("{width:.2}"))
    }
}

/// Cuts the strip into fields; each leads to the first error in it, or else to its first turn.
fn fields(session: &str, buckets: &[MinimapBucket], scale: &Scale) -> Vec<Field> {
    let size = buckets.len().div_ceil(FIELDS).max(1);
    buckets
        .chunks(size)
        .filter_map(|chunk| {
            let (first, last) = (chunk.first()?, chunk.last()?);
            let target = chunk.iter().find(|bucket| bucket.errors > 0).unwrap_or(first).first_turn;
            let (x, _) = scale.span(first.first_turn, first.last_turn);
            let (end, end_width) = scale.span(last.first_turn, last.last_turn);
            Some(Field {
                href: links::turn(session, target),
                x: format!("{x:.2}"),
                width: format!("{:.2}", end + end_width + scale.gap - x),
                title: field_title(first.first_turn, last.last_turn, chunk),
            })
        })
        .collect()
}

fn field_title(first: u32, last: u32, chunk: &[MinimapBucket]) -> String {
    let turns = if first == last { format!("turn {first}") } else { format!("turns {first} to {last}") };
    let prompt = chunk.iter().filter_map(|bucket| bucket.prompt_tokens).max();
    let prompt = prompt.map_or_else(String::new, |tokens| format!(", prompt {} tokens", short(tokens)));
    let troubles = Troubles::of_bars(chunk).words().map_or_else(String::new, |words| format!(", {words}"));
    format!("{turns}{prompt}{troubles}")
}

fn words(buckets: &[MinimapBucket], last_turn: u32) -> String {
    let troubles = Troubles::of_bars(buckets).words().unwrap_or_else(|| "no errors".to_owned());
    let requests: u64 = buckets.iter().map(|bucket| bucket.requests).sum();
    format!("The session's {last_turn} turns with {requests} requests of the user: {troubles}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(turn: u32, errors: u64) -> MinimapBucket {
        MinimapBucket {
            first_turn: turn,
            last_turn: turn,
            prompt_tokens: Some(100),
            errors,
            ..Default::default()
        }
    }

    #[test]
    fn a_field_leads_to_its_error() {
        let buckets: Vec<_> = (1..=120).map(|turn| bucket(turn, u64::from(turn == 2))).collect();
        let map = Minimap::new("s", &buckets, 120, 1).expect("there are turns");
        assert_eq!(map.fields.len(), FIELDS);
        assert_eq!(map.fields[0].href, "/sessions/s/turns/2");
        assert_eq!(map.fields[0].title, "turns 1 to 2, prompt 100 tokens, 1 failed");
        assert_eq!(map.fields[1].href, "/sessions/s/turns/3");
    }

    #[test]
    fn no_turns_no_strip() {
        assert!(Minimap::new("s", &[], 0, 1).is_none());
    }
}
