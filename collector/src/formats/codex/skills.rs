//! Skills: which ones the model is told of, and which it reads.

use agent_core::{Body, LearningNote};

use super::draft::{Draft, fact};
use super::messages::between;

/// Above the list of skills in what the runtime tells the model.
const LIST_HEAD: &str = "### Available skills\n";

/// The file that a skill is.
const SKILL_FILE: &str = "SKILL.md";

/// Commands that show a file, and no others: a skill that is written or searched for is not read.
const READERS: [&str; 10] =
    ["cat", "sed", "head", "tail", "nl", "less", "more", "bat", "Get-Content", "type"];

/// Adds `skill.listed` for each entry of the list of skills, where the text holds one.
pub(super) fn listed(draft: &mut Draft<'_>, text: &str) {
    let Some((_, list)) = text.split_once(LIST_HEAD) else { return };
    for line in list.lines().take_while(|line| !line.starts_with('#') && !line.starts_with("</")) {
        let Some((key, text)) = line.strip_prefix("- ").and_then(|entry| entry.split_once(": ")) else {
            continue;
        };
        let note = LearningNote {
            key: key.to_owned(),
            source: between(text, "(file: ", ")"),
            text: Some(text.to_owned()),
            ..LearningNote::default()
        };
        draft.push(fact("skill listed", &[line]), Body::SkillListed(note));
    }
}

/// Adds `skill.matched` where the runtime puts a skill's text before the model.
pub(super) fn given(draft: &mut Draft<'_>, text: &str) {
    if !text.trim_start().starts_with("<skill>") {
        return;
    }
    let Some(key) = between(text, "<name>", "</name>") else { return };
    let note = LearningNote {
        key,
        source: between(text, "<path>", "</path>"),
        text: Some(text.to_owned()),
        ..LearningNote::default()
    };
    draft.push(fact("skill given", &[text]), Body::SkillMatched(note));
}

/// Adds `skill.matched` for each skill file that the command of a tool call shows.
pub(super) fn read(draft: &mut Draft<'_>, call_id: &str, command: &str) {
    if !command.contains(SKILL_FILE) || command.contains("*** Begin Patch") {
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for path in files_read(command) {
        let Some(key) = skill_of(path) else { continue };
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        let note = LearningNote {
            key: key.to_owned(),
            source: Some(path.to_owned()),
            call_id: Some(call_id.to_owned()),
            ..LearningNote::default()
        };
        draft.push(fact("skill read", &[call_id, path]), Body::SkillMatched(note));
    }
}

/// Returns the words with the name of a skill file that stand after a command that shows files.
fn files_read(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for simple in command.split(['\n', ';', '|', '&']).flat_map(|part| part.split("\\n")) {
        let words = simple.split([' ', '"', '\'', '`', '(', ')', '{', '}', ',', '[', ']', ':']);
        let mut reading = false;
        for word in words {
            reading |= READERS.contains(&word);
            // From here on the command writes.
            if word.starts_with('>') {
                break;
            }
            if reading && word.trim_end_matches('\\').ends_with(SKILL_FILE) {
                found.push(word.trim_end_matches('\\'));
            }
        }
    }
    found
}

/// Returns the name of the skill whose file the path is: the folder's.
fn skill_of(path: &str) -> Option<&str> {
    let folder = path.strip_suffix(SKILL_FILE)?.trim_end_matches(['/', '\\']);
    folder.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shown_skill_files_count() {
        let cases: &[(&str, &[&str])] = &[
            ("sed -n '1,240p' /u/skills/github/SKILL.md", &["github"]),
            (r#"{"cmd":"cat /u/a/SKILL.md && head -5 \"/u/b/SKILL.md\""}"#, &["a", "b"]),
            (r#"tools.exec_command({cmd:"sed -n 1p /s/pdf/SKILL.md",workdir:"/w"})"#, &["pdf"]),
            ("cat > /u/skills/new/SKILL.md", &[]),
            ("rg --files -g SKILL.md /u", &[]),
            ("find / -name SKILL.md", &[]),
        ];
        for (command, expected) in cases {
            let found: Vec<&str> = files_read(command).into_iter().filter_map(skill_of).collect();
            assert_eq!(&found, expected, "{command}");
        }
    }
}
