//! Finds candidates for a name: companies that have a similar name or domain.
//!
//! - Keys: the whole name without spaces, its words in alphabetical order, its first words joined,
//!   and its initials. A company is found if one of its names or domain labels has one of these
//!   keys.
//! - Words: each word has a list of the companies that have it in a name. If a word of the
//!   requested name may be misspelt, the lists of similar words are read too. The score of a
//!   company is the sum of the rarities of the words that it shares with the requested name: a rare
//!   word counts more. A very frequent word adds no new candidates. It only raises the score of
//!   companies that also share a rarer word.
//!
//! The number of postings and companies that are read for one name is limited.

use enrich_core::matching::{AskedName, DirectoryRarity};
use enrich_text::{Domain, NameForm, NameWord, is_misspelt};
use rustc_hash::FxHashMap;

use crate::directory::codes::IdentifierKind;
use crate::directory::variants::variants;
use crate::directory::view::View;

/// Maximum number of companies with the same look-up key that become candidates.
const MAX_PER_KEY: usize = 48;
/// Maximum number of postings (entries in a word's list of companies) that are read for all words
/// of one requested name together.
const MAX_READ: u64 = 200_000;
/// Maximum number of postings (entries in the words' lists of companies) that add new candidates.
/// Postings beyond this number only raise the score of candidates that are known already.
const MAX_GATHERED: u64 = 20_000;
/// Maximum number of words of a name that are indexed and searched for; later words are ignored.
pub(crate) const MAX_WORDS: usize = 16;
/// Maximum number of indexed words that are searched for in place of one misspelt word.
const MAX_MEANT: usize = 4;
/// Maximum number of indexed words that are read for one variant of a word. A variant is the word
/// itself, or the word without one of its letters.
const MAX_PER_VARIANT: usize = 64;
/// Maximum number of words at the beginning of a name that are joined and compared with names and
/// domain labels.
const MAX_FIRST_WORDS: usize = 4;
/// A requested name of at most this length (in bytes, without spaces) is also searched for as one
/// misspelt word: "Quil Ink" as `quilink`, to find `quillink`.
const LONGEST_WORD: usize = 30;

/// Pairs of letters with the same sound: the letters that are typed, and those that are meant.
const SOUNDS: [(&str, &str); 6] =
    [("ph", "f"), ("f", "ph"), ("ck", "x"), ("x", "ks"), ("qu", "k"), ("kw", "qu")];
/// Minimum length of a word, in letters, for which spellings with the same sound are tried.
const FEWEST_RESPELT: usize = 6;

/// Minimum score of a candidate that is compared, as a share of the best score. A candidate with a
/// lower score shares only common words with the name. A best score above [`WHOLE`] counts as
/// [`WHOLE`].
const MIN_SHARE: f64 = 0.3;
/// The score of a company whose whole name equals the requested name, in nats (the unit of a word's
/// rarity). Most companies get a lower score from their words.
const WHOLE: f64 = 30.0;
/// The score of a company that fits the requested name only in part, in nats (the unit of a word's
/// rarity): one of its names or domain labels equals a part of the requested name, or its initials
/// equal the requested name.
const PART: f64 = 8.0;
/// The factor for a word that is only similar to the requested word: the word adds its rarity times
/// this factor to the score.
const ALIKE: f64 = 0.7;
/// The factor for a word that is similar to the whole requested name without spaces, such as
/// `quillink` for "Quil Ink". The score of the word is multiplied by it.
const WHOLE_ALIKE: f64 = 2.0;
/// The amount by which each word of a candidate's name lowers the candidate's score, in nats (the
/// unit of a word's rarity). If two names have the same number of words in common with the
/// requested name, the shorter name is more similar.
const A_WORD: f64 = 0.05;

/// The companies to compare with a name, the highest score first, and the rarities of the name's
/// words.
pub(crate) struct Candidates {
    pub(crate) ids: Vec<u64>,
    pub(crate) rarity: DirectoryRarity,
}

pub(crate) fn index_words(form: &NameForm) -> impl Iterator<Item = String> + '_ {
    form.words.iter().map(|word| word.root.clone())
}

/// Returns the labels of a domain that may contain a company's name:
///
/// - For a registrable domain, the label before the public suffix: `quill` for `quill.example`.
/// - For a host below a registrable domain, the labels before the registrable domain: `quill` for
///   `quill.shops.example`. The label `shops` is left out, because `shops.example` may belong to
///   another company, such as the provider of an online shop.
///
/// Hyphens are removed. Labels in other scripts (`xn--…`) are left out.
pub(crate) fn domain_labels(domain: &Domain) -> Vec<String> {
    let registrable = domain.registrable();
    let labels: Vec<&str> = if domain.is_registrable() {
        vec![domain.label()]
    } else {
        let below = domain.as_str().strip_suffix(registrable.as_str()).unwrap_or_default();
        below.split('.').filter(|label| !label.is_empty()).collect()
    };
    let latin = labels.into_iter().filter(|label| !label.starts_with("xn--"));
    latin.map(|label| label.replace('-', "")).collect()
}

