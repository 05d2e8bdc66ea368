//! Additions: words after a company's name that do not change which company is meant. An addition
//! is a place, a part of the company such as `Headquarters`, or a stock exchange.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::company_name::CompanyName;
use crate::country::Country;
use crate::fold::fold;
use crate::legal_form;
use crate::name_words::{NameWord, country_of_word, is_place, name_words};
use crate::region::region;
use crate::table;

/// The kind of a phrase that may follow a company's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A place, or a part of the company, such as `Headquarters`. The phrase alone is an addition.
    Whole,
    /// A stock exchange, with or without a symbol after it: `NYSE`, `NYSE: XYZ`.
    Exchange,
    /// A word such as `formerly`. Another name follows: `formerly Quill Pens`.
    Former,
}

/// The phrases that may follow a company's name, such as `Berlin` or `Headquarters`, with their
/// kinds. They are from the data files, folded, and without fillers (words such as `of`).
static PHRASES: LazyLock<FxHashMap<String, Kind>> = LazyLock::new(|| {
    let cities = table::rows(include_str!("../data/cities.txt"))
        .flat_map(|[_, cities]| table::values(cities).map(|city| (city, Kind::Whole)));
    let words =
        table::rows(include_str!("../data/addition_words.txt")).flat_map(|[kind, phrases]| {
            let kind = match kind {
                "exchange" => Kind::Exchange,
                "former" => Kind::Former,
                _ => Kind::Whole,
            };
            table::values(phrases).map(move |phrase| (phrase, kind))
        });
    cities.chain(words).map(|(phrase, kind)| (without_fillers(phrase), kind)).collect()
});

/// The last words of all [`PHRASES`]. A name whose last word is not in this set does not end with a
/// phrase, so the phrases need not be searched. This is the case for most names.
static LAST_WORDS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| PHRASES.keys().filter_map(|phrase| phrase.rsplit(' ').next()).collect());

/// Maximum number of words of a phrase in the data files.
const MAX_WORDS: usize = 4;

fn without_fillers(phrase: &str) -> String {
    let words = name_words(&fold(phrase));
    let some: Vec<&str> =
        words.iter().filter(|word| !word.is_filler).map(|word| word.text.as_str()).collect();
    if some.is_empty() { fold(phrase) } else { some.join(" ") }
}

/// Returns how many words at the end of a name belong to additions, such as a place or
/// `Headquarters`. `words` are the words of the name without fillers (words such as `of`). The
/// first word never belongs to an addition.
pub fn additions(words: &[NameWord]) -> usize {
    let mut end = words.len();
    while end > 1 {
        let Some(length) = last_addition(&words[..end], 1) else { break };
        end -= length;
    }
    words.len() - end
}

/// Whether the text in parentheses after a name is an addition. It is one if it consists only of
/// additions, as in `Quill (London)`, or begins with a word such as `formerly`, as in
/// `Quill (formerly Inkwell)`.
pub fn is_addition(aside: &[NameWord]) -> bool {
    let mut end = aside.len();
    while let Some(length) = last_addition(&aside[..end], 0) {
        end -= length;
    }
    let begins = |most: usize| (1..=most.min(aside.len())).any(|to| is_former(&aside[..to]));
    !aside.is_empty() && (end == 0 || begins(MAX_WORDS))
}

/// Returns a name without the legal form before its addition: `Quill Berlin` for `Quill GmbH,
/// Berlin`. Returns `None` if no legal form is before an addition.
pub fn without_inner_legal_form(name: &CompanyName) -> Option<CompanyName> {
    let words: Vec<&str> = name.stripped().split(' ').collect();
    // Tries the longest addition first, because a word of an addition may look like a legal form.
    // In `Quill Ltd, Parent Company, London`, the longest addition is `Parent Company, London`, and
    // the legal form before it is `Ltd`. With the shorter addition `London`, the word `Company`
    // would be removed instead.
    (2..words.len()).find_map(|end| {
        let (named, added) = (words[..end].join(" "), words[end..].join(" "));
        let without = legal_form::strip_end(&named)?;
        let added_words = some_words(&added);
        let all: Vec<NameWord> =
            some_words(without).into_iter().chain(added_words.clone()).collect();
        let is_addition = !added_words.is_empty() && additions(&all) >= added_words.len();
        is_addition.then(|| CompanyName::parse(&format!("{without} {added}")).ok())?
    })
}

/// Returns the country at the end of a name, if the country is not in parentheses: Germany for
/// `Quill Deutschland`. Returns `None` if there is no country, or if there are several different
/// countries.
pub fn country_in_addition(name: &CompanyName) -> Option<Country> {
    let words = some_words(name.stripped());
    let mut countries = words[words.len() - additions(&words)..].iter().filter_map(country);
    let only = countries.next()?;
    countries.all(|country| country == only).then_some(only)
}

/// Whether a name contains a word for this country: `Quill Deutschland` for Germany.
pub fn names_country(name: &CompanyName, asked: Country) -> bool {
    some_words(name.folded()).iter().any(|word| country(word) == Some(asked))
}

