//! Figures over sessions, against tales that were counted by hand.

use agent_core::{Body, BudgetPeriod, BudgetScope, BudgetSet, PicoUsd, Timestamp};
use jiff::tz::TimeZone;
use store::metrics::{Group, LearningKind, Scope, TaskFigures, ToolFigures};

use crate::support::Tale;

/// Lines are told a second apart from 2023-11-14T22:13:21Z on.
fn second(n: i64) -> Timestamp {
    Timestamp::from_micros((1_700_000_000 + n) * 1_000_000)
}

fn tasks(tale: &Tale, scope: &Scope) -> TaskFigures {
    tale.store.tasks(scope, &[], &TimeZone::UTC).expect("figures").remove(0)
}

/// Five tasks in `s`: done, done on the second asking, broken off, done, failed. One more in `t`.
fn two_sessions() -> Tale {
    let mut tale = Tale::new();
    tale.tell(
        "s",
        r#"about agent=coder version=1.2 by=ann project=lamp tags=nightly,big
           user light
           said one id=r1 model=m1
           user light
           said two id=r2 model=m1
           said more id=r3 model=m1
           user paint
           said three id=r4 model=m2
           interrupted
           user rest
           said five id=r6 model=m2
           user mend
           failed overload"#,
    );
    tale.tell(
        "t",
        "about agent=writer by=bob
         user draft
         said four id=r5 model=m1",
    );
    tale
}

#[test]
fn tasks_are_counted_by_how_they_end() {
    let tale = two_sessions();
    let all = tasks(&tale, &Scope::default());
    assert_eq!((all.runs, all.sessions), (6, 2));
    assert_eq!((all.completed, all.cancelled, all.failed), (4, 1, 1));
    assert_eq!(all.success_ratio(), Some(4.0 / 6.0));
    assert_eq!((all.retried, all.interrupted), (1, 1));
    // 1, 2, 1, 1, none where no model answered, 1.
    assert_eq!(all.mean_turns, Some(1.2));
}

#[test]
fn a_scope_takes_what_fits_it() {
    let tale = two_sessions();
    let named = |change: fn(&mut Scope, Option<String>), name: &str| {
        let mut scope = Scope::default();
        change(&mut scope, Some(name.to_owned()));
        tasks(&tale, &scope).runs
    };
    assert_eq!(named(|scope, name| scope.agent = name, "coder"), 5);
    assert_eq!(named(|scope, name| scope.user = name, "bob"), 1);
    assert_eq!(named(|scope, name| scope.project = name, "lamp"), 5);
    assert_eq!(named(|scope, name| scope.version = name, "1.2"), 5);
    assert_eq!(named(|scope, name| scope.tag = name, "big"), 5);
    assert_eq!(named(|scope, name| scope.tag = name, "bi"), 0);
    assert_eq!(named(|scope, name| scope.model = name, "m2"), 2);
    // "light" is asked at second 2 and again at second 4, "draft" at second 2.
    let scope = Scope { from: Some(second(3)), to: Some(second(5)), ..Scope::default() };
    assert_eq!(tasks(&tale, &scope).runs, 1);
}

#[test]
fn groups_are_days_of_the_zone_and_names() {
    let tale = two_sessions();
    let days = |zone: &str| {
        let zone = TimeZone::get(zone).expect("a zone");
        let rows = tale.store.tasks(&Scope::default(), &[Group::Day], &zone).expect("figures");
        rows.into_iter().map(|row| (row.groups[0].clone().expect("a day"), row.runs)).collect::<Vec<_>>()
    };
    assert_eq!(days("UTC"), [("2023-11-14".to_owned(), 6)]);
    assert_eq!(days("Asia/Tokyo"), [("2023-11-15".to_owned(), 6)]);
    let tags = tale.store.tasks(&Scope::default(), &[Group::Tag], &TimeZone::UTC).expect("figures");
    let mut tags: Vec<_> = tags.into_iter().map(|row| (row.groups[0].clone(), row.runs)).collect();
    tags.sort();
    assert_eq!(tags, [(Some("big".to_owned()), 5), (Some("nightly".to_owned()), 5)]);
    let models = tale.store.spend(&Scope::default(), &[Group::Model], &TimeZone::UTC).expect("figures");
    let mut models: Vec<_> =
        models.into_iter().map(|row| (row.groups[0].clone(), row.calls, row.failed_calls)).collect();
    models.sort();
    assert_eq!(models, [(None, 0, 1), (Some("m1".to_owned()), 4, 0), (Some("m2".to_owned()), 2, 0)]);
}

