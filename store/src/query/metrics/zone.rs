//! Days of a time zone in SQL, without the zone functions that DuckDB has in one build and lacks in another.

use agent_core::Timestamp;
use jiff::tz::TimeZone;

/// The first year that agents wrote sessions in, and so the first whose changes of the clock matter.
const FIRST_YEAR: i64 = 2020 - 1970;
const YEAR_MICROS: i64 = 365 * 24 * 3600 * 1_000_000;

/// Returns the wall time of `column` (UTC) in the zone, as SQL: its offset changes only where the clocks do, and
/// those instants between `from` and `to` stand in the text.
pub(super) fn wall_time(
    column: &str,
    zone: &TimeZone,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> String {
    let start = from.map_or(FIRST_YEAR * YEAR_MICROS, Timestamp::micros);
    let end = to.unwrap_or_else(Timestamp::now).micros();
    let Ok(start) = jiff::Timestamp::from_microsecond(start) else { return column.to_owned() };
    let mut offset = zone.to_offset(start).seconds();
    let mut cases = String::new();
    for change in zone.following(start).take_while(|change| change.timestamp().as_microsecond() < end) {
        let micros = change.timestamp().as_microsecond();
        cases.push_str(&format!(
            "WHEN {column} < make_timestamp({micros}) THEN {column} + to_seconds({offset}) "
        ));
        offset = change.offset().seconds();
    }
    match (cases.is_empty(), offset) {
        (true, 0) => column.to_owned(),
        (true, _) => format!("({column} + to_seconds({offset}))"),
        (false, _) => format!("(CASE {cases}ELSE {column} + to_seconds({offset}) END)"),
    }
}

#[cfg(test)]
mod tests {
    use duckdb::Connection;

    use super::*;

    fn wall(zone: &str, instant: &str) -> String {
        let zone = TimeZone::get(zone).expect("a zone");
        let from = Some("2026-01-01T00:00:00Z".parse().expect("a time"));
        let to = Some("2027-01-01T00:00:00Z".parse().expect("a time"));
        let sql = wall_time("ts", &zone, from, to);
        let connection = Connection::open_in_memory().expect("DuckDB");
        let question =
            format!("SELECT strftime({sql}, '%Y-%m-%d %H:%M') FROM (SELECT TIMESTAMP '{instant}' AS ts)");
        connection.query_row(&question, [], |row| row.get(0)).expect("a time")
    }

    /// The wall times are those of the IANA database: Berlin goes to summer time on 29 March 2026 at 01:00 UTC.
    #[test]
    fn wall_times_follow_the_clocks() {
        assert_eq!(wall("UTC", "2026-03-29 00:59:00"), "2026-03-29 00:59");
        assert_eq!(wall("Europe/Berlin", "2026-03-29 00:59:00"), "2026-03-29 01:59");
        assert_eq!(wall("Europe/Berlin", "2026-03-29 01:00:00"), "2026-03-29 03:00");
        assert_eq!(wall("Europe/Berlin", "2026-10-25 00:59:00"), "2026-10-25 02:59");
        assert_eq!(wall("Europe/Berlin", "2026-10-25 01:00:00"), "2026-10-25 02:00");
        assert_eq!(wall("Asia/Kathmandu", "2026-06-01 18:15:00"), "2026-06-02 00:00");
        assert_eq!(wall("America/New_York", "2026-12-31 04:59:00"), "2026-12-30 23:59");
    }
}
