//! The filter of the list: what stands in the address, and the form that makes it.

use serde::Deserialize;
use store::{FilterColumn, ListPlace, SessionFilter, Store, StoreError};

use crate::links::with_query;
use crate::markup::one_line;
use crate::pages::filled;
use crate::times::{Clock, Edge};

/// Names offered for one field.
const CHOICES: usize = 40;
/// How a session can stand.
const STATUSES: [&str; 6] = ["running", "completed", "failed", "cancelled", "handed_off", "unknown"];

/// What the address asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    pub(super) user: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) model: Option<String>,
    pub(super) project: Option<String>,
    pub(super) status: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) text: Option<String>,
    /// Another name for `text`, which other pages use.
    pub(super) q: Option<String>,
    pub(super) errors: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) after: Option<String>,
}

impl Asked {
    /// Returns the same without empty fields.
    pub(super) fn cleaned(self) -> Self {
        Self {
            user: filled(self.user),
            from: filled(self.from),
            to: filled(self.to),
            agent: filled(self.agent),
            model: filled(self.model),
            project: filled(self.project),
            status: filled(self.status),
            tool: filled(self.tool),
            text: filled(self.text).or_else(|| filled(self.q)),
            q: None,
            errors: filled(self.errors),
            parent: filled(self.parent),
            after: filled(self.after),
        }
    }

    /// Returns what the store is asked, or what cannot be understood.
    pub(super) fn filter(&self, clock: &Clock) -> Result<SessionFilter, String> {
        let time = |text: &Option<String>, edge| {
            let read = text.as_deref().map(|text| clock.parse(text, edge)).transpose();
            read.map_err(|error| error.to_string())
        };
        if let Some(status) = self.status.as_deref().filter(|status| !STATUSES.contains(status)) {
            return Err(format!("no session has the status {status:?}"));
        }
        Ok(SessionFilter {
            user: self.user.clone(),
            from: time(&self.from, Edge::From)?,
            to: time(&self.to, Edge::To)?,
            agent: self.agent.clone(),
            model: self.model.clone(),
            project: self.project.clone(),
            status: self.status.clone(),
            tool: self.tool.clone(),
            text: self.text.clone(),
            has_error: self.errors.is_some(),
            parent: self.parent.clone(),
            top_only: self.is_by_session(),
            limit: None,
            after: self.after.as_deref().map(place).transpose()?,
        })
    }

    /// Returns whether sub-agents stand under their parents: not where the children of a session are asked
    /// for, nor where something inside sessions is, which else nobody would find.
    fn is_by_session(&self) -> bool {
        self.parent.is_none() && self.text.is_none() && self.tool.is_none() && self.errors.is_none()
    }

    /// Returns the address of this list from a place on.
    pub(super) fn address(&self, after: Option<String>) -> String {
        let pairs = [
            ("text", &self.text),
            ("user", &self.user),
            ("agent", &self.agent),
            ("model", &self.model),
            ("project", &self.project),
            ("tool", &self.tool),
            ("status", &self.status),
            ("from", &self.from),
            ("to", &self.to),
            ("errors", &self.errors),
            ("parent", &self.parent),
            ("after", &after),
        ];
        with_query("/sessions", &pairs.map(|(key, value)| (key, value.as_deref())))
    }
}

/// Reads `microseconds.number`.
fn place(word: &str) -> Result<ListPlace, String> {
    let read = || {
        let (micros, key) = word.split_once('.')?;
        Some(ListPlace { ended_at_micros: micros.parse().ok()?, session_key: key.parse().ok()? })
    };
    read().ok_or_else(|| format!("{word:?} is no place in the list"))
}

/// What fields can be set to.
#[derive(Debug, Default)]
pub(super) struct Choices {
    user: Vec<(String, u64)>,
    agent: Vec<(String, u64)>,
    model: Vec<(String, u64)>,
    project: Vec<(String, u64)>,
    tool: Vec<(String, u64)>,
}

impl Choices {
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            user: store.session_values(FilterColumn::User)?,
            agent: store.session_values(FilterColumn::Agent)?,
            model: store.session_values(FilterColumn::Models)?,
            project: store.session_values(FilterColumn::Project)?,
            tool: store.session_values(FilterColumn::Tools)?,
        })
    }
}

/// The form.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) text: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) errors: bool,
    pub(crate) parent: Option<String>,
    pub(crate) fields: Vec<Field>,
    /// What restricts the list, in words, with the address of the list without it.
    pub(crate) set: Vec<Restriction>,
}

/// A field with a list of choices.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) any: &'static str,
    pub(crate) choices: Vec<Choice>,
}

/// A value that a field can be set to.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) shown: String,
    pub(crate) is_chosen: bool,
}

