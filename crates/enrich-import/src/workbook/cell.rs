//! Cells of a sheet: finds their columns, and shows numbers as Excel does.

use jiff::SignedDuration;
use jiff::civil::{self, Time};

/// How the number in a cell is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Number,
    /// The number is displayed as a date or a time.
    Date {
        /// Whether day numbers count from 1904 instead of 1900.
        is_1904: bool,
    },
}

/// Returns the index of the column in a cell reference, from 0: 2 for `C7`. Returns `None` if the
/// reference names no column.
pub(super) fn column_of(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let add = |column: usize, letter: u8| {
        let value = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        column.checked_mul(26)?.checked_add(value)
    };
    letters.take(8).try_fold(0, add)?.checked_sub(1)
}

/// Returns the number of the row in a cell reference: 7 for `C7`. Returns `None` if the reference
/// names no row.
pub(super) fn row_of(place: &str) -> Option<u64> {
    let digits = place.trim_start_matches(|sign: char| sign.is_ascii_alphabetic());
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// Returns the text to show for the number in a cell: `41446681800`, `0.5`, `2024-02-29`, or a date
/// with its time. Returns a text that isn't a number unchanged, but trimmed.
pub(super) fn shown(text: &str, style: Option<Style>) -> String {
    let text = text.trim();
    let Ok(number) = text.parse::<f64>() else { return text.to_owned() };
    match style {
        Some(Style::Date { is_1904 }) => date(number, is_1904).unwrap_or_else(|| text.to_owned()),
        // A whole number of up to 15 digits is exact as a float, and Excel displays it without an
        // exponent.
        _ if number.is_finite() && number.abs() < 1e15 => number.to_string(),
        _ => text.to_owned(),
    }
}

/// Whether a number format with this code displays dates or times.
pub(super) fn is_date_format(code: &str) -> bool {
    let (mut is_quoted, mut brackets, mut is_escaped) = (false, 0_u32, false);
    // Text in brackets is ignored (`[Red]` is a colour), except an elapsed time: `[h]` means hours.
    let elapsed = ["[h", "[m", "[s"].iter().any(|part| code.to_ascii_lowercase().contains(part));
    let is_date = code.chars().any(|letter| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' | '_' | '*' => is_escaped = true,
            '[' if !is_quoted => brackets += 1,
            ']' if !is_quoted => brackets = brackets.saturating_sub(1),
            _ if is_quoted || brackets > 0 => {}
            'd' | 'm' | 'y' | 'h' | 's' | 'D' | 'M' | 'Y' | 'H' | 'S' => return true,
            _ => {}
        }
        false
    });
    is_date || (elapsed && !code.to_ascii_lowercase().contains("general"))
}

/// Returns the date, the time, or both, for a day number of Excel. A number below 1 is a time
/// alone. Returns `None` outside the years 1900 to 9999, because Excel has no other dates.
fn date(number: f64, is_1904: bool) -> Option<String> {
    const SECONDS_OF_A_DAY: f64 = 24.0 * 60.0 * 60.0;
    const LAST_DAY: f64 = 2_958_466.0;
    let number = if is_1904 { number + 1462.0 } else { number };
    if !(0.0..LAST_DAY).contains(&number) {
        return None;
    }
    // The cast cannot overflow, because the range is checked above. Fractions of a second are
    // rounded.
    let duration = SignedDuration::from_secs((number * SECONDS_OF_A_DAY).round() as i64);
    // In Excel, day 60 is 29 February 1900, a day that did not exist. So the days after it are
    // counted from a start that is one day earlier.
    let day_before = if duration < SignedDuration::from_hours(60 * 24) { 31 } else { 30 };
    let at = civil::date(1899, 12, day_before).at(0, 0, 0, 0).checked_add(duration).ok()?;
    let format = match at.time() {
        _ if duration < SignedDuration::from_hours(24) => "%H:%M:%S",
        time if time == Time::midnight() => "%Y-%m-%d",
        _ => "%Y-%m-%d %H:%M:%S",
    };
    Some(at.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_its_column() {
        for (place, column) in [("A1", Some(0)), ("c7", Some(2)), ("AA1", Some(26)), ("7", None)] {
            assert_eq!(column_of(place), column);
        }
        assert_eq!(column_of("XFD1048576"), Some(16_383));
        assert!(column_of("ZZZZZZZZZZZZZZZ1").is_some_and(|column| column > 16_384));
    }

    #[test]
    fn numbers_and_dates_are_shown_as_people_write_them() {
        let dates = Some(Style::Date { is_1904: false });
        let cases = [
            ("4.14466818E10", None, "41446681800"),
            ("5.0", None, "5"),
            ("0.1", Some(Style::Number), "0.1"),
            ("1e300", None, "1e300"),
            ("45351", dates, "2024-02-29"),
            ("45351.395833333336", dates, "2024-02-29 09:30:00"),
            ("0.5", dates, "12:00:00"),
            ("1", dates, "1900-01-01"),
            ("61", dates, "1900-03-01"),
            ("-1", dates, "-1"),
            ("43889", Some(Style::Date { is_1904: true }), "2024-02-29"),
            ("NaN", None, "NaN"),
        ];
        for (text, style, expected) in cases {
            assert_eq!(shown(text, style), expected, "{text}");
        }
    }

    #[test]
    fn a_format_of_dates_is_told_from_one_of_numbers() {
        for code in ["dd.mm.yyyy", "[$-407]d. mmmm yyyy", "hh:mm", "[h]:mm:ss"] {
            assert!(is_date_format(code), "{code}");
        }
        for code in ["General", "0.00", "#,##0 \"days\"", "[Red]0", "0\\d"] {
            assert!(!is_date_format(code), "{code}");
        }
    }
}
