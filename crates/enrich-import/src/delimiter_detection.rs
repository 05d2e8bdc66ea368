//! Detects the delimiter of a CSV file from its first lines.

use enrich_mapping::is_known_column;

use crate::delimiter::Delimiter;
use crate::lines::{Line, Lines};
use crate::quoting::has_quoting;
use crate::splitter::Splitter;

/// Returns the delimiter that a line such as `sep=;` sets; `None` for any other line. Some programs
/// write such a line at the beginning of a file, to tell spreadsheets the delimiter.
fn announced(line: &[u8]) -> Option<Delimiter> {
    let (name, value) = line.split_at_checked(4)?;
    let value = std::str::from_utf8(value).ok()?;
    let value = if value == "\t" { value } else { value.trim_end() };
    name.eq_ignore_ascii_case(b"sep=").then(|| Delimiter::parse(value))?
}

/// Returns the delimiter of a file that begins with the lines `looked_at`. This is the first of
/// these delimiters that exists:
///
/// 1. The delimiter that the caller has set (`chosen`).
/// 2. The delimiter in the first line of the file, if this line is like `sep=;`.
/// 3. The delimiter that fits the lines best.
/// 4. The delimiter `usual`.
///
/// Removes a first line such as `sep=;` from `lines`.
pub(crate) fn of_file(
    lines: &mut Lines,
    looked_at: &[Line],
    usual: Delimiter,
    chosen: Option<Delimiter>,
) -> Delimiter {
    let announced = looked_at.first().and_then(|line| announced(&line.bytes));
    if announced.is_some() {
        // The line is already in memory, so reading it cannot fail.
        let _ = lines.next();
    }
    chosen.or(announced).unwrap_or_else(|| detect(looked_at, usual))
}

/// Detects the delimiter of a file that begins with these lines. Returns `otherwise` if no
/// delimiter fits.
///
/// A delimiter fits if it splits the header into at least two fields. Several delimiters may fit.
/// Then the result is the delimiter with the largest share of rows that have as many fields as the
/// header. If two shares are equal, the result is the delimiter that splits the header into more
/// fields.
///
/// The first row is usually the header. But it may be a title above the header. The first row
/// counts as a title if it contains no known column name, and if, with each delimiter that fits, at
/// most half of the other rows have as many fields as the first row. Then the number of fields that
/// more than half of the rows have is used instead of the number of fields of the header.
fn detect(lines: &[Line], otherwise: Delimiter) -> Delimiter {
    let (delimiter, share) = best(lines, otherwise, |counts| counts.first().copied());
    let first = lines.iter().find(|line| !line.is_blank());
    let first = first.and_then(|line| std::str::from_utf8(&line.bytes).ok()).unwrap_or_default();
    let sign = char::from(delimiter.as_byte());
    if share > 0.5 || first.split(sign).any(is_known_column) {
        return delimiter;
    }
    let (below_title, usual_share) = best(lines, otherwise, usual_count);
    if usual_share > 0.5 { below_title } else { delimiter }
}

/// Returns the delimiter that fits best, and the share of rows that have as many fields as the
/// header. If no delimiter fits, returns `otherwise` and the share 0. The function `header` gets
/// the number of fields of each row, and returns the number of fields of the header.
fn best(
    lines: &[Line],
    otherwise: Delimiter,
    header: impl Fn(&[usize]) -> Option<usize>,
) -> (Delimiter, f64) {
    let mut best = (otherwise, 0.0, 1);
    let others = Delimiter::ALL.into_iter().filter(|one| *one != otherwise);
    for delimiter in [otherwise].into_iter().chain(others) {
        let counts = field_counts(lines, delimiter);
        let Some(header) = header(&counts).filter(|&header| header > 1) else { continue };
        let share = share(&counts, header);
        if best.2 < 2 || share > best.1 || (share == best.1 && header > best.2) {
            best = (delimiter, share, header);
        }
    }
    (best.0, best.1)
}

/// Returns which share of the rows has `fields` fields, from 0 to 1. The first row is not counted.
/// `counts` has the number of fields of each row.
fn share(counts: &[usize], fields: usize) -> f64 {
    let rows = counts.get(1..).unwrap_or_default();
    let alike = rows.iter().filter(|&&count| count == fields).count();
    if rows.is_empty() { 1.0 } else { alike as f64 / rows.len() as f64 }
}

/// Returns the number of fields that more than half of the rows have; `None` if there is none.
fn usual_count(counts: &[usize]) -> Option<usize> {
    counts.iter().copied().find(|&fields| share(counts, fields) > 0.5)
}

/// Returns the number of fields of each row. Skips blank lines.
fn field_counts(lines: &[Line], delimiter: Delimiter) -> Vec<usize> {
    let mut splitter = Splitter::with_quoting(delimiter, None, has_quoting(lines, delimiter));
    let mut counts = Vec::new();
    let mut is_open = false;
    for line in lines {
        if !is_open && line.is_blank() {
            continue;
        }
        is_open = line.is_too_long || !splitter.feed(line);
        if !is_open {
            counts.push(splitter.fields().count());
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> Delimiter {
        let line = |(at, text): (usize, &str)| Line {
            number: at as u64 + 1,
            bytes: text.as_bytes().to_vec(),
            is_too_long: false,
            had_return: false,
        };
        let lines: Vec<Line> = text.split('\n').enumerate().map(line).collect();
        detect(&lines, Delimiter::Comma)
    }

    #[test]
    fn the_delimiter_is_the_one_that_keeps_rows_alike() {
        for (text, expected) in [
            ("a,b\n1,2\n", Delimiter::Comma),
            ("Firma;Ort\nQuill;Bern\n", Delimiter::Semicolon),
            ("Firma;Umsatz, in Mio\nQuill;1,5\nInk;2\n", Delimiter::Semicolon),
            ("Firma\tOrt, Land\nQuill, Ltd\tBern, CH\n", Delimiter::Tab),
            ("a|b\n1|2\n", Delimiter::Pipe),
            ("name,domains\nQuill,a.example|b.example\n", Delimiter::Comma),
            ("\"a;b;c\",d\n\"1;2;3\",4\n", Delimiter::Comma),
            ("a;b\n\"x\ny\";2\n\"1,2\";3\n", Delimiter::Semicolon),
            ("Company\nQuill, Ltd\nInk; Ltd\n", Delimiter::Comma),
            ("Prospects, Q4\n\nFirma;Ort\nQuill, Ltd;Bern\nInk;Bonn\n", Delimiter::Semicolon),
            ("Prospects\nFirma\tOrt\nQuill, Ltd\tBern\nInk, Ltd\tBonn\n", Delimiter::Tab),
            ("Company\nQuill; Ltd\nInk; Ltd\n", Delimiter::Comma),
            ("a;b;c", Delimiter::Semicolon),
            ("", Delimiter::Comma),
        ] {
            assert_eq!(detected(text), expected, "{text}");
        }
    }

    #[test]
    fn a_first_line_announces_the_delimiter() {
        assert_eq!(announced(b"sep=;"), Some(Delimiter::Semicolon));
        assert_eq!(announced(b"SEP=\t"), Some(Delimiter::Tab));
        assert_eq!(announced(b"separator"), None);
    }
}
