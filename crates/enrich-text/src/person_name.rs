//! Names of people.

mod agreement;
mod given_names;
mod keys;
mod reading;
mod spelling;
mod splitting;

use crate::input::{self, refuses_unreadable};

use reading::{
    Word, is_initial, name_suffix_in, spread, take_family, without_asides, without_ends, words,
};
use spelling::is_east_asian;

/// A person's name: its parts, folded.
///
/// A name in Chinese, Japanese or Korean script may be written without a space between family name
/// and given name. So such names are compared as a whole, in both orders of family name and given
/// name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonName {
    given: Vec<String>,
    family: Vec<String>,
    name_suffix: Option<&'static str>,
}

/// Maximum number of words of a family name that is written before the given name.
const MAX_WORDS_BEFORE: usize = 4;

/// Why a text is not a person's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPersonName {
    /// The text is empty or only white space.
    #[error("a person's name cannot be empty; send first and last name, like `Ada Lovelace`")]
    Empty,
    /// The text has more than 512 characters.
    #[error("a person's name has at most 512 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a person's name holds no control characters; send plain text")]
    ControlCharacter,
    /// The text is only one part of a name, or has no letters.
    #[error("a person's name has a first and a last name, like `Ada Lovelace`; one is missing")]
    PartMissing,
}

refuses_unreadable!(InvalidPersonName);

impl PersonName {
    /// Parses a full name: `First Last` or `Last, First`, in any script, in upper or lower case.
    /// The name may have middle names, initials, titles and suffixes.
    ///
    /// The family name is the last word and the particles before it (`van`, `de la`, `bin`).
    pub fn parse(full: &str) -> Result<Self, InvalidPersonName> {
        let full = without_asides(input::plain(full)?);
        let mut parts: Vec<Vec<Word>> =
            full.split([',', '\u{ff0c}']).map(words).filter(|part| !part.is_empty()).collect();
        let mut name_suffix = None;
        while parts.len() > 1
            && let Some(last) = parts.pop_if(|part| part.iter().all(Word::is_suffix))
        {
            name_suffix = name_suffix.or(name_suffix_in(&last));
        }
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or(InvalidPersonName::PartMissing)?;
        let rest: Vec<Word> = parts.flatten().collect();
        let name = if rest.is_empty() { Self::in_order(first) } else { Self::of(rest, first) }?;
        Ok(Self { name_suffix: name.name_suffix.or(name_suffix), ..name })
    }

    /// Parses a name that is given as first name and last name.
    pub fn from_parts(first: &str, last: &str) -> Result<Self, InvalidPersonName> {
        let first = words(&without_asides(input::plain(first)?));
        let last = words(&without_asides(input::plain(last)?));
        Self::of(first, last)
    }

    /// Returns the first name, and the middle names or initials, folded.
    ///
    /// The result is empty for a name in Chinese, Japanese or Korean script that was given without
    /// a space.
    pub fn given(&self) -> &[String] {
        &self.given
    }

    /// Returns the parts of the family name, folded. Particles are included.
    pub fn family(&self) -> &[String] {
        &self.family
    }

