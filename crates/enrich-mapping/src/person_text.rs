//! Reads the names of people as users write them into the columns of a file: with salutations, with
//! remarks, or with several people in one cell.

mod several_people;

use std::collections::HashSet;
use std::sync::LazyLock;

use enrich_text::PersonName;

use crate::no_value::is_no_name;
use crate::table;
use several_people::first_of_couple;
pub(crate) use several_people::{further_names, names_two, split_people};

/// Reasons why a text is not the whole name of a person.
pub(crate) const NO_FIRST_NAME: &str = "no first name";
pub(crate) const NO_LAST_NAME: &str = "no last name";
pub(crate) const NO_WHOLE_NAME: &str = "no first or last name";
pub(crate) const NOBODY: &str = "no person, but a department or a remark";

/// What a word of `data/person_words.txt` says about a text in a column of people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    /// Before a name: `Herr`.
    Salutation,
    /// A salutation that may also be a name: `Don`, `Sig.`.
    Title,
    /// After a salutation: `med.` in `Dr. med.`.
    Faculty,
    /// After a name: `jun.`.
    End,
    /// The first word of a text that points to another place: `siehe` in `siehe oben`.
    Pointer,
    /// In an address or a number, nowhere in a name: `Tel`.
    Contact,
    /// In a job title: `Director`.
    Role,
    /// A text of these words alone is a department: `Sales Team`.
    Department,
    /// Between the words of a department: `and`.
    Between,
    /// Before a word of a job title: `Managing` in `Managing Director`.
    Rank,
}

impl Word {
    /// Returns the kind of word with this name in `data/person_words.txt`.
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "salutation" => Self::Salutation,
            "title" => Self::Title,
            "faculty" => Self::Faculty,
            "end" => Self::End,
            "pointer" => Self::Pointer,
            "contact" => Self::Contact,
            "role" => Self::Role,
            "department" => Self::Department,
            "between" => Self::Between,
            "rank" => Self::Rank,
            _ => return None,
        })
    }

    /// Whether a word, in lower case, is of this kind. A word may be of several kinds.
    fn has(self, word: &str) -> bool {
        WORDS.contains(&(self, word))
    }
}

/// The words of `data/person_words.txt`, by kind.
static WORDS: LazyLock<HashSet<(Word, &'static str)>> = LazyLock::new(|| {
    let words = table::words(include_str!("../data/person_words.txt"), Word::from_name);
    words.map(|(word, kind)| (kind, word)).collect()
});

/// The result of reading the columns of a person's name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PersonText {
    /// The first and the last name; `None` for a name that is missing.
    Name(Option<String>, Option<String>),
    /// The text is not a person's name, but a remark, an address or a department.
    Nobody,
}

/// Reads the columns of a person's name. The full name is split if the first or the last name is
/// missing. If there is no full name either, a first name of several words is split. Salutations,
/// titles and emoji are left out. If a text has several people, as in `Ada Byte / Bob Quill`, the
/// first one is read.
pub(crate) fn read_person(
    first: Option<String>,
    last: Option<String>,
    full: Option<String>,
) -> PersonText {
    // A first or a last name may also be a word of a department: `Care`, `Sales`. So if there are
    // both names, they are checked only together.
    let both = first.as_ref().zip(last.as_ref()).map(|(first, last)| format!("{first} {last}"));
    let texts = match &both {
        Some(both) => [Some(both), None, None],
        None => [first.as_ref(), last.as_ref(), full.as_ref()],
    };
    if texts.into_iter().flatten().any(|text| is_nobody(text)) {
        return PersonText::Nobody;
    }
    let first = first.map(|text| cleaned(&text)).filter(|text| !text.is_empty());
    let last = last.map(|text| cleaned(&text)).filter(|text| !text.is_empty());
    if let (Some(first), Some(last)) = (&first, &last) {
        let (first, last) = without_titles(first, last);
        return PersonText::Name(Some(first), Some(last));
    }
    let whole = full.or_else(|| first.clone().filter(|name| name.contains(' ')));
    // In Japanese lists, a middle dot is between the first and the last name of a foreigner.
    let whole = whole.map(|text| match text.rsplit_once('\u{30fb}') {
        Some((first, last)) => format!("{last}, {first}"),
        None => text,
    });
    let split = whole.as_deref().and_then(|text| {
        let mut people = people(text);
        people.find_map(|text| {
            let text = first_of_couple(&text).unwrap_or(text);
            capitals_first(&text).or_else(|| PersonName::split(&text))
        })
    });
    match split {
        Some((first, last)) if is_particle(&first) => {
            PersonText::Name(None, Some(format!("{first} {last}")))
        }
        Some((first, last)) => PersonText::Name(Some(first), Some(last)),
        None => PersonText::Name(first, last),
    }
}

