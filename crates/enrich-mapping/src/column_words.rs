//! Finds the meaning of a column from the words of its name, such as `Mobil kontakt` or `BUS_EML`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::meaning::{Meaning, usual_meaning};
use crate::table;

/// What a word in the name of a column says about the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// The column is about the person in a row of the input file: `contact`.
    Person,
    /// The column is about the company in a row of the input file: `firma`.
    Company,
    /// The column is about a customer, a supplier or the like, which may be a company or a person.
    Party,
    /// The column, or the object of JSON, is about somebody else: `created_by`.
    Other,
    /// The word does not change the meaning of the column: `main`, `primary`.
    Any,
}

impl Word {
    /// Returns the kind of word that has this name in the first column of `data/column_words.txt`.
    /// Returns `None` for `short`, the name of the row with the abbreviations.
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "person" => Self::Person,
            "company" => Self::Company,
            "party" => Self::Party,
            "other" => Self::Other,
            "any" => Self::Any,
            _ => return None,
        })
    }
}

/// The kind of each word of `data/column_words.txt`.
static WORDS: LazyLock<HashMap<&'static str, Word>> = LazyLock::new(|| {
    table::words(include_str!("../data/column_words.txt"), Word::from_name).collect()
});

/// The abbreviations in names of columns, each with the word that it stands for.
static ABBREVIATIONS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    table::rows(include_str!("../data/column_words.txt"))
        .filter(|[kind, _]| *kind == "short")
        .flat_map(|[_, pairs]| table::values(pairs))
        .filter_map(|pair| pair.split_once(' '))
        .collect()
});

/// Returns the meaning of a column whose name has abbreviations or words of [`WORDS`]. Returns
/// `None` if the meaning is not clear.
///
/// Each abbreviation is replaced by the word that it stands for. The words of [`WORDS`] only say
/// whom the column is about (`contact`), or nothing (`primary`). The other words must be a usual
/// name of a column. For example, `Primary eml` means the same as `Email`. A name without other
/// words, such as `Main contact`, means the same as `Contact`.
pub(crate) fn meaning_of_words(column: &str) -> Option<Meaning> {
    let words = words(column);
    let whole = |word: &String| {
        ABBREVIATIONS.get(word.as_str()).map_or_else(|| word.clone(), |&whole| whole.to_owned())
    };
    let is_about = |word: &String| WORDS.get(word.as_str()).copied();
    let expanded: Vec<String> = words.iter().map(whole).collect();
    let about: Vec<Option<Word>> = expanded.iter().map(is_about).collect();
    let rest: Vec<String> =
        expanded.iter().filter(|word| is_about(word).is_none()).cloned().collect();
    let has = |kind| about.contains(&Some(kind));
    if has(Word::Other) {
        return None;
    }
    // A name that is a single abbreviation, such as `CNTCT`, is not clear. It may mean something
    // other than `contact`.
    let is_clear = words.len() > 1 || expanded == words;
    if rest.is_empty() && is_clear && !has(Word::Party) {
        return match about.last() {
            Some(Some(Word::Company)) if has(Word::Person) => Some(Meaning::Company),
            _ => has(Word::Person).then_some(Meaning::Contact),
        };
    }
    if rest.is_empty() || rest == words {
        return None;
    }
    let meaning = usual_meaning(&rest.concat())?;
    match nearest(&about) {
        Some(Word::Person) => of_person(meaning),
        Some(Word::Company) => of_company(meaning),
        _ if has(Word::Party) => of_party(meaning),
        _ => Some(meaning),
    }
}