/// Something that restricts the list.
#[derive(Debug)]
pub(crate) struct Restriction {
    pub(crate) words: String,
    pub(crate) without: String,
}

impl Form {
    pub(super) fn new(asked: Asked, choices: Choices) -> Self {
        let statuses = STATUSES.map(|status| (status.to_owned(), 0)).to_vec();
        let fields = vec![
            field("user", "any user", choices.user, asked.user.as_deref()),
            field("agent", "any agent", choices.agent, asked.agent.as_deref()),
            field("model", "any model", choices.model, asked.model.as_deref()),
            field("project", "any project", choices.project, asked.project.as_deref()),
            field("tool", "any tool", choices.tool, asked.tool.as_deref()),
            field("status", "any status", statuses, asked.status.as_deref()),
        ];
        Self {
            set: restrictions(&asked),
            text: asked.text.unwrap_or_default(),
            from: asked.from.unwrap_or_default(),
            to: asked.to.unwrap_or_default(),
            errors: asked.errors.is_some(),
            parent: asked.parent,
            fields,
        }
    }
}

/// The chosen value is among the choices also when the store does not know it, or when it is a rare one.
fn field(
    name: &'static str,
    any: &'static str,
    mut values: Vec<(String, u64)>,
    chosen: Option<&str>,
) -> Field {
    let rare =
        chosen.and_then(|chosen| values.iter().skip(CHOICES).find(|(value, _)| value == chosen)).cloned();
    values.truncate(CHOICES);
    values.extend(rare);
    if let Some(chosen) = chosen
        && !values.iter().any(|(value, _)| value == chosen)
    {
        values.push((chosen.to_owned(), 0));
    }
    let choices = values
        .into_iter()
        .map(|(value, count)| Choice {
            shown: if count > 0 {
                format!("{} ({count})", one_line(&value))
            } else {
                one_line(&value).replace('_', " ")
            },
            is_chosen: chosen == Some(value.as_str()),
            value,
        })
        .collect();
    Field { name, any, choices }
}

fn restrictions(asked: &Asked) -> Vec<Restriction> {
    let mut set = Vec::new();
    let mut add = |name: &str, value: &Option<String>, clear: fn(&mut Asked)| {
        if let Some(value) = value {
            let mut without = Asked { after: None, ..asked.clone() };
            clear(&mut without);
            let words =
                if name == "errors only" { name.to_owned() } else { format!("{name}: {}", one_line(value)) };
            set.push(Restriction { words, without: without.address(None) });
        }
    };
    add("text", &asked.text, |asked| asked.text = None);
    add("user", &asked.user, |asked| asked.user = None);
    add("agent", &asked.agent, |asked| asked.agent = None);
    add("model", &asked.model, |asked| asked.model = None);
    add("project", &asked.project, |asked| asked.project = None);
    add("tool", &asked.tool, |asked| asked.tool = None);
    add("status", &asked.status, |asked| asked.status = None);
    add("from", &asked.from, |asked| asked.from = None);
    add("to", &asked.to, |asked| asked.to = None);
    add("errors only", &asked.errors, |asked| asked.errors = None);
    add("children of", &asked.parent, |asked| asked.parent = None);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        assert_eq!(place("-5.7"), Ok(ListPlace { ended_at_micros: -5, session_key: 7 }));
        assert!(place("x.7").is_err());
    }

    #[test]
    fn each_restriction_can_be_taken_away() {
        let asked = Asked {
            user: Some("ann".into()),
            text: Some("a&b".into()),
            after: Some("1.1".into()),
            ..Default::default()
        };
        let without: Vec<String> = restrictions(&asked).into_iter().map(|set| set.without).collect();
        assert_eq!(without, ["/sessions?user=ann", "/sessions?text=a%26b"]);
    }

    #[test]
    fn q_is_another_name_for_the_text() {
        let asked = |text: Option<&str>, q: Option<&str>| {
            Asked { text: text.map(str::to_owned), q: q.map(str::to_owned), ..Default::default() }.cleaned()
        };
        assert_eq!(asked(None, Some("a b")).address(None), "/sessions?text=a%20b");
        assert_eq!(asked(Some(" "), Some("b")).text.as_deref(), Some("b"));
        assert_eq!(asked(Some("a"), Some("b")).text.as_deref(), Some("a"));
    }

    #[test]
    fn a_rare_choice_stays_chosen() {
        let many: Vec<(String, u64)> = (0..100).map(|n| (format!("user{n}"), 1)).collect();
        let field = field("user", "any", many, Some("user99"));
        assert_eq!(field.choices.len(), CHOICES + 1);
        assert!(field.choices.last().is_some_and(|choice| choice.is_chosen && choice.value == "user99"));
    }
}
