//! People's names.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::fold::fold_words;
use crate::input::{self, refuses_unreadable};
use crate::table;

/// A person's name in folded parts.
///
/// Names in Chinese, Japanese and Korean script are compared as a whole, the family name first,
/// since they are written with and without a space.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonName {
    given: Vec<String>,
    family: Vec<String>,
}

/// Why a text is not a person's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPersonName {
    /// Nothing but white space.
    #[error("a person's name cannot be empty; send first and last name, like `Ada Lovelace`")]
    Empty,
    /// More characters than we take.
    #[error("a person's name has at most 512 characters; this is longer")]
    TooLong,
    /// Control characters inside.
    #[error("a person's name holds no control characters; send plain text")]
    ControlCharacter,
    /// One part alone, or no letters.
    #[error("a person's name has a first and a last name, like `Ada Lovelace`; one is missing")]
    PartMissing,
}

refuses_unreadable!(InvalidPersonName);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Title,
    Suffix,
    CommaSuffix,
    Particle,
}

static WORDS: LazyLock<HashSet<(Kind, &'static str)>> = LazyLock::new(|| {
    let kinds = HashMap::from([
        ("title", Kind::Title),
        ("suffix", Kind::Suffix),
        ("comma-suffix", Kind::CommaSuffix),
        ("particle", Kind::Particle),
    ]);
    table::rows(include_str!("../data/name_words.txt"))
        .filter_map(|[kind, words]| Some((*kinds.get(kind)?, words)))
        .flat_map(|(kind, words)| table::values(words).map(move |word| (kind, word)))
        .collect()
});

fn is(kind: Kind, word: &str) -> bool {
    WORDS.contains(&(kind, word))
}

/// How many parts of a family name are keys of their own, the last ones. Names of people have fewer;
/// without a bound a long text would cost a look-up for each of its words.
const MAX_FAMILY_PARTS: usize = 6;

impl PersonName {
    /// The most keys that a name has: six parts of the family name, and all of it in one word,
    /// without particles and with them.
    pub const MAX_KEYS: usize = MAX_FAMILY_PARTS + 2;

    /// Reads a full name: `First Last` or `Last, First`, with middle names, initials, titles and
    /// suffixes, in any case and script.
    ///
    /// The last word is the family name, with the particles before it (`van`, `de la`, `bin`).
    pub fn parse(full: &str) -> Result<Self, InvalidPersonName> {
        let full = without_asides(input::plain(full)?);
        let mut parts: Vec<Vec<Word>> =
            full.split([',', '\u{ff0c}']).map(words).filter(|part| !part.is_empty()).collect();
        while parts.len() > 1 && parts.last().is_some_and(|part| part.iter().all(Word::is_suffix)) {
            parts.pop();
        }
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or(InvalidPersonName::PartMissing)?;
        let rest: Vec<Word> = parts.flatten().collect();
        if rest.is_empty() { Self::in_order(first) } else { Self::of(rest, first) }
    }

    /// Reads a name given as first and last name.
    pub fn from_parts(first: &str, last: &str) -> Result<Self, InvalidPersonName> {
        let first = words(&without_asides(input::plain(first)?));
        let last = words(&without_asides(input::plain(last)?));
        Self::of(first, last)
    }

    /// The first name and the middle names or initials, folded.
    ///
    /// Empty for a name in Chinese, Japanese or Korean script that was given in one piece.
    pub fn given(&self) -> &[String] {
        &self.given
    }

    /// The parts of the family name, folded, particles included.
    pub fn family(&self) -> &[String] {
        &self.family
    }

    /// Every key the person is found by: the first given name with each part of the family name
    /// (`ana|garcia`, `ana|marquez`) and with the family name in one word. At most
    /// [`Self::MAX_KEYS`]: of a family name of more than six parts, the first have no key.
    ///
    /// If two names agree and their first given names are written out, they share a key.
    pub fn keys(&self) -> Vec<String> {
        if let Some(whole) = self.in_one_piece() {
            return whole.into_iter().map(|name| format!("|{name}")).collect();
        }
        let given = self.first_given();
        self.family_forms().into_iter().map(|family| format!("{given}|{family}")).collect()
    }

