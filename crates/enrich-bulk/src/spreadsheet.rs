//! Neutralises cells that a spreadsheet program would run as a formula.
//!
//! The rule is from OWASP's page on CSV injection. An apostrophe is put before a cell that begins
//! with `=`, `+`, `-`, `@`, a tab, a line end, or the full-width form of one of these characters. A
//! spreadsheet program may assume another delimiter than the output has, and split a cell. So the
//! rule also applies to each part of a cell after `;`, a tab, `|` or a line end. Quotes at the
//! beginning of such a part are ignored.
//!
//! Numbers and phone numbers stay unchanged: `+` or `-`, then digits and spaces, with at most one
//! decimal point. They are harmless, and an apostrophe would make a phone number unreadable for
//! other programs. A cell with a list of such numbers (`+41…|+49…`) stays unchanged too.

use std::borrow::Cow;
use std::io::{self, Read, Write};

/// The bytes at the start of a file by which spreadsheets recognise UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The separator between several values in one cell: `a@quill.example|b@quill.example`. It is the
/// same as in CSV files with records to import.
pub(crate) const LIST_SEPARATOR: &str = "|";

/// Converts the rows of an output workbook to CSV that is safe to open in a spreadsheet program.
/// The CSV begins with a byte order mark, and its cells are neutralised, so that none of them runs
/// as a formula. `rows` is the CSV file from which the workbook is made. Its cells are not
/// neutralised.
pub(crate) fn write_csv(rows: impl Read, mut into: impl Write) -> io::Result<()> {
    into.write_all(BYTE_ORDER_MARK)?;
    let mut rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(rows);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(into);
    let mut row = csv::ByteRecord::new();
    while rows.read_byte_record(&mut row)? {
        writer.write_record(row.iter().map(neutralised))?;
    }
    writer.flush()
}

/// Returns the cell with an apostrophe before each formula in it. A spreadsheet program may split
/// the cell at a separator such as `;`, so a formula may also begin after a separator.
pub fn neutralised(cell: &[u8]) -> Cow<'_, [u8]> {
    let is_formula = begins_a_formula(cell) && !is_list_of_numbers(cell);
    let parts: Vec<usize> = dangerous_parts(cell).collect();
    if !is_formula && parts.is_empty() {
        return Cow::Borrowed(cell);
    }
    let mut safe = Vec::with_capacity(cell.len() + parts.len() + 1);
    if is_formula {
        safe.push(b'\'');
    }
    let mut written = 0;
    for part in parts {
        safe.extend_from_slice(&cell[written..part]);
        safe.push(b'\'');
        written = part;
    }
    safe.extend_from_slice(&cell[written..]);
    Cow::Owned(safe)
}

/// Returns the positions of all parts that a spreadsheet program would run as a formula. A part
/// begins after `;`, a tab, `|` or a line end. The caller checks the beginning of the cell itself,
/// so it is not included here.
fn dangerous_parts(cell: &[u8]) -> impl Iterator<Item = usize> {
    let is_separator = |byte: u8| matches!(byte, b';' | b'\t' | b'|' | b'\n' | b'\r');
    let behind = (1..cell.len()).filter(move |at| is_separator(cell[at - 1]));
    behind.filter(move |at| {
        let rest = &cell[*at..];
        let part = rest.split(|byte| is_separator(*byte)).next().unwrap_or_default();
        let unquoted = without_quotes(part);
        begins_with_a_sign(unquoted) && !(unquoted.len() == part.len() && is_number(part))
    })
}

fn begins_a_formula(cell: &[u8]) -> bool {
    matches!(cell.first(), Some(b'\t' | b'\r' | b'\n')) || begins_with_a_sign(cell)
}

fn begins_with_a_sign(text: &[u8]) -> bool {
    const FULL_WIDTH: [&str; 4] = ["＝", "＋", "－", "＠"];
    let is_sign = matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@'));
    is_sign || FULL_WIDTH.iter().any(|sign| text.starts_with(sign.as_bytes()))
}

fn without_quotes(text: &[u8]) -> &[u8] {
    let quotes = text.iter().take_while(|byte| **byte == b'"').count();
    &text[quotes..]
}

fn is_list_of_numbers(cell: &[u8]) -> bool {
    cell.split(|byte| LIST_SEPARATOR.as_bytes().contains(byte)).all(is_number)
}

/// Whether the text is a number, such as `-5`, `+3.14` or `+41 44 668 18 00`. A number is harmless,
/// so no apostrophe is put before it.
fn is_number(text: &[u8]) -> bool {
    let digits = match text {
        [b'+' | b'-', rest @ ..] => rest,
        _ => text,
    };
    let points = digits.iter().filter(|byte| **byte == b'.').count();
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'.');
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.last().is_some_and(u8::is_ascii_digit)
        && points <= 1
        && digits.iter().all(is_of_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_gets_an_apostrophe() {
        let cells = [
            "=1+1",
            "=HYPERLINK(\"x\")",
            "+1+1",
            "+cmd|' /C calc'!A0",
            "-2+3+cmd|' /C calc'!A0",
            "-1-1",
            "@SUM(1)",
            "-",
            "+",
            "＝1+1",
            "＠x",
            "+41(44)668",
            "-1.2.3",
            "+1-202-555-0143",
            "-5e",
            "+1|cmd",
            "+ 1",
            "-a",
            "+1|",
        ];
        for cell in cells {
            let expected = format!("'{cell}");
            assert_eq!(neutralised(cell.as_bytes()), expected.as_bytes(), "{cell}");
        }
    }

    #[test]
    fn a_part_behind_a_separator_is_held_to_the_same_rule() {
        let cells = [
            ("hi;=1+1", "hi;'=1+1"),
            ("hi\t=1+1", "hi\t'=1+1"),
            ("hi|@SUM(1)", "hi|'@SUM(1)"),
            ("hi\n=1", "hi\n'=1"),
            ("hi\r\n-1-1", "hi\r\n'-1-1"),
            ("hi;\"=1\"", "hi;'\"=1\""),
            ("a;=1;+b|c", "a;'=1;'+b|c"),
            ("a;＝1", "a;'＝1"),
            ("=1;=2", "'=1;'=2"),
            ("\t=1", "'\t'=1"),
            ("+1|=2", "'+1|'=2"),
            ("a;-", "a;'-"),
        ];
        for (cell, expected) in cells {
            let shown = String::from_utf8(neutralised(cell.as_bytes()).into_owned()).unwrap();
            assert_eq!(shown, expected);
        }
        for cell in ["a;b", "a;-5", "tel|+41446681800", "a; =1", "a;b=c", "-5|+3.14", "a;", "|"] {
            assert_eq!(neutralised(cell.as_bytes()), cell.as_bytes(), "{cell}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let cells = [
            "",
            "Quill",
            "-5",
            "-5.20",
            "+41446681800",
            "+41 44 668 18 00",
            "+41446681800|+4930231",
            "a=b",
            "'=1",
            " =1",
            "ada@quill.example",
            "1-2",
            "é",
        ];
        for cell in cells {
            assert_eq!(neutralised(cell.as_bytes()), cell.as_bytes(), "{cell}");
        }
    }
}
