//! Where the other turns are.

use store::{SessionRow, Store, StoreError, TurnsAround};

use super::super::session::WINDOW;
use crate::format::{counted, whole};
use crate::links;

/// Turns that are looked through for the words of a search.
const HITS: u32 = 10_000;

/// Links to the turns that a reader may want to go to.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The number of the last turn.
    pub(crate) last: u32,
    pub(crate) last_words: String,
    pub(crate) first_href: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) last_href: Option<String>,
    pub(crate) error_before: Option<String>,
    pub(crate) error_after: Option<String>,
    pub(crate) request_before: Option<String>,
    pub(crate) request_after: Option<String>,
    pub(crate) tool_after: Option<String>,
    pub(crate) compaction_after: Option<String>,
    pub(crate) hits: Option<Hits>,
    pub(crate) up: String,
}

/// The turns that hold the words which the reader came with.
#[derive(Debug)]
pub(crate) struct Hits {
    pub(crate) words: String,
    /// Such as `hit 3 of 17`.
    pub(crate) place: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// Words looked for, and the turns that hold them, in order.
pub(super) struct Found {
    pub(super) words: String,
    turns: Vec<u32>,
}

impl Found {
    pub(super) fn read(store: &Store, key: u32, words: String) -> Result<Self, StoreError> {
        Ok(Self { turns: store.turns_with_text(key, &words, HITS)?, words })
    }

    fn hits(&self, turn: u32, to: impl Fn(u32) -> String) -> Hits {
        let count = self.turns.len() as u64;
        let at = self.turns.binary_search(&turn);
        let (before, after) = (at.unwrap_or_else(|at| at), at.map_or_else(|at| at, |at| at + 1));
        Hits {
            words: self.words.clone(),
            place: match at {
                Ok(at) => format!("hit {} of {}", whole(at as u64 + 1), whole(count)),
                Err(_) => format!("not in this turn, in {}", counted(count, "other", "others")),
            },
            before: before.checked_sub(1).map(|at| to(self.turns[at])),
            after: self.turns.get(after).map(|&turn| to(turn)),
        }
    }
}

impl Steps {
    pub(super) fn new(session: &SessionRow, turn: u32, around: &TurnsAround, found: Option<&Found>) -> Self {
        let name = &session.session;
        let words = found.map(|found| found.words.as_str());
        let to = |turn: u32| links::with_query(&links::turn(name, turn), &[("q", words)]);
        let last = around.last;
        let from = ((turn - 1) / WINDOW * WINDOW + 1).to_string();
        let up = match words {
            Some(_) => links::with_query(&links::session(name), &[("q", words)]),
            None => links::with_query(&links::session(name), &[("from", Some(&from))]),
        };
        Self {
            last,
            last_words: whole(last.into()),
            first_href: (turn > 1).then(|| to(1)),
            before: (turn > 1).then(|| to(turn - 1)),
            after: (turn < last).then(|| to(turn + 1)),
            last_href: (turn < last).then(|| to(last)),
            error_before: around.error_before.map(to),
            error_after: around.error_after.map(to),
            request_before: around.request_before.map(to),
            request_after: around.request_after.map(to),
            tool_after: around.tool_after.map(to),
            compaction_after: around.compaction_after.map(to),
            hits: found.map(|found| found.hits(turn, to)),
            up: format!("{up}#t{turn}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_lie_on_both_sides() {
        let found = Found { words: "x".to_owned(), turns: vec![2, 5, 9] };
        let hits = |turn| {
            let hits = found.hits(turn, |turn| turn.to_string());
            (hits.place, hits.before, hits.after)
        };
        let turn = |number: &str| Some(number.to_owned());
        assert_eq!(hits(5), ("hit 2 of 3".to_owned(), turn("2"), turn("9")));
        assert_eq!(hits(1), ("not in this turn, in 3 others".to_owned(), None, turn("2")));
        assert_eq!(hits(9), ("hit 3 of 3".to_owned(), turn("5"), None));
        assert_eq!(hits(7), ("not in this turn, in 3 others".to_owned(), turn("5"), turn("9")));
    }
}