/// Returns the names in a text such as `Ada Byte / Bob Quill`. A couple such as `Ada and Bob Byte`
/// is one name.
fn people(text: &str) -> impl Iterator<Item = String> {
    split_people(text).map(|text| cleaned(&without_remark(&cleaned(text))))
}

/// Whether a word is one of a department or of a job title: `Team`, `Office`, `Director`.
pub(crate) fn is_department_word(word: &str) -> bool {
    let word = plain_word(word);
    !Word::Salutation.has(&word) && (Word::Department.has(&word) || Word::Role.has(&word))
}

/// Whether a text has only words of last names, such as `von` and `van der`, in small letters, or
/// is a word of at most two small letters: `se` in `se hemsida` ("see the website").
fn is_particle(text: &str) -> bool {
    const PARTICLES: [&str; 30] = [
        "von", "vom", "van", "der", "den", "de", "da", "di", "del", "della", "du", "des", "dos",
        "das", "le", "la", "ten", "ter", "te", "zu", "zum", "zur", "af", "av", "el", "al", "bin",
        "ibn", "in", "'t",
    ];
    let is_short = text.chars().count() <= 2 && text.chars().all(char::is_lowercase);
    is_short || text.split(' ').all(|word| PARTICLES.contains(&word))
}

/// Returns why these are not the first and the last name of a person; `None` if the import accepts
/// them.
pub(crate) fn problem_of_name(first: Option<&str>, last: Option<&str>) -> Option<&'static str> {
    match (first, last) {
        (Some(first), Some(last)) => (!is_person_name(first, last)).then_some(NO_WHOLE_NAME),
        (Some(_), None) => Some(NO_LAST_NAME),
        (None, Some(_)) => Some(NO_FIRST_NAME),
        (None, None) => Some("no name"),
    }
}

/// Whether two texts are a first and a last name that the import accepts.
fn is_person_name(first: &str, last: &str) -> bool {
    !is_no_name(first) && !is_no_name(last) && PersonName::from_parts(first, last).is_ok()
}

/// Returns a person's name without the text after a dash or in parentheses, and without a job title
/// or a second name after a comma: `Ada Byte` for `Ada Byte - London`, `Ada Byte (Owner)`, `Ada
/// Byte, Director` and `Ada Byte, Bob Quill`. If the text before a dash is a job title, the name
/// follows the dash.
fn without_remark(text: &str) -> String {
    /// Maximum number of dashes at which a remark is left out. Further remarks stay in the text: a
    /// text with so many dashes is hardly a name.
    const MAX_REMARKS: usize = 8;
    let outside = without_parentheses(text);
    let mut name = outside.as_str();
    for _ in 0..MAX_REMARKS {
        let Some(shorter) = around_dash(name) else { break };
        name = shorter;
    }
    for _ in 0..MAX_REMARKS {
        match name.rsplit_once(',') {
            Some((before, last)) if has_role(last) || is_department(last) => name = before.trim(),
            _ => break,
        }
    }
    // In `Byte, Ada` the comma is between the names. But `Ada Byte` is a whole name, so `assistant`
    // in `Ada Byte, assistant` and `Bob Quill` in `Ada Byte, Bob Quill` are no parts of it.
    let is_small =
        |text: &str| !text.contains(char::is_uppercase) && text.contains(char::is_lowercase);
    let name = match split_at(name, ",") {
        Some((first, rest)) if is_whole_name(first) && (is_whole_name(rest) || is_small(rest)) => {
            first
        }
        _ => name,
    };
    name.to_owned()
}

