//! The stories that the example sessions tell.

mod broken_code;
mod mended_test;
mod team_work;

use agent_core::{Body, Origin, ScoreRecorded, SessionStarted, ToolStatus};

use super::DemoError;
use super::agent::Agent;
use super::project::Scratch;
use super::tools::Ran;

/// The files of the sessions, by their names in the demo's folder.
pub(super) const FILES: [&str; 4] =
    [mended_test::FILE, broken_code::FILE, team_work::FILE, team_work::HELPER_FILE];

/// What every agent here is told first.
const SYSTEM_PROMPT: &str = "You are a careful programmer who works in a small project by tools. Look before you \
change, change little, run the tests after each change, and say shortly what you did.";

/// Tells every story; the names of the sessions end in `suffix`.
pub(super) fn tell_all(scratch: &Scratch, suffix: &str) -> Result<(), DemoError> {
    mended_test::tell(scratch, suffix)?;
    broken_code::tell(scratch, suffix)?;
    team_work::tell(scratch, suffix)
}

fn titled(title: &str) -> SessionStarted {
    SessionStarted { title: Some(title.to_owned()), ..Default::default() }
}

fn ask(agent: &mut Agent, text: &str) -> Result<(), DemoError> {
    agent.ask(text, Origin::Human)
}

/// Records whether a test passed, as its exit code said.
fn score_tests(agent: &mut Agent, test: &Ran) -> Result<(), DemoError> {
    let passed = test.status == ToolStatus::Succeeded;
    agent.record(Body::ScoreRecorded(ScoreRecorded {
        name: "tests".to_owned(),
        value: Some(if passed { 1.0 } else { 0.0 }),
        label: Some(if passed { "passed" } else { "failed" }.to_owned()),
        by: Some("exit code of the last test run".to_owned()),
        ..Default::default()
    }))
}

/// Returns how the last tool of a turn ended.
fn last(ran: Vec<Ran>) -> Result<Ran, DemoError> {
    ran.into_iter().last().ok_or_else(|| DemoError::Script("the turn calls no tool".to_owned()))
}
