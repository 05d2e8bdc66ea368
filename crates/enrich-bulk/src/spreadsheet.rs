//! Cells that a spreadsheet would run as a formula.
//!
//! The rule is that of OWASP's page on CSV injection: a cell that begins with `=`, `+`, `-`, `@`, a
//! tab, a line end, or the full-width form of one of the signs gets an apostrophe before it. Numbers
//! and phone numbers are let through: a sign, then digits and spaces, at most one decimal point.
//! They can do nothing, and a phone number with an apostrophe would be no phone number to the next
//! program. Neither may a list of them (`+41…|+49…`) do anything, without a letter or a `!`.

use std::borrow::Cow;

/// What separates the values of a list in a cell, as in the native CSV format.
pub(crate) const LIST_SEPARATOR: &str = "|";

/// The cell, with an apostrophe before it where a spreadsheet would run it.
pub fn neutralised(cell: &[u8]) -> Cow<'_, [u8]> {
    if !begins_a_formula(cell) || is_list_of_numbers(cell) {
        return Cow::Borrowed(cell);
    }
    Cow::Owned([b"'", cell].concat())
}

fn begins_a_formula(cell: &[u8]) -> bool {
    const FULL_WIDTH: [&str; 4] = ["＝", "＋", "－", "＠"];
    let is_sign = matches!(cell.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n'));
    is_sign || FULL_WIDTH.iter().any(|sign| cell.starts_with(sign.as_bytes()))
}

fn is_list_of_numbers(cell: &[u8]) -> bool {
    cell.split(|byte| LIST_SEPARATOR.as_bytes().contains(byte)).all(is_number)
}

/// `-5`, `+3.14`, `+41 44 668 18 00`.
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
            "\t=1",
            "\r=1",
            "\n=1",
            "-",
            "+",
            "＝1+1",
            "＠x",
            "+41(44)668",
            "-1.2.3",
            "+1-202-555-0143",
            "-5e",
            "+1|=2",
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
