//! Knows a rollout by its rows and says what is known of its session before it is read.

use std::path::Path;

use agent_core::{ParentKind, ParentLink, SessionStarted};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Described;
use super::super::rows::{clean, read_text};
use super::messages;
use super::wire::{Envelope, Item, Meta, text_of, value_of};

/// Where the provider of the session's models is kept in its `other` fields.
pub(super) const PROVIDER: &str = "model_provider";

/// Where a sub-agent's task is kept in the `other` fields, when the file does not say who gave it.
const SUBAGENT: &str = "subagent";

/// Rows looked at: a torn or odd beginning must not hide a session, a long look must not cost time.
const ROWS: usize = 20;

/// Marks of items that stand in a file by themselves, without an envelope.
const ITEM_MARKS: [&str; 4] = ["\"input_text\"", "\"output_text\"", "\"call_id\"", "\"encrypted_content\""];

/// The kinds of items that are marked so.
const ITEMS: [&str; 8] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
];

const ENVELOPES: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "token_usage_record",
];

/// Returns whether the beginning of a file is that of a rollout.
pub(super) fn is_rollout(head: &[u8]) -> bool {
    lines(head).take(ROWS).any(|line| {
        let mut found = false;
        let text = clean(line, &mut Vec::new());
        read_text::<Envelope<'_>>(&text, |envelope, text| found |= is_rollout_row(&envelope, text));
        found || is_cut_meta(line)
    })
}

fn is_rollout_row(envelope: &Envelope<'_>, text: &str) -> bool {
    match (text_of(envelope.kind), &envelope.payload) {
        (Some(kind), Some(payload)) => ENVELOPES.contains(&kind.as_str()) && payload.get().starts_with('{'),
        (Some(kind), None) => {
            ITEMS.contains(&kind.as_str()) && ITEM_MARKS.iter().any(|mark| text.contains(mark))
        }
        (None, None) => {
            text_of(envelope.record_type).as_deref() == Some("state")
                || (envelope.is_flat_header() && text.contains("\"instructions\""))
        }
        _ => false,
    }
}

/// Returns whether the line is a `session_meta` without its end (torn, or longer than what is looked at).
/// Quotes inside a string are escaped, so the mark cannot be a quotation.
fn is_cut_meta(line: &[u8]) -> bool {
    line.starts_with(b"{\"timestamp\":")
        && memchr::memmem::find(line, b"\"type\":\"session_meta\",\"payload\":{").is_some()
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Says what the beginning of the file and its place tell of the session.
pub(super) fn describe(path: &Path, head: &[u8]) -> Described {
    let named = uuid_of(path);
    let mut found: Option<Described> = None;
    let mut cwd_told = None;
    for (number, line) in lines(head).take(ROWS).enumerate() {
        let text = clean(line, &mut Vec::new());
        read_text::<Envelope<'_>>(&text, |envelope, text| {
            if let Some(described) = described_by(&envelope, text) {
                // A fork's second header is its parent's: only the first row, or the one with the file's own
                // name, is this session's.
                let named_so = named.as_ref() == Some(&described.session);
                let own = number == 0 || named.is_none() || named_so;
                if own && (found.is_none() || named_so) {
                    found = Some(described);
                }
            }
            cwd_told = cwd_told.take().or_else(|| cwd_in_message(&envelope, text));
        });
    }
    let mut described = found.unwrap_or_else(|| Described {
        session: named.unwrap_or_else(|| stem_of(path)),
        about: of_meta(&Meta::default()),
    });
    let about = &mut described.about;
    if about.cwd.is_none() {
        set_cwd(about, cwd_told);
    }
    if about.user.is_none() {
        about.user = path.to_str().and_then(user_in);
    }
    described
}

fn described_by(envelope: &Envelope<'_>, text: &str) -> Option<Described> {
    let payload = match envelope.payload {
        Some(payload) if text_of(envelope.kind).as_deref() == Some("session_meta") => payload.get(),
        None if envelope.is_flat_header() => text,
        _ => return None,
    };
    let meta: Meta<'_> = serde_json::from_str(payload).ok()?;
    Some(Described { session: session_of(&meta)?, about: of_meta(&meta) })
}

/// Returns the name of the session that a header is of.
pub(super) fn session_of(meta: &Meta<'_>) -> Option<String> {
    text_of(meta.id).or_else(|| text_of(meta.session_id)).filter(|id| !id.is_empty())
}

