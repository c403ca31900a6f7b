//! Events that are there to be passed over: what came into the context, skills, memory.

use agent_core::{Body, LearningNote};

/// Names given of one kind.
const NAMES: usize = 4;

/// Neighbouring quiet events, put together to one line.
#[derive(Default)]
pub(super) struct Quiet {
    groups: Vec<Group>,
}

struct Group {
    what: &'static str,
    count: usize,
    /// The first names, and how often each came.
    names: Vec<(String, usize)>,
}

impl Quiet {
    /// Takes the event when it is a quiet one; returns whether it is.
    pub(super) fn take(&mut self, body: &Body) -> bool {
        match body {
            Body::ContextAdded(added) => {
                let kind = added.kind.map_or("state", agent_core::ChunkKind::as_str);
                let name = added.source.as_deref().or(added.reason.as_deref());
                self.add(
                    "added to the context",
                    &match name {
                        Some(name) => format!("{} ({name})", kind.replace('_', " ")),
                        None => kind.replace('_', " "),
                    },
                );
            }
            Body::MemoryWritten(note) => self.note("memory written", note),
            Body::MemoryRecalled(note) => self.note("memory recalled", note),
            Body::MemoryRejected(note) => self.note("memory rejected", note),
            Body::MemoryEvicted(note) => self.note("memory evicted", note),
            Body::SkillListed(note) => self.note("skills listed", note),
            Body::SkillMatched(note) => self.note("skill called", note),
            Body::SkillRejected(note) => self.note("skill rejected", note),
            Body::SkillCreated(note) => self.note("skill created", note),
            Body::SkillUpdated(note) => self.note("skill updated", note),
            Body::SkillDeprecated(note) => self.note("skill deprecated", note),
            Body::SkillWriteRejected(note) => self.note("skill not written", note),
            _ => return false,
        }
        true
    }

    fn note(&mut self, what: &'static str, note: &LearningNote) {
        self.add(what, &note.key);
    }

    fn add(&mut self, what: &'static str, name: &str) {
        let at = self.groups.iter().position(|group| group.what == what).unwrap_or_else(|| {
            self.groups.push(Group { what, count: 0, names: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        group.count += 1;
        let known = group.names.iter().position(|(known, _)| known == name);
        match known {
            Some(at) => group.names[at].1 += 1,
            None if group.names.len() < NAMES => group.names.push((name.to_owned(), 1)),
            None => {}
        }
    }

    /// Returns a line a group, and forgets them.
    pub(super) fn lines(&mut self) -> Vec<String> {
        let groups = std::mem::take(&mut self.groups);
        groups.iter().map(Group::line).collect()
    }
}

impl Group {
    fn line(&self) -> String {
        let named: usize = self.names.iter().map(|(_, count)| count).sum();
        let more = self.count - named;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let name = |(name, count): &(String, usize)| match count {
            1 => name.clone(),
            count => format!("{name} ×{count}"),
        };
        let names: Vec<String> = self.names.iter().map(name).collect();
        format!("{}: {}{more}", self.what, names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_counted_together() {
        let mut quiet = Quiet::default();
        let skill = |key: &str| Body::SkillListed(LearningNote { key: key.to_owned(), ..Default::default() });
        for key in ["a", "b", "a", "c", "d", "e", "f"] {
            assert!(quiet.take(&skill(key)));
        }
        assert!(
            quiet.take(&Body::MemoryRecalled(LearningNote { key: "m".to_owned(), ..Default::default() }))
        );
        assert!(!quiet.take(&Body::RunStarted(agent_core::RunStarted::default())));
        assert_eq!(quiet.lines(), ["skills listed: a ×2, b, c, d and 2 more", "memory recalled: m"]);
        assert!(quiet.lines().is_empty());
    }
}
