//! Costs, against the providers' published rules, and against another program over the same public data.

use std::path::Path;

use agent_core::price::{Change, Complaint, CostStatus, PriceTable, ServiceTier};
use agent_core::{PicoUsd, Timestamp, Usage};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A case of `golden.jsonl`.
#[derive(Deserialize)]
struct Golden {
    rule: String,
    provider: Option<String>,
    model: String,
    at: Timestamp,
    service: Option<ServiceTier>,
    usage: Usage,
    status: CostStatus,
    cost_usd: Option<PicoUsd>,
}

/// A case of `grid.jsonl`.
#[derive(Deserialize)]
struct OfGrid {
    provider: String,
    model: String,
    usage: Usage,
    cost_usd: PicoUsd,
}

fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prices").join(name);
    let text = std::fs::read_to_string(path).expect("the file is there");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn costs_follow_the_published_rules() {
    let table = PriceTable::built_in();
    for case in cases::<Golden>("golden.jsonl") {
        let provider = case.provider.as_deref();
        let cost = table.cost(provider, Some(&case.model), &case.usage, Some(case.at), case.service);
        assert_eq!((cost.status, cost.total_usd), (case.status, case.cost_usd), "{}: {cost:?}", case.rule);
        assert_eq!(cost.reason.is_some(), case.status != CostStatus::Priced, "{}", case.rule);
    }
}

/// `grid.py` says which program, and how the file is made.
#[test]
fn costs_are_those_of_another_program() {
    let table = PriceTable::built_in();
    let at = "2026-11-15T12:00:00Z".parse().ok();
    let mut compared = 0;
    for case in cases::<OfGrid>("grid.jsonl") {
        let cost = table.cost(Some(&case.provider), Some(&case.model), &case.usage, at, None);
        assert_eq!(cost.total_usd, Some(case.cost_usd), "{} {:?}: {cost:?}", case.model, case.usage);
        compared += 1;
    }
    assert_eq!(compared, 98);
}

#[test]
fn what_the_source_does_not_tell_is_never_0() {
    let table = PriceTable::built_in();
    let cost = |model, usage: &Usage| table.cost(None, model, usage, None, None);
    let none = cost(Some("gpt-5"), &Usage::default());
    assert_eq!((none.status, none.total_usd), (CostStatus::Unpriced, None));
    let output_only = cost(Some("gpt-5"), &Usage { output: Some(1_000_000), ..Usage::default() });
    assert_eq!(
        (output_only.status, output_only.total_usd),
        (CostStatus::PartlyUnpriced, PicoUsd::from_decimal("10"))
    );
    let nameless = cost(None, &Usage { output: Some(5), ..Usage::default() });
    assert_eq!(nameless.status, CostStatus::Unpriced);
}

#[test]
fn dated_prices_change_at_midnight_utc() {
    let table = PriceTable::parse(
        r#"{"schema":1,"made":"2026-12-01","unit":"USD per million tokens","sources":[]}
{"provider":"acme","aliases":["the acme"]}
{"provider":"acme","model":"a","prices":[{"rates":{"input":"2","output":"4"}},{"from":"2026-07-01","rates":{"input":"1","output":"2"}},{"hours":["22:00","06:00"],"from":"2026-08-01","rates":{"input":"0.5","output":"1"}}]}"#,
    )
    .expect("a table");
    let usage = Usage { uncached_input: Some(1_000_000), output: Some(0), ..Usage::default() };
    for (at, dollars) in [
        ("2026-06-30T23:59:59.999999Z", "2"),
        ("2026-07-01T00:00:00Z", "1"),
        ("2026-08-01T21:59:59Z", "1"),
        ("2026-08-01T22:00:00Z", "0.5"),
        ("2026-08-02T05:59:59Z", "0.5"),
        ("2026-08-02T06:00:00Z", "1"),
    ] {
        let cost = table.cost(Some("The Acme"), Some("A"), &usage, at.parse().ok(), None);
        assert_eq!(cost.total_usd, PicoUsd::from_decimal(dollars), "{at}");
    }
    // Without a time the newest price holds that is not bound to hours.
    let cost = table.cost(Some("acme"), Some("a"), &usage, None, None);
    assert_eq!(cost.total_usd, PicoUsd::from_decimal("1"));
}