/// Returns a text without the parts in parentheses. But if the only name is in parentheses, returns
/// this name: `Ada Byte` for `Director (Ada Byte)`.
fn without_parentheses(text: &str) -> String {
    let mut outside = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        outside.push_str(before);
        let (inside, after) = after.split_once(')').unwrap_or((after, ""));
        if !is_whole_name(before) && is_whole_name(inside) && has_role(before) {
            return inside.trim().to_owned();
        }
        rest = after;
    }
    outside.push_str(rest);
    outside.trim().to_owned()
}

/// Returns the name before a dash, or else the name after it. Returns `None` if the text has no
/// dash between blanks, or if neither part is a name.
fn around_dash(text: &str) -> Option<&str> {
    [" - ", " – ", " — ", " | "].into_iter().find_map(|mark| {
        let (first, rest) = split_at(text, mark)?;
        [first, rest].into_iter().find(|part| is_whole_name(part))
    })
}

fn split_at<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    text.split_once(mark).map(|(first, rest)| (first.trim(), rest.trim()))
}

/// Whether a text may be the whole name of a person: several words, and none of a job title.
pub(crate) fn is_whole_name(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some() && !has_role(text)
}

/// Whether a text has only words of a department or a job title, such as `Sales Manager`.
fn is_department(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(plain_word).collect();
    let words = || words.iter().filter(|word| !word.is_empty());
    let is_of_department = |word: &String| {
        [Word::Department, Word::Between, Word::Role, Word::Rank].iter().any(|kind| kind.has(word))
    };
    // `hr` is a salutation and a word for a department. So `Hr.` alone is not a department, but
    // `HR Team` is one.
    words().any(|word| is_department_word(word)) && words().all(is_of_department)
}

/// Whether a text has a word of a job title, such as `Director`.
pub(crate) fn has_role(text: &str) -> bool {
    text.split_whitespace().map(plain_word).any(|word| Word::Role.has(&word))
}

/// Splits a name whose last name is before the first name, in capitals: `VAN DIJK Ada`, as lists in
/// French and other languages have it. Returns the first and the last name; `None` for other names.
pub(crate) fn capitals_first(name: &str) -> Option<(String, String)> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let last = words.iter().take_while(|word| is_capitals(word)).count();
    let (last, first) = words.split_at_checked(last)?;
    let has_small = |word: &&str| word.chars().any(char::is_lowercase);
    // Titles such as `CPA` and `MD` are in capitals too. So one of the words in capitals must have
    // more than three characters.
    let is_long = |word: &&str| word.chars().count() > 3;
    let is_split = last.iter().any(is_long)
        && !first.is_empty()
        && first.iter().all(has_small)
        && !last.iter().any(|word| word.contains(','));
    // A remark may follow: `BYTE Ada, Owner`.
    let first = first.join(" ");
    let first = first.split(',').next().unwrap_or_default();
    is_split.then(|| (first.to_owned(), last.join(" ")))
}

/// Whether a word has several letters, all of them capitals.
fn is_capitals(word: &str) -> bool {
    let mut letters = word.chars().filter(|sign| sign.is_alphabetic());
    letters.clone().nth(1).is_some() && letters.all(char::is_uppercase)
}

/// Returns the first and the last name without titles.
fn without_titles(first: &str, last: &str) -> (String, String) {
    let whole = || (first.to_owned(), last.to_owned());
    if [first, last].into_iter().any(|part| part.contains(',')) {
        return whole();
    }
    // `PersonName::split` removes titles. But it may take a name such as `Do` for a degree, and
    // remove it too. Then it puts a part of the other name in its place: for example, a part of the
    // last name becomes the first name. Such a result is not used.
    let is_part = |(own_first, own_last): &(String, String)| {
        first.contains(own_first.as_str()) && last.contains(own_last.as_str())
    };
    PersonName::split(&format!("{last}, {first}")).filter(is_part).unwrap_or_else(whole)
}

/// Whether a text in a column of people is not a person: an address, a number, a remark such as
/// `siehe oben` ("see above"), or a department such as `Accounts Payable`.
pub(crate) fn is_nobody(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(plain_word).collect();
    let words = || words.iter().filter(|word| !word.is_empty());
    text.contains('@')
        || words().any(|word| has_digit(word) || Word::Contact.has(word))
        || (words().count() > 1 && words().next().is_some_and(|word| Word::Pointer.has(word)))
        || is_department(text)
}