#[test]
fn runs_of_sub_agents_are_no_tasks_but_their_calls_are_calls() {
    let mut tale = two_sessions();
    tale.open_child("s/child", "s");
    tale.tell(
        "s/child",
        "user look
         said found id=r9
         call c1 read
         result c1 succeeded lines",
    );
    assert_eq!(tasks(&tale, &Scope::default()).runs, 6);
    let all = tale.store.spend(&Scope::default(), &[], &TimeZone::UTC).expect("figures");
    assert_eq!((all[0].calls, all[0].sessions), (7, 3));
    let tools = tale.store.all_tools(&Scope::default(), &[], &TimeZone::UTC).expect("figures");
    assert_eq!((tools[0].calls, tools[0].succeeded), (1, 1));
}

/// A scope between two quarters of an hour is added up from sums, another one call by call.
#[test]
fn sums_by_quarters_are_those_of_the_calls() {
    let mut tale = two_sessions();
    // A later batch amends a call that was summed before, and adds one.
    tale.tell("s", "said tail id=r6 in=7 out=9 model=m2 cost=0.01");
    tale.tell("t", "said next id=r7 in=5 cached=4 out=3 model=m3");
    let (start, end) = (second(-1001), second(9999));
    let exact = Scope { from: Some(start), to: Some(end), ..Scope::default() };
    let rounded = |at: Timestamp| Timestamp::from_micros(at.micros() / 900_000_000 * 900_000_000);
    let quarters = Scope { from: Some(rounded(start)), to: Some(rounded(end)), ..Scope::default() };
    for groups in [&[][..], &[Group::Model], &[Group::Day, Group::Model], &[Group::Session], &[Group::User]] {
        let sorted = |scope: &Scope| {
            let mut rows = tale.store.spend(scope, groups, &TimeZone::UTC).expect("figures");
            rows.sort_by(|a, b| a.groups.cmp(&b.groups));
            rows
        };
        assert_eq!(sorted(&quarters), sorted(&exact), "{groups:?}");
    }
    let all = &tale.store.spend(&quarters, &[], &TimeZone::UTC).expect("figures")[0];
    assert_eq!((all.calls, all.failed_calls), (7, 1));
    assert_eq!((all.uncached_input_tokens, all.cache_read_tokens, all.output_tokens), (12, 4, 12));
    assert_eq!(all.reported_cost_usd, Some(PicoUsd(10_000_000_000)));
}

#[test]
fn the_user_may_go_back_or_say_that_it_is_asked_again() {
    let tale = Tale::of(
        "user light
         said one id=r1
         user other after=s1
         said two id=r2
         retried
         user third
         said three id=r3
         user fourth
         said four id=r4",
    );
    // "other" goes back behind the first request, "third" is said to be a retry, "fourth" is new.
    assert_eq!(tasks(&tale, &Scope::default()).retried, 2);
}

#[test]
fn edits_are_kept_when_they_succeeded_and_nobody_changed_them() {
    let tale = Tale::of(
        "user ask
         said one id=r1
         call c1 Edit
         call c2 Write
         call c3 Edit
         call c4 Bash
         result c1 succeeded ok
         result c2 rejected no
         result c3 succeeded ok
         result c4 succeeded ok
         edited changed=3",
    );
    let all = tasks(&tale, &Scope::default());
    assert_eq!((all.edits, all.edits_kept, all.kept_ratio()), (3, 1, Some(1.0 / 3.0)));
}