    /// The key to look the person up by: first given name and last part of the family name.
    ///
    /// It is among [`Self::keys`] of every name that agrees with this one and has this family
    /// name's last part in its own. A double name also has to be looked up by its other part, as
    /// the person may be known under that alone: use all keys then.
    pub fn key(&self) -> String {
        self.keys().into_iter().next().unwrap_or_default()
    }

    /// Whether both can be the same person: the first given names are equal or one is the other's
    /// initial, the family names have a part in common (one that is a key), and no middle names
    /// contradict each other. A missing middle name never does.
    pub fn agrees_with(&self, other: &PersonName) -> bool {
        match (self.in_one_piece(), other.in_one_piece()) {
            (Some(mine), Some(theirs)) => return mine.iter().any(|name| theirs.contains(name)),
            (None, None) => {}
            _ => return false,
        }
        let theirs = other.family_forms();
        same_or_initial(self.first_given(), other.first_given())
            && self.family_forms().iter().any(|form| theirs.contains(form))
            && can_be_same(&self.middle_besides(other), &other.middle_besides(self))
    }

    fn of(given: Vec<Word>, family: Vec<Word>) -> Result<Self, InvalidPersonName> {
        let given = spread(without_ends(given));
        let family = spread(without_ends(family));
        if given.is_empty() || family.is_empty() {
            return Err(InvalidPersonName::PartMissing);
        }
        Ok(Self { given, family })
    }

    /// Given names first, the family name last.
    fn in_order(words: Vec<Word>) -> Result<Self, InvalidPersonName> {
        let mut given = without_ends(words);
        let Some(last) = given.pop() else { return Err(InvalidPersonName::PartMissing) };
        if is_east_asian(&last) && given.iter().all(is_east_asian) {
            return Self::in_east_asian_order(given, last);
        }
        let mut family = vec![last];
        while given.len() > 1 && given.last().is_some_and(Word::is_particle) {
            family.extend(given.pop());
        }
        family.reverse();
        Self::of(given, family)
    }

    /// Family name first, if there is a space between; else in one piece.
    fn in_east_asian_order(before: Vec<Word>, last: Word) -> Result<Self, InvalidPersonName> {
        let mut words = before.into_iter();
        match words.next() {
            Some(family) => Self::of(words.chain([last]).collect(), vec![family]),
            None if last.text().chars().count() > 1 => {
                Ok(Self { given: Vec::new(), family: last.parts })
            }
            None => Err(InvalidPersonName::PartMissing),
        }
    }

    fn first_given(&self) -> &str {
        self.given.first().map_or("", String::as_str)
    }

    /// The ways to write an East Asian name in one piece, the family name first and last.
    fn in_one_piece(&self) -> Option<Vec<String>> {
        if !self.given.iter().chain(&self.family).all(|part| is_east_asian_text(part)) {
            return None;
        }
        let (family, given) = (self.family.concat(), self.given.concat());
        let mut pieces = vec![format!("{family}{given}")];
        if !given.is_empty() {
            pieces.push(format!("{given}{family}"));
        }
        Some(pieces)
    }

    /// What the family name can be written as: each of the last parts from the last on, all parts
    /// in one word without particles, and with them.
    fn family_forms(&self) -> Vec<String> {
        let mut parts: Vec<&str> = self
            .family
            .iter()
            .map(String::as_str)
            .filter(|part| !is(Kind::Particle, part))
            .collect();
        if parts.is_empty() {
            // `Le` and `Van` are family names too.
            parts = self.family.iter().map(String::as_str).collect();
        }
        let mut seen = HashSet::new();
        let last = parts.iter().rev().filter(|part| seen.insert(**part)).take(MAX_FAMILY_PARTS);
        let mut forms: Vec<String> = last.map(|&part| part.to_owned()).collect();
        for whole in [parts.concat(), self.family.concat()] {
            if !forms.contains(&whole) {
                forms.push(whole);
            }
        }
        forms
    }