    /// Returns the suffix that distinguishes members of a family: `jr`, `sr`, `ii`, `iii` or `iv`.
    pub fn name_suffix(&self) -> Option<&'static str> {
        self.name_suffix
    }

    fn of(given: Vec<Word>, family: Vec<Word>) -> Result<Self, InvalidPersonName> {
        let (given, _) = without_ends(given);
        let (family, suffix) = without_ends(family);
        let name_suffix = suffix.and_then(|word| word.name_suffix());
        if given.is_empty() || family.is_empty() {
            return Err(InvalidPersonName::PartMissing);
        }
        Ok(Self { given: spread(given), family: spread(family), name_suffix })
    }

    /// Reads a name with the given names first and the family name last.
    fn in_order(words: Vec<Word>) -> Result<Self, InvalidPersonName> {
        let (mut given, suffix) = without_ends(words);
        let family = take_family(&mut given);
        let Some(last) = family.last() else { return Err(InvalidPersonName::PartMissing) };
        if last.is_east_asian() && given.iter().all(Word::is_east_asian) {
            return Self::in_east_asian_order(given, family);
        }
        let name_suffix = suffix.and_then(|word| word.name_suffix());
        Ok(Self { name_suffix, ..Self::of(given, family)? })
    }

    /// Reads an East Asian name. If it has a space, the family name is the first word. Otherwise
    /// the name is not split.
    fn in_east_asian_order(before: Vec<Word>, last: Vec<Word>) -> Result<Self, InvalidPersonName> {
        let mut words = before.into_iter();
        if let Some(family) = words.next() {
            return Self::of(words.chain(last).collect(), vec![family]);
        }
        let family = spread(last);
        if family.concat().chars().count() > 1 {
            Ok(Self { given: Vec::new(), family, name_suffix: None })
        } else {
            Err(InvalidPersonName::PartMissing)
        }
    }

    fn first_given(&self) -> &str {
        self.given.first().map_or("", String::as_str)
    }

    /// Returns an East Asian name without spaces, in two orders: with the family name first, and
    /// with the family name last. There is only one order if it is unknown which part is the family
    /// name. Returns `None` for a name that is not East Asian.
    fn in_one_piece(&self) -> Option<Vec<String>> {
        if !self.given.iter().chain(&self.family).all(|part| is_east_asian(part)) {
            return None;
        }
        let (family, given) = (self.family.concat(), self.given.concat());
        let mut pieces = vec![format!("{family}{given}")];
        if !given.is_empty() {
            pieces.push(format!("{given}{family}"));
        }
        Some(pieces)
    }

    /// Splits the words of the family name into main words and particles. For `van der berg`, the
    /// result is `berg`, and `van` and `der`.
    fn family_and_particles(&self) -> (Vec<&str>, Vec<&str>) {
        let words = self.family.iter().map(String::as_str);
        let (particles, parts): (Vec<_>, Vec<_>) =
            words.partition(|word| reading::is_particle(word));
        // If all words are particles, they are returned as main words, because `Le` and `Van` are
        // family names too.
        if parts.is_empty() { (particles, parts) } else { (parts, particles) }
    }

    /// Reads the name as one with two family names: the last middle name becomes the first family
    /// name (`Gabriel García Márquez`). Returns `None` if the name has no middle name, or if the
    /// last middle name is an initial or a known given name.
    fn with_two_family_names(&self) -> Option<Self> {
        let mut first = self.given.len().checked_sub(1).filter(|&first| first > 0)?;
        let middle = self.given.last()?;
        if is_initial(middle) || given_names::is_listed(middle) {
            return None;
        }
        while first > 1 && reading::is_particle(&self.given[first - 1]) {
            first -= 1;
        }
        let (given, middle) = self.given.split_at(first);
        let family = [middle, &self.family].concat();
        Some(Self { given: given.to_vec(), family, name_suffix: self.name_suffix })
    }

    /// Reads the first words of the name as the family name, as in `Lovelace Ada`. Returns one
    /// reading for each possible number of words of the family name, and none for an East Asian
    /// name.
    fn in_other_orders(&self) -> Vec<Self> {
        let family = self.family.iter();
        if self.given.iter().chain(family).any(|word| is_east_asian(word)) {
            return Vec::new();
        }
        let turned = |words: usize| {
            let (family, given) = self.given.split_at(words);
            Self {
                given: [given, &self.family].concat(),
                family: family.to_vec(),
                name_suffix: self.name_suffix,
            }
        };
        let orders = (1..=self.given.len().min(MAX_WORDS_BEFORE)).map(turned);
        orders.filter(Self::can_be_meant).collect()
    }

    /// Whether this reading of a name, with the family name first, can be right. It cannot be right
    /// in two cases:
    ///
    /// - The first given name and the last word of the family name are both known given names.
    ///   Otherwise `James Thomas` and `Thomas James` would be one person.
    /// - The family name contains an initial.
    fn can_be_meant(&self) -> bool {
        let last = self.family.last().map_or("", String::as_str);
        let are_given = given_names::is_listed(self.first_given()) && given_names::is_listed(last);
        !are_given && !self.family.iter().any(|word| is_initial(word))
    }
}
