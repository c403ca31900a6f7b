//! Figures as people read them. What is not known is a dash, never 0.

use agent_core::PicoUsd;

/// Stands where a figure is not known.
pub(crate) const UNKNOWN: &str = "—";

/// Returns a whole number with thin gaps between thousands: `12 345`.
pub(crate) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a number in at most four characters: `950`, `12.3k`, `4.5M`.
pub(crate) fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => scaled(number, 1_000, "k"),
        1_000_000..1_000_000_000 => scaled(number, 1_000_000, "M"),
        _ => scaled(number, 1_000_000_000, "G"),
    }
}

/// Returns a size: `312 B`, `4.5 kB`, `1.2 MB`.
pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => scaled(number, 1_000, " kB"),
        1_000_000..1_000_000_000 => scaled(number, 1_000_000, " MB"),
        _ => scaled(number, 1_000_000_000, " GB"),
    }
}

/// One decimal below ten, none above; cut, so that nothing is shown as more than it is.
fn scaled(number: u64, unit: u64, name: &str) -> String {
    let (units, tenths) = (number / unit, number % unit * 10 / unit);
    if units < 100 && tenths > 0 { format!("{units}.{tenths}{name}") } else { format!("{units}{name}") }
}

/// Returns a duration: `340 ms`, `2.1 s`, `3 m 04 s`, `2 h 05 m`, `3 d 4 h`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Returns `figure` as `show` writes it, or a dash.
pub(crate) fn known<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| UNKNOWN.to_owned(), show)
}

/// Returns a count of output tokens with a sign for what it is worth: a source that wrote it down while the
/// response was still growing, or only a placeholder, gives a lower bound.
pub(crate) fn output_tokens(tokens: Option<u64>, quality: &str, show: impl FnOnce(u64) -> String) -> String {
    let sign = match quality {
        "partial" | "placeholder" => "≥ ",
        "estimated" => "≈ ",
        _ => "",
    };
    known(tokens, |tokens| format!("{sign}{}", show(tokens)))
}

/// Returns a money amount in dollars with two to four decimals, rounded half up.
pub(crate) fn dollars(picousd: i64) -> String {
    let places = if picousd.unsigned_abs() < 1_000_000_000_000 { 4 } else { 2 };
    let step = 10_u64.pow(12 - places);
    let rounded = (picousd.unsigned_abs() + step / 2) / step;
    let (scale, width) = (10_u64.pow(places), places as usize);
    let sign = if picousd < 0 { "-" } else { "" };
    format!("{sign}${}.{:0width$}", rounded / scale, rounded % scale)
}

/// Returns a sum of money in dollars as [`dollars`] does, however large it is.
pub(crate) fn money(amount: PicoUsd) -> String {
    match i64::try_from(amount.0) {
        Ok(picousd) => dollars(picousd),
        // Sums beyond nine million dollars need no cents.
        Err(_) => format!("${}", amount.0 / 1_000_000_000_000),
    }
}

/// Returns a ratio as a percentage with one decimal: `61.4 %`.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{:.1} %", ratio * 100.0)
}

/// Returns "1 turn", "2 turns".
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_never_too_large() {
        assert_eq!(whole(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(
            [short(999), short(1_000), short(12_399), short(999_999), short(4_560_000)],
            ["999", "1k", "12.3k", "999k", "4.5M"]
        );
        assert_eq!(bytes(1_250), "1.2 kB");
        assert_eq!(
            [duration(340), duration(2_190), duration(184_000), duration(7_500_000)],
            ["340 ms", "2.1 s", "3 m 04 s", "2 h 05 m"]
        );
        assert_eq!(
            [dollars(12_345_000_000), dollars(12_345_000_000_000), dollars(-5_000_000_000_000)],
            ["$0.0123", "$12.35", "-$5.00"]
        );
        assert_eq!(known(None::<u64>, whole), "—");
    }
}
