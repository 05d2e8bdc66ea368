//! Finds the phone numbers in a text with words, such as `Tel. 030 23125-001 (Zentrale)`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::table;

/// What a word of `data/phone_words.txt` says about the digits beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// A phone number follows.
    Phone,
    /// A fax number follows. In brackets, the number before the word is a fax number.
    Fax,
    /// Another number, or another ending of the number before it, follows.
    Or,
    /// An extension follows, which is a part of the number: `ext. 12`.
    Extension,
    /// An internal extension follows, which is left out: `Durchwahl 12`.
    Inside,
    /// A number follows that is no longer in use. If the word is in brackets, the number before it
    /// is no longer in use.
    Invalid,
    /// In a remark after a number, such as `do not call`, the word says that the number must not be
    /// used.
    Not,
}

impl Word {
    /// Returns the kind of word with this name in `data/phone_words.txt`.
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "phone" => Self::Phone,
            "fax" => Self::Fax,
            "or" => Self::Or,
            "extension" => Self::Extension,
            "inside" => Self::Inside,
            "invalid" => Self::Invalid,
            "not" => Self::Not,
            _ => return None,
        })
    }
}

/// The kind of each word of `data/phone_words.txt`.
static WORDS: LazyLock<HashMap<&'static str, Word>> = LazyLock::new(|| {
    table::words(include_str!("../data/phone_words.txt"), Word::from_name).collect()
});

/// What the digits after a word mean, in a text such as `Tel. 030 23125-001, Fax -299`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Number,
    /// A further number, or only another ending of the number before it, such as `182` in
    /// `0221 4710-181 oder 182`.
    Other,
    /// Not a usable phone number: a fax number, an internal extension, or a number that is no
    /// longer valid.
    Nothing,
}

/// Returns the phone numbers in a text, without words such as `Tel.` around them. Fax numbers are
/// left out. The known words are in `data/phone_words.txt`. Only these unknown words are left out:
///
/// - A label before a number: `Ada` in `Ada 030 23125001`.
/// - A remark in parentheses after a number: `dem. Quill` in `030 23125001 (dem. Quill)`.
/// - A remark after the last number: `hat` in `0342 337 90 11 hat`.
///
/// If the text has any other unknown word, returns the whole text.
pub(crate) fn phone_texts(text: &str) -> Vec<String> {
    let text = text.trim().trim_matches(['\'', '"']).trim_start();
    let mut found = Vec::new();
    let (mut number, mut part) = (String::new(), Part::Number);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest
            .find(|sign: char| sign.is_alphabetic() != first.is_alphabetic())
            .unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        rest = after;
        if !first.is_alphabetic() {
            number.push_str(token);
            continue;
        }
        let word = token.to_lowercase();
        let is_short = rest.starts_with('.') && WORDS.contains_key(format!("{word}.").as_str());
        let word = if is_short { format!("{word}.") } else { word };
        let kind = WORDS.get(word.as_str()).copied();
        // A remark in parentheses after a number is left out: `(dem. Quill)`, `(3 lines)`. If the
        // remark says that the number is a fax number (`(nur Fax)`) or invalid, the number is left
        // out too.
        if matches!(kind, None | Some(Word::Not))
            && let Some(open) = open_remark(&number)
            && let Some((remark, after)) = rest.split_once(')')
            && !remark.contains(|sign: char| sign.is_ascii_digit())
        {
            number.truncate(open);
            if is_no_phone(&format!("{word}{remark}")) {
                number.clear();
            }
            rest = after;
            continue;
        }
        let next = match kind {
            Some(Word::Extension) => {
                number.push_str(token);
                continue;
            }
            Some(Word::Phone) => Part::Number,
            Some(Word::Or) => Part::Other,
            Some(Word::Fax | Word::Invalid) if number.ends_with('(') => {
                number.clear();
                Part::Nothing
            }
            Some(Word::Fax | Word::Inside | Word::Invalid) => Part::Nothing,
            None if is_label(&number, rest) && is_no_phone_label(&word) => Part::Nothing,
            None if is_label(&number, rest) => Part::Number,
            _ if is_remark(&number, &format!("{token}{rest}")) => break,
            _ => return vec![text.to_owned()],
        };
        found.extend(whole(&number, part));
        number.clear();
        part = next;
    }
    found.extend(whole(&number, part));
    found
}

/// Minimum number of digits of a complete phone number.
const COMPLETE: usize = 7;