/// Finds the best candidates for a name (companies that it may mean), at most `most`.
pub(crate) fn search(
    view: View<'_>,
    asked: &AskedName,
    most: usize,
) -> rusqlite::Result<Candidates> {
    let rarity = DirectoryRarity::among(view.companies()?);
    let mut search = Search { view, rarity, worth: FxHashMap::default() };
    search.by_keys(asked)?;
    search.by_words(&asked.form)?;
    let mut all: Vec<(f64, u64)> =
        search.worth.into_iter().map(|(id, worth)| (worth, id)).collect();
    let best_first = |a: &(f64, u64), b: &(f64, u64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if all.len() > most {
        all.select_nth_unstable_by(most, best_first);
        all.truncate(most);
    }
    all.sort_unstable_by(best_first);
    let least = all.first().map_or(0.0, |(worth, _)| worth.min(WHOLE) * MIN_SHARE);
    all.retain(|(worth, _)| *worth >= least);
    let ids = all.into_iter().map(|(_, id)| id).collect();
    Ok(Candidates { ids, rarity: search.rarity })
}

/// Returns other spellings of a word with the same sound, such as `vodafone` for `vodaphone`. Each
/// pair of [`SOUNDS`] that fits the word gives one spelling. The search by variants does not find
/// these spellings, because they are two edits away from the word. Variants find only one edit.
fn respellings(word: &str) -> impl Iterator<Item = String> + '_ {
    let is_long = word.len() >= FEWEST_RESPELT;
    let sounds = SOUNDS.iter().filter(move |(typed, _)| is_long && word.contains(typed));
    sounds.map(|(typed, meant)| word.replace(typed, meant))
}

struct Search<'c> {
    view: View<'c>,
    rarity: DirectoryRarity,
    /// The score of each candidate, by the id of the company.
    worth: FxHashMap<u64, f64>,
}

/// The companies that have a word in their names, and how much the word raises their score.
struct List {
    word: String,
    companies: u64,
    /// The amount that the word adds to a company's score, in nats (the unit of a word's rarity).
    worth: f64,
}

