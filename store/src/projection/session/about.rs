//! What is said of a session: who works on what, and where it comes from.

use agent_core::{Event, ParentKind, SessionStarted, SessionTitled, TurnStarted};

use super::super::text::{hash64, preview};
use super::Session;
use super::names::add_name;

impl Session {
    /// Merges what is said of the session: a later word on a field counts.
    pub(in crate::projection) fn describe(&mut self, about: &SessionStarted) {
        self.changed = true;
        let row = &mut self.row;
        let fields = [
            (&mut row.agent, &about.agent),
            (&mut row.agent_version, &about.agent_version),
            (&mut row.user, &about.user),
            (&mut row.project, &about.project),
            (&mut row.cwd, &about.cwd),
            (&mut row.git_branch, &about.git_branch),
            (&mut row.permission_mode, &about.permission_mode),
        ];
        for (kept, said) in fields {
            if said.is_some() {
                kept.clone_from(said);
            }
        }
        for tag in &about.tags {
            add_name(&mut self.row.tags, tag);
        }
        if let Some(title) = &about.title {
            self.titled(title);
        }
        if let Some(parent) = &about.parent {
            let row = &mut self.row;
            if self.carry.copy_of.is_none() {
                self.parent = Some(hash64(&parent.session));
            }
            // One source may know the call, and another of the same session not.
            if parent.call_id.is_some() || row.parent.as_ref() != Some(&parent.session) {
                row.parent_call.clone_from(&parent.call_id);
            }
            row.parent = Some(parent.session.clone());
            row.parent_kind = Some(parent.kind.as_str().to_owned());
        }
    }

    /// Takes a title. One that the user gave stays, whatever others come after it; and a summary that follows
    /// a step which is not known here is another session's.
    pub(super) fn take_title(&mut self, event: &Event, titled: &SessionTitled) {
        let by = titled.other.get("by").and_then(serde_json::Value::as_str);
        let is_known = |step: &str| self.steps.contains_key(&hash64(step));
        let is_anothers = by == Some("summary") && !event.after.as_deref().is_some_and(is_known);
        let by_user = by == Some("user");
        if is_anothers || (self.carry.titled_by_user && !by_user) {
            return;
        }
        self.carry.titled_by_user |= by_user;
        self.titled(&titled.title);
    }

    pub(super) fn titled(&mut self, title: &str) {
        self.row.title = Some(preview(title));
        self.carry.titled = true;
    }

    /// Returns the hash of its parent's name.
    pub(in crate::projection) fn parent(&self) -> Option<u64> {
        self.parent
    }

    /// Returns whether its first message has been seen; from then on it has.
    pub(in crate::projection) fn take_root(&mut self) -> bool {
        self.changed = true;
        std::mem::replace(&mut self.carry.rooted, true)
    }

    /// Says that no other session began with its first message before.
    pub(in crate::projection) fn set_root(&mut self, root: u64) {
        self.row.root = Some(root);
    }

    /// Says that the session begins as `parent` does. A sub-agent's session that does so was copied along with
    /// its own parent; another that has said itself where it comes from stays by that.
    pub(in crate::projection) fn fork_of(&mut self, parent: &str) {
        if self.row.parent.is_none() {
            self.parent = Some(hash64(parent));
            self.row.parent = Some(parent.to_owned());
            self.row.parent_kind = Some(ParentKind::Fork.as_str().to_owned());
        } else if self.row.parent_kind.as_deref() == Some(ParentKind::Subagent.as_str()) {
            self.parent = Some(hash64(parent));
            self.carry.copy_of = Some(parent.to_owned());
        }
    }

    /// Says that an event of the parent's `turn` stands in this session too.
    pub(super) fn shares_turn(&mut self, turn: u32) {
        if self.row.parent_kind.as_deref() == Some(ParentKind::Fork.as_str()) {
            self.row.parent_turn = self.row.parent_turn.max(Some(turn));
        }
    }

    /// Sets the format that the session was first read from.
    pub(in crate::projection) fn set_source(&mut self, source: &str) {
        self.row.source.get_or_insert_with(|| source.to_owned());
    }

    /// Takes what holds for the responses that come.
    pub(super) fn set_defaults(&mut self, turn: &TurnStarted) {
        for (kept, said) in [
            (&mut self.carry.model, &turn.model),
            (&mut self.carry.provider, &turn.provider),
            (&mut self.row.permission_mode, &turn.permission_mode),
        ] {
            if said.is_some() {
                kept.clone_from(said);
            }
        }
    }
}