/// Whether a word is a label before a number, such as `Ada` in `Ada 030 23125001`. `before` is the
/// text before the word: it must have no digits, or be a complete number with a comma, a semicolon,
/// a slash or a line break after it. `after` is the text after the word: it must have a complete
/// number.
fn is_label(before: &str, after: &str) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    let before = (digits(before), before.trim_end().ends_with([',', ';', '/', '\n']));
    let begins = matches!(before, (0, _) | (COMPLETE.., true));
    begins && digits(after) >= COMPLETE
}

/// Whether a label contains a word for a fax machine: `Telefaxnr`.
fn is_no_phone_label(label: &str) -> bool {
    ["fax", "faks", "téléc", "факс"].iter().any(|part| label.contains(part))
}

/// Whether the text after `number` is a remark that can be left out, such as `hat` in
/// `0342 337 90 11 hat`. `number` must be complete. The remark must have no digits. It must not say
/// that the number is a fax number, is invalid or must not be used. It must not be a part of the
/// number, such as `CARS` in `+1 800 555 CARS`.
fn is_remark(number: &str, remark: &str) -> bool {
    /// Numbers that are often written with letters begin with these digits.
    const TOLL_FREE: [&str; 9] =
        ["1800", "1833", "1844", "1855", "1866", "1877", "1888", "800", "0800"];
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let are_capitals = remark.trim_end().bytes().all(|byte| byte.is_ascii_uppercase());
    let is_of_number = are_capitals && TOLL_FREE.iter().any(|begin| digits.starts_with(begin));
    let remark = remark.to_lowercase();
    let mut words = remark.split(|sign: char| !sign.is_alphabetic());
    digits.len() >= COMPLETE
        && !remark.contains(|sign: char| sign.is_ascii_digit())
        && !is_of_number
        && !is_no_phone(&remark)
        && !words.any(|word| WORDS.get(word) == Some(&Word::Not))
}

/// Returns the position of the last opening parenthesis in a text, if it is not closed and at most
/// two digits follow it, as in `(` or `(3 `. Otherwise returns `None`.
fn open_remark(text: &str) -> Option<usize> {
    let open = text.rfind('(')?;
    let inside = text.get(open + 1..)?;
    let digits = inside.chars().filter(char::is_ascii_digit).count();
    (digits <= 2 && !inside.contains(')')).then_some(open)
}

