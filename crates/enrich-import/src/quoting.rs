//! Decides whether quotes enclose fields in a file with tabs between columns.

use crate::delimiter::Delimiter;
use crate::lines::Line;

/// Whether quotes enclose fields in a file that begins with these lines. If the delimiter is not a
/// tab, they always do. Many programs that write tabs do not enclose fields, and a quote is then
/// plain text. So with tabs, quotes enclose fields only if every field that begins with a quote
/// also ends with one.
pub(crate) fn has_quoting(lines: &[Line], delimiter: Delimiter) -> bool {
    delimiter != Delimiter::Tab || are_well_formed(lines)
}

/// Whether every field that begins with a quote ends with one. A field may have several lines.
fn are_well_formed(lines: &[Line]) -> bool {
    let mut is_open = false;
    for line in lines {
        for field in line.bytes.split(|&byte| byte == b'\t') {
            let rest = match is_open {
                true => Some(field),
                false => field.strip_prefix(b"\""),
            };
            let Some(rest) = rest else { continue };
            match closing_quote(rest) {
                Some(at) if at + 1 < rest.len() => return false,
                Some(_) => is_open = false,
                None => is_open = true,
            }
        }
    }
    !is_open
}

/// Returns the position of the first quote that is not doubled.
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
    }
}
