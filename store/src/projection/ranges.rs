//! A list of numbers as ranges: the parts of a prompt are mostly neighbours.

/// Part numbers in the order in which they stand in a prompt, as half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// Appends one part.
    pub(crate) fn push(&mut self, part: u32) {
        self.push_range(part, part + 1);
    }

    fn push_range(&mut self, from: u32, to: u32) {
        if from >= to {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.0.push((from, to)),
        }
    }

    /// Appends all of `other`.
    pub(crate) fn extend(&mut self, other: &Self) {
        for &(from, to) in &other.0 {
            self.push_range(from, to);
        }
    }

    /// Appends the entries `from..to` of `other`, counted in its order.
    pub(crate) fn extend_slice(&mut self, other: &Self, from: usize, to: usize) {
        let mut start = 0;
        for &(first, end) in &other.0 {
            let len = (end - first) as usize;
            let low = from.clamp(start, start + len) - start;
            let high = to.clamp(start, start + len) - start;
            // Both are at most `len`, which is a difference of two u32.
            self.push_range(first + low as u32, first + high as u32);
            start += len;
        }
    }

    /// Drops all parts for which `keep` does not hold.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = Self::default();
        self.iter().filter(|&part| keep(part)).for_each(|part| kept.push(part));
        *self = kept;
    }

    /// Drops one part.
    pub(crate) fn remove(&mut self, part: u32) {
        let Some(at) = self.0.iter().position(|&(from, to)| (from..to).contains(&part)) else { return };
        let (from, to) = self.0[at];
        self.0.splice(at..=at, [(from, part), (part + 1, to)].into_iter().filter(|(from, to)| from < to));
    }

    /// Puts one part in the place of another. Returns whether that was there.
    pub(crate) fn replace(&mut self, part: u32, by: u32) -> bool {
        let Some(at) = self.0.iter().position(|&(from, to)| (from..to).contains(&part)) else { return false };
        let (from, to) = self.0[at];
        let pieces = [(from, part), (by, by + 1), (part + 1, to)];
        self.0.splice(at..=at, pieces.into_iter().filter(|(from, to)| from < to));
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(from, to)| (to - from) as usize).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(from, to)| from..to)
    }

    /// Writes the ranges with ends included: `0-4,7,9-12`.
    pub(crate) fn to_text(&self) -> String {
        let one = |&(from, to): &(u32, u32)| {
            if from + 1 == to { from.to_string() } else { format!("{from}-{}", to - 1) }
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// Reads what `to_text` wrote.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut ranges = Self::default();
        for piece in text.split(',').filter(|piece| !piece.is_empty()) {
            let (from, last) = piece.split_once('-').unwrap_or((piece, piece));
            ranges.push_range(from.parse().ok()?, last.parse::<u32>().ok()?.checked_add(1)?);
        }
        Some(ranges)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(parts: &[u32]) -> Ranges {
        let mut ranges = Ranges::default();
        parts.iter().for_each(|&part| ranges.push(part));
        ranges
    }

    proptest! {
        #[test]
        fn ranges_behave_like_lists(parts in prop::collection::vec(0_u32..30, 0..40), from in 0_usize..40, len in 0_usize..40, gone in 0_u32..30) {
            let ranges = of(&parts);
            prop_assert_eq!(ranges.iter().collect::<Vec<_>>(), parts.clone());
            prop_assert_eq!(ranges.len(), parts.len());
            prop_assert_eq!(Ranges::from_text(&ranges.to_text()), Some(of(&Ranges::from_text(&ranges.to_text()).unwrap().iter().collect::<Vec<_>>())));

            let mut slice = Ranges::default();
            slice.extend_slice(&ranges, from, from + len);
            let expected: Vec<u32> = parts.iter().copied().skip(from).take(len).collect();
            prop_assert_eq!(slice.iter().collect::<Vec<_>>(), expected);

            let mut kept = ranges.clone();
            kept.retain(|part| part != gone);
            let expected: Vec<u32> = parts.iter().copied().filter(|&part| part != gone).collect();
            prop_assert_eq!(kept.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn text_form() {
        let mut ranges = of(&[0, 1, 2, 5, 3, 4]);
        assert_eq!(ranges.to_text(), "0-2,5,3-4");
        ranges.remove(1);
        assert_eq!(ranges.to_text(), "0,2,5,3-4");
        assert!(ranges.replace(3, 9) && !ranges.replace(1, 9));
        assert_eq!(ranges.to_text(), "0,2,5,9,4");
        assert!(ranges.replace(9, 3));
        assert_eq!(Ranges::from_text("0-2,5,3-4").unwrap().len(), 6);
        assert_eq!(Ranges::from_text("x"), None);
    }
}
