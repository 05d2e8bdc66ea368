//! Makes names to look up from the names of the generated companies: exact, shared, misspelt,
//! unknown and ambiguous names.
//!
//! The name of a generated company consists of a made-up word, a trade and a legal form
//! (`Amberbank Ventures GmbH`). The names to look up consist of the same kinds of words. Many
//! companies share a trade, and few share a made-up word. In real names too, some words are common
//! and others are rare. So a look-up costs about as much as a look-up of a real name.

use anyhow::{Context, bail};
use clap::ValueEnum;
use enrich_core::{CompanyRef, Question};
use serde::Serialize;

use crate::generated::Generated;

/// Minimum number of letters of a word that gets a typing error.
const FEWEST_LETTERS: usize = 5;
/// Maximum number of companies that are tried until one has a name that can be misspelt.
const TRIES: usize = 100;
/// The rows of letters on a keyboard. A typing error hits the key to the left or the right of a
/// letter.
const KEY_ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/// The beginnings of syllables. A made-up word consists of two or three syllables and an end. Each
/// syllable consists of a beginning and a vowel.
const BEGINNINGS: [&str; 16] =
    ["b", "br", "d", "f", "g", "k", "kl", "l", "m", "n", "p", "r", "s", "t", "v", "z"];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ei", "au", "y"];
/// The ends of made-up words.
const ENDS: [&str; 8] = ["n", "x", "r", "l", "s", "th", "nd", "m"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A company's own name, which no other company has
    Exact,
    /// A name that several companies have
    Shared,
    /// A company's own name with one typing error in a word of five letters or more
    Misspelt,
    /// A name that no company has, made of the same kinds of words
    Unknown,
    /// A name without some of its words, so that it fits several companies
    Ambiguous,
}

/// A name to look up, and the company that should be found.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) question: Question,
    /// The name of the company that should be found; `None` if no company should be found, because
    /// the name is unknown or ambiguous.
    pub(crate) meant: Option<String>,
}

struct Parts {
    name: String,
    made: String,
    trade: String,
    form: String,
}

pub(crate) struct NameGenerator {
    generated: Generated,
    chance: fastrand::Rng,
}

impl NameGenerator {
    /// Creates a generator of names of these companies. The same seed gives the same names.
    pub(crate) fn new(generated: Generated, seed: u64) -> Self {
        Self { generated, chance: fastrand::Rng::with_seed(seed ^ generated.companies) }
    }

    pub(crate) fn names(&mut self, kind: Kind, number: usize) -> anyhow::Result<Vec<Asked>> {
        (0..number).map(|place| self.name(kind, place)).collect()
    }

    fn name(&mut self, kind: Kind, place: usize) -> anyhow::Result<Asked> {
        match kind {
            Kind::Exact | Kind::Shared => {
                let Parts { name, .. } = self.parts()?;
                Asked::new(name.clone(), Some(name))
            }
            Kind::Misspelt => self.misspelt(),
            Kind::Unknown => Asked::new(self.unknown(place)?, None),
            Kind::Ambiguous => Asked::new(self.ambiguous(place)?, None),
        }
    }

    fn misspelt(&mut self) -> anyhow::Result<Asked> {
        for _ in 0..TRIES {
            let Parts { name, .. } = self.parts()?;
            if let Some(text) = misspell(&name, &mut self.chance) {
                return Asked::new(text, Some(name));
            }
        }
        bail!("of {TRIES} names none has a word of {FEWEST_LETTERS} letters that can be misspelt")
    }

    fn unknown(&mut self, place: usize) -> anyhow::Result<String> {
        let Parts { made, trade, form, .. } = self.parts()?;
        // A company's name is a made-up word, a trade and a legal form: `Amberbank Catering GmbH`.
        // In large look-up data, every made-up word occurs with every trade. So a made-up word with
        // another trade would often be the name of a company. An unknown name therefore has two
        // made-up words, or a made-up word that no company has.
        Ok(match place % 4 {
            0 => format!("{made} {} {trade} {form}", self.parts()?.made),
            1 => format!("{} {made} {form}", self.parts()?.made),
            2 => format!("{} {trade} {form}", self.word()),
            _ => format!("{} {}", self.word(), self.word()),
        })
    }

    fn ambiguous(&mut self, place: usize) -> anyhow::Result<String> {
        let Parts { made, trade, form, .. } = self.parts()?;
        Ok(match place % 4 {
            0 => format!("{made} {trade}"),
            1 => made,
            2 => format!("{made} {form}"),
            _ => format!("{trade} {form}"),
        })
    }

    fn parts(&mut self) -> anyhow::Result<Parts> {
        let name = self.generated.any_company(&mut self.chance)?.name;
        let mut words = name.splitn(3, ' ').map(str::to_owned);
        let (Some(made), Some(trade), Some(form)) = (words.next(), words.next(), words.next())
        else {
            bail!("`{name}` is not a generated name");
        };
        Ok(Parts { name, made, trade, form })
    }

