//! Where agents keep their sessions.

use std::env;
use std::path::{Path, PathBuf};

/// A place to watch, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The agent.
    pub agent: &'static str,
    /// The folder.
    pub folder: PathBuf,
}

/// Returns the places of the agents on this machine that are there: the documented overrides, else the homes.
pub fn agent_places() -> Vec<Place> {
    places(env::home_dir().as_deref(), &|name| env::var_os(name).map(PathBuf::from))
        .into_iter()
        .filter(|place| place.folder.is_dir())
        .collect()
}

fn places(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Place> {
    let in_home = |path: &str| home.map(|home| home.join(path));
    let set = |name| variable(name).filter(|path| !path.as_os_str().is_empty());
    let mut places = Vec::new();
    let mut add = |agent, folder: Option<PathBuf>| {
        places.extend(folder.map(|folder| Place { agent, folder }));
    };
    match set("CLAUDE_CONFIG_DIR") {
        // Tools around Claude Code take several folders here, with commas between.
        Some(folders) => {
            for folder in
                folders.to_string_lossy().split(',').map(str::trim).filter(|folder| !folder.is_empty())
            {
                add("claude-code", Some(Path::new(folder).join("projects")));
            }
        }
        None => {
            add("claude-code", in_home(".claude/projects"));
            add("claude-code", in_home(".config/claude/projects"));
        }
    }
    add("claude-code", in_home("Library/Application Support/Claude/local-agent-mode-sessions"));
    let codex = set("CODEX_HOME").or_else(|| in_home(".codex"));
    for folder in ["sessions", "archived_sessions"] {
        add("codex", codex.as_ref().map(|codex| codex.join(folder)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
        };
        places(Some(Path::new("/home/ann")), &variable)
            .into_iter()
            .map(|place| place.folder.display().to_string())
            .collect()
    }

    #[test]
    fn overrides_take_the_place_of_homes() {
        assert_eq!(
            folders(&[]),
            [
                "/home/ann/.claude/projects",
                "/home/ann/.config/claude/projects",
                "/home/ann/Library/Application Support/Claude/local-agent-mode-sessions",
                "/home/ann/.codex/sessions",
                "/home/ann/.codex/archived_sessions",
            ]
        );
        let set = folders(&[("CLAUDE_CONFIG_DIR", "/a, /b"), ("CODEX_HOME", "/c")]);
        assert_eq!(set[..2], ["/a/projects", "/b/projects"]);
        assert_eq!(set[3..], ["/c/sessions", "/c/archived_sessions"]);
    }
}
