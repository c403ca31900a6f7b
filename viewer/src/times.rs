//! Times as people read them, in one zone.

use agent_core::Timestamp;
use jiff::ZonedDateTime;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::format::{UNKNOWN, duration};
use crate::typed_time::{TimeError, TypedTimes};

/// One instant in one zone: what "now", "yesterday" and "3 h ago" mean on one page.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zone: TimeZone,
    now: Timestamp,
}

/// A time ready to be shown: in words, and exactly.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownTime {
    /// Such as `3 h ago`.
    pub(crate) relative: String,
    /// Such as `2026-01-14 15:02:11`.
    pub(crate) absolute: String,
    /// Such as `15:02:11`.
    pub(crate) clock: String,
    /// Such as `15:02`.
    pub(crate) minute: String,
    /// Such as `yesterday`, `Sat 28 Nov` or `28 Nov 2025`.
    pub(crate) day: String,
    /// For `<time datetime>`.
    pub(crate) machine: String,
}

/// Which end of a day a bare date means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Its beginning.
    From,
    /// Its end.
    To,
}

impl Clock {
    pub(crate) const fn new(zone: TimeZone, now: Timestamp) -> Self {
        Self { zone, now }
    }

    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the name of the zone, such as `Europe/Berlin` or `UTC`.
    pub(crate) fn zone_name(&self) -> String {
        let offset = || self.zone.to_offset(jiff::Timestamp::now()).to_string();
        match self.zone.iana_name() {
            Some("Etc/UTC" | "UTC") => "UTC".to_owned(),
            name => name.map_or_else(offset, str::to_owned),
        }
    }

    /// Returns a time ready to be shown.
    pub(crate) fn show(&self, ts: Option<Timestamp>) -> ShownTime {
        let unknown = || ShownTime {
            relative: UNKNOWN.to_owned(),
            absolute: "the source tells no time".to_owned(),
            clock: UNKNOWN.to_owned(),
            minute: String::new(),
            day: UNKNOWN.to_owned(),
            machine: String::new(),
        };
        let Some((ts, zoned)) = ts.and_then(|ts| Some((ts, self.zoned(ts)?))) else { return unknown() };
        let second = zoned.strftime("%Y-%m-%d %H:%M:%S").to_string();
        ShownTime {
            relative: self.relative(ts),
            absolute: format!("{second} {}", self.zone_name()),
            clock: zoned.strftime("%H:%M:%S").to_string(),
            minute: zoned.strftime("%H:%M").to_string(),
            day: self.day(&zoned),
            machine: ts.to_string(),
        }
    }

    /// Returns a time in the zone as `format` (of `strftime`) has it; nothing when the source tells none.
    pub(crate) fn written(&self, ts: Option<Timestamp>, format: &str) -> Option<String> {
        Some(self.zoned(ts?)?.strftime(format).to_string())
    }

    fn zoned(&self, ts: Timestamp) -> Option<ZonedDateTime> {
        Some(jiff::Timestamp::from_microsecond(ts.micros()).ok()?.to_zoned_datetime(self.zone.clone()))
    }

    /// Returns what people call the day.
    fn day(&self, zoned: &ZonedDateTime) -> String {
        let date = zoned.date();
        let today = self.zoned(self.now).map_or(date, |now| now.date());
        if date == today {
            return "today".to_owned();
        }
        if today.yesterday().is_ok_and(|yesterday| yesterday == date) {
            return "yesterday".to_owned();
        }
        let format = if date.year() == today.year() { "%a %-d %b" } else { "%-d %b %Y" };
        zoned.strftime(format).to_string()
    }

    fn relative(&self, ts: Timestamp) -> String {
        let ago = self.now.millis_since(ts);
        match ago {
            ..-1000 => format!("in {}", coarse(ago.unsigned_abs())),
            -1000..1000 => "now".to_owned(),
            _ => format!("{} ago", coarse(ago.unsigned_abs())),
        }
    }

    /// Reads a time as people type it; a day without a time of day is one of its ends.
    pub(crate) fn parse(&self, text: &str, edge: Edge) -> Result<Timestamp, TimeError> {
        let unreadable = || TimeError::Time(text.to_owned());
        let times = TypedTimes::at(self.zoned(self.now).ok_or_else(unreadable)?);
        let begin = times.read(text)?;
        // Only what is a day and no more can be followed by a time of day.
        let is_day = !text.contains(':') && times.read(&format!("{} 12:00", text.trim())).is_ok();
        if edge == Edge::From || !is_day {
            return Ok(begin);
        }
        self.next_midnight(begin).ok_or_else(unreadable)
    }