/// Returns what a header says of its session.
pub(super) fn of_meta(meta: &Meta<'_>) -> SessionStarted {
    #[derive(Deserialize)]
    struct Git<'a> {
        #[serde(borrow)]
        branch: Option<&'a RawValue>,
    }
    let mut about = SessionStarted {
        agent: Some("codex".to_owned()),
        agent_version: text_of(meta.cli_version),
        git_branch: value_of::<Git<'_>>(meta.git).and_then(|git| text_of(git.branch)),
        parent: parent_of(meta),
        ..SessionStarted::default()
    };
    if let Some(provider) = text_of(meta.model_provider) {
        about.other.insert(PROVIDER.to_owned(), Value::String(provider));
    }
    if let Some(task) = about.parent.is_none().then(|| subagent_task(meta)).flatten() {
        about.other.insert(SUBAGENT.to_owned(), Value::String(task));
    }
    set_cwd(&mut about, text_of(meta.cwd));
    about
}

/// Returns whether an agent gave the session its orders.
pub(super) fn is_subagent(about: &SessionStarted) -> bool {
    let by_parent = about.parent.as_ref().is_some_and(|parent| parent.kind == ParentKind::Subagent);
    by_parent || about.other.contains_key(SUBAGENT)
}

/// Reads `{"subagent": "review"}` and `{"subagent": {"other": "guardian"}}`.
fn subagent_task(meta: &Meta<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        other: Option<&'a RawValue>,
    }
    let subagent = subagent_of(meta);
    text_of(subagent).or_else(|| text_of(value_of::<Named<'_>>(subagent)?.other))
}

fn subagent_of<'a>(meta: &Meta<'a>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct Source<'a> {
        #[serde(borrow)]
        subagent: Option<&'a RawValue>,
    }
    value_of::<Source<'_>>(meta.source).and_then(|source| source.subagent)
}

fn set_cwd(about: &mut SessionStarted, cwd: Option<String>) {
    let Some(cwd) = cwd else { return };
    about.project = cwd.rsplit(['/', '\\']).find(|part| !part.is_empty()).map(str::to_owned);
    about.user = user_in(&cwd);
    about.cwd = Some(cwd);
}

fn parent_of(meta: &Meta<'_>) -> Option<ParentLink> {
    #[derive(Deserialize)]
    struct Spawned<'a> {
        #[serde(borrow)]
        thread_spawn: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Spawn<'a> {
        #[serde(borrow)]
        parent_thread_id: Option<&'a RawValue>,
    }
    let subagent = subagent_of(meta);
    let spawn = value_of::<Spawned<'_>>(subagent).and_then(|spawned| spawned.thread_spawn).or(subagent);
    let spawner = value_of::<Spawn<'_>>(spawn).and_then(|spawn| text_of(spawn.parent_thread_id));
    let link = |session, kind| ParentLink { session, kind, call_id: None };
    spawner
        .or_else(|| text_of(meta.parent_thread_id))
        .map(|parent| link(parent, ParentKind::Subagent))
        .or_else(|| text_of(meta.forked_from_id).map(|parent| link(parent, ParentKind::Fork)))
}

/// Returns the working folder that a user message of the flat generation tells.
fn cwd_in_message(envelope: &Envelope<'_>, text: &str) -> Option<String> {
    if envelope.payload.is_some() || text_of(envelope.role).as_deref() != Some("user") {
        return None;
    }
    let item: Item<'_> = serde_json::from_str(text).ok()?;
    messages::texts(item.content).iter().find_map(|text| messages::between(text, "<cwd>", "</cwd>"))
}

/// Returns the user whose home folder the path is in.
fn user_in(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let home = match parts.as_slice() {
        ["", "home" | "Users", user, ..] => user,
        [drive, users, user, ..] if drive.ends_with(':') && users.eq_ignore_ascii_case("users") => user,
        _ => return None,
    };
    Some((*home).to_owned()).filter(|user| !user.is_empty())
}

/// Returns the uuid at the end of the file's name, which is the session's.
fn uuid_of(path: &Path) -> Option<String> {
    const UUID_CHARS: usize = 36;
    let stem = stem_of(path);
    let uuid = stem.get(stem.len().checked_sub(UUID_CHARS)?..)?;
    let shaped = uuid.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    shaped.then(|| uuid.to_owned())
}

fn stem_of(path: &Path) -> String {
    // Rollouts are kept compressed as `.jsonl.zst` too.
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(".jsonl").next().unwrap_or_default().to_owned()
}
