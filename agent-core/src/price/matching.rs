//! Which names as served mean a model: the rules of the table.

use serde::Deserialize;

/// A rule that a name fits or not. Names are in small letters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Clause {
    /// One of several.
    Any(Vec<Clause>),
    /// All of several.
    All(Vec<Clause>),
    /// Not this: the rule inside is plain, for it has to find more and not less.
    Not(Box<Clause>),
    /// The whole name.
    Equals(String),
    /// The name with a date behind it.
    Dated(String),
    /// The beginning of the name, with nothing behind it that makes another model.
    StartsWith(String),
    /// The end of the name, behind a host's or maker's.
    EndsWith(String),
    /// A part of the name, behind a host's or maker's and with nothing behind it that makes another model.
    Contains(String),
}

impl Clause {
    /// Returns whether the name fits.
    pub(super) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.fits(name)),
            Self::All(parts) => parts.iter().all(|part| part.fits(name)),
            Self::Not(part) => !part.fits_plainly(name),
            Self::Equals(whole) => name == whole,
            Self::Dated(start) => name.strip_prefix(start.as_str()).is_some_and(is_date),
            Self::StartsWith(start) => name.starts_with(start.as_str()) && is_followed(name, 0, start),
            Self::EndsWith(end) => name.strip_suffix(end.as_str()).is_some_and(is_border),
            Self::Contains(part) => name
                .find(part.as_str())
                .is_some_and(|at| is_border(&name[..at]) && is_followed(name, at, part)),
        }
    }

    /// Returns whether the name fits as far as its letters go, whatever stands around them.
    pub(super) fn fits_plainly(&self, name: &str) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.fits_plainly(name)),
            Self::All(parts) => parts.iter().all(|part| part.fits_plainly(name)),
            Self::Not(part) => !part.fits_plainly(name),
            Self::Equals(whole) => name == whole,
            Self::Dated(start) | Self::StartsWith(start) => name.starts_with(start.as_str()),
            Self::EndsWith(end) => name.ends_with(end.as_str()),
            Self::Contains(part) => name.contains(part.as_str()),
        }
    }
}

/// Returns whether the name of a host or maker may end here.
fn is_border(before: &str) -> bool {
    before.is_empty() || before.ends_with(['/', '.', ':'])
}

/// Returns whether nothing follows `part` but what names a revision.
fn is_followed(name: &str, at: usize, part: &str) -> bool {
    is_revision(&name[at + part.trim_end_matches(['-', ':', '@']).len()..])
}

/// Returns whether `rest` is a date: `-20250929`, `@20250929`, `-2025-09-29`, `-001`.
fn is_date(rest: &str) -> bool {
    DATES.iter().any(|shape| shape_len(shape, rest) == Some(rest.len()))
}

/// Returns the name without the date at its end, where it has one.
pub(super) fn without_date(name: &str) -> Option<&str> {
    // The longest date has eleven bytes.
    let from = name.floor_char_boundary(name.len().saturating_sub(11));
    let starts = name[from..].char_indices().map(|(at, _)| from + at);
    starts.filter(|&at| at > 0).find(|&at| is_date(&name[at..])).map(|at| &name[..at])
}

/// Returns whether `rest` is empty or made of what may follow a model's name without making it another model: dates,
/// a host's revision and window, and the words for the newest.
fn is_revision(rest: &str) -> bool {
    rest.is_empty()
        || REVISIONS
            .iter()
            .filter_map(|shape| shape_len(shape, rest))
            .any(|len| len > 0 && is_revision(&rest[len..]))
}

/// Shapes in which `0` is a digit, `*` more digits, and all else itself.
const DATES: [&str; 4] = ["-00000000", "@00000000", "-0000-00-00", "-000"];
const REVISIONS: [&str; 17] = [
    "-00000000",
    "@00000000",
    "-0000-00-00",
    "-00-00",
    "-00-0000",
    "-000",
    "-v0*",
    "-0:0*k",
    "-0:0*",
    ":0*k",
    ":0*",
    "-latest",
    "@latest",
    "@default",
    "-preview",
    "[1m]",
    "-v0*:0*",
];

/// Returns how many bytes of the beginning of `text` the shape takes.
fn shape_len(shape: &str, text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    for wanted in shape.bytes() {
        match wanted {
            b'0' if bytes.get(at)?.is_ascii_digit() => at += 1,
            b'*' => at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
            b'0' => return None,
            other if *bytes.get(at)? == other => at += 1,
            _ => return None,
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_no_other_models() {
        for rest in [
            "",
            "-20250929",
            "@20250929",
            "-2025-08-07",
            "-v1:0",
            "-20250929-v1:0",
            "-latest",
            "[1m]",
            "-001",
            "-v2:0:200k",
        ] {
            assert!(is_revision(rest), "{rest}");
        }
        for rest in ["-5", "-mini", "-5-20251101", "-high", "x", "-1", "-thinking"] {
            assert!(!is_revision(rest), "{rest}");
        }
    }

    #[test]
    fn clauses_fit_names_as_served() {
        let clause = Clause::Contains("claude-opus-4-5".to_owned());
        assert!(clause.fits("us.anthropic.claude-opus-4-5-20251101-v1:0"));
        assert!(!clause.fits("my-claude-opus-4-5"));
        let older = Clause::StartsWith("claude-opus-4".to_owned());
        assert!(older.fits("claude-opus-4-20250514"));
        assert!(!older.fits("claude-opus-4-5-20251101"));
        assert!(Clause::Dated("gpt-5".to_owned()).fits("gpt-5-2025-08-07"));
        assert!(!Clause::Dated("gpt-5".to_owned()).fits("gpt-5-mini"));
        let not = Clause::Not(Box::new(Clause::Contains("-tts-".to_owned())));
        assert!(not.fits("gemini-2.5-pro") && !not.fits("gemini-2.5-pro-tts-x"));
    }
}
