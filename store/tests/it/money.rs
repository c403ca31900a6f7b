//! What sessions cost: sums of calls that were priced one by one, and what becomes of them when prices change.

use agent_core::{PicoUsd, Timestamp};
use jiff::tz::TimeZone;
use store::metrics::{CostStatus, Group, Scope};
use store::{SessionRow, Store};

use crate::support::Tale;

fn dollars(text: &str) -> i64 {
    i64::try_from(PicoUsd::from_decimal(text).expect("dollars").0).expect("not too many")
}

/// Claude Sonnet 4.5 costs $3 in, $0.30 read from the cache and $15 out for a million tokens.
const SONNET: &str = "model=claude-sonnet-4-5";

#[test]
fn calls_runs_turns_and_sessions_add_up() {
    let tale = Tale::of(&format!(
        "user ask
         said one id=r1 in=1000 cached=10000 out=100 {SONNET}
         said two id=r2 in=2000 out=200 {SONNET}
         user more
         said three id=r3 in=10 out=20 model=glow-worm-9000
         failed overload"
    ));
    let session = tale.session("s");
    // 0.003 + 0.003 + 0.0015, and 0.006 + 0.003.
    assert_eq!(session.cost_picousd, Some(dollars("0.0165")));
    assert_eq!((session.unpriced_calls, session.partly_unpriced_calls), (1, 0));
    let key = session.session_key;
    let runs = tale.store.runs(key).expect("runs");
    assert_eq!(
        runs.iter().map(|run| (run.cost_picousd, run.unpriced_calls)).collect::<Vec<_>>(),
        [(Some(dollars("0.0165")), 0), (None, 1)]
    );
    let turns = tale.store.turns(key, 1, 9).expect("turns");
    assert_eq!(turns[0].cost_picousd, Some(dollars("0.0075")));
    let calls = tale.store.model_calls(key, 1, 9).expect("calls");
    let states: Vec<&str> = calls.iter().map(|call| call.cost_status.as_str()).collect();
    assert_eq!(states, ["priced", "priced", "unpriced", "not_charged"]);
    assert_eq!(calls[2].unpriced_reason.as_deref(), Some("not in the price table"));

    let all = &tale.store.spend(&Scope::default(), &[], &TimeZone::UTC).expect("figures")[0];
    assert_eq!((all.cost_usd.to_string().as_str(), all.unpriced_calls), ("0.0165", 1));
    assert_eq!(all.cost_status(), Some(CostStatus::PartlyUnpriced));
    let models = tale.store.unpriced_models(&Scope::default()).expect("figures");
    assert_eq!(models.len(), 1);
    assert_eq!(
        (models[0].model.as_deref(), models[0].calls, models[0].tokens),
        (Some("glow-worm-9000"), 1, 30)
    );
    let by_model = tale.store.spend(&Scope::default(), &[Group::Model], &TimeZone::UTC).expect("figures");
    assert_eq!(by_model[0].cost_usd.to_string(), "0.0165");
}

#[test]
fn a_response_that_grows_costs_what_it_is_in_the_end() {
    let mut tale = Tale::of(&format!("user ask\nsaid one id=r1 in=1000 out=1 {SONNET}"));
    assert_eq!(tale.session("s").cost_picousd, Some(dollars("0.003015")));
    // The same response over several rows and batches: streamed equals buffered.
    tale.tell(
        "s",
        &format!("said two id=r1 in=1000 out=50 {SONNET}\nsaid three id=r1 in=1000 out=100 {SONNET} end"),
    );
    assert_eq!(tale.session("s").cost_picousd, Some(dollars("0.0045")));
    tale.tell("s", "again 2");
    assert_eq!(tale.session("s").cost_picousd, Some(dollars("0.0045")));
    tale.tell("s", &format!("amend 4 said three id=r1 in=1000 out=200 {SONNET} end"));
    assert_eq!(tale.session("s").cost_picousd, Some(dollars("0.006")));
}

fn figures(row: &SessionRow) -> (Option<i64>, Option<i64>) {
    (row.cost_picousd, row.earlier_cost_picousd)
}

fn import(store: &Store, text: &str) -> Result<usize, String> {
    store
        .import_prices("our prices", text.as_bytes(), Some("ann".to_owned()))
        .map_err(|error| error.to_string())
}

#[test]
fn new_prices_hold_for_what_comes_and_for_all_when_asked() {
    let mut tale = Tale::of(&format!(
        "user ask
         said one id=r1 in=1000 out=0 {SONNET}
         user more
         said two id=r2 in=1000 out=0 model=glow-worm-9000"
    ));
    let before = tale.session("s");
    assert_eq!(figures(&before), (Some(dollars("0.003")), None));
    let built_in = tale.store.price_table().expect("a table").hash().to_owned();
    let own = r#"[{"model":"claude-sonnet-4-5","usd_per_million_tokens":{"input":"1","output":"2"}},
        {"model":"glow-worm-9000","usd_per_million_tokens":{"input":"4","output":"2"}}]"#;
    assert_eq!(import(&tale.store, own), Ok(2));
    assert!(import(&tale.store, "[{\"modell\":1}]").is_err_and(|error| error.contains("modell")));
    // Decisions are of no session.
    assert_eq!(
        tale.store.sessions(&Default::default(), Timestamp::now()).expect("sessions").sessions.len(),
        1
    );
    // What is on record stays as it was priced, until somebody asks for it.
    assert_eq!(figures(&tale.session("s")), (Some(dollars("0.003")), None));
    assert_eq!(tale.store.calls_by_other_tables().expect("a count"), 2);

    let repriced = tale.store.reprice(Some("ann".to_owned()), &mut |_, _| {}).expect("prices");
    assert_eq!(
        (repriced.sessions, repriced.before_usd.to_string(), repriced.now_usd.to_string()),
        (1, "0.003".to_owned(), "0.005".to_owned())
    );
    let after = tale.session("s");
    assert_eq!(figures(&after), (Some(dollars("0.005")), Some(dollars("0.003"))));
    assert_eq!(after.earlier_price_table.as_deref(), Some(built_in.as_str()));
    assert_eq!((after.unpriced_calls, tale.store.calls_by_other_tables().expect("a count")), (0, 0));
    let changes = tale.store.repricings().expect("changes");
    assert_eq!(
        (changes.len(), changes[0].sessions, changes[0].table_before.as_str()),
        (1, 1, built_in.as_str())
    );
    assert_eq!(changes[0].table_after, repriced.table);

    tale.tell("s", &format!("user third\nsaid four id=r4 in=1000 out=0 {SONNET}"));
    assert_eq!(figures(&tale.session("s")), (Some(dollars("0.006")), Some(dollars("0.003"))));
    // The earlier figures are in the journal: tables that are made again have them, too.
    tale.store.rebuild_while_open(&mut |_, _| {}).expect("it is made again");
    assert_eq!(figures(&tale.session("s")), (Some(dollars("0.006")), Some(dollars("0.003"))));
}
