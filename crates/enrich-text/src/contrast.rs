//! Words that contradict each other: two numbers, north and south, women and men.
//!
//! If two names differ only in two such words, they belong to two organisations: `Quill North` and
//! `Quill South`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::fold::fold;
use crate::name_words::NameWord;
use crate::table;

/// How two words contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contrast {
    /// Two different numbers, such as `first` and `2`, or two words that exclude each other, such
    /// as north and south.
    Sides,
    /// Two kinds of organisation or two subjects, such as a school and a hospital, or music and
    /// art.
    Kinds,
}

/// The names, in the data file, of the contrasts that are [`Contrast::Kinds`]. The words of the
/// contrast `house` are kinds of organisation, such as a school and a hospital. The words of the
/// contrast `subject` are subjects, such as music and art. They are not [`Contrast::Sides`],
/// because one name may contain two words of the same contrast: `Academy of Music and Art`.
const KINDS: [&str; 2] = ["house", "subject"];

/// The largest number that is read from a Roman numeral. The Roman numeral of 40 is `XL`: from
/// there on, numerals need other letters than I, V and X.
const LARGEST_ROMAN: u32 = 39;

/// For each word of the data file, the contrast to which the word belongs and the first word of its
/// row. A row has the words for one side of a contrast, such as `northeast` and `nordost`. So the
/// first word of the row identifies the side.
static SIDES: LazyLock<FxHashMap<String, (&'static str, &'static str)>> = LazyLock::new(|| {
    let mut sides = FxHashMap::default();
    for [contrast, words] in table::rows(include_str!("../data/contrasting_words.txt")) {
        let Some(first) = table::values(words).next() else { continue };
        for word in table::values(words) {
            sides.insert(fold(word), (contrast, first));
        }
    }
    sides
});

/// One side of a contrast, such as north in the contrast of north and south. Each number is a side
/// of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side(SideValue);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SideValue {
    Number(u32),
    /// A word: the name of its contrast, and the first word of its row in the data file. All words
    /// of a row are on the same side, so the first word identifies the side.
    Word(&'static str, &'static str),
}

impl Side {
    /// Returns the side of a contrast to which a word belongs: `north` is one side of the contrast
    /// of north and south. Returns `None` for most words, because they belong to no contrast.
    pub fn of(word: &NameWord) -> Option<Self> {
        let value = match number(word) {
            Some(number) => SideValue::Number(number),
            None => side(word).map(|(contrast, side)| SideValue::Word(contrast, side))?,
        };
        Some(Self(value))
    }

    /// Returns how two sides contradict each other; `None` if they do not.
    pub fn against(self, other: Self) -> Option<Contrast> {
        match (self.0, other.0) {
            (SideValue::Number(one), SideValue::Number(other)) => {
                (one != other).then_some(Contrast::Sides)
            }
            (SideValue::Word(contrast, side), SideValue::Word(of, other)) => {
                let kind =
                    if KINDS.contains(&contrast) { Contrast::Kinds } else { Contrast::Sides };
                (contrast == of && side != other).then_some(kind)
            }
            _ => None,
        }
    }
}

pub(crate) fn contrast(one: &NameWord, other: &NameWord) -> Option<Contrast> {
    Side::of(one)?.against(Side::of(other)?)
}

/// Returns a word that contradicts `word`, such as `3` for `2`; `None` if there is none. The
/// program that trains the name matching replaces a word of a real name by such a word. The result
/// is the name of a company that does not exist.
pub fn contrasting(word: &NameWord) -> Option<String> {
    if let Some(number) = number(word) {
        let next = number.checked_add(1)?;
        let is_roman = roman(&word.text) == Some(number);
        return Some(if is_roman { to_roman(next) } else { next.to_string() });
    }
    let (contrast, own) = side(word)?;
    let rows = table::rows(include_str!("../data/contrasting_words.txt"));
    let firsts: Vec<&str> = rows
        .filter(|[of, _]| *of == contrast)
        .filter_map(|[_, words]| table::values(words).next())
        .collect();
    let at = firsts.iter().position(|first| *first == own)?;
    firsts.get((at + 1) % firsts.len()).map(|&word| word.to_owned())
}

fn side(word: &NameWord) -> Option<(&'static str, &'static str)> {
    SIDES.get(&word.root).or_else(|| SIDES.get(&word.text)).copied()
}

/// Returns the number that a word means. The word may be written in digits, as an ordinal, as a
/// Roman numeral, or as a word. Returns `None` if the word is not a number.
fn number(word: &NameWord) -> Option<u32> {
    const ENDINGS: [&str; 8] = ["st", "nd", "rd", "th", "er", "eme", "te", "e"];
    let digits = word.text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let (digits, ending) = word.text.split_at(digits);
        return digits.parse().ok().filter(|_| ending.is_empty() || ENDINGS.contains(&ending));
    }
    match side(word) {
        Some(("number", number)) => number.parse().ok(),
        _ => roman(&word.text),
    }
}

/// Returns the value of a Roman numeral that has at least two letters and is written in the
/// standard way; `None` for any other text.
fn roman(text: &str) -> Option<u32> {
    if text.len() < 2 || !text.bytes().all(|byte| matches!(byte, b'i' | b'v' | b'x')) {
        return None;
    }
    (2..=LARGEST_ROMAN).find(|number| to_roman(*number) == text)
}

fn to_roman(mut number: u32) -> String {
    let mut text = String::new();
    for (worth, sign) in [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")] {
        while number >= worth {
            text.push_str(sign);
            number -= worth;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_words::name_words;

    fn between(one: &str, other: &str) -> Option<Contrast> {
        let word = |text| name_words(&fold(text)).remove(0);
        let (one, other) = (word(one), word(other));
        assert_eq!(contrast(&one, &other), contrast(&other, &one));
        contrast(&one, &other)
    }

    #[test]
    fn two_numbers_contradict_each_other_however_they_are_written() {
        for (one, other) in [
            ("1", "11"),
            ("2018", "2019"),
            ("II", "III"),
            ("2nd", "third"),
            ("iv", "5"),
            ("first", "2"),
        ] {
            assert_eq!(between(one, other), Some(Contrast::Sides), "{one} {other}");
        }
        for (one, other) in [
            ("2", "II"),
            ("2nd", "second"),
            ("zweite", "2"),
            ("3M", "3"),
            ("mix", "2"),
            ("ii", "quill"),
        ] {
            assert_eq!(between(one, other), None, "{one} {other}");
        }
    }

    #[test]
    fn sides_contradict_each_other_and_their_translations_do_not() {
        assert_eq!(between("North", "South"), Some(Contrast::Sides));
        assert_eq!(between("Nord", "Süd"), Some(Contrast::Sides));
        assert_eq!(between("Nord", "northern"), None);
        assert_eq!(between("Women", "Men's"), Some(Contrast::Sides));
        assert_eq!(between("Hospital", "Universität"), Some(Contrast::Kinds));
        assert_eq!(between("Hospital", "North"), None);
        assert_eq!(between("Quill", "Pens"), None);
    }

    #[test]
    fn what_is_made_up_contradicts() {
        for text in ["7", "III", "North", "first", "hospital", "blue"] {
            let word = name_words(&fold(text)).remove(0);
            let other = contrasting(&word).unwrap();
            assert!(between(text, &other).is_some(), "{text} {other}");
        }
        assert_eq!(contrasting(&name_words("quill").remove(0)), None);
    }
}
