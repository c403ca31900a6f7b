//! `cost`, `metrics`, `prices` and `budget`, from the data folder itself and by way of a Dashcam that runs on it.

use serde_json::{Value, json};

use crate::program::{Program, event, write};

/// Claude Sonnet 4.5 costs $3 in and $15 out for a million tokens; nobody knows the other model.
fn spent() -> Program {
    let program = Program::new();
    let path = program.files().join("one.jsonl");
    let said = |id: &str, model: &str, input: u64, output: u64| {
        json!({
            "response_id": id, "model": model, "finish_reason": "end_turn",
            "content": [{"type": "text", "text": "done"}],
            "usage": {"uncached_input": input, "cache_read": 3 * input, "output": output}, "usage_quality": "final",
        })
    };
    let events = [
        ("session.started", json!({"agent": "coder", "user": "ann", "tags": ["nightly"]})),
        ("user.messaged", json!({"text": "light"})),
        ("model.responded", said("r1", "claude-sonnet-4-5", 1000, 100)),
        ("user.messaged", json!({"text": "paint"})),
        ("model.responded", said("r2", "glow-worm-9000", 10, 5)),
    ];
    let lines: String =
        (1..).zip(&events).map(|(number, (kind, data))| event("s-one", number, kind, data)).collect();
    write(&path, &lines);
    program.json(&["import", path.to_str().expect("it is text")]);
    program
}

fn told(program: &Program, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = program.run(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn cost_is_the_same_by_both_ways_to_the_data() {
    let program = spent();
    let by_model = program.json(&["cost", "--by", "model"]);
    // 1000 at $3, 3000 at $0.30, 100 at $15.
    assert_eq!(by_model[0]["model"], "claude-sonnet-4-5");
    assert_eq!((&by_model[0]["cost_usd"], &by_model[0]["cost_status"]), (&json!("0.0054"), &json!("priced")));
    assert_eq!(by_model[1]["cost_status"], "unpriced");
    assert_eq!(by_model[1].get("cost_usd"), None, "what is not known is absent");
    assert_eq!(by_model[0]["cache_hit_ratio"], 0.75);
    let day = program.json(&["--tz", "Asia/Tokyo", "cost", "--by", "day"]);
    assert_eq!((day.len(), &day[0]["day"]), (1, &json!("2026-12-01")), "15:00 UTC is midnight there");
    let (text, notes, _) = told(&program, &["cost", "--by", "model"]);
    assert!(text.contains("$0.0054") && text.contains("TOTAL"), "{text}");
    assert!(
        notes.contains("unpriced: glow-worm-9000, 1 calls, 45 tokens: not in the price table"),
        "{notes}"
    );
    let row = &program.json(&["sessions"])[0];
    assert_eq!((&row["cost_usd"], &row["cost_status"]), (&json!("0.0054"), &json!("partly_unpriced")));
    assert_eq!(row["cache_hit_ratio"], 0.75);

    let _up = program.up(&[]);
    assert_eq!(program.json(&["cost", "--by", "model"]), by_model);
    assert_eq!(program.json(&["cost", "--user", "bob"])[0]["model_calls"], 0);
}

#[test]
fn metrics_have_a_line_for_each_group() {
    let program = spent();
    let task = &program.json(&["metrics", "task", "--by", "tag"])[0];
    assert_eq!(
        (&task["tag"], &task["runs"], &task["success_ratio"]),
        (&json!("nightly"), &json!(2), &json!(1.0))
    );
    let models = program.json(&["metrics", "model"]);
    let names: Vec<&Value> = models.iter().map(|line| &line["model"]).collect();
    assert_eq!(names.len(), 2);
    let (text, _, _) = told(&program, &["metrics"]);
    assert!(text.contains("SUCCESS (> 80.0 %)") && text.contains("100.0 %"), "{text}");
    assert!(program.json(&["metrics", "tool"]).is_empty());
}

#[test]
fn own_prices_are_taken_in_and_applied() {
    let program = spent();
    let listed = program.json(&["prices", "list", "claude-sonnet-4-5"]);
    assert!(listed.iter().any(|price| price["usd_per_million_tokens"]["input"] == "3.00"), "{listed:?}");
    let file = program.files().join("ours.json");
    let path = file.to_str().expect("it is text");
    write(
        &file,
        r#"[{"model":"glow-worm-9000","usd_per_million_tokens":{"input":"2","cache_read":"1","output":"4"}}]"#,
    );
    let (_, notes, code) = told(&program, &["prices", "import", path]);
    assert!(code == Some(0) && notes.contains("1 prices taken in"), "{notes}");
    let (_, notes, _) = told(&program, &["prices", "apply"]);
    // 10 at $2, 30 at $1, 5 at $4 come on top of $0.0054.
    assert!(notes.contains("1 sessions changed, from $0.0054 to $0.0055"), "{notes}");
    let row = &program.json(&["sessions"])[0];
    assert_eq!((&row["cost_usd"], &row["cost_status"]), (&json!("0.00547"), &json!("priced")));
    let (text, _, _) = told(&program, &["prices", "diff"]);
    assert!(text.contains("added: any/glow-worm-9000"), "{text}");

    write(&file, "[{\"model\": \"x\",\n \"prise\": 1}]");
    let (_, error, code) = told(&program, &["prices", "import", path]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("ours.json") && error.contains("prise") && error.contains("line 2"), "{error}");
}

#[test]
fn a_ceiling_is_set_listed_and_taken_away() {
    let program = spent();
    let (_, notes, _) = told(&program, &["budget"]);
    assert!(notes.contains("no ceiling is set"), "{notes}");
    let line = &program.json(&["budget", "12.50", "--user", "ann", "--why", "a trial"])[0];
    assert_eq!(
        (&line["scope"], &line["name"], &line["ceiling_usd"]),
        (&json!("user"), &json!("ann"), &json!("12.50"))
    );
    let _up = program.up(&[]);
    assert_eq!(program.json(&["budget", "200"]).len(), 2);
    assert_eq!(program.json(&["budget", "--remove", "--user", "ann"]).len(), 1);
    let (_, error, code) = told(&program, &["budget", "nothing"]);
    assert!(code == Some(2) && error.contains("a number of dollars above 0"), "{error}");
}