    /// Returns a made-up word that occurs in no company's name.
    fn word(&mut self) -> String {
        let mut word = String::new();
        for _ in 0..self.chance.usize(2..=3) {
            for part in [&BEGINNINGS[..], &VOWELS] {
                word.push_str(part[self.chance.usize(..part.len())]);
            }
        }
        word.push_str(ENDS[self.chance.usize(..ENDS.len())]);
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    }
}

impl Asked {
    fn new(text: String, meant: Option<String>) -> anyhow::Result<Self> {
        let name = match CompanyRef::domain_or_name(&text) {
            Ok(CompanyRef::DomainOrName(_, name) | CompanyRef::Name { name, .. }) => Some(name),
            _ => None,
        };
        let name = name.with_context(|| format!("`{text}` is no name"))?;
        let question = Question::Company(CompanyRef::Name { name, country: None });
        Ok(Self { text, question, meant })
    }
}

/// Returns the name with one random typing error in a random word of [`FEWEST_LETTERS`] letters or
/// more. Returns `None` if no word is long enough, or if this error is impossible in this word,
/// such as the exchange of two equal letters.
fn misspell(name: &str, chance: &mut fastrand::Rng) -> Option<String> {
    let mut words: Vec<String> = name.split(' ').map(str::to_owned).collect();
    let is_long = |word: &&mut String| {
        word.chars().count() >= FEWEST_LETTERS && word.chars().all(char::is_alphabetic)
    };
    let mut long: Vec<&mut String> = words.iter_mut().filter(is_long).collect();
    if long.is_empty() {
        return None;
    }
    let word = long.swap_remove(chance.usize(..long.len()));
    let mut letters: Vec<char> = word.chars().collect();
    let at = chance.usize(..letters.len());
    match chance.usize(..4) {
        0 => {
            letters.get(at + 1).filter(|next| !next.eq_ignore_ascii_case(&letters[at]))?;
            letters.swap(at, at + 1);
        }
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at].to_ascii_lowercase()),
        _ => letters[at] = beside(letters[at], chance)?,
    }
    *word = letters.into_iter().collect();
    let misspelt = words.join(" ");
    (misspelt != name).then_some(misspelt)
}

/// Returns a letter whose key is beside the key of `letter`; `None` if `letter` is not on the
/// keyboard.
fn beside(letter: char, chance: &mut fastrand::Rng) -> Option<char> {
    let lower = letter.to_ascii_lowercase();
    let (row, at) = KEY_ROWS.iter().find_map(|row| Some((*row, row.find(lower)?)))?;
    let right = chance.bool() && at + 1 < row.len() || at == 0;
    let other = row[if right { at + 1 } else { at - 1 }..].chars().next()?;
    Some(if letter.is_uppercase() { other.to_ascii_uppercase() } else { other })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn drawn(kind: Kind) -> Vec<Asked> {
        NameGenerator::new(Generated::new(1000), 1).names(kind, 400).unwrap()
    }

    fn words() -> BTreeSet<String> {
        let companies = (0..1000).map(|index| Generated::new(1000).company(index).unwrap().name);
        companies.flat_map(|name| name.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn the_same_names_are_drawn_each_time() {
        let texts = |kind| drawn(kind).into_iter().map(|asked| asked.text).collect::<Vec<_>>();
        assert_eq!(texts(Kind::Misspelt), texts(Kind::Misspelt));
        assert_ne!(texts(Kind::Unknown), texts(Kind::Ambiguous));
    }

    #[test]
    fn a_misspelt_name_differs_in_one_word_by_one_slip() {
        for Asked { text, meant, .. } in drawn(Kind::Misspelt) {
            let meant = meant.unwrap();
            let (asked, meant): (Vec<&str>, Vec<&str>) =
                (text.split(' ').collect(), meant.split(' ').collect());
            assert_eq!(asked.len(), meant.len(), "{text}");
            let differing: Vec<_> = asked.iter().zip(&meant).filter(|(a, b)| a != b).collect();
            let [(asked, meant)] = differing[..] else { panic!("{text}: {differing:?}") };
            assert!(meant.chars().count() >= FEWEST_LETTERS, "{meant}");
            assert!(asked.chars().count().abs_diff(meant.chars().count()) <= 1, "{asked}");
        }
    }

    #[test]
    fn an_unknown_name_is_no_company_s_and_an_ambiguous_one_is_made_of_theirs() {
        let generated = Generated::new(1000);
        let names: BTreeSet<String> =
            (0..1000).map(|index| generated.company(index).unwrap().name).collect();
        assert!(drawn(Kind::Unknown).iter().all(|asked| !names.contains(&asked.text)));
        let words = words();
        for Asked { text, .. } in drawn(Kind::Ambiguous) {
            assert!(text.split(' ').all(|word| words.contains(word)), "{text}");
        }
    }

    #[test]
    fn a_finger_slips_to_a_key_beside() {
        let mut chance = fastrand::Rng::with_seed(1);
        for _ in 0..100 {
            assert!("qe".contains(beside('w', &mut chance).unwrap()));
            assert_eq!(beside('Q', &mut chance), Some('W'));
            assert_eq!(beside('m', &mut chance), Some('n'));
            assert_eq!(beside('é', &mut chance), None);
        }
    }
}
