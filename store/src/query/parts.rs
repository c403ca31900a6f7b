//! The parts of a prompt as ranges of their numbers, which are few however many parts there are.

/// Part numbers in the order of a prompt, as ranges with both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartList(Vec<(u32, u32)>);

impl PartList {
    /// Reads `0-4,7,9-12`.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let range = |range: &str| {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let (low, high) = (low.parse().ok()?, high.parse().ok()?);
            (low <= high).then_some((low, high))
        };
        text.split(',').filter(|text| !text.is_empty()).map(range).collect::<Option<_>>().map(Self)
    }

    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|(low, high)| high - low + 1).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(low, high)| low..=high)
    }

    /// Returns the smallest and the largest number.
    pub(super) fn bounds(&self) -> Option<(u32, u32)> {
        let low = self.0.iter().map(|range| range.0).min()?;
        let high = self.0.iter().map(|range| range.1).max()?;
        Some((low, high))
    }

    /// Returns at most `limit` parts from the place `from` on.
    pub(super) fn window(&self, from: u32, limit: u32) -> Self {
        let (mut skip, mut left) = (from, limit);
        let mut window = Vec::new();
        for &(low, high) in &self.0 {
            let length = high - low + 1;
            if skip >= length {
                skip -= length;
                continue;
            }
            let taken = (length - skip).min(left);
            if taken == 0 {
                break;
            }
            window.push((low + skip, low + skip + taken - 1));
            (skip, left) = (0, left - taken);
        }
        Self(window)
    }

    /// Returns the parts that `other` does not hold, each once.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut taken = other.merged();
        let mut rest = Vec::new();
        for &(low, high) in &self.0 {
            let at = taken.partition_point(|range| range.1 < low);
            let mut next = low;
            let mut end = at;
            while end < taken.len() && taken[end].0 <= high {
                if taken[end].0 > next {
                    rest.push((next, taken[end].0 - 1));
                }
                next = next.max(taken[end].1.saturating_add(1));
                end += 1;
            }
            if next <= high {
                rest.push((next, high));
            }
            let whole = taken[at..end]
                .iter()
                .fold((low, high), |all, range| (all.0.min(range.0), all.1.max(range.1)));
            taken.splice(at..end, [whole]);
        }
        Self(rest)
    }

    /// Returns how many parts, from the first on, are the same in both.
    pub(super) fn same_beginning(&self, other: &Self) -> u32 {
        let (mut mine, mut theirs) = (self.0.iter().copied(), other.0.iter().copied());
        let (mut a, mut b) = (mine.next(), theirs.next());
        let mut same = 0;
        while let (Some(left), Some(right)) = (a, b) {
            if left.0 != right.0 {
                break;
            }
            let both = left.1.min(right.1);
            same += both - left.0 + 1;
            let rest = |range: (u32, u32)| (range.1 > both).then_some((both + 1, range.1));
            a = rest(left).or_else(|| mine.next());
            b = rest(right).or_else(|| theirs.next());
        }
        same
    }

    /// Returns the ranges as rows of a `VALUES` list. They are numbers alone.
    pub(super) fn to_sql_values(&self) -> String {
        self.0
            .iter()
            .map(|(low, high)| format!("({low}::UINTEGER, {high}::UINTEGER)"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the parts of this list and then those of the other.
    pub(super) fn with(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).copied().collect())
    }

    /// Returns the ranges in ascending order, none touching another.
    fn merged(&self) -> Vec<(u32, u32)> {
        self.clusters(0)
    }

    /// Returns ascending ranges that hold all parts, and no more than `hole` others between two of them.
    pub(super) fn clusters(&self, hole: u32) -> Vec<(u32, u32)> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1).saturating_add(hole) => {
                    last.1 = last.1.max(high)
                }
                _ => merged.push((low, high)),
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> PartList {
        PartList::from_text(text).expect(text)
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(list("0-4,7").iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 7]);
        assert_eq!(list("").len(), 0);
        for bad in ["a", "4-2", "1-", "-"] {
            assert_eq!(PartList::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn clusters_bridge_small_holes_only() {
        let parts = list("20-30,0-4,7,9");
        assert_eq!(parts.clusters(0), [(0, 4), (7, 7), (9, 9), (20, 30)]);
        assert_eq!(parts.clusters(1), [(0, 4), (7, 9), (20, 30)]);
        assert_eq!(parts.clusters(2), [(0, 9), (20, 30)]);
        assert_eq!(parts.clusters(10), [(0, 30)]);
    }

    #[test]
    fn a_window_crosses_ranges() {
        assert_eq!(list("0-4,9,20-30").window(3, 4), list("3-4,9,20"));
        assert_eq!(list("0-4").window(9, 4), list(""));
    }

    fn numbers() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0..30_u32, 0..24)
    }

    fn of(numbers: &[u32]) -> PartList {
        PartList(numbers.iter().map(|&part| (part, part)).collect())
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_the_other_lacks(mine in numbers(), other in numbers()) {
            let mut seen = other.clone();
            let mut expected = Vec::new();
            for part in mine.iter().copied() {
                if !seen.contains(&part) {
                    expected.push(part);
                    seen.push(part);
                }
            }
            prop_assert_eq!(of(&mine).minus(&of(&other)).iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn ranges_do_not_matter_to_the_same_beginning(start in 0..5_u32, length in 1..20_u32, mine in numbers(), other in numbers()) {
            let one_range = PartList([vec![(start, start + length - 1)], of(&mine).0].concat());
            let singles = of(&[(start..start + length).collect::<Vec<_>>(), other.clone()].concat());
            let expected = one_range.iter().zip(singles.iter()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(one_range.same_beginning(&singles) as usize, expected);
            prop_assert_eq!(singles.same_beginning(&one_range) as usize, expected);
        }
    }
}
