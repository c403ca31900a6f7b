//! A test fails, the agent mends the code, the test passes.

use agent_core::{EndReason, Status};
use serde_json::json;

use super::super::DemoError;
use super::super::agent::{Agent, Answer};
use super::super::project::Scratch;
use super::super::request::Request;
use super::super::tools::{EDIT_FILE, READ_FILE, SHELL, UPDATE_PLAN, WRITE_FILE};
use super::{SYSTEM_PROMPT, ask, last, score_tests, titled};

pub(super) const FILE: &str = "mended-test.jsonl";

const FILES: [(&str, &str); 4] = [
    ("greet.sh", "#!/bin/sh\n# Prints a greeting for the name given.\nname=$1\necho \"Hello, name!\"\n"),
    ("test.sh", TEST),
    (
        "notes/style.md",
        "Scripts are plain POSIX sh.\nWhat changed goes into CHANGES.md, one line a change.\n",
    ),
    ("skills/mend-a-test.md", SKILL),
];

const TEST: &str = r#"#!/bin/sh
# Fails when the greeting is not as it should be.
got=$(sh greet.sh Ada)
want="Hello, Ada!"
if [ "$got" != "$want" ]; then
    echo "FAIL greet.sh Ada: got '$got', want '$want'"
    exit 1
fi
echo "ok greet.sh Ada"
"#;

const SKILL: &str = "# Mend a failing test
1. Run the test and read its message.
2. Read the code that it tests.
3. Change the code, not the test.
4. Run the test again.
";

pub(super) fn tell(scratch: &Scratch, suffix: &str) -> Result<(), DemoError> {
    let project = scratch.project("greeter", &FILES)?;
    let request = Request::new(SYSTEM_PROMPT, &[&SHELL, &READ_FILE, &WRITE_FILE, &EDIT_FILE, &UPDATE_PLAN]);
    let name = format!("demo-mended-test-{suffix}");
    let mut agent =
        Agent::start(&scratch.path(FILE), &name, &project, request, titled("Mend a failing test"))?;
    agent.recall("notes/style.md", "a file of the project that is always read")?;
    ask(&mut agent, "test.sh fails. Please mend greet.sh, not the test.")?;
    agent.use_skill("mend-a-test", "skills/mend-a-test.md", "the request speaks of a test that fails")?;
    agent.turn(Answer {
        reasoning: "The skill says to run the test first and read what it says.",
        text: "I run the test to see how it fails.",
        calls: vec![
            (&UPDATE_PLAN, json!({"plan": "[ ] see the failure\n[ ] mend greet.sh\n[ ] note the change"})),
            (&SHELL, json!({"command": "sh test.sh"})),
        ],
    })?;
    agent.turn(Answer {
        text: "The name itself is missing in the greeting. I read the script.",
        calls: vec![(&READ_FILE, json!({"path": "greet.sh"}))],
        ..Answer::default()
    })?;
    agent.turn(Answer {
        reasoning: "`name` stands in the text without its dollar sign, so that sh prints the word.",
        text: "The dollar sign is missing before `name`.",
        calls: vec![(&EDIT_FILE, json!({"path": "greet.sh", "old": "Hello, name!", "new": "Hello, $name!"}))],
    })?;
    let test = last(agent.turn(Answer {
        text: "Now the test again.",
        calls: vec![(&SHELL, json!({"command": "sh test.sh"}))],
        ..Answer::default()
    })?)?;
    agent.turn(Answer {
        text: "It passes. The notes ask for a line in CHANGES.md.",
        calls: vec![
            (
                &WRITE_FILE,
                json!({"path": "CHANGES.md", "content": "- greet.sh prints the name that it is given.\n"}),
            ),
            (&UPDATE_PLAN, json!({"plan": "[x] see the failure\n[x] mend greet.sh\n[x] note the change"})),
        ],
        ..Answer::default()
    })?;
    agent.turn(Answer {
        text: "Done: greet.sh printed the word `name` because its dollar sign was missing. test.sh passes now.",
        ..Answer::default()
    })?;
    score_tests(&mut agent, &test)?;
    agent.end_run(Status::Completed, EndReason::Done)?;
    agent.end_session(Status::Completed, EndReason::Done)
}
