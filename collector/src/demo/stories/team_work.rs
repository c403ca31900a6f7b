//! A helper agent does a part, the model fails once, the context is compacted, and a call that could not be
//! taken back is refused.

use std::time::{Duration, Instant};

use agent_core::{
    Body, EndReason, Origin, ParentKind, ParentLink, SessionStarted, Status, Subagent, UserRated,
};
use serde_json::json;

use super::super::DemoError;
use super::super::agent::{Agent, Answer};
use super::super::project::Scratch;
use super::super::request::Request;
use super::super::tools::{
    DELEGATE, PUBLISH, READ_FILE, Ran, SHELL, UPDATE_PLAN, WRITE_FILE, millis, succeeded,
};
use super::{SYSTEM_PROMPT, ask, titled};

pub(super) const FILE: &str = "team-work.jsonl";
pub(super) const HELPER_FILE: &str = "team-work-helper.jsonl";

const PROJECT: &str = "scripts";
const RETRY_IN: Duration = Duration::from_millis(80);

const FILES: [(&str, &str); 7] = [
    ("bin/clean.sh", "# Removes what a build left behind.\nrm -rf build\n"),
    ("bin/count.sh", "# Counts the lines of the files given.\ncat \"$@\" | wc -l\n"),
    ("bin/greet.sh", "# Greets the one named.\necho \"Hello, $1!\"\n"),
    ("bin/stamp.sh", "# Prints the day.\ndate +%Y-%m-%d\n"),
    ("tests/count.sh", "[ \"$(sh bin/count.sh bin/greet.sh)\" -eq 2 ]\n"),
    ("tests/greet.sh", "[ \"$(sh bin/greet.sh Ada)\" = 'Hello, Ada!' ]\n"),
    ("notes/project.md", "Each script in bin/ has a test of the same name in tests/.\n"),
];

const PLAN: &str = "[ ] know the scripts\n[ ] find those without a test\n[ ] write report.md\n[ ] publish it";
const PLAN_BEFORE_PUBLISHING: &str =
    "[x] know the scripts\n[x] find those without a test\n[x] write report.md\n[ ] publish it";
const TASK: &str = "List the scripts in bin/ and say in a few words what each is for.";
const FIND_UNTESTED: &str =
    "for script in bin/*.sh; do [ -e \"tests/${script#bin/}\" ] || echo \"$script has no test\"; done";
const RUN_TESTS: &str =
    "for test in tests/*.sh; do sh \"$test\" && echo \"ok $test\"; done; cat bin/*.sh tests/*.sh";
const REPORT: &str = "# Scripts without a test\n- bin/clean.sh\n- bin/stamp.sh\n";
const SUMMARY: &str = "Summary of the work so far: bin/ holds clean, count, greet and stamp. clean and stamp have no \
test; the tests of count and greet pass. What is left: write report.md and publish it.";

pub(super) fn tell(scratch: &Scratch, suffix: &str) -> Result<(), DemoError> {
    let project = scratch.project(PROJECT, &FILES)?;
    let request =
        Request::new(SYSTEM_PROMPT, &[&SHELL, &READ_FILE, &WRITE_FILE, &UPDATE_PLAN, &DELEGATE, &PUBLISH]);
    let name = format!("demo-team-work-{suffix}");
    let mut agent = Agent::start(
        &scratch.path(FILE),
        &name,
        &project,
        request,
        titled("Report on scripts without tests"),
    )?;
    agent.recall("notes/project.md", "a file of the project that is always read")?;
    ask(&mut agent, "Which scripts in bin/ have no test? Write it to report.md and publish it.")?;
    agent.turn(Answer {
        text: "I make a plan first.",
        calls: vec![(&UPDATE_PLAN, json!({"plan": PLAN}))],
        ..Answer::default()
    })?;
    delegate(scratch, &mut agent)?;
    find_untested(&mut agent)?;
    agent.compact(SUMMARY)?;
    write_and_publish(&mut agent)
}