/// Whether a word has a digit, except a suffix of a generation, such as `2nd`.
fn has_digit(word: &str) -> bool {
    word.contains(|sign: char| sign.is_ascii_digit()) && !matches!(word, "2nd" | "3rd" | "4th")
}

/// Returns a word in lower case, without punctuation around it.
fn plain_word(word: &str) -> String {
    let is_around = |sign: char| !sign.is_alphanumeric() && sign != '+';
    word.trim_matches(is_around).to_lowercase()
}

/// Returns a name without emoji, without salutations at its beginning, and without `jun.` at its
/// end. `M.` is a salutation (Monsieur) if only one word follows, or a word in capitals;
/// otherwise it is an initial.
pub(crate) fn cleaned(name: &str) -> String {
    let kept = without_emoji(name);
    let words: Vec<&str> = kept.split_whitespace().collect();
    let mut words = words.as_slice();
    let mut has_salutation = false;
    while let Some((first, rest)) = words.split_first() {
        let first = first.to_lowercase();
        let is_diploma = first.starts_with("dipl.") || first.starts_with("dipl-");
        let is_before_capitals = match rest {
            [word, ..] if is_capitals(word) => true,
            // `M. Ada BYTE`, but not `M. Night MBA`.
            [first, last] => !first.ends_with('.') && is_capitals(last) && last.chars().count() > 3,
            _ => false,
        };
        let is_monsieur = (first == "m." && words.len() == 2)
            || (matches!(first.as_str(), "m." | "me") && is_before_capitals);
        let plain = first.trim_end_matches(['.', ':', '/']);
        let is_title = Word::Title.has(plain) && (plain != first || rest.len() > 1);
        let is_salutation = Word::Salutation.has(plain) || is_title;
        let is_faculty = has_salutation && Word::Faculty.has(&first);
        if !is_salutation && !is_diploma && !is_monsieur && !is_faculty {
            break;
        }
        has_salutation = true;
        words = rest;
    }
    while let [first @ .., last] = words
        && !first.is_empty()
        && Word::End.has(&last.to_lowercase())
    {
        words = first;
    }
    words.join(" ")
}

/// Returns a text without emoji. A joiner between emoji is left out too. Joiners between letters,
/// as in Sinhala, are kept.
fn without_emoji(text: &str) -> String {
    const JOINER: char = '\u{200d}';
    let mut is_after_emoji = false;
    let is_kept = |sign: &char| {
        is_after_emoji = is_emoji(*sign) || (*sign == JOINER && is_after_emoji);
        !is_after_emoji
    };
    text.chars().filter(is_kept).collect()
}

