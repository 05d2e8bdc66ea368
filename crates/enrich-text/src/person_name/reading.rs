//! Splits a name into words, and recognises the words that are neither given name nor family name,
//! such as titles.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::spelling;
use crate::fold::fold_words;
use crate::table;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Title,
    Faculty,
    Suffix,
    NameSuffix,
    CommaSuffix,
    Particle,
    Former,
}

/// The words of the data file, each with its kind, such as title or suffix. A row of the file has
/// several spellings of one word. The value is the first spelling of the row: `jr` for `junior`.
static WORDS: LazyLock<HashMap<(Kind, &'static str), &'static str>> = LazyLock::new(|| {
    let kinds = HashMap::from([
        ("title", Kind::Title),
        ("faculty", Kind::Faculty),
        ("suffix", Kind::Suffix),
        ("generation", Kind::NameSuffix),
        ("comma-suffix", Kind::CommaSuffix),
        ("particle", Kind::Particle),
        ("former", Kind::Former),
    ]);
    table::rows(include_str!("../../data/name_words.txt"))
        .filter_map(|[kind, words]| Some((*kinds.get(kind)?, words)))
        .flat_map(|(kind, words)| {
            let first = table::values(words).next().unwrap_or_default();
            table::values(words).map(move |word| ((kind, word), first))
        })
        .collect()
});

fn is(kind: Kind, word: &str) -> bool {
    WORDS.contains_key(&(kind, word))
}

/// Whether a folded word is a particle, such as `van` or `de`. It belongs to the family name after
/// it.
pub(super) fn is_particle(word: &str) -> bool {
    is(Kind::Particle, word)
}

/// Whether a folded word is an initial: a single letter that is not an East Asian character.
pub(super) fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some() && letters.next().is_none() && !spelling::is_east_asian(word)
}

/// A word between two spaces. It may have several parts: `Jean-Luc` and `J.R.` have two.
pub(super) struct Word {
    parts: Vec<String>,
}

impl AsRef<Word> for Word {
    fn as_ref(&self) -> &Word {
        self
    }
}

impl Word {
    pub(super) fn text(&self) -> String {
        self.parts.concat()
    }

    pub(super) fn into_parts(self) -> Vec<String> {
        self.parts
    }

    pub(super) fn is_suffix(&self) -> bool {
        self.is_end() || is(Kind::CommaSuffix, &self.text())
    }

    pub(super) fn is_particle(&self) -> bool {
        is_particle(&self.text())
    }

    pub(super) fn is_former(&self) -> bool {
        is(Kind::Former, &self.text())
    }

    pub(super) fn is_east_asian(&self) -> bool {
        spelling::is_east_asian(&self.text())
    }

    fn is_title(&self) -> bool {
        let is_of = |part: &String| is(Kind::Title, part) || is(Kind::Faculty, part);
        let begins = self.parts.first().is_some_and(|part| is(Kind::Title, part));
        (begins && self.parts.iter().all(is_of)) || is(Kind::Title, &self.text())
    }

    fn is_end(&self) -> bool {
        is(Kind::Suffix, &self.text()) || self.name_suffix().is_some()
    }

    pub(super) fn name_suffix(&self) -> Option<&'static str> {
        WORDS.get(&(Kind::NameSuffix, self.text().as_str())).copied()
    }
}

pub(super) fn words(text: &str) -> Vec<Word> {
    text.split_whitespace()
        .map(|word| Word { parts: fold_words(word).split(' ').map(str::to_owned).collect() })
        .filter(|word| !word.text().is_empty())
        .collect()
}

pub(super) fn spread(words: Vec<Word>) -> Vec<String> {
    words.into_iter().flat_map(Word::into_parts).collect()
}

/// Removes titles from the beginning of a name, and titles, degrees (`PhD`) and name suffixes
/// (`jr`, `iii`) from its end. If only one word is left, it is not removed from the end. Returns
/// the words that remain, and the name suffix, if one was removed.
pub(super) fn without_ends<W: AsRef<Word>>(words: Vec<W>) -> (Vec<W>, Option<W>) {
    let mut has_title = false;
    let is_before = |word: &W| {
        let word = word.as_ref();
        let is_more = has_title && is(Kind::Faculty, &word.text());
        has_title |= word.is_title();
        is_more || word.is_title()
    };
    let mut words: Vec<W> = words.into_iter().skip_while(is_before).collect();
    let mut name_suffix = None;
    while words.len() > 1
        && let Some(word) = words.pop_if(|word| word.as_ref().is_end() || word.as_ref().is_title())
    {
        name_suffix = name_suffix.or(word.as_ref().name_suffix().is_some().then_some(word));
    }
    (words, name_suffix)
}

/// Removes the family name from the end of a name, and returns it: the last word and the particles
/// before it. A former name after a word such as `née`, as in `Ada Byte née Lovelace`, is removed
/// first.
pub(super) fn take_family<W: AsRef<Word>>(name: &mut Vec<W>) -> Vec<W> {
    if let Some(at) = name.iter().position(|word| word.as_ref().is_former())
        && at >= 2
    {
        name.truncate(at);
    }
    let mut family: Vec<W> = name.pop().into_iter().collect();
    while let [.., before, word] = &name[..]
        && word.as_ref().is_particle()
        // A single letter can be a particle, as in `van 't Hof`, or an initial, as in `John T.
        // Hof`. It is a particle only after another particle.
        && (!is_initial(&word.as_ref().text()) || before.as_ref().is_particle())
    {
        family.extend(name.pop());
    }
    family.reverse();
    family
}

pub(super) fn name_suffix_in(words: &[Word]) -> Option<&'static str> {
    words.iter().find_map(Word::name_suffix)
}

/// Removes the text in brackets or double quotes, such as nicknames, maiden names and notes.
pub(super) fn without_asides(text: &str) -> String {
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
    // If a bracket or a quote is not closed, nothing is removed.
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