    /// Returns the beginning of the day so many days ago.
    pub(crate) fn midnight(&self, days_ago: i64) -> Option<Timestamp> {
        let day =
            self.zoned(self.now)?.date().checked_sub(jiff::Span::new().try_days(days_ago).ok()?).ok()?;
        self.begin_of(day)
    }

    /// Returns the beginning of this month.
    pub(crate) fn month_start(&self) -> Option<Timestamp> {
        self.begin_of(self.zoned(self.now)?.date().first_of_month())
    }

    /// Returns which day of the month it is, and how many the month has.
    pub(crate) fn day_of_month(&self) -> Option<(i8, i8)> {
        let today = self.zoned(self.now)?.date();
        Some((today.day(), today.days_in_month()))
    }

    /// Returns the days from `from` to today, as `2026-12-01`.
    pub(crate) fn days_since(&self, from: Timestamp) -> Vec<String> {
        let (Some(first), Some(today)) = (self.zoned(from), self.zoned(self.now)) else { return Vec::new() };
        let days = first.date().series(jiff::Span::new().days(1));
        days.take_while(|day| *day <= today.date()).map(|day| day.to_string()).collect()
    }

    /// Returns the zone.
    pub(crate) const fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn begin_of(&self, day: jiff::civil::Date) -> Option<Timestamp> {
        let midnight = day.to_datetime(Time::midnight()).to_zoned_datetime(self.zone.clone()).ok()?;
        Some(Timestamp::from_micros(midnight.timestamp().as_microsecond()))
    }

    fn next_midnight(&self, ts: Timestamp) -> Option<Timestamp> {
        self.begin_of(self.zoned(ts)?.date().tomorrow().ok()?)
    }
}

/// Returns the largest unit of a duration: `3 h`, `5 d`.
fn coarse(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => duration(ms / 1000 * 1000),
        1..60 => format!("{minutes} m"),
        60..2880 => format!("{} h", minutes / 60),
        2880..86_400 => format!("{} d", minutes / 1440),
        86_400..1_051_200 => format!("{} months", minutes / 43_800),
        _ => format!("{} years", minutes / 525_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        Clock::new(zone, "2026-03-10T21:30:00Z".parse().expect("it is a time"))
    }

    #[test]
    fn times_are_read_in_the_zone() {
        for (text, edge, expected) in [
            ("2026-03-09", Edge::From, "2026-03-08T22:00:00Z"),
            ("2026-03-09", Edge::To, "2026-03-09T22:00:00Z"),
            ("yesterday 15:00", Edge::From, "2026-03-09T13:00:00Z"),
            ("today", Edge::From, "2026-03-09T22:00:00Z"),
            ("2026-03-09T15:00", Edge::To, "2026-03-09T13:00:00Z"),
            ("15:30", Edge::To, "2026-03-10T13:30:00Z"),
            ("yesterday", Edge::To, "2026-03-09T22:00:00Z"),
            ("2 hours ago", Edge::To, "2026-03-10T19:30:00Z"),
            ("2026-03-09T15:00:00+05:00", Edge::From, "2026-03-09T10:00:00Z"),
        ] {
            assert_eq!(clock().parse(text, edge).expect(text).to_string(), expected, "{text}");
        }
        for bad in ["", "soon", "2026-13-01", "25:00", "7"] {
            assert!(clock().parse(bad, Edge::From).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_shown_in_the_zone() {
        let shown = clock().show("2026-03-10T20:00:00Z".parse().ok());
        assert_eq!(shown.relative, "1 h ago");
        assert!(shown.absolute.starts_with("2026-03-10 22:00:00"), "{}", shown.absolute);
        assert_eq!(clock().show(None).relative, "—");
    }

    #[test]
    fn days_have_the_names_that_people_give_them() {
        // It is 23:30 on Tuesday the 10th in this zone.
        for (text, day, minute) in [
            ("2026-03-10T21:00:00Z", "today", "23:00"),
            ("2026-03-09T22:30:00Z", "today", "00:30"),
            ("2026-03-09T13:02:11Z", "yesterday", "15:02"),
            ("2026-03-08T13:00:00Z", "Sun 8 Mar", "15:00"),
            ("2025-11-28T08:00:00Z", "28 Nov 2025", "10:00"),
        ] {
            let shown = clock().show(text.parse().ok());
            assert_eq!((shown.day.as_str(), shown.minute.as_str()), (day, minute), "{text}");
        }
        assert_eq!(clock().show(None).day, "—");
    }
}