fn is_emoji(sign: char) -> bool {
    matches!(
        sign,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
            | '\u{fe0f}' | '\u{e0020}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(first: &str, last: &str) -> PersonText {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        PersonText::Name(text(first), text(last))
    }

    fn of_full(full: &str) -> PersonText {
        read_person(None, None, Some(full.to_owned()))
    }

    fn of_parts(first: &str, last: &str) -> PersonText {
        read_person(Some(first.to_owned()), Some(last.to_owned()), None)
    }

    #[test]
    fn every_row_of_words_has_a_known_kind() {
        for [kind, _] in table::rows(include_str!("../data/person_words.txt")) {
            assert!(Word::from_name(kind).is_some(), "{kind}");
        }
    }

    #[test]
    fn remarks_beside_a_name_are_left_out() {
        for text in [
            "Ada Byte - London",
            "Ada Byte (Owner) - London",
            "Ada Byte, Director",
            "Owner - Ada Byte",
            "Owner | Director - Ada Byte (London)",
        ] {
            assert_eq!(of_full(text), name("Ada", "Byte"), "{text}");
        }
    }

    #[test]
    fn a_text_of_many_marks_does_not_overflow_the_stack() {
        for text in ["a - ", "a (", "a b (", "a - b c - ", "Dr. ", "a / "] {
            assert_ne!(of_full(&text.repeat(100_000)), PersonText::Nobody, "{text}");
        }
    }

    #[test]
    fn a_full_name_is_split_at_its_last_word() {
        assert_eq!(of_full("Ada Byte Fernwright"), name("Ada Byte", "Fernwright"));
        assert_eq!(of_full("Fernwright, Ada"), name("Ada", "Fernwright"));
        assert_eq!(of_full("VAN DIJK Ada"), name("Ada", "VAN DIJK"));
        assert_eq!(of_full("J. FERNWRIGHT"), name("J.", "FERNWRIGHT"));
        assert_eq!(of_full("ADA FERNWRIGHT"), name("ADA", "FERNWRIGHT"));
        assert_eq!(of_full("MD Ada Fernwright"), name("MD Ada", "Fernwright"));
        assert_eq!(of_full("Neha"), name("", ""));
        assert_eq!(
            read_person(Some("Ada Fernwright".to_owned()), None, None),
            name("Ada", "Fernwright")
        );
    }

    #[test]
    fn salutations_titles_and_emoji_are_left_out() {
        for (full, first, last) in [
            ("Hr. Dipl.-Ing. J\u{f6}rg Beispielmann", "J\u{f6}rg", "Beispielmann"),
            ("Herrn Dr. med. Ada Fernwright", "Ada", "Fernwright"),
            ("Inh. Ada Fernwright", "Ada", "Fernwright"),
            ("Prof. Dr. Dipl.-Kfm. Ada Fernwright", "Ada", "Fernwright"),
            ("Kevin \u{1f680} Fernwright", "Kevin", "Fernwright"),
            ("Ada \u{1f469}\u{200d}\u{1f4bb} Fernwright", "Ada", "Fernwright"),
            (
                "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3} Perera",
                "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}",
                "Perera",
            ),
            ("M. Night Fernwright", "M. Night", "Fernwright"),
            ("Ada Fernwright / Bob Byte", "Ada", "Fernwright"),
            ("Ada / Bob Byte", "Bob", "Byte"),
        ] {
            assert_eq!(of_full(full), name(first, last), "{full}");
        }
        assert_eq!(of_full("tom byte"), name("tom", "byte"));
        assert_eq!(of_full("Ada Byte Jr."), name("Ada", "Byte"));
        assert_eq!(of_parts("Ada", "Byte III"), name("Ada", "Byte"));
        assert_eq!(of_full("M. K. SMITH"), name("M. K.", "SMITH"));
        assert_eq!(of_full("Hr. Brenkmann jun."), name("", ""));
        assert_eq!(of_full("M. Beno\u{ee}t"), name("", ""));
        assert_eq!(of_full("Frau von Byte"), name("", "von Byte"));
        assert_eq!(of_full("M. Ada BYTE"), name("Ada", "BYTE"));
        assert_eq!(of_full("QUILL-BYTE, Ada"), name("Ada", "QUILL-BYTE"));
        assert_eq!(of_full("エイダ・バイト"), name("エイダ", "バイト"));
        assert_eq!(of_full("Frau Ada von Byte"), name("Ada", "von Byte"));
        assert_eq!(of_parts("Dr. Helga", "Fernwright"), name("Helga", "Fernwright"));
        assert_eq!(of_parts("Kevin \u{1f680}", "Byte"), name("Kevin", "Byte"));
        assert_eq!(of_parts("Do", "Garcia Lopez"), name("Do", "Garcia Lopez"));
        assert_eq!(of_parts("Hr.", "Byte"), name("", "Byte"));
    }

    #[test]
    fn remarks_addresses_and_departments_are_nobody() {
        for text in [
            "Fax -299 Tel. 040 66969-211",
            "siehe Website",
            "siehe oben",
            "see above",
            "ada@quill.example",
            "Accounts Payable",
            "Buchhaltung",
            "Sales Team",
            "Einkauf und Vertrieb",
            "Support",
            "Ada Byte (Tel. folgt)",
        ] {
            assert_eq!(of_full(text), PersonText::Nobody, "{text}");
        }
        for text in ["Thomas See", "Ada Sales", "Ada Byte 2nd", "Mark Office-Byte"] {
            assert_ne!(of_full(text), PersonText::Nobody, "{text}");
        }
    }
}
