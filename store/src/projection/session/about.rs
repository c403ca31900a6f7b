//! What is said of a session: who works on what, and where it comes from.

use agent_core::{ParentKind, SessionStarted, TurnStarted};

use super::super::text::{hash64, preview};
use super::Session;

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
        if let Some(title) = &about.title {
            self.titled(title);
        }
        if let Some(parent) = &about.parent {
            let row = &mut self.row;
            self.parent = Some(hash64(&parent.session));
            row.parent = Some(parent.session.clone());
            row.parent_kind = Some(parent.kind.as_str().to_owned());
            row.parent_call.clone_from(&parent.call_id);
        }
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

    /// Says that the session begins as `parent` does, unless it has said itself where it comes from.
    pub(in crate::projection) fn fork_of(&mut self, parent: &str) {
        if self.row.parent.is_none() {
            self.parent = Some(hash64(parent));
            self.row.parent = Some(parent.to_owned());
            self.row.parent_kind = Some(ParentKind::Fork.as_str().to_owned());
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
