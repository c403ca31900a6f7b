//! The bar that shows which share of a prompt is what.

use store::{KindSum, PromptSummary};

use crate::format::{bytes, counted, short};
use crate::pages::words;

/// The bar's width in its own units.
const WIDTH: f64 = 1000.0;

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

/// Returns the shares by bytes, the largest first; framing comes last.
pub(crate) fn segments(summary: &PromptSummary) -> Vec<Segment> {
    let mut kinds: Vec<&KindSum> = summary.kinds.iter().filter(|sum| sum.bytes > 0).collect();
    kinds.sort_by_key(|sum| (sum.kind == "framing", std::cmp::Reverse(sum.bytes)));
    let total: u64 = kinds.iter().map(|sum| sum.bytes).sum();
    let mut x = 0.0;
    kinds
        .into_iter()
        .map(|sum| {
            let width = share(sum.bytes, total) * WIDTH;
            let segment = segment(sum, total, x, width);
            x += width;
            segment
        })
        .collect()
}

fn segment(sum: &KindSum, total: u64, x: f64, width: f64) -> Segment {
    let percent = share(sum.bytes, total) * 100.0;
    let new_width = share(sum.new_bytes, total) * WIDTH;
    let label = words::part_kind(&sum.kind).to_owned();
    Segment {
        kind: sum.kind.clone(),
        x: format!("{x:.2}"),
        width: format!("{:.2}", (width - 1.5).max(0.5)),
        new: (sum.new_bytes > 0)
            .then(|| (format!("{:.2}", x + width - new_width), format!("{:.2}", (new_width - 1.5).max(0.5)))),
        share: if percent < 1.0 { "< 1 %".to_owned() } else { format!("{percent:.0} %") },
        tokens: sum.tokens.map_or_else(|| bytes(sum.bytes), |tokens| format!("≈ {}", short(tokens))),
        parts: counted(sum.parts, "part", "parts"),
        title: format!(
            "{label}: {}, {}, {percent:.1} % of the bytes",
            counted(sum.parts, "part", "parts"),
            bytes(sum.bytes)
        ),
        new_words: (sum.new_parts > 0).then(|| format!("{} new", short(sum.new_parts))),
        label,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is drawn and shown in three digits")]
fn share(part: u64, total: u64) -> f64 {
    part as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_fill_the_bar() {
        let sum = |kind: &str, bytes, new_bytes| KindSum {
            kind: kind.to_owned(),
            parts: 1,
            bytes,
            new_bytes,
            new_parts: u64::from(new_bytes > 0),
            tokens: Some(bytes / 4),
        };
        let summary = PromptSummary {
            kinds: vec![sum("framing", 400, 0), sum("system", 250, 0), sum("history", 350, 100)],
            ..Default::default()
        };
        let all = segments(&summary);
        let order: Vec<(&str, &str)> =
            all.iter().map(|segment| (segment.kind.as_str(), segment.x.as_str())).collect();
        assert_eq!(order, [("history", "0.00"), ("system", "350.00"), ("framing", "600.00")]);
        assert_eq!(all[0].share, "35 %");
        assert_eq!(all[0].new, Some(("250.00".to_owned(), "98.50".to_owned())));
    }
}
