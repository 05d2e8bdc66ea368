//! The words of a company's name. Each word has a root, which is equal for different spellings and
//! translations of the word.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::country::Country;
use crate::fold::fold;
use crate::misspelling::is_within;
use crate::table;

/// A word of a company's name, after folding ([`fold`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameWord {
    /// The word after folding.
    pub text: String,
    /// The form of the word that is compared with other words. For a general word or a place in any
    /// language, it is the English word (`universitat`: `university`; `wien`: `vienna`). For
    /// another word that is not in Latin script, it is the Latin transliteration. Otherwise it is
    /// the word itself.
    pub root: String,
    /// Whether the word is a general word, such as `university`, or a place, according to the data
    /// files.
    pub is_general: bool,
    /// Whether the word is a filler, such as an article, a preposition or a conjunction.
    pub is_filler: bool,
}

impl NameWord {
    /// Returns the word in Latin letters, if possible. An ASCII word is returned unchanged. For any
    /// other word, returns its root, which is usually the English word or a transliteration.
    pub(crate) fn latin(&self) -> &str {
        if self.text.is_ascii() { &self.text } else { &self.root }
    }
}

struct Lists {
    /// The root of each folded word in `organisation_words.txt` and `place_words.txt`: the root of
    /// `universitat` is `university`. Words are compared by their roots.
    roots: FxHashMap<String, String>,
    /// For each root that means a country, the code of the country.
    countries: FxHashMap<String, &'static str>,
    /// The roots that mean a place.
    places: FxHashSet<String>,
    fillers: FxHashSet<String>,
    /// The number of characters of the longest listed word in a script without spaces.
    longest_unspaced: usize,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut roots = FxHashMap::default();
    let files =
        [include_str!("../data/organisation_words.txt"), include_str!("../data/place_words.txt")];
    let mut countries = FxHashMap::default();
    for [canonical, forms, country] in files.into_iter().flat_map(table::rows) {
        let canonical = fold(canonical);
        if !country.is_empty() {
            countries.insert(canonical.clone(), country);
        }
        for form in table::values(forms).map(fold) {
            roots.entry(form).or_insert_with(|| canonical.clone());
        }
        roots.insert(canonical.clone(), canonical);
    }
    let fillers = table::rows(include_str!("../data/filler_words.txt"))
        .flat_map(|[_, words]| table::values(words).flat_map(str::split_whitespace).map(fold))
        .collect();
    let places = table::rows(include_str!("../data/place_words.txt")).map(|[place]| fold(place));
    let places = places.collect();
    let unspaced = roots.keys().filter(|word| word.chars().all(is_unspaced));
    let longest_unspaced = unspaced.map(|word| word.chars().count()).max().unwrap_or(0);
    Lists { roots, countries, places, fillers, longest_unspaced }
});

/// Splits a folded name into its words, in order. A text in a script without spaces is split at the
/// known words that it contains.
pub fn name_words(folded: &str) -> Vec<NameWord> {
    let mut words = Vec::new();
    for word in folded.split(' ').filter(|word| !word.is_empty()) {
        if word.chars().any(is_unspaced) {
            part(word, &mut words);
        } else {
            words.push(known(word).unwrap_or_else(|| unknown(word)));
        }
    }
    words
}

fn known(word: &str) -> Option<NameWord> {
    let is_filler = LISTS.fillers.contains(word);
    let root = LISTS.roots.get(word);
    if root.is_none() && !is_filler {
        return None;
    }
    let is_general = root.is_some();
    let root = root.map_or_else(|| word.to_owned(), Clone::clone);
    Some(NameWord { text: word.to_owned(), root, is_general, is_filler })
}

pub(crate) fn unknown(word: &str) -> NameWord {
    NameWord {
        text: word.to_owned(),
        root: transliterated(word),
        is_general: false,
        is_filler: false,
    }
}

/// Returns the folded spellings of all general words and places in the data files, each once.
pub(crate) fn listed_words() -> impl Iterator<Item = &'static str> {
    LISTS.roots.keys().map(String::as_str)
}

/// Returns the share of all organisation names that contain a word, from 0 to 1. Returns `None` for
/// a word that is not in the data file, because such a word is rare.
pub fn common_share(word: &str) -> Option<f64> {
    static SHARES: LazyLock<FxHashMap<&str, f64>> = LazyLock::new(|| {
        let lines = include_str!("../data/common_words.csv").lines();
        let rows =
            lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(','));
        rows.filter_map(|(word, share)| Some((word, share.parse::<f64>().ok()? / 100_000.0)))
            .collect()
    });
    SHARES.get(word).copied()
}