/// The turn in which the helper works.
fn delegate(scratch: &Scratch, agent: &mut Agent) -> Result<(), DemoError> {
    agent.begin_turn()?;
    let calls = agent.respond(Answer {
        text: "A helper can look through bin/.",
        calls: vec![(&DELEGATE, json!({"task": TASK}))],
        ..Answer::default()
    })?;
    for call in &calls {
        let session = format!("{}/helper", agent.session());
        let about = |status| Subagent {
            session: Some(session.clone()),
            call_id: Some(call.id.clone()),
            name: Some("helper".to_owned()),
            status,
            ..Default::default()
        };
        agent.attempt(call)?;
        agent.record(Body::SubagentStarted(about(None)))?;
        let started = Instant::now();
        let link = ParentLink {
            session: agent.session().to_owned(),
            kind: ParentKind::Subagent,
            call_id: Some(call.id.clone()),
        };
        let answer = help(scratch, &session, link)?;
        agent.record(Body::SubagentEnded(about(Some(Status::Completed))))?;
        agent.end_call(call, &Ran { duration_ms: millis(started), ..succeeded(answer) })?;
    }
    agent.end_turn(Status::Completed)
}

/// The helper's session; returns its answer.
fn help(scratch: &Scratch, session: &str, parent: ParentLink) -> Result<String, DemoError> {
    let about = SessionStarted { parent: Some(parent), ..titled("Look through bin/") };
    let request = Request::new(SYSTEM_PROMPT, &[&SHELL]);
    let mut helper =
        Agent::start(&scratch.path(HELPER_FILE), session, &scratch.path(PROJECT), request, about)?;
    helper.ask(TASK, Origin::Agent)?;
    helper.turn(Answer {
        text: "I list them.",
        calls: vec![(&SHELL, json!({"command": "ls bin"}))],
        ..Answer::default()
    })?;
    helper.turn(Answer {
        text: "The first line of each says what it is for.",
        calls: vec![(
            &SHELL,
            json!({"command": "for s in bin/*.sh; do echo \"$s: $(head -n 1 \"$s\")\"; done"}),
        )],
        ..Answer::default()
    })?;
    let answer =
        "clean.sh removes build output, count.sh counts lines, greet.sh greets, stamp.sh prints the day.";
    helper.turn(Answer { text: answer, ..Answer::default() })?;
    helper.end_run(Status::Completed, EndReason::Done)?;
    helper.end_session(Status::Completed, EndReason::Done)?;
    Ok(answer.to_owned())
}

/// Two turns; in the first the model fails once and is asked again.
fn find_untested(agent: &mut Agent) -> Result<(), DemoError> {
    agent.begin_turn()?;
    agent.fail_once(RETRY_IN)?;
    let calls = agent.respond(Answer {
        reasoning: "Each test has the name of its script: I look for scripts whose test is not there.",
        text: "Now I look for scripts without a test.",
        calls: vec![(&SHELL, json!({"command": FIND_UNTESTED}))],
    })?;
    for call in &calls {
        agent.run_call(call)?;
    }
    agent.end_turn(Status::Completed)?;
    agent.turn(Answer {
        text: "I run the tests that there are, and read everything once.",
        calls: vec![(&SHELL, json!({"command": RUN_TESTS}))],
        ..Answer::default()
    })?;
    Ok(())
}

fn write_and_publish(agent: &mut Agent) -> Result<(), DemoError> {
    agent.turn(Answer {
        text: "I write the report.",
        calls: vec![
            (&WRITE_FILE, json!({"path": "report.md", "content": REPORT})),
            (&UPDATE_PLAN, json!({"plan": PLAN_BEFORE_PUBLISHING})),
        ],
        ..Answer::default()
    })?;
    agent.turn(Answer {
        text: "Now I publish it.",
        calls: vec![(&PUBLISH, json!({"path": "report.md"}))],
        ..Answer::default()
    })?;
    agent.turn(Answer {
        text: "report.md names bin/clean.sh and bin/stamp.sh. I may not publish it without your consent: it lies ready.",
        ..Answer::default()
    })?;
    agent.end_run(Status::Completed, EndReason::NeedsUser)?;
    agent.record(Body::UserRated(UserRated {
        rating: Some(1.0),
        comment: Some("Right to ask before publishing.".to_owned()),
        ..Default::default()
    }))?;
    agent.end_session(Status::Completed, EndReason::NeedsUser)
}
