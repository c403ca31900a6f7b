//! Times as people type them: "yesterday 15:00", "2026-11-30", "2 hours ago", RFC 3339.

use agent_core::Timestamp;
use jiff::civil;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;
use jiff::{Span, ZonedDateTime};

/// Says why a time cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// No such zone.
    #[error("there is no time zone {0}; write it like Europe/Berlin or +02:00")]
    Zone(String),
    /// No time.
    #[error(
        "{0:?} is no time; write it like \"yesterday 15:00\", 2026-11-30, \"2 hours ago\" or 2026-11-30T15:00:00Z"
    )]
    Time(String),
    /// A span of time that is empty.
    #[error("--from {from} is not before --to {to}")]
    Empty {
        /// Its beginning.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
}

/// Reads times in one zone.
#[derive(Clone, Debug)]
pub struct TypedTimes {
    zone: TimeZone,
    now: ZonedDateTime,
}

impl TypedTimes {
    /// Takes the named zone, or the machine's.
    pub fn new(zone: Option<&str>) -> Result<Self, TimeError> {
        let zone = zone.map_or_else(|| Ok(TimeZone::system()), read_zone)?;
        Ok(Self { now: ZonedDateTime::now().with_time_zone(zone.clone()), zone })
    }

    /// Takes a fixed present and its zone.
    pub fn at(now: ZonedDateTime) -> Self {
        Self { zone: now.time_zone().clone(), now }
    }

    /// Returns the zone in words that [`read_zone`] reads, here or in another process. A zone of the machine
    /// that has no name is given by its present offset.
    pub fn zone_text(&self) -> String {
        let text = DateTimePrinter::new().time_zone_to_string(&self.zone);
        text.unwrap_or_else(|_| self.now.offset().to_string())
    }

    /// Returns the zone's name, or its offset when it has none.
    pub fn zone_name(&self) -> String {
        match self.zone.iana_name() {
            Some(name) => name.to_owned(),
            None => format!("UTC{}", self.now.offset()),
        }
    }

    /// Reads a time. A day without a time of day is its beginning.
    pub fn read(&self, text: &str) -> Result<Timestamp, TimeError> {
        let text = text.trim();
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Ok(Timestamp::from_micros(instant.as_microsecond()));
        }
        let zoned = self.ago(text).or_else(|| self.day_and_time(text));
        zoned
            .map(|zoned| Timestamp::from_micros(zoned.timestamp().as_microsecond()))
            .ok_or_else(|| TimeError::Time(text.to_owned()))
    }

    /// Reads "now" and "3 hours ago".
    fn ago(&self, text: &str) -> Option<ZonedDateTime> {
        if text.eq_ignore_ascii_case("now") {
            return Some(self.now.clone());
        }
        let span = text.strip_suffix("ago")?.trim();
        let span: Span = span.parse().ok()?;
        self.now.checked_sub(span).ok()
    }

    /// Reads "yesterday 15:00", "2026-11-30 15:00", "15:00", "monday".
    fn day_and_time(&self, text: &str) -> Option<ZonedDateTime> {
        if let Ok(both) = text.parse::<civil::DateTime>()
            && text.contains(['T', ' '])
        {
            return both.to_zoned_datetime(self.zone.clone()).ok();
        }
        let (day, time) = match text.split_once(' ') {
            Some((day, time)) => (self.day(day)?, time_of_day(time.trim())?),
            None => match time_of_day(text) {
                Some(time) => (self.now.date(), time),
                None => (self.day(text)?, civil::Time::midnight()),
            },
        };
        day.to_datetime(time).to_zoned_datetime(self.zone.clone()).ok()
    }

    fn day(&self, text: &str) -> Option<civil::Date> {
        let today = self.now.date();
        match text.to_ascii_lowercase().as_str() {
            "today" => Some(today),
            "yesterday" => today.yesterday().ok(),
            "tomorrow" => today.tomorrow().ok(),
            text => match weekday(text) {
                Some(day) => last_weekday(today, day),
                None => text.parse().ok(),
            },
        }
    }
}

