//! The bar that shows which share of a prompt is what.

use store::{KindSum, PromptSummary};

use crate::format::{bytes, counted, short, whole};
use crate::pages::words;

/// The bar's width in its own units.
const WIDTH: f64 = 1000.0;

/// The shares, and what the parts do not account for.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) segments: Vec<Segment>,
    /// How the parts' tokens stand to those that were reported.
    pub(crate) words: Option<String>,
}

/// One kind's share of the prompt.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) kind: String,
    pub(crate) label: String,
    pub(crate) x: String,
    pub(crate) width: String,
    /// Where the new parts of this kind begin, and their width.
    pub(crate) new: Option<(String, String)>,
    pub(crate) share: String,
    pub(crate) tokens: String,
    pub(crate) parts: String,
    pub(crate) title: String,
    pub(crate) new_words: Option<String>,
}

/// The tokens of a prompt as they were reported, and what the source lacks of it.
#[derive(Debug)]
pub(crate) struct Reported<'a> {
    pub(crate) tokens: Option<u64>,
    pub(crate) missing: &'a [String],
}

/// Returns the shares by bytes, the largest first; then framing, then what is reported but not in the parts.
pub(crate) fn bar(summary: &PromptSummary, reported: &Reported<'_>) -> Bar {
    let mut kinds: Vec<&KindSum> = summary.kinds.iter().filter(|sum| sum.bytes > 0).collect();
    kinds.sort_by_key(|sum| (sum.kind == "framing", std::cmp::Reverse(sum.bytes)));
    let total: u64 = kinds.iter().map(|sum| sum.bytes).sum();
    let estimated = kinds.iter().map(|sum| sum.tokens).sum::<Option<u64>>();
    let both = estimated.zip(reported.tokens);
    // Recorded bytes are the whole prompt; only of a rebuilt one can something be missing.
    let gap = both.filter(|(estimated, reported)| summary.body_hash.is_none() && reported > estimated);
    let scale = gap.map_or(1.0, |(estimated, reported)| share(estimated, reported));
    let mut x = 0.0;
    let mut segments: Vec<Segment> = kinds
        .into_iter()
        .map(|sum| {
            let width = share(sum.bytes, total) * WIDTH * scale;
            let segment = segment(sum, total, scale, x, width);
            x += width;
            segment
        })
        .collect();
    let label = if reported.missing.is_empty() { "more than estimated" } else { "not in the transcript" };
    segments.extend(gap.map(|(estimated, reported)| rest(label, reported - estimated, reported, x)));
    let words = match (gap, both) {
        (Some(gap), _) => Some(gap_words(gap, reported.missing)),
        (None, Some((estimated, reported))) => {
            Some(format!("≈ {} tokens by their size; reported: {}", short(estimated), whole(reported)))
        }
        (None, None) => None,
    };
    Bar { segments, words }
}

fn gap_words((estimated, reported): (u64, u64), missing: &[String]) -> String {
    let (estimated, reported) = (short(estimated), whole(reported));
    if missing.is_empty() {
        return format!(
            "≈ {estimated} tokens by their size of {reported} reported; the rest is what an estimate of four bytes a token misses"
        );
    }
    format!(
        "≈ {estimated} of {reported} reported tokens are in the transcript; the rest is what the source lacks ({}), and the error of the estimate",
        missing.join(", ")
    )
}

fn segment(sum: &KindSum, total: u64, scale: f64, x: f64, width: f64) -> Segment {
    let percent = share(sum.bytes, total) * 100.0 * scale;
    let new_width = share(sum.new_bytes, total) * WIDTH * scale;
    let label = words::part_kind(&sum.kind).to_owned();
    // Framing is what stands between the parts: no part itself.
    let parts = if sum.kind == "framing" {
        "between the parts".to_owned()
    } else {
        counted(sum.parts, "part", "parts")
    };
    Segment {
        kind: sum.kind.clone(),
        x: format!("{x:.2}"),
        width: format!("{:.2}", (width - 1.5).max(0.5)),
        new: (sum.new_bytes > 0)
            .then(|| (format!("{:.2}", x + width - new_width), format!("{:.2}", (new_width - 1.5).max(0.5)))),
        share: percent_words(percent),
        tokens: sum.tokens.map_or_else(|| bytes(sum.bytes), |tokens| format!("≈ {}", short(tokens))),
        title: format!("{label}: {parts}, {}, {percent:.1} % of the prompt", bytes(sum.bytes)),
        parts,
        new_words: (sum.new_parts > 0 && sum.kind != "framing")
            .then(|| format!("{} new", short(sum.new_parts))),
        label,
    }
}

