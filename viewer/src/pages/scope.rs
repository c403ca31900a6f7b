//! Of what the figures of a page are: a period and who, as the query string says.

use agent_core::Timestamp;
use serde::{Deserialize, Serialize};
use store::metrics::Scope;

use super::filled;
use crate::links;
use crate::times::{Clock, Edge};

/// What the query string says.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct AskedScope {
    period: Option<String>,
    from: Option<String>,
    to: Option<String>,
    agent: Option<String>,
    model: Option<String>,
    user: Option<String>,
    project: Option<String>,
    version: Option<String>,
    tag: Option<String>,
    /// The figures asked for as CSV, by the name of their chart.
    pub(crate) csv: Option<String>,
    /// What the bars are made of.
    pub(crate) by: Option<String>,
}

/// The periods that have a word, and how people say them.
const PERIODS: [(&str, &str); 7] = [
    ("today", "today"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("month", "this month"),
    ("90d", "90 days"),
    ("year", "a year"),
    ("all", "all"),
];
const USUAL_PERIOD: &str = "30d";

/// A period and who, ready for questions and for the bar above the figures.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) scope: Scope,
    asked: AskedScope,
    path: &'static str,
}

/// The bar above the figures.
#[derive(Debug)]
pub(crate) struct ScopeBar {
    /// Each period: words, address, whether it is chosen.
    pub(crate) periods: Vec<(&'static str, String, bool)>,
    /// Each field of the form: name, what stands in it.
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) period: String,
    pub(crate) path: &'static str,
    /// What is set, and the address without it.
    pub(crate) set: Vec<(String, String)>,
    pub(crate) zone: String,
}

impl Chosen {
    /// Returns what the query asks for, or what cannot be understood.
    pub(crate) fn read(path: &'static str, asked: AskedScope, clock: &Clock) -> Result<Self, String> {
        let asked = asked.cleaned();
        let time = |text: &Option<String>, edge| {
            text.as_deref().map(|text| clock.parse(text, edge).map_err(|error| error.to_string())).transpose()
        };
        let (mut from, mut to) = (time(&asked.from, Edge::From)?, time(&asked.to, Edge::To)?);
        if from.is_none() && to.is_none() {
            (from, to) = period(asked.period.as_deref().unwrap_or(USUAL_PERIOD), clock)?;
        }
        let scope = Scope {
            from,
            to,
            agent: asked.agent.clone(),
            model: asked.model.clone(),
            user: asked.user.clone(),
            project: asked.project.clone(),
            version: asked.version.clone(),
            tag: asked.tag.clone(),
        };
        Ok(Self { scope, asked, path })
    }

    /// Returns the address of this page with one field changed.
    pub(crate) fn with(&self, key: &str, value: Option<&str>) -> String {
        let mut pairs = self.asked.pairs();
        if matches!(key, "period") {
            pairs.retain(|(key, _)| !matches!(*key, "from" | "to"));
        }
        pairs.retain(|(other, _)| *other != key);
        pairs.push((key, value));
        links::with_query(self.path, &pairs)
    }

    /// Returns the address of the figures of a chart as CSV.
    pub(crate) fn csv(&self, chart: &str) -> String {
        self.with("csv", Some(chart))
    }

    /// Returns the list of the sessions in the scope, with one field more. A version or a tag is no field of that list.
    pub(crate) fn sessions(&self, more: &[(&str, Option<&str>)]) -> String {
        let (from, to) = (self.scope.from.map(|at| at.to_string()), self.scope.to.map(|at| at.to_string()));
        let own = [
            ("from", from.as_deref()),
            ("to", to.as_deref()),
            ("agent", self.scope.agent.as_deref()),
            ("model", self.scope.model.as_deref()),
            ("user", self.scope.user.as_deref()),
            ("project", self.scope.project.as_deref()),
        ];
        let kept = own.into_iter().filter(|(key, _)| more.iter().all(|(other, _)| other != key));
        let pairs: Vec<_> = kept.chain(more.iter().copied()).collect();
        links::with_query("/sessions", &pairs)
    }

    /// Returns the bar above the figures.
    pub(crate) fn bar(&self, clock: &Clock) -> ScopeBar {
        let asked = &self.asked;
        let is_free = asked.from.is_some() || asked.to.is_some();
        let chosen = asked.period.as_deref().unwrap_or(USUAL_PERIOD);
        let named = asked.named();
        ScopeBar {
            periods: PERIODS
                .iter()
                .map(|(key, words)| (*words, self.with("period", Some(key)), !is_free && *key == chosen))
                .collect(),
            set: named
                .iter()
                .filter_map(|(key, value)| {
                    Some((format!("{key}: {}", crate::markup::one_line((*value)?)), self.with(key, None)))
                })
                .collect(),
            fields: named.iter().map(|(key, value)| (*key, value.unwrap_or_default().to_owned())).collect(),
            from: asked.from.clone().unwrap_or_default(),
            to: asked.to.clone().unwrap_or_default(),
            period: if is_free { String::new() } else { chosen.to_owned() },
            path: self.path,
            zone: clock.zone_name(),
        }
    }
}

impl AskedScope {
    fn cleaned(self) -> Self {
        Self {
            period: filled(self.period),
            from: filled(self.from),
            to: filled(self.to),
            agent: filled(self.agent),
            model: filled(self.model),
            user: filled(self.user),
            project: filled(self.project),
            version: filled(self.version),
            tag: filled(self.tag),
            csv: filled(self.csv),
            by: filled(self.by),
        }
    }

    /// Returns who: the fields that name something.
    fn named(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("agent", self.agent.as_deref()),
            ("model", self.model.as_deref()),
            ("user", self.user.as_deref()),
            ("project", self.project.as_deref()),
            ("version", self.version.as_deref()),
            ("tag", self.tag.as_deref()),
        ]
    }

    /// Returns all but which chart is asked for as CSV.
    fn pairs(&self) -> Vec<(&str, Option<&str>)> {
        let times = [
            ("period", self.period.as_deref()),
            ("from", self.from.as_deref()),
            ("to", self.to.as_deref()),
            ("by", self.by.as_deref()),
        ];
        times.into_iter().chain(self.named()).collect()
    }
}

/// Returns the beginning and the end of a period. It begins at a midnight of the zone, and ends with now.
fn period(word: &str, clock: &Clock) -> Result<(Option<Timestamp>, Option<Timestamp>), String> {
    let days_ago = |days| clock.midnight(days);
    let from = match word {
        "today" => days_ago(0),
        "7d" => days_ago(6),
        "30d" => days_ago(29),
        "90d" => days_ago(89),
        "year" => days_ago(364),
        "month" => clock.month_start(),
        "all" => return Ok((None, None)),
        other => {
            return Err(format!("{other:?} is no period; one of today, 7d, 30d, month, 90d, year, all is"));
        }
    };
    Ok((from, None))
}