/// Decides whether a column is about the person or the company. `about` has the kind of each word
/// of the column's name; it has `None` for a word such as `name`, which is not in [`WORDS`]. The
/// kind that is nearest to such a word decides. `Contact company name` is about the company, and
/// `Company contact name` about the person. If both kinds are equally near, the column is about the
/// person. Returns `None` if the name has no word of these two kinds.
fn nearest(about: &[Option<Word>]) -> Option<Word> {
    let distance = |of: Word| {
        let at = |kind| about.iter().enumerate().filter(move |(_, it)| **it == kind);
        let distances =
            at(Some(of)).flat_map(|(one, _)| at(None).map(move |(other, _)| one.abs_diff(other)));
        Some((distances.min()?, of))
    };
    let found = [Word::Person, Word::Company].into_iter().filter_map(distance);
    found.min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// Whether a column's name has a word such as `supplier`. If a file has the columns `Email` and
/// `Supplier email`, they are about different companies or people.
pub(crate) fn has_party_word(column: &str) -> bool {
    words(column).iter().any(|word| WORDS.get(word.as_str()) == Some(&Word::Party))
}

/// Whether the name of an object of JSON or XML says that its members are not about the company or
/// person of the record: `created_by`, `parent`.
pub(crate) fn is_about_others(object: &str) -> bool {
    words(object).iter().any(|word| WORDS.get(word.as_str()) == Some(&Word::Other))
}

fn of_person(meaning: Meaning) -> Option<Meaning> {
    match meaning {
        Meaning::Emails => Some(Meaning::PersonEmails),
        meaning if meaning.is_of_phones() => Some(Meaning::PersonPhones),
        Meaning::LinkedIn => Some(Meaning::PersonLinkedIn),
        Meaning::Name | Meaning::FullName => Some(Meaning::FullName),
        Meaning::FirstName | Meaning::LastName | Meaning::Title | Meaning::Country => Some(meaning),
        _ => None,
    }
}

fn of_company(meaning: Meaning) -> Option<Meaning> {
    match meaning {
        Meaning::Emails => Some(Meaning::CompanyEmails),
        Meaning::LinkedIn => Some(Meaning::CompanyLinkedIn),
        meaning if meaning.is_of_phones() => Some(Meaning::CompanyPhones),
        Meaning::Name => Some(Meaning::Company),
        Meaning::Domains
        | Meaning::Country
        | Meaning::Facebook
        | Meaning::Instagram
        | Meaning::Twitter
        | Meaning::Youtube => Some(meaning),
        _ => None,
    }
}

/// Returns the meaning of a column's name with a word such as `customer`. `meaning` is the meaning
/// of the name without this word: for `Customer email`, the meaning of `Email`. The result is
/// `meaning`, or `None` if the word may change the meaning. `URL` is the company's website, but
/// `Lead URL` may be a page about the lead on another website.
fn of_party(meaning: Meaning) -> Option<Meaning> {
    let is_same = meaning.is_of_phones()
        || matches!(
            meaning,
            Meaning::Company
                | Meaning::Country
                | Meaning::Emails
                | Meaning::FirstName
                | Meaning::LastName
        );
    is_same.then_some(meaning)
}

/// Returns the words of a column's name, in lower case. A capital after a small letter begins a
/// word: `famNm` has the words `fam` and `nm`. A name of one word is split after a word such as
/// `customer`: `customeremail` has the words `customer` and `email`.
fn words(column: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for sign in column.chars() {
        let begins = !before.is_alphanumeric() || (before.is_lowercase() && sign.is_uppercase());
        if sign.is_alphanumeric() {
            if begins {
                words.push(String::new());
            }
            words.last_mut().into_iter().for_each(|word| word.extend(sign.to_lowercase()));
        }
        before = sign;
    }
    if let [whole] = words.as_slice() {
        let parties = WORDS.iter().filter(|(_, kind)| **kind == Word::Party);
        let rests = parties.filter_map(|(word, _)| Some((*word, whole.strip_prefix(word)?)));
        // The name may begin with several of these words: `billingemail` begins with `bill` and
        // with `billing`. The longest one is used. `max` finds it, because a longer word comes
        // after its own prefix in alphabetical order.
        if let Some((word, rest)) = rests.filter(|(_, rest)| !rest.is_empty()).max() {
            words = vec![word.to_owned(), rest.to_owned()];
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column_name::meaning;

    #[test]
    fn every_row_has_a_known_kind_and_no_word_has_two() {
        let mut known = HashMap::new();
        for [kind, words] in table::rows(include_str!("../data/column_words.txt")) {
            assert!(Word::from_name(kind).is_some() || kind == "short", "{kind}");
            for word in table::values(words) {
                let word = word.split(' ').next().unwrap();
                assert_eq!(known.insert(word, kind), None, "{word}");
            }
        }
    }

    #[test]
    fn words_about_the_person_or_the_company_are_left_out() {
        for (column, expected) in [
            ("Mobil kontakt", Some(Meaning::PersonPhones)),
            ("Mail kontakt", Some(Meaning::PersonEmails)),
            ("Kontakt (fornavn)", Some(Meaning::FirstName)),
            ("LinkedIn (kontakt)", Some(Meaning::PersonLinkedIn)),
            ("LI contact", Some(Meaning::PersonLinkedIn)),
            ("Their role", Some(Meaning::Title)),
            ("Tlf. butik", Some(Meaning::CompanyPhones)),
            ("CEL_CONTACTO", Some(Meaning::PersonPhones)),
            ("BUS_EML", Some(Meaning::Emails)),
            ("CNTRY", Some(Meaning::Country)),
            ("famNm", Some(Meaning::LastName)),
            ("telMob", Some(Meaning::PersonPhones)),
            ("customer_email", Some(Meaning::Emails)),
            ("customeremail", Some(Meaning::Emails)),
            ("MMERGE4 [Your role]", Some(Meaning::Title)),
            ("Contact owner", None),
            ("Owner email", None),
            ("Lead URL", None),
            ("Account manager", None),
            ("Company type", None),
            ("Our contact", None),
            ("Contact", Some(Meaning::Contact)),
            ("PRIN_CNTCT", Some(Meaning::Contact)),
            ("CNTCT", None),
            ("Contact Org", Some(Meaning::Company)),
            ("Last Contact", None),
            ("Email text", None),
            ("Contact address", None),
            ("nmDisp", Some(Meaning::Name)),
            ("billing_name", None),
            ("Contact company name", Some(Meaning::Company)),
            ("Company contact name", Some(Meaning::FullName)),
            ("Nombre contacto empresa", Some(Meaning::FirstName)),
            ("Company contact", Some(Meaning::Contact)),
            ("Attendee company", Some(Meaning::Company)),
            ("Contact organisation", Some(Meaning::Company)),
            ("Company", Some(Meaning::Company)),
            ("_", None),
        ] {
            assert_eq!(meaning(column), expected, "{column}");
        }
    }
}