/// What was reported beyond what the parts account for.
fn rest(label: &str, tokens: u64, reported: u64, x: f64) -> Segment {
    let percent = share(tokens, reported) * 100.0;
    Segment {
        kind: "missing".to_owned(),
        label: label.to_owned(),
        x: format!("{x:.2}"),
        width: format!("{:.2}", (WIDTH - x).max(0.5)),
        new: None,
        share: percent_words(percent),
        tokens: format!("≈ {}", short(tokens)),
        parts: "reported, but in no part".to_owned(),
        title: format!("{label}: {percent:.1} % of the reported tokens"),
        new_words: None,
    }
}

fn percent_words(percent: f64) -> String {
    if percent < 1.0 { "< 1 %".to_owned() } else { format!("{percent:.0} %") }
}

#[expect(clippy::cast_precision_loss, reason = "a share is drawn and shown in three digits")]
fn share(part: u64, total: u64) -> f64 {
    part as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(kind: &str, bytes: u64, new_bytes: u64) -> KindSum {
        KindSum {
            kind: kind.to_owned(),
            parts: 1,
            bytes,
            new_bytes,
            new_parts: u64::from(new_bytes > 0),
            tokens: Some(bytes / 4),
        }
    }

    fn places(bar: &Bar) -> Vec<(&str, &str, &str)> {
        bar.segments
            .iter()
            .map(|segment| (segment.kind.as_str(), segment.x.as_str(), segment.share.as_str()))
            .collect()
    }

    #[test]
    fn the_shares_fill_the_bar() {
        let summary = PromptSummary {
            kinds: vec![sum("framing", 400, 0), sum("system", 250, 0), sum("history", 350, 100)],
            ..Default::default()
        };
        let bar = bar(&summary, &Reported { tokens: None, missing: &[] });
        assert_eq!(
            places(&bar),
            [("history", "0.00", "35 %"), ("system", "350.00", "25 %"), ("framing", "600.00", "40 %")]
        );
        assert_eq!(bar.segments[0].new, Some(("250.00".to_owned(), "98.50".to_owned())));
        assert_eq!(bar.words, None);
    }

    #[test]
    fn what_is_reported_and_not_in_the_parts_is_shown() {
        // 4,000 bytes are about 1,000 tokens, a quarter of those reported.
        let mut summary = PromptSummary {
            kinds: vec![sum("history", 3_000, 1_000), sum("user", 1_000, 0)],
            ..Default::default()
        };
        let missing = ["the system prompt".to_owned()];
        let reported = Reported { tokens: Some(4_000), missing: &missing };
        let with_gap = bar(&summary, &reported);
        assert_eq!(
            places(&with_gap),
            [("history", "0.00", "19 %"), ("user", "187.50", "6 %"), ("missing", "250.00", "75 %")]
        );
        assert_eq!(
            with_gap.words.as_deref(),
            Some(
                "≈ 1k of 4\u{202f}000 reported tokens are in the transcript; the rest is what the source lacks \
                 (the system prompt), and the error of the estimate"
            )
        );
        // Recorded bytes are all there was.
        summary.body_hash = Some("hash".to_owned());
        let recorded = bar(&summary, &reported);
        assert_eq!(places(&recorded), [("history", "0.00", "75 %"), ("user", "750.00", "25 %")]);
        assert_eq!(recorded.words.as_deref(), Some("≈ 1k tokens by their size; reported: 4\u{202f}000"));
    }
}