impl Search<'_> {
    fn by_keys(&mut self, asked: &AskedName) -> rusqlite::Result<()> {
        use IdentifierKind::{CompanyInitials, CompanyLabel, CompanyName, CompanySorted};
        let (form, squashed) = (&asked.form, asked.name.squashed());
        for kind in [CompanyName, CompanyLabel] {
            self.of_key(kind, squashed, WHOLE)?;
            if form.squashed != squashed {
                self.of_key(kind, &form.squashed, WHOLE)?;
            }
        }
        for kind in [CompanyName, CompanySorted] {
            self.of_key(kind, &form.sorted, WHOLE)?;
        }
        for rest in &form.unglued {
            self.of_key(CompanyName, rest, WHOLE)?;
        }
        let mut beginning = String::new();
        for (at, word) in form.words.iter().enumerate().take(MAX_FIRST_WORDS) {
            beginning.push_str(&word.root);
            // A general word, such as `city`, is the label of many domains (`city.quill.example`),
            // and says nothing about the company.
            if at > 0 || !word.is_general {
                self.of_part(&beginning)?;
            }
        }
        self.of_part(&form.initials)?;
        if form.all_initials != form.initials {
            self.of_part(&form.all_initials)?;
        }
        self.of_key(CompanyInitials, squashed, PART)?;
        if form.acronym != squashed && !form.acronym.is_empty() {
            self.of_key(CompanyInitials, &form.acronym, PART)?;
        }
        Ok(())
    }

    /// Raises the score of companies with a name or a domain label that equals `part`, which is a
    /// part of the requested name.
    fn of_part(&mut self, part: &str) -> rusqlite::Result<()> {
        if part.len() < 3 {
            return Ok(());
        }
        self.of_key(IdentifierKind::CompanyName, part, PART)?;
        self.of_key(IdentifierKind::CompanyLabel, part, PART)
    }

    fn of_key(&mut self, kind: IdentifierKind, key: &str, worth: f64) -> rusqlite::Result<()> {
        for holder in self.view.holders(kind, key, MAX_PER_KEY)? {
            *self.worth.entry(holder.subject.0).or_insert(0.0) += worth;
        }
        Ok(())
    }

    fn by_words(&mut self, form: &NameForm) -> rusqlite::Result<()> {
        let mut lists = self.lists(form)?;
        lists.sort_by_key(|list| list.companies);
        let (mut read, mut gathered) = (0, 0);
        for List { word, companies, worth } in lists {
            read += companies;
            if read > MAX_READ {
                break;
            }
            let adds = gathered + companies <= MAX_GATHERED;
            if adds {
                gathered += companies;
                self.worth.reserve(usize::try_from(companies).unwrap_or_default());
            }
            let known = &mut self.worth;
            self.view.postings(&word, |posting| {
                let worth = worth - A_WORD * f64::from(posting.words);
                if adds {
                    *known.entry(posting.company).or_insert(0.0) += worth;
                } else if let Some(known) = known.get_mut(&posting.company) {
                    *known += worth;
                }
            })?;
        }
        Ok(())
    }

    /// Returns the lists of companies for each word of the name. If a word may be a misspelling,
    /// also returns the lists of the words that it may stand for.
    fn lists(&mut self, form: &NameForm) -> rusqlite::Result<Vec<List>> {
        let mut lists = Vec::new();
        for (at, word) in form.words.iter().enumerate().take(MAX_WORDS) {
            // If a word occurs twice in the name, its second occurrence would find the same
            // companies again.
            if form.words[..at].iter().any(|before| before.root == word.root) {
                continue;
            }
            let companies = self.view.companies_with_word(&word.root)?;
            self.rarity.learn(&word.root, companies);
            if companies > 0 {
                let worth = self.rarity.of_count(&word.root, companies);
                lists.push(List { word: word.root.clone(), companies, worth });
            }
            self.add_meant(word, form.meant.get(at).copied().flatten(), &mut lists)?;
        }
        if form.words.len() > 1 && form.squashed.len() <= LONGEST_WORD {
            let before = lists.len();
            self.add_like(&form.squashed, &mut lists)?;
            // A word that is similar to the whole name without spaces, such as `quillink` for "Quil
            // Ink", is stronger evidence than a word that is similar to only one word of the name.
            lists[before..].iter_mut().for_each(|list| list.worth *= WHOLE_ALIKE);
        }
        Ok(lists)
    }

    /// Adds lists of companies for the words that may be meant if `word` is misspelt. `meant` is
    /// the root of the general word that may be meant, such as `university`, if there is one.
    fn add_meant(
        &self,
        word: &NameWord,
        meant: Option<&str>,
        lists: &mut Vec<List>,
    ) -> rusqlite::Result<()> {
        if word.is_general {
            return Ok(());
        }
        if let Some(root) = meant {
            let companies = self.view.companies_with_word(root)?;
            let worth = ALIKE * self.rarity.of_count(root, companies);
            lists.push(List { word: root.to_owned(), companies, worth });
        }
        self.add_respelt(&word.root, lists)?;
        self.add_like(&word.root, lists)
    }

    /// Adds the lists of companies for words of the index that sound like `word`, such as
    /// `vodafone` for `vodaphone`.
    fn add_respelt(&self, word: &str, lists: &mut Vec<List>) -> rusqlite::Result<()> {
        for respelt in respellings(word) {
            let companies = self.view.companies_with_word(&respelt)?;
            if companies > 0 && is_misspelt(&respelt, word) {
                let worth = ALIKE * self.rarity.of_count(&respelt, companies);
                lists.push(List { word: respelt, companies, worth });
            }
        }
        Ok(())
    }

    /// Adds lists of companies for the words of the index that may be meant if `word` is misspelt.
    /// If there are more than [`MAX_MEANT`] such words, adds only the most frequent ones: those
    /// that occur in the names of the largest numbers of companies.
    fn add_like(&self, word: &str, lists: &mut Vec<List>) -> rusqlite::Result<()> {
        let mut like: Vec<String> = Vec::new();
        for variant in variants(word) {
            for other in self.view.words_with_variant(variant, MAX_PER_VARIANT)? {
                if other != word && is_misspelt(&other, word) && !like.contains(&other) {
                    like.push(other);
                }
            }
        }
        let mut found = Vec::with_capacity(like.len());
        for word in like {
            let companies = self.view.companies_with_word(&word)?;
            let worth = ALIKE * self.rarity.of_count(&word, companies);
            found.push(List { word, companies, worth });
        }
        found.sort_by_key(|list| std::cmp::Reverse(list.companies));
        found.truncate(MAX_MEANT);
        lists.append(&mut found);
        Ok(())
    }
}
