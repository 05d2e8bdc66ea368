//! Quotes in CSV and tab-separated files: decides whether they enclose fields, and whether those of
//! a row are correct.

use crate::delimiter::Delimiter;
use crate::limits::LOOKED_AT_LINES;
use crate::lines::Line;

/// A field that begins with a quote may have no closing quote in the examined lines, because it may
/// be closed later in the file. This is the maximum number of examined lines of such a field. If it
/// has more, its quote is probably a stray one, so quotes are plain text in this file.
const MAX_FIELD_LINES: usize = 20;

/// Whether quotes enclose fields in a file that begins with these lines. If the delimiter is not a
/// tab, the result is always `true`. Many programs that write tab-separated files do not enclose
/// fields in quotes. In their files, a quote is plain text, as in `"The Barn" Studios`. So if the
/// delimiter is a tab, the result is `true` only if every field that begins with a quote also ends
/// with one.
pub(crate) fn has_quoting(lines: &[Line], delimiter: Delimiter) -> bool {
    delimiter != Delimiter::Tab || are_well_formed(lines)
}

/// Whether every field that begins with a quote also ends with a quote. Such a field may contain
/// line breaks.
///
/// The last such field may have no closing quote in `lines`, because a later line of the file may
/// close it. This is accepted if `lines` is only the beginning of the file, the field has at most
/// [`MAX_FIELD_LINES`] lines, and another field is closed.
fn are_well_formed(lines: &[Line]) -> bool {
    let (mut opened_at, mut closed) = (None, 0);
    for (at, line) in lines.iter().enumerate() {
        for field in line.bytes.split(|&byte| byte == b'\t') {
            let rest = match opened_at {
                Some(_) => Some(field),
                None => field.strip_prefix(b"\""),
            };
            let Some(rest) = rest else { continue };
            match closing_quote(rest) {
                Some(quote) if quote + 1 < rest.len() => return false,
                Some(_) => {
                    opened_at = None;
                    closed += 1;
                }
                None => opened_at = opened_at.or(Some(at)),
            }
        }
    }
    let may_end_later = |at: usize| {
        closed > 0 && lines.len() >= LOOKED_AT_LINES && lines.len() - at <= MAX_FIELD_LINES
    };
    opened_at.is_none_or(may_end_later)
}

/// Whether the quotes of a CSV row are correct: each field that begins with a quote has a closing
/// quote, and a delimiter or the end of the row follows it.
///
/// A stray quote can join several lines to one row, such as the lines `"Members`, `Company,City`
/// and `Quill,"Bern"`. The next quote (before `Bern`) then seems to be the closing quote of the
/// first field. Because other text follows it, the result is `false`.
pub(crate) fn is_well_formed(row: &[u8], delimiter: Delimiter) -> bool {
    let mut rest = row;
    loop {
        let begin = match rest.strip_prefix(b"\"") {
            Some(field) => match closing_quote(field) {
                Some(quote) => field.get(quote + 1..).unwrap_or_default(),
                None => return false,
            },
            None => {
                let end = rest.iter().position(|byte| *byte == delimiter.as_byte());
                rest.get(end.unwrap_or(rest.len())..).unwrap_or_default()
            }
        };
        match begin.strip_prefix(&[delimiter.as_byte()]) {
            Some(next) => rest = next,
            None => return begin.trim_ascii().is_empty(),
        }
    }
}

/// Returns the position of the quote character (`"`) that closes the field. Two of them
/// together (`""`) do not close it, but stand for one quote character in the text.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(quote) = text.iter().skip(at).position(|&byte| byte == b'"') {
        at += quote;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_quoted(text: &str) -> bool {
        let line = |text: &str| Line {
            number: 1,
            bytes: text.as_bytes().to_vec(),
            is_too_long: false,
            had_return: false,
        };
        let lines: Vec<Line> = text.split('\n').map(line).collect();
        has_quoting(&lines, Delimiter::Tab)
    }

    #[test]
    fn a_stray_quote_makes_a_row_not_well_formed() {
        for (row, expected) in [
            ("a,\"b\nc\",d", true),
            ("\"a \"\"b\"\"\",\"\",c\r", true),
            ("\"Members\nCompany,City\nQuill,\"Bern\"", false),
            ("Company,\"City\nQuill,Bern\nNib,\"Zug, CH\"", false),
            ("a,\"b", false),
        ] {
            assert_eq!(is_well_formed(row.as_bytes(), Delimiter::Comma), expected, "{row}");
        }
    }

    #[test]
    fn quotes_enclose_fields_only_if_each_of_them_does() {
        for text in [
            "a\tb",
            "\"a\"\t\"b\"",
            "\"a \"\"b\"\"\"\tc",
            "\"a\nb\tc\"\td",
            "a \"b\" c\td",
            "\"\"\t\"\"",
        ] {
            assert!(is_quoted(text), "{text}");
        }
        for text in ["\"The Barn\" Studios\tb", "\"Best\tb\nc\t\"z", "\"Best\tb\nc\td"] {
            assert!(!is_quoted(text), "{text}");
        }
        // The last examined line opens a quote and does not close it. A later line of the file may
        // close it.
        let rows = "\"a\"\t\"b\"\n".repeat(LOOKED_AT_LINES - 1);
        assert!(is_quoted(&format!("{rows}\"a\"\t\"b")));
        assert!(!is_quoted(&format!("a\t\"b\n{rows}")));
    }
}
