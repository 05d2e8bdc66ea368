//! Recognises texts that stand for no value, such as `n/a` and `--`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::table;

/// The texts of `data/no_values.txt`, by kind.
struct NoValues {
    /// Texts whose case does not matter, stored in lower case.
    any: HashSet<String>,
    exact: HashSet<&'static str>,
    name: HashSet<&'static str>,
    /// Texts that cannot be the name of a company, stored in lower case.
    company: HashSet<String>,
    /// For a quick check: the first byte (in lower case) of each text in `any` and `exact`, with
    /// each length that the text may have. A value whose first byte and length are not in this set
    /// is neither in `any` nor in `exact`. This is so for nearly all real values.
    shapes: HashSet<(u8, usize)>,
}

/// Maximum number of additional blanks in a text that stands for no value: `data/no_values.txt` has
/// `k. a.`, and a file with records may have `k.   a.`.
const MOST_BLANKS: usize = 2;

static NO_VALUES: LazyLock<NoValues> = LazyLock::new(|| {
    let of = |wanted: &'static str| {
        table::rows(include_str!("../data/no_values.txt"))
            .filter(move |[kind, _]| *kind == wanted)
            .flat_map(|[_, texts]| table::values(texts))
    };
    let any: HashSet<String> = of("any").map(str::to_lowercase).collect();
    let exact: HashSet<&str> = of("exact").collect();
    let texts = any.iter().map(String::as_str).chain(exact.iter().copied());
    let shapes = texts.flat_map(|text| (0..=MOST_BLANKS).map(|more| shape(text, more)));
    let shapes = shapes.collect();
    let company = of("company").map(str::to_lowercase).collect();
    NoValues { any, exact, name: of("name").collect(), company, shapes }
});

fn shape(text: &str, more: usize) -> (u8, usize) {
    let first = text.bytes().next().unwrap_or_default();
    // A text must have the same shape (first byte and length) in upper and lower case. The first
    // byte of a letter outside ASCII depends on its case, so 0 stands for all these letters.
    let first = if first.is_ascii() { first.to_ascii_lowercase() } else { 0 };
    (first, text.len() + more)
}

/// Whether a text stands for no value: an empty text, or a text such as `n/a`, `(none)`, `\N` or
/// `--`. Blanks around the text do not matter.
pub fn is_no_value(text: &str) -> bool {
    let text = text.trim();
    if has_no_sign(text) {
        return true;
    }
    let inside = unbracketed(text);
    NO_VALUES.shapes.contains(&shape(inside, 0))
        && (NO_VALUES.exact.contains(inside) || NO_VALUES.any.contains(&key(inside)))
}

/// Whether a text cannot be the name of a company or a person: it stands for no value
/// ([`is_no_value`]), or is a zero.
pub fn is_no_name(text: &str) -> bool {
    is_no_value(text) || NO_VALUES.name.contains(text.trim())
}

/// Whether a text cannot be the name of a company: it cannot be a name ([`is_no_name`]), or says
/// that there is no company, such as `self-employed`.
pub(crate) fn is_no_company(text: &str) -> bool {
    is_no_name(text) || NO_VALUES.company.contains(&key(unbracketed(text.trim())))
}

/// Whether a text has only punctuation and blanks, or is empty.
fn has_no_sign(text: &str) -> bool {
    let is_dash = |sign| matches!(sign, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2026}');
    text.chars().all(|sign| sign.is_ascii_punctuation() || sign.is_whitespace() || is_dash(sign))
}

fn key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns a text without the brackets around it: `none` for `(none)`.
fn unbracketed(text: &str) -> &str {
    let inside = [('(', ')'), ('[', ']'), ('<', '>'), ('（', '）')]
        .into_iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inside.map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_texts_stand_for_no_value() {
        for text in [
            "",
            "-",
            "--",
            "---",
            "\u{2014}",
            ".",
            "?",
            "\\N",
            "(No value)",
            "(none)",
            "<null>",
            "#NV",
            "#REF!",
            "#N/A",
            "#VALUE!",
            "N/V",
            "n/a",
            "N.N.",
            "TBD",
            "undefined",
            "Unknown",
            "keine Angabe",
            "k.A.",
            "k.  A.",
            "nicht bekannt",
            "N\u{e9}ant",
            "sin datos",
            "x",
            "NULL",
        ] {
            assert!(is_no_value(text), "{text}");
        }
        for text in [
            "Unknown Worlds",
            "X Corp",
            "X",
            "Null",
            "Nan",
            "0",
            "5.20",
            "NV Quill",
            "N",
            "(x) y",
            "Keine Angabe GmbH",
            "TBD Media",
            "+49",
        ] {
            assert!(!is_no_value(text), "{text}");
        }
        assert!(is_no_name("0") && is_no_name(" x ") && !is_no_name("1"));
    }
}