#[test]
fn own_prices_come_first_and_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let built_in = PriceTable::built_in();
    let own = r#"[{"model":"glow-worm-9000","usd_per_million_tokens":{"input":"1","output":"2"}},
        {"model":"gpt-5","provider":"openai","from":"2026-11-01","until":"2026-12-01","usd_per_million_tokens":{"input":"0.5","cache_read":"0.05","output":"3"}},
        {"model":"gpt-5","provider":"openai","from":"2026-11-15","usd_per_million_tokens":{"input":"0.000001","output":"3"}}]"#;
    std::fs::write(folder.path().join("ours.json"), own).expect("it is written");
    let table = built_in.with_own_prices(folder.path()).expect("own prices");
    assert_ne!(table.hash(), built_in.hash());
    let usage = Usage { uncached_input: Some(1_000_000), output: Some(1_000_000), ..Usage::default() };
    let total = |model, at: &str| table.cost(None, Some(model), &usage, at.parse().ok(), None).total_usd;
    assert_eq!(total("glow-worm-9000", "2026-11-10T00:00:00Z"), PicoUsd::from_decimal("3"));
    // Own prices of a provider hold where the provider is told.
    let of = |at: &str| table.cost(Some("openai"), Some("gpt-5"), &usage, at.parse().ok(), None).total_usd;
    assert_eq!(of("2026-10-31T23:59:59Z"), PicoUsd::from_decimal("11.25"));
    assert_eq!(of("2026-11-01T00:00:00Z"), PicoUsd::from_decimal("3.5"));
    let complaints = table.check("2026-12-01");
    assert!(complaints.contains(&Complaint::Overlap { model: "gpt-5".to_owned() }));
    assert!(
        complaints.iter().any(|complaint| matches!(complaint, Complaint::OddRate { bucket: "input", .. }))
    );
    let differences = built_in.differences(&table);
    assert!(differences.iter().all(|difference| matches!(difference.change, Change::Added { .. })));
    assert_eq!(differences.len(), 3);

    std::fs::write(folder.path().join("bad.json"), "[{\"model\":\"x\",\n\"prise\":1}]")
        .expect("it is written");
    let error = built_in.with_own_prices(folder.path()).expect_err("a field that is none").to_string();
    assert!(error.contains("bad.json") && error.contains("prise") && error.contains("line 2"), "{error}");
}

#[test]
fn the_table_that_is_built_in_is_whole() {
    let table = PriceTable::built_in();
    assert!(table.len() > 4000, "{}", table.len());
    assert_eq!(table.made(), "2026-12-01");
    assert_eq!(table.sources().len(), 2);
    let old = table.check("2027-01-15");
    assert!(old.contains(&Complaint::Old { made: "2026-12-01".to_owned(), days: 45 }));
    assert!(!table.check("2026-12-20").iter().any(|complaint| matches!(complaint, Complaint::Old { .. })));
}

fn usages() -> impl Strategy<Value = Usage> {
    let tokens = || 0..150_000_u64;
    (tokens(), tokens(), tokens(), tokens(), tokens(), 0..=100_u64).prop_map(|(a, b, c, d, output, share)| {
        Usage {
            uncached_input: Some(a),
            cache_read: Some(b),
            cache_write_5m: Some(c),
            cache_write_1h: Some(d),
            output: Some(output),
            reasoning: Some(output * share / 100),
        }
    })
}

proptest! {
    #[test]
    fn a_cost_is_the_sum_of_its_parts_and_below_the_worst_case(usage in usages(), at in 0..3_usize) {
        let model = ["claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro"][at];
        let table = PriceTable::built_in();
        let cost = table.cost(None, Some(model), &usage, None, None);
        let parts: i128 = cost.parts.iter().map(|part| part.cost_usd.0).sum();
        prop_assert_eq!(cost.total_usd.map(|total| total.0), Some(parts));
        prop_assert!(cost.parts.iter().all(|part| part.cost_usd.0 >= 0));
        let worst = table.worst_case(None, model, usage.prompt().unwrap_or(0), usage.output.unwrap_or(0), None, None);
        prop_assert!(worst >= cost.total_usd, "{:?} {:?}", worst, cost);
    }
}
