//! Knows a file of Claude Code, and what its place and its beginning say of the session.

use std::path::Path;

use agent_core::{ParentKind, ParentLink, SessionStarted};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::Described;
use super::super::rows::read_line;
use super::is_uuid;

/// Rows that are looked at to know the format.
const LOOKED_AT: usize = 20;
/// Types that no other format writes beside a `sessionId`.
const OWN_TYPES: [&str; 13] = [
    "queue-operation",
    "summary",
    "file-history-snapshot",
    "mode",
    "permission-mode",
    "last-prompt",
    "ai-title",
    "custom-title",
    "agent-name",
    "atis-latch",
    "bridge-session",
    "pr-link",
    "progress",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    uuid: bool,
    #[serde(default, deserialize_with = "present")]
    parent_uuid: bool,
    #[serde(default, deserialize_with = "present")]
    leaf_uuid: bool,
    #[serde(default, deserialize_with = "present")]
    snapshot: bool,
    cwd: Option<String>,
    version: Option<String>,
    git_branch: Option<String>,
    permission_mode: Option<String>,
    agent_id: Option<String>,
    is_sidechain: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    message: bool,
    slug: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(|_| true)
}

pub(super) fn is_claude_code(head: &[u8]) -> bool {
    let mut found = false;
    let mut rows = head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for line in rows.by_ref().take(LOOKED_AT) {
        // What cannot be read, such as a row cut by the end of the head, says nothing against it.
        read_line::<HeadWire>(line, |row, _| found |= is_own(&row));
        if found {
            return true;
        }
    }
    // A pasted picture can fill the head with one row, which the head cuts off: its keys at the start tell.
    let cut = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_start();
    let start = String::from_utf8_lossy(&cut[..cut.len().min(2000)]);
    // Newer versions write the session's id after the message.
    let is_row = start.starts_with("{\"parentUuid\":") && start.contains("\"isSidechain\":");
    let names_session = start.contains("\"parentUuid\":") && start.contains("\"sessionId\":");
    start.starts_with("{\"") && (is_row || names_session)
}

fn is_own(row: &HeadWire) -> bool {
    let kind = row.kind.as_deref().unwrap_or_default();
    match row.session_id {
        Some(_) => {
            let is_message = row.message && matches!(kind, "user" | "assistant");
            row.uuid || row.parent_uuid || is_message || OWN_TYPES.contains(&kind)
        }
        None => (kind == "summary" && row.leaf_uuid) || (kind == "file-history-snapshot" && row.snapshot),
    }
}

pub(super) fn describe(path: &Path, head: &[u8]) -> Described {
    let mut about = SessionStarted { agent: Some("claude-code".to_owned()), ..Default::default() };
    let mut sessions: Vec<String> = Vec::new();
    let mut agent_id = None;
    let mut on_the_side = OnTheSide::default();
    for line in head.split(|&byte| byte == b'\n') {
        read_line::<HeadWire>(line, |row, _| {
            on_the_side.note(&row);
            sessions.extend(row.session_id);
            agent_id = agent_id.take().or(row.agent_id);
            keep_first(&mut about.cwd, row.cwd);
            keep_first(&mut about.agent_version, row.version);
            keep_first(&mut about.git_branch, row.git_branch.filter(|branch| !branch.is_empty()));
            keep_first(&mut about.permission_mode, row.permission_mode);
            if let Some(slug) = row.slug {
                about.other.entry("slug").or_insert_with(|| slug.into());
            }
        });
    }
    about.project = about.cwd.as_deref().and_then(last_component).map(str::to_owned);
    let place = path.to_string_lossy();
    about.user = about.cwd.as_deref().and_then(user_in).or_else(|| user_in(&place)).map(str::to_owned);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let by_folder = folder_session(path);
    if let Some(agent) = stem.strip_prefix("agent-")
        && (by_folder.is_some() || agent_id.as_deref() == Some(agent))
    {
        let parent =
            by_folder.or_else(|| sessions.into_iter().next()).unwrap_or_else(|| "unknown".to_owned());
        return subagent(path, agent, parent, about);
    }
    // Exported files bear other names, and are known by their rows.
    if let (false, Some(agent), Some(parent)) = (is_uuid(&stem), on_the_side.agent(), sessions.first()) {
        return subagent(path, &agent, parent.clone(), about);
    }
    // The file is the session, whatever rows of other sessions it took over; only a copy under another name
    // is known by its rows.
    let session = if is_uuid(&stem) { None } else { sessions.into_iter().next() };
    Described { session: session.unwrap_or(stem), about }
}

/// Whose the rows on the side are.
#[derive(Default)]
struct OnTheSide {
    agents: Vec<String>,
    /// Whether there are rows of the session itself, or such that do not say whose they are.
    others: bool,
}

impl OnTheSide {
    fn note(&mut self, row: &HeadWire) {
        match (row.is_sidechain, &row.agent_id) {
            (Some(true), Some(agent)) if self.agents.contains(agent) => {}
            (Some(true), Some(agent)) => self.agents.push(agent.clone()),
            (Some(_), _) => self.others = true,
            (None, _) => {}
        }
    }

    /// Returns the sub-agent that all rows are of.
    fn agent(mut self) -> Option<String> {
        if self.others || self.agents.len() != 1 {
            return None;
        }
        self.agents.pop()
    }
}

fn subagent(path: &Path, agent: &str, parent: String, mut about: SessionStarted) -> Described {
    let meta = read_meta(path);
    about.parent =
        Some(ParentLink { session: parent.clone(), kind: ParentKind::Subagent, call_id: meta.tool_use_id });
    about.title = meta.description;
    if let Some(kind) = meta.agent_type {
        about.other.insert("agent_type".to_owned(), kind.into());
    }
    Described { session: format!("{parent}/{agent}"), about }
}

/// Returns the session whose folder the file stands in: `<session>/subagents/...`.
fn folder_session(path: &Path) -> Option<String> {
    let subagents =
        path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "subagents"))?;
    Some(subagents.parent()?.file_name()?.to_string_lossy().into_owned())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaWire {
    agent_type: Option<String>,
    description: Option<String>,
    tool_use_id: Option<String>,
}

/// Reads the file beside a sub-agent's that says what started it; there is none for older versions.
fn read_meta(path: &Path) -> MetaWire {
    std::fs::read(path.with_extension("meta.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

fn keep_first(kept: &mut Option<String>, said: Option<String>) {
    if kept.is_none() {
        *kept = said;
    }
}

fn last_component(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty())
}

/// Returns whose home folder a path is in.
fn user_in(path: &str) -> Option<&str> {
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    let first = parts.next()?;
    let second = if first.ends_with(':') { parts.next()? } else { first };
    matches!(second, "home" | "Users" | "users").then(|| parts.next())?.filter(|user| *user != "Shared")
}