/// Returns a number without the second ending that follows it: `0236 233 17 80` for
/// `0236 233 17 80 - 81`. Returns `None` if there is no second ending.
pub(crate) fn without_second_ending(number: &str) -> Option<&str> {
    let (first, ending) = number.rsplit_once(['-', '–', '/', '~'])?;
    let is_ending = |text: &str| {
        (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let first = first.trim_end();
    (is_ending(ending.trim()) && first.ends_with(|sign: char| sign.is_ascii_digit()))
        .then_some(first)
}

/// Whether the second ending of a number is clearly not a part of the number itself: `57` in
/// `031-7491856 / 57`.
pub(crate) fn has_separate_ending(number: &str) -> bool {
    let Some(first) = without_second_ending(number) else { return false };
    let ending = number.strip_prefix(first).unwrap_or_default();
    let digits = first.chars().filter(char::is_ascii_digit).count();
    // If the number before the ending contains a slash, slashes separate its groups of digits. So
    // the supposed ending is probably a group too: `67` in `0664 / 123 45 / 67`.
    (ending.starts_with(" / ") || ending.trim_start().starts_with('~'))
        && digits >= COMPLETE
        && !first.contains('/')
}

/// Whether a remark after a number says that the number belongs to a fax machine, or is no longer
/// valid.
fn is_no_phone(remark: &str) -> bool {
    let remark = remark.to_lowercase();
    let mut words = remark.split(|sign: char| !sign.is_alphabetic());
    words.any(|word| matches!(WORDS.get(word), Some(Word::Fax | Word::Invalid)))
}

/// Returns a phone number with the area code before it. If the number seems to be complete, returns
/// it unchanged. A complete number begins with `+`, `(`, a zero or the area code, or has at least
/// ten digits.
pub(crate) fn with_area_code(area_code: Option<&str>, number: String) -> String {
    /// A number with at least this many digits is complete.
    const WHOLE: usize = 10;
    /// A number that begins with the digits of the area code is complete only if at least this
    /// many digits follow them.
    const LOCAL: usize = 5;
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let Some(area_code) = area_code else { return number };
    let (all, code) = (digits(&number), digits(area_code));
    let code = code.trim_start_matches('0');
    let has_code = all.strip_prefix(code).is_some_and(|rest| rest.len() >= LOCAL);
    if number.starts_with(['+', '0', '(']) || has_code || all.len() >= WHOLE {
        return number;
    }
    format!("{area_code} {number}")
}

/// Returns the phone number in `number`, without spaces and punctuation around it. `number` is the
/// text after a word such as `Tel.`, and `part` is the meaning of this word. Returns `None` if
/// there is no phone number, for example after the word `Fax`.
fn whole(number: &str, part: Part) -> Option<String> {
    /// Minimum number of digits of a further number, after a word such as `or`. Fewer digits are
    /// only another ending of the number before the word: `182` in `0221 4710-181 oder 182`.
    const LEAST_DIGITS: usize = 7;
    let number = number.trim_start_matches([' ', '.', ':', ',', ';', ')', '/', '-', '=']);
    let number = number.trim_end_matches([' ', '.', ':', ',', ';', '(', '/', '-', '\'']);
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let least = match part {
        Part::Number => 1,
        Part::Other => LEAST_DIGITS,
        Part::Nothing => return None,
    };
    (digits >= least).then(|| number.to_owned())
}

/// Returns the phone numbers in a text without words. A slash, or a dash between blanks, may
/// separate two numbers. But a slash or a dash may also be inside one number: after the area code
/// (`030/5550100`), or before another ending of the same number (`5550100/01`). So the text is
/// split only if every part is a complete number.
pub(crate) fn whole_numbers(text: &str) -> Vec<&str> {
    let separators =
        [" / ", "/", " - ", " – "].into_iter().filter(|separator| text.contains(separator));
    let mut numbers = separators.map(|separator| whole_numbers_between(text, separator));
    numbers.find(|numbers| numbers.len() > 1).unwrap_or_else(|| vec![text])
}

fn whole_numbers_between<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    /// A part with fewer digits is never a complete number.
    const LEAST_DIGITS: usize = 7;
    /// If ` / ` separates the parts, and each part has at least this many digits, all parts are
    /// complete numbers, however they begin.
    const LONG: usize = 9;
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    let parts: Vec<&str> = text.split(separator).map(str::trim).collect();
    let length = parts.first().map_or(0, |part| digits(part));
    let has_prefix = |part: &str| names_country(part) || has_trunk_zero(part);
    let are_long = separator == " / " && parts.iter().all(|part| digits(part) >= LONG);
    let are_whole = parts.iter().all(|part| digits(part) >= LEAST_DIGITS)
        && (are_long
            || parts.iter().all(|part| names_country(part))
            || parts.iter().all(|part| has_trunk_zero(part))
            || parts.iter().all(|part| !has_prefix(part) && digits(part) == length));
    if are_whole { parts } else { vec![text] }
}

/// Whether a text without words may be a phone number. It must have 7 to 15 digits. All its other
/// characters must be spaces or one of `+-./()`. It must not be a date, such as `01.11.2026`.
pub(crate) fn is_like_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_usual = |sign: char| sign.is_ascii_digit() || " +-./()".contains(sign);
    let parts = text.split(['.', '-', '/']).map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let is_year =
        |part: &&str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    let is_date = parts.len() == 3 && digits <= 8 && parts.iter().any(is_year);
    (7..=15).contains(&digits) && text.chars().all(is_usual) && !is_date
}

/// Whether a word is a label of numbers of any kind, such as `mobile` or `Fax`.
pub(crate) fn is_phone_word(word: &str) -> bool {
    matches!(WORDS.get(word.to_lowercase().as_str()), Some(Word::Phone | Word::Fax))
}

/// Whether a phone number begins with `+` or `00`, and so with the calling code of a country.
pub(crate) fn names_country(number: &str) -> bool {
    let number = number.trim_start_matches([' ', '(']);
    number.starts_with('+') || number.starts_with("00")
}