/// Reads a zone: a name such as `Europe/Berlin`, or an offset such as `+02:00`.
pub fn read_zone(text: &str) -> Result<TimeZone, TimeError> {
    DateTimeParser::new().parse_time_zone(text).map_err(|_| TimeError::Zone(text.to_owned()))
}

/// Returns the weekday's number, Monday 0.
fn weekday(text: &str) -> Option<i64> {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    (0..).zip(DAYS).find(|(_, day)| *day == text).map(|(number, _)| number)
}

/// Returns the last such day before today.
fn last_weekday(today: civil::Date, day: i64) -> Option<civil::Date> {
    let of_today = i64::from(today.weekday().to_monday_zero_offset());
    let back = (of_today + 7 - day - 1) % 7 + 1;
    today.checked_sub(Span::new().days(back)).ok()
}

/// Reads "15:00", "15:00:30", "3pm", "noon".
fn time_of_day(text: &str) -> Option<civil::Time> {
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "noon" => return civil::Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Some(civil::Time::midnight()),
        _ => {}
    }
    for (suffix, noon) in [("am", 0), ("pm", 12)] {
        if let Some(hour) = text.strip_suffix(suffix) {
            let hour: i8 = hour.trim().parse().ok()?;
            return (1..=12).contains(&hour).then(|| civil::Time::new(hour % 12 + noon, 0, 0, 0).ok())?;
        }
    }
    if !text.contains(':') {
        return None;
    }
    let mut parts = text.split(':').map(str::parse::<i8>);
    let (hour, minute) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let second = parts.next().transpose().ok()?.unwrap_or(0);
    if parts.next().is_some() { None } else { civil::Time::new(hour, minute, second, 0).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_times_in_many_ways() {
        // A Tuesday, two days after the clocks went back.
        let now: ZonedDateTime = "2026-10-27T16:30:00+01:00[Europe/Berlin]".parse().expect("a time");
        let times = TypedTimes::at(now);
        for (text, expected) in [
            ("yesterday 15:00", "2026-10-26T14:00:00Z"),
            ("yesterday 3pm", "2026-10-26T14:00:00Z"),
            ("yesterday", "2026-10-25T23:00:00Z"),
            ("today", "2026-10-26T23:00:00Z"),
            ("15:00", "2026-10-27T14:00:00Z"),
            ("monday 9:30", "2026-10-26T08:30:00Z"),
            ("tuesday", "2026-10-19T22:00:00Z"),
            ("2026-10-24", "2026-10-23T22:00:00Z"),
            ("2026-10-24 15:00", "2026-10-24T13:00:00Z"),
            ("2026-10-24T15:00:00", "2026-10-24T13:00:00Z"),
            ("2026-10-24T15:00:00+05:00", "2026-10-24T10:00:00Z"),
            ("2 hours ago", "2026-10-27T13:30:00Z"),
            ("90 minutes ago", "2026-10-27T14:00:00Z"),
            ("now", "2026-10-27T15:30:00Z"),
        ] {
            let read = times.read(text).map(|ts| ts.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
        for bad in ["", "soon", "yesterday 25:00", "13pm", "2026-13-01", "15", "1:2:3:4"] {
            assert_eq!(times.read(bad), Err(TimeError::Time(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn a_zone_is_written_as_it_is_read() {
        for (text, written, name) in [
            ("Europe/Berlin", "Europe/Berlin", "Europe/Berlin"),
            ("europe/berlin", "Europe/Berlin", "Europe/Berlin"),
            ("-05:30", "-05:30", "UTC-05:30"),
            ("UTC", "UTC", "UTC"),
        ] {
            let times = TypedTimes::new(Some(text)).expect(text);
            assert_eq!((times.zone_text().as_str(), times.zone_name().as_str()), (written, name), "{text}");
        }
    }

    #[test]
    fn an_unknown_zone_is_refused() {
        assert_eq!(TypedTimes::new(Some("Berlin")).err(), Some(TimeError::Zone("Berlin".to_owned())));
    }
}