fn country(word: &NameWord) -> Option<Country> {
    let written = || is_country(word).then(|| Country::parse(&word.text).ok())?;
    country_of_word(word).or_else(written)
}

/// Returns the words of a folded name, without fillers (words such as `of`).
fn some_words(folded: &str) -> Vec<NameWord> {
    let mut words = name_words(folded);
    words.retain(|word| !word.is_filler);
    words
}

fn is_former(words: &[NameWord]) -> bool {
    PHRASES.get(&joined(words)) == Some(&Kind::Former)
}

/// Returns how many words at the end of `words` form one addition, such as a place: 2 for
/// `New Jersey`. Returns `None` if `words` does not end with an addition. At least `least` words
/// must remain before the addition.
fn last_addition(words: &[NameWord], least: usize) -> Option<usize> {
    let last = words.last()?;
    let before = words.len().checked_sub(2).filter(|before| *before >= least);
    // A state of two words, such as `New Jersey`, is looked for first, because its second word
    // alone may be another place.
    if before.is_some_and(|before| region(&joined(&words[before..])).is_some()) {
        return Some(2);
    }
    if LAST_WORDS.contains(last.text.as_str()) {
        let longest = MAX_WORDS.min(words.len().saturating_sub(least));
        let found = (1..=longest).rev().find(|length| {
            let phrase = joined(&words[words.len() - length..]);
            PHRASES.get(&phrase).is_some_and(|kind| *kind != Kind::Former)
        });
        if found.is_some() {
            return found;
        }
    }
    let is_place = || is_place(last) || region(&last.text).is_some() || is_country(last);
    if words.len() > least && is_place() {
        return Some(1);
    }
    // A stock exchange with its symbol: `NYSE: XYZ`.
    let is_exchange = PHRASES.get(&words[before?].text) == Some(&Kind::Exchange);
    is_exchange.then_some(2)
}

/// Whether a word is a country's name, its code of three letters, or `uk` or `us`. Other codes of
/// two letters, such as `de`, do not count, because they usually mean something else.
fn is_country(word: &NameWord) -> bool {
    let is_code = word.text.len() == 2 && !["uk", "us"].contains(&word.text.as_str());
    !is_code && Country::parse(&word.text).is_ok()
}

fn joined(words: &[NameWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompanyName, NameForm};

    fn added(name: &str) -> usize {
        additions(&NameForm::of(&CompanyName::parse(name).unwrap()).words)
    }

    #[test]
    fn places_and_parts_after_a_name_are_additions() {
        for (name, words) in [
            ("Quill Sheffield", 1),
            ("Quill Santa Clara", 2),
            ("Quill New Jersey", 2),
            ("Quill - Basel, Switzerland", 2),
            ("Quill Frankfurt am Main", 2),
            ("Quill Pens Headquarters", 1),
            ("Quill Group HQ", 2),
            ("Quill Deutschland", 1),
            ("Quill UK", 1),
            ("Quill NYSE: QLL", 2),
        ] {
            assert_eq!(added(name), words, "{name}");
        }
    }

    #[test]
    fn a_legal_form_before_an_addition_is_removed() {
        for (name, shorter) in [
            ("Quill AG, Basel", Some("quill basel")),
            ("Quill Pens GmbH & Co. KG Sheffield", Some("quill pens sheffield")),
            ("Quill Inc. New York, USA", Some("quill new york usa")),
            ("Quill Ltd HQ", Some("quill hq")),
            ("Quill Ltd", None),
            ("Quill AG Insurance", None),
            ("AG Basel", None),
            ("Quill Basel", None),
        ] {
            let name = CompanyName::parse(name).unwrap();
            let without = without_inner_legal_form(&name);
            assert_eq!(without.as_ref().map(CompanyName::folded), shorter, "{name}");
        }
    }

    #[test]
    fn one_country_at_the_end_is_found() {
        for (name, country) in [
            ("Quill Deutschland", Some("DE")),
            ("Quill UK", Some("GB")),
            ("Quill Brasil", Some("BR")),
            ("Quill Basel, Switzerland", Some("CH")),
            ("Quill France Germany", None),
            ("France Quill", None),
            ("Quill", None),
        ] {
            let name = CompanyName::parse(name).unwrap();
            let found = country_in_addition(&name);
            assert_eq!(found.map(Country::alpha2), country, "{name}");
        }
    }

    #[test]
    fn a_line_of_business_is_no_addition() {
        for name in ["Quill Foods", "Quill Insurance", "Quill", "Sheffield", "Quill London Bank"] {
            assert_eq!(added(name), 0, "{name}");
        }
    }

    #[test]
    fn parentheses_may_hold_an_addition() {
        let aside = |name: &str| NameForm::of(&CompanyName::parse(name).unwrap()).aside;
        for name in ["Quill (London)", "Quill (NYSE: QLL)", "Quill (formerly Inkwell)"] {
            assert!(is_addition(&aside(name)), "{name}");
        }
        for name in ["Quill (Insurance)", "Quill"] {
            assert!(!is_addition(&aside(name)), "{name}");
        }
    }
}