#[test]
fn tools_are_counted_by_how_their_calls_end() {
    let tale = Tale::of(
        r#"user ask
           said one id=r1 model=m1
           call c1 run {"command":"make"}
           call c2 run {"command":"ls"}
           call c3 run {"command":"sleep"}
           call c4 read
           result c1 failed /a/b.c:12:error
           result c2 succeeded files
           reported c3 failed error=timed-out code=124 ms=120000
           result c3 failed -
           result c4 rejected no
           user ask
           said two id=r2 model=m2
           call c5 run {"command":"make"}
           result c5 failed /x/y.c:7:error"#,
    );
    let tools = tale.store.tools(&Scope::default(), &[], &TimeZone::UTC).expect("figures");
    let run = &tools[0];
    assert_eq!((run.tool.as_deref(), run.calls, run.succeeded, run.failed), (Some("run"), 4, 1, 3));
    assert_eq!((run.timed_out, run.success_ratio()), (1, Some(0.25)));
    // The calls took 4 s (c1), 4 s (c2), 120 s (c3, as reported) and 1 s (c5).
    assert_eq!((run.p50_ms, run.p99_ms), (Some(4000), Some(120_000)));
    assert_eq!(
        tools[1],
        ToolFigures {
            tool: Some("read".to_owned()),
            calls: 1,
            sessions: 1,
            rejected: 1,
            p50_ms: Some(5000),
            p95_ms: Some(5000),
            p99_ms: Some(5000),
            output_bytes: 4,
            ..Default::default()
        }
    );
    let of_m2 = Scope { model: Some("m2".to_owned()), ..Scope::default() };
    assert_eq!(tale.store.tools(&of_m2, &[], &TimeZone::UTC).expect("figures")[0].calls, 1);
    let errors = tale.store.tool_errors(&Scope::default(), 10).expect("figures");
    assert_eq!((errors[0].signature.as_str(), errors[0].calls), ("<path>", 2));
    assert_eq!((errors[0].last_session.as_str(), errors[0].last_turn), ("s", 2));
}

#[test]
fn memories_and_skills_are_followed_into_their_tasks() {
    let tale = Tale::of(
        "user ask
         written rules
         listed pdf
         listed docx
         recalled rules
         matched pdf
         said one id=r1
         user again
         recalled rules
         failed overload
         write-rejected pdf",
    );
    let memories = tale.store.learned(LearningKind::Memory, &Scope::default()).expect("figures");
    let rules = &memories[0];
    assert_eq!((rules.key.as_deref(), rules.written, rules.used), (Some("rules"), 1, 2));
    assert_eq!((rules.tasks, rules.failed_tasks), (2, 1));
    let failures = tale.store.recalled_in_failures(&Scope::default(), 10).expect("figures");
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].turn, failures[0].error.as_deref()), (2, Some("overload")));
    let skills = tale.store.learning(LearningKind::Skill, &Scope::default(), &[], &TimeZone::UTC);
    let skills = &skills.expect("figures")[0];
    assert_eq!((skills.listed, skills.used, skills.write_rejected, skills.keys), (2, 1, 1, 2));
    let unused = tale.store.unused_skills(&Scope::default()).expect("figures");
    assert_eq!(unused.iter().map(|skill| skill.skill.as_str()).collect::<Vec<_>>(), ["docx"]);
    let growth = tale.store.first_seen(LearningKind::Memory, &Scope::default(), &TimeZone::UTC);
    assert_eq!(growth.expect("figures"), [("2023-11-14".to_owned(), 1)]);
}

#[test]
fn the_last_ceiling_of_each_kind_holds() {
    let tale = two_sessions();
    let set = |scope, name: &str, dollars: Option<i128>| {
        let budget_usd = dollars.map(|dollars| PicoUsd(dollars * 1_000_000_000_000));
        let budget = BudgetSet {
            scope: Some(scope),
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            budget_usd,
            by: Some("ann".to_owned()),
            ..Default::default()
        };
        tale.store.decide(Body::BudgetSet(budget)).expect("it is written");
    };
    set(BudgetScope::All, "", Some(100));
    set(BudgetScope::User, "bob", Some(20));
    set(BudgetScope::All, "", Some(150));
    set(BudgetScope::User, "eve", Some(5));
    set(BudgetScope::User, "eve", None);
    let budgets = tale.store.budgets().expect("ceilings");
    let shown: Vec<_> = budgets
        .iter()
        .map(|budget| (budget.scope, budget.name.as_str(), budget.ceiling_usd.to_string()))
        .collect();
    assert_eq!(
        shown,
        [(BudgetScope::All, "", "150.00".to_owned()), (BudgetScope::User, "bob", "20.00".to_owned())]
    );
    assert!(budgets.iter().all(|budget| budget.period == BudgetPeriod::Month));
    assert_eq!(tale.store.budget_history().expect("ceilings").len(), 5);
    // They are of no session.
    assert_eq!(tale.store.sessions(&Default::default(), second(0)).expect("sessions").sessions.len(), 2);
}