    /// The middle names that aren't part of the other's family name: who is known as `García` to
    /// one may be `García Márquez` to another.
    fn middle_besides(&self, other: &PersonName) -> Vec<&str> {
        let taken: HashSet<&str> = other.family.iter().map(String::as_str).collect();
        let middle = self.given.iter().skip(1).map(String::as_str);
        middle.filter(|name| !taken.contains(name)).collect()
    }
}

/// A word between spaces, with its parts: `Jean-Luc` has two, `J.R.` too.
struct Word {
    parts: Vec<String>,
}

impl Word {
    fn text(&self) -> String {
        self.parts.concat()
    }

    fn is_title(&self) -> bool {
        self.parts.iter().all(|part| is(Kind::Title, part)) || is(Kind::Title, &self.text())
    }

    fn is_end(&self) -> bool {
        is(Kind::Suffix, &self.text())
    }

    fn is_suffix(&self) -> bool {
        self.is_end() || is(Kind::CommaSuffix, &self.text())
    }

    fn is_particle(&self) -> bool {
        is(Kind::Particle, &self.text())
    }
}

fn words(text: &str) -> Vec<Word> {
    text.split_whitespace()
        .map(|word| Word { parts: fold_words(word).split(' ').map(str::to_owned).collect() })
        .filter(|word| !word.text().is_empty())
        .collect()
}

fn spread(words: Vec<Word>) -> Vec<String> {
    words.into_iter().flat_map(|word| word.parts).collect()
}

/// The words without titles before, and titles and suffixes behind; a suffix alone stays.
fn without_ends(words: Vec<Word>) -> Vec<Word> {
    let mut words: Vec<Word> = words.into_iter().skip_while(Word::is_title).collect();
    while words.len() > 1 && words.last().is_some_and(|word| word.is_end() || word.is_title()) {
        words.pop();
    }
    words
}

/// The text without what stands in brackets or double quotes: nicknames, maiden names, notes.
fn without_asides(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut closing = None;
    for sign in text.chars() {
        match closing {
            Some(end) if sign == end => closing = None,
            Some(_) => {}
            None => match closing_sign(sign) {
                Some(end) => {
                    kept.push(' ');
                    closing = Some(end);
                }
                None => kept.push(sign),
            },
        }
    }
    // What was never closed is no aside.
    if closing.is_some() { text.to_owned() } else { kept }
}

fn closing_sign(sign: char) -> Option<char> {
    match sign {
        '(' => Some(')'),
        '[' => Some(']'),
        '"' => Some('"'),
        '\u{201c}' | '\u{201e}' => Some('\u{201d}'),
        '\u{ab}' => Some('\u{bb}'),
        '\u{ff08}' => Some('\u{ff09}'),
        _ => None,
    }
}

/// Whether the shorter list of middle names is found in the longer, in order.
fn can_be_same(mine: &[&str], theirs: &[&str]) -> bool {
    let (shorter, longer) =
        if mine.len() <= theirs.len() { (mine, theirs) } else { (theirs, mine) };
    let mut longer = longer.iter();
    shorter.iter().all(|name| longer.any(|other| same_or_initial(name, other)))
}

fn same_or_initial(one: &str, other: &str) -> bool {
    one == other
        || (is_initial(one) && other.starts_with(one))
        || (is_initial(other) && one.starts_with(other))
}

fn is_initial(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some() && letters.next().is_none()
}

fn is_east_asian(word: &Word) -> bool {
    is_east_asian_text(&word.text())
}

/// Whether a text is in Chinese, Japanese or Korean script alone.
fn is_east_asian_text(text: &str) -> bool {
    text.chars().all(|sign| {
        matches!(
            sign,
            '\u{3005}'
                | '\u{3040}'..='\u{30ff}'
                | '\u{3400}'..='\u{4dbf}'
                | '\u{4e00}'..='\u{9fff}'
                | '\u{ac00}'..='\u{d7a3}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{323af}'
        )
    })
}
