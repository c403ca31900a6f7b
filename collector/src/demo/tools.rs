//! The tools of the example agent. They really run, in the project's folder.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use agent_core::ToolStatus;
use serde_json::{Value, json};

use super::project::{read, write};
use super::{DemoError, failed};

/// A tool as the model is told of it.
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    /// The names of its inputs, all texts.
    inputs: &'static [&'static str],
    pub(super) risk: &'static str,
}

pub(super) const SHELL: Tool = Tool {
    name: "shell",
    description: "Runs a command with sh in the project's folder and returns what it prints.",
    inputs: &["command"],
    risk: "L2",
};
pub(super) const READ_FILE: Tool =
    Tool { name: "read_file", description: "Returns a file of the project.", inputs: &["path"], risk: "L0" };
pub(super) const WRITE_FILE: Tool = Tool {
    name: "write_file",
    description: "Writes a file of the project, in place of what was there.",
    inputs: &["path", "content"],
    risk: "L1",
};
pub(super) const EDIT_FILE: Tool = Tool {
    name: "edit_file",
    description: "Replaces a text that stands exactly once in a file.",
    inputs: &["path", "old", "new"],
    risk: "L1",
};
pub(super) const UPDATE_PLAN: Tool = Tool {
    name: "update_plan",
    description: "Sets the plan: one step a line, done steps marked with x.",
    inputs: &["plan"],
    risk: "L0",
};
pub(super) const DELEGATE: Tool = Tool {
    name: "delegate",
    description: "Gives a task to a helper agent and returns its answer.",
    inputs: &["task"],
    risk: "L1",
};
pub(super) const PUBLISH: Tool = Tool {
    name: "publish",
    description: "Sends a file to the public page. It cannot be taken back.",
    inputs: &["path"],
    risk: "L3",
};

impl Tool {
    pub(super) fn schema(&self) -> Value {
        let properties: serde_json::Map<String, Value> =
            self.inputs.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let inputs = json!({"type": "object", "properties": properties, "required": self.inputs});
        json!({"name": self.name, "description": self.description, "input_schema": inputs})
    }
}

/// How a tool ended.
pub(super) struct Ran {
    pub(super) status: ToolStatus,
    pub(super) output: String,
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: u64,
}

/// Runs a tool in the project's folder.
pub(super) fn run(name: &str, input: &Value, project: &Path) -> Result<Ran, DemoError> {
    let started = Instant::now();
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let mut ran = match name {
        "shell" => shell(text("command"), project)?,
        "read_file" => read_file(&project.join(text("path"))),
        "write_file" => {
            write(&project.join(text("path")), text("content"))?;
            succeeded(format!("wrote {} bytes to {}", text("content").len(), text("path")))
        }
        "edit_file" => edit_file(&project.join(text("path")), text("old"), text("new"))?,
        "update_plan" => succeeded("the plan is set".to_owned()),
        _ => return Err(DemoError::Script(format!("nobody runs the tool {name:?}"))),
    };
    ran.duration_ms = millis(started);
    Ok(ran)
}

pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn succeeded(output: String) -> Ran {
    Ran { status: ToolStatus::Succeeded, output, exit_code: None, duration_ms: 0 }
}

fn not_done(output: String) -> Ran {
    Ran { status: ToolStatus::Failed, ..succeeded(output) }
}

fn shell(command: &str, project: &Path) -> Result<Ran, DemoError> {
    let shown = Command::new("sh")
        .args(["-c", command])
        .current_dir(project)
        // The shell's own messages are the same in every country.
        .env("LC_ALL", "C")
        .output()
        .map_err(|cause| DemoError::Shell { command: command.to_owned(), cause })?;
    let output = [shown.stdout, shown.stderr].concat();
    let status = if shown.status.success() { ToolStatus::Succeeded } else { ToolStatus::Failed };
    Ok(Ran {
        status,
        output: String::from_utf8_lossy(&output).into_owned(),
        exit_code: shown.status.code().map(i64::from),
        duration_ms: 0,
    })
}

fn read_file(path: &Path) -> Ran {
    match read(path) {
        Ok(content) => succeeded(content),
        Err(error) => not_done(error.to_string()),
    }
}

fn edit_file(path: &Path, old: &str, new: &str) -> Result<Ran, DemoError> {
    let content = std::fs::read_to_string(path).map_err(failed("read", path))?;
    let found = content.matches(old).count();
    if found != 1 {
        return Ok(not_done(format!(
            "the text to replace stands {found} times in the file; nothing was changed"
        )));
    }
    write(path, &content.replacen(old, new, 1))?;
    Ok(succeeded("1 place changed".to_owned()))
}