/// Whether a word is a city, region or country in `place_words.txt`.
pub(crate) fn is_place(word: &NameWord) -> bool {
    word.is_general && LISTS.places.contains(&word.root)
}

/// Whether a word means a municipality or its government: `city`, `ville`, `Gemeinde`, `council`.
pub fn is_municipal(word: &NameWord) -> bool {
    const ROOTS: [&str; 7] =
        ["municipality", "municipal", "city", "town", "village", "council", "government"];
    word.is_general && ROOTS.contains(&word.root.as_str())
}

/// Returns the country that a word means (`deutsche`: Germany).
pub fn country_of_word(word: &NameWord) -> Option<Country> {
    if !word.is_general || word.root.len() <= 3 {
        return None;
    }
    Country::parse(LISTS.countries.get(&word.root).copied().unwrap_or(&word.root)).ok()
}

/// The long words of the data files, to find the word that a misspelling stands for. Each word has
/// several keys: its hash, and for each letter, the hash of the word without this letter. A word
/// and its misspelling have at least one of these keys in common.
static MISSPELT: LazyLock<FxHashMap<u64, Vec<&'static str>>> = LazyLock::new(|| {
    let mut by_rest: FxHashMap<u64, Vec<&str>> = FxHashMap::default();
    for word in LISTS.roots.keys().filter(|word| is_long(word)) {
        for rest in deletion_hashes(word) {
            by_rest.entry(rest).or_default().push(word);
        }
    }
    by_rest
});

/// Minimum number of letters of a word whose misspellings are recognised. A shorter word is too
/// similar to other words.
const FEWEST_LETTERS: usize = 6;

fn is_long(word: &str) -> bool {
    word.len() >= FEWEST_LETTERS && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the FNV-1a hash of a word, and for each of its letters, the hash of the word without
/// this letter.
fn deletion_hashes(word: &str) -> impl Iterator<Item = u64> + '_ {
    (0..=word.len()).map(move |missing| {
        let left = word.bytes().enumerate().filter(move |(at, _)| *at != missing);
        left.fold(0xcbf2_9ce4_8422_2325, |hash: u64, (_, byte)| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    })
}

/// Returns the root of the general word, such as `university`, that `word` misspells. Returns
/// `None` if there is no such word, or if there are several with different roots.
pub fn misspelt_root(word: &str) -> Option<&'static str> {
    if word.len() + 1 < FEWEST_LETTERS || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let found = deletion_hashes(word).filter_map(|rest| MISSPELT.get(&rest)).flatten();
    let mut roots =
        found.filter(|meant| is_within(1, meant, word)).filter_map(|meant| LISTS.roots.get(*meant));
    let root = roots.next()?;
    roots.all(|other| other == root).then_some(root)
}

/// Returns a word in lower-case Latin letters and digits. If the word has no transliteration,
/// returns it unchanged.
fn transliterated(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let latin: String = any_ascii::any_ascii(word)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    if latin.is_empty() { word.to_owned() } else { latin }
}

/// Splits a text without spaces into words, and adds them to `words`. Goes through the text from
/// its beginning. Where a known word begins, takes the longest one. The text between two known
/// words becomes a word of its own.
fn part(run: &str, words: &mut Vec<NameWord>) {
    let mut rest = run;
    let mut begun = 0;
    while begun < rest.len() {
        match longest_known(&rest[begun..]) {
            Some(word) => {
                if begun > 0 {
                    words.push(unknown(&rest[..begun]));
                }
                rest = &rest[begun + word.text.len()..];
                begun = 0;
                words.push(word);
            }
            None => begun += rest[begun..].chars().next().map_or(1, char::len_utf8),
        }
    }
    if !rest.is_empty() {
        words.push(unknown(rest));
    }
}

fn longest_known(text: &str) -> Option<NameWord> {
    let ends = text.char_indices().map(|(at, sign)| at + sign.len_utf8());
    let ends: Vec<usize> = ends.take(LISTS.longest_unspaced).collect();
    // A single character does not count as a known word, because it is part of many words.
    ends.into_iter().skip(1).rev().find_map(|end| known(&text[..end]))
}

/// Whether a letter belongs to a script in which names are often written without spaces between
/// their words.
fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
}
