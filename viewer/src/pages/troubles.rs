//! What went wrong, told apart: what failed by itself, and what somebody refused or broke off.

use store::{MinimapBucket, RunRow, SessionRow, TurnRow};

use crate::format::{counted, whole};

/// What went wrong in a session, a request, a turn, in words ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Troubles {
    /// Calls of tools and models that failed by themselves.
    pub(crate) errors: u64,
    /// These in words, such as `3 failed · 2 model errors`; empty when there are none.
    pub(crate) bad: String,
    /// Calls that were refused or broken off, such as `1 rejected · 1 cancelled`: no errors of the tool.
    pub(crate) mild: String,
}

impl Troubles {
    /// `unsuccessful` holds `rejected` and `cancelled`.
    fn new(unsuccessful: u64, rejected: u64, cancelled: u64, model_errors: u64) -> Self {
        let failed = unsuccessful.saturating_sub(rejected + cancelled);
        let called = |count: u64, word: &str| (count > 0).then(|| format!("{} {word}", whole(count)));
        let models = (model_errors > 0).then(|| counted(model_errors, "model error", "model errors"));
        Self {
            errors: failed + model_errors,
            bad: joined([called(failed, "failed"), models]),
            mild: joined([called(rejected, "rejected"), called(cancelled, "cancelled")]),
        }
    }

    pub(crate) fn of_session(row: &SessionRow) -> Self {
        Self::new(
            row.failed_tool_calls.into(),
            row.rejected_tool_calls.into(),
            row.cancelled_tool_calls.into(),
            row.failed_model_calls.into(),
        )
    }

    pub(crate) fn of_run(row: &RunRow) -> Self {
        Self::new(
            row.failed_tool_calls.into(),
            row.rejected_tool_calls.into(),
            row.cancelled_tool_calls.into(),
            row.failed_model_calls.into(),
        )
    }

    pub(crate) fn of_turn(row: &TurnRow) -> Self {
        Self::new(
            row.failed_tool_calls.into(),
            row.rejected_tool_calls.into(),
            row.cancelled_tool_calls.into(),
            row.failed_model_calls.into(),
        )
    }

    pub(crate) fn of_bars(bars: &[MinimapBucket]) -> Self {
        let sum = |figure: fn(&MinimapBucket) -> u64| bars.iter().map(figure).sum::<u64>();
        let (rejected, cancelled) = (sum(|bar| bar.rejected_tool_calls), sum(|bar| bar.cancelled_tool_calls));
        let models = sum(|bar| bar.failed_model_calls);
        let failed = sum(|bar| bar.errors).saturating_sub(models);
        Self::new(failed + rejected + cancelled, rejected, cancelled, models)
    }

    /// Returns all of it in words; nothing when nothing went wrong.
    pub(crate) fn words(&self) -> Option<String> {
        let words = joined([&self.bad, &self.mild].map(|words| Some(words.clone())));
        (!words.is_empty()).then_some(words)
    }
}

fn joined(words: [Option<String>; 2]) -> String {
    words.into_iter().flatten().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_once() {
        let all = Troubles::new(5, 1, 1, 2);
        assert_eq!((all.errors, all.bad.as_str()), (5, "3 failed · 2 model errors"));
        assert_eq!(all.mild, "1 rejected · 1 cancelled");
        assert_eq!(all.words().as_deref(), Some("3 failed · 2 model errors · 1 rejected · 1 cancelled"));
    }

    #[test]
    fn what_was_refused_is_no_error() {
        let refused = Troubles::new(2, 2, 0, 0);
        assert_eq!((refused.errors, refused.bad.as_str(), refused.mild.as_str()), (0, "", "2 rejected"));
        assert_eq!(Troubles::new(0, 0, 0, 0).words(), None);
    }

    #[test]
    fn bars_are_added_up() {
        let bar = |errors, models, rejected| MinimapBucket {
            errors,
            failed_model_calls: models,
            rejected_tool_calls: rejected,
            ..Default::default()
        };
        let both = Troubles::of_bars(&[bar(3, 1, 0), bar(0, 0, 1)]);
        assert_eq!(both.words().as_deref(), Some("2 failed · 1 model error · 1 rejected"));
    }
}