/// Whether a phone number begins with a single zero, as national numbers do in many countries.
fn has_trunk_zero(number: &str) -> bool {
    !names_country(number) && number.trim_start_matches([' ', '(']).starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_words_has_a_known_kind_and_no_word_has_two() {
        let mut known = HashMap::new();
        for [kind, words] in table::rows(include_str!("../data/phone_words.txt")) {
            assert!(Word::from_name(kind).is_some(), "{kind}");
            for word in table::values(words) {
                assert!(known.insert(word, kind).is_none_or(|other| other == kind), "{word}");
            }
        }
    }

    #[test]
    fn words_for_phones_are_left_out_and_fax_numbers_too() {
        for (text, expected) in [
            ("Ada 030 23125-001, B-M 030 23125-002", &["030 23125-001", "030 23125-002"][..]),
            ("Telefaxnr 030 23125-299", &[]),
            ("Zi. 12", &["Zi. 12"]),
            ("Tel. 030 23125-001", &["030 23125-001"]),
            ("Tel.: +49 30 23125 001", &["+49 30 23125 001"]),
            ("Fon (0 30) 23 12 50 61", &["(0 30) 23 12 50 61"]),
            ("mobil 0171/3920062", &["0171/3920062"]),
            ("030 23125001 (Zentrale)", &["030 23125001"]),
            ("030 23125001 (dem. M. Quill)", &["030 23125001"]),
            ("030 23125-299 (nur Fax)", &[]),
            ("0232 502 18 44 (3 hat)", &["0232 502 18 44"]),
            ("030 23125001 (ungültig)", &[]),
            ("030 23125001, alt 030 23125002", &["030 23125001"]),
            ("Växel: 08-465 004 21, jour 08-465 004 22", &["08-465 004 21", "08-465 004 22"]),
            ("031-390 06 24 alt. 0701740624", &["031-390 06 24", "0701740624"]),
            ("'+49 30 23125 041", &["+49 30 23125 041"]),
            ("0221 4710-181 oder 182", &["0221 4710-181"]),
            ("0221 4710181 oder 0221 4710182", &["0221 4710181", "0221 4710182"]),
            ("030/23125062; mobil 0171/3920062", &["030/23125062", "0171/3920062"]),
            ("Tel. 030 23125-001, Fax -299", &["030 23125-001"]),
            ("Fax 030 23125-299", &[]),
            ("030 23125-299 (Fax)", &[]),
            ("030 23125-0 DW 12", &["030 23125-0"]),
            ("(11) 3100-0701 ramal 12", &["(11) 3100-0701"]),
            ("22 123 45 67 wew. 12", &["22 123 45 67"]),
            ("03-3234-5678(直通)", &["03-3234-5678"]),
            ("(020) 7946-0123 ext. 12", &["(020) 7946-0123 ext. 12"]),
            ("tel:+1-202-555-0123", &["+1-202-555-0123"]),
            ("+44 20 7946 0123", &["+44 20 7946 0123"]),
            ("0 (224) 411 20 30 Pbx", &["0 (224) 411 20 30"]),
            ("(031) 8431122 on weekdays", &["(031) 8431122"]),
            ("030 23125299 ist die Faxnummer", &["030 23125299 ist die Faxnummer"]),
            ("030 23125299 nicht mehr da", &["030 23125299 nicht mehr da"]),
            ("+1 800 555 2 CARS", &["+1 800 555 2 CARS"]),
            ("+49 89 2000 4567 HQ", &["+49 89 2000 4567"]),
            ("030 23125061 (nicht am Wochenende)", &["030 23125061"]),
            ("+47 22 12 34 56 (NO)", &["+47 22 12 34 56"]),
            ("call us", &["call us"]),
            ("1-800-QUILL", &["1-800-QUILL"]),
        ] {
            assert_eq!(phone_texts(text), expected, "{text}");
        }
    }

    #[test]
    fn a_cell_may_have_several_complete_numbers() {
        for (text, expected) in [
            ("030/23125-101 / 0171/3920001", &["030/23125-101", "0171/3920001"][..]),
            ("02 87654302 / 333 1234509", &["02 87654302", "333 1234509"]),
            ("030/23125101/0171/3920001", &["030/23125101/0171/3920001"]),
            ("030 / 23125101", &["030 / 23125101"]),
            ("23125101 / 02", &["23125101 / 02"]),
        ] {
            assert_eq!(whole_numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn only_incomplete_numbers_get_the_area_code() {
        for (number, expected) in [
            ("23125001", "030 23125001"),
            ("3023125001", "3023125001"),
            ("30 23125", "30 23125"),
            ("1713920001", "1713920001"),
            ("49 30 23125001", "49 30 23125001"),
            ("030 23125001", "030 23125001"),
            ("+49 30 23125001", "+49 30 23125001"),
        ] {
            assert_eq!(with_area_code(Some("030"), number.to_owned()), expected);
        }
        assert_eq!(with_area_code(None, "23125001".to_owned()), "23125001");
        let whole = "202-555-0152".to_owned();
        assert_eq!(with_area_code(Some("202"), whole.clone()), whole);
    }
}
