//! The similarity of two company names: which words agree, which words only one of them has, and
//! how rare these words are.

use crate::contrast::contrast;
use crate::misspelling::{has_digit, is_misspelt};
use crate::name_form::NameForm;
use crate::name_words::NameWord;

/// Maximum number of words of a name that are compared. Any further words count as missing in the
/// other name.
const MAX_WORDS: usize = 24;

/// Knows how rare each word is in company names.
pub trait Rarity {
    /// Returns the rarity of a word, in nats: the negative logarithm of the share of names that
    /// contain the word.
    fn of(&self, word: &NameWord) -> f64;
}

impl<F: Fn(&NameWord) -> f64> Rarity for F {
    fn of(&self, word: &NameWord) -> f64 {
        self(word)
    }
}

/// How two words agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agreement {
    /// The words are equal.
    Same,
    /// The words have the same root, for example because one is a translation, the plural or a
    /// common abbreviation of the other.
    Equivalent,
    /// One letter is missing, added, replaced or swapped with the next one. In long words, there
    /// may be two such errors.
    Misspelt,
    /// Two words of one name are one word in the other: `Quill Pens`, `Quillpens`.
    Joined,
    /// One word is the beginning of the other, and has at least three letters.
    Abbreviated,
    /// One word is only the first letter of the other.
    Initial,
}

/// A word of one name and a word of another name that agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreed {
    /// The index of the word in the first name. If the agreement joins two words of the first name
    /// (`Quill Pens`) to one word of the second (`Quillpens`), this is the index of `Quill`.
    pub left: usize,
    /// The index of the word in the second name. If the agreement joins two words of the second
    /// name (`Quill Pens`) to one word of the first (`Quillpens`), this is the index of `Quill`.
    pub right: usize,
    /// How the two words agree.
    pub how: Agreement,
    /// The rarity of the agreeing words, in nats. If the two words have different rarities, this is
    /// the higher one; for a misspelling, it is the lower one.
    pub rarity: f64,
}

/// Which words of two names agree, and which words only one of them has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Similarity {
    /// The words that agree.
    pub agreed: Vec<Agreed>,
    /// The index and the rarity of each word that only the first name has.
    pub only_left: Vec<(usize, f64)>,
    /// The index and the rarity of each word that only the second name has.
    pub only_right: Vec<(usize, f64)>,
}

/// Compares two names word by word. `left` is the name that was typed.
pub fn similar(left: &NameForm, right: &NameForm, rarity: &impl Rarity) -> Similarity {
    let mut pairing = Pairing {
        left: &left.words[..left.words.len().min(MAX_WORDS)],
        right: &right.words[..right.words.len().min(MAX_WORDS)],
        is_left_used: vec![false; left.words.len()],
        is_right_used: vec![false; right.words.len()],
        agreed: Vec::new(),
    };
    let rarities = |words: &[NameWord]| words.iter().map(|word| rarity.of(word)).collect();
    let (left_rarities, right_rarities): (Vec<f64>, Vec<f64>) =
        (rarities(&left.words), rarities(&right.words));
    pairing.pair(|a, b| (a.text == b.text).then_some(Agreement::Same));
    pairing.pair(|a, b| (a.root == b.root).then_some(Agreement::Equivalent));
    pairing.join();
    pairing.pair(misspelt);
    pairing.pair_meant(&left.meant);
    pairing.pair(abbreviated);
    let agreed = pairing.agreed.iter().map(|&(a, b, how)| Agreed {
        left: a,
        right: b,
        how,
        rarity: match how {
            Agreement::Misspelt => left_rarities[a].min(right_rarities[b]),
            _ => left_rarities[a].max(right_rarities[b]),
        },
    });
    let unused = |used: &[bool], rarities: &[f64]| {
        let of = |(at, used): (usize, &bool)| (!used).then(|| (at, rarities[at]));
        used.iter().enumerate().filter_map(of).collect()
    };
    Similarity {
        agreed: agreed.collect(),
        only_left: unused(&pairing.is_left_used, &left_rarities),
        only_right: unused(&pairing.is_right_used, &right_rarities),
    }
}

struct Pairing<'a> {
    left: &'a [NameWord],
    right: &'a [NameWord],
    is_left_used: Vec<bool>,
    is_right_used: Vec<bool>,
    agreed: Vec<(usize, usize, Agreement)>,
}

impl Pairing<'_> {
    /// Pairs each unpaired word of the left name with the first unpaired word of the right name for
    /// which `how` returns an agreement.
    fn pair(&mut self, how: impl Fn(&NameWord, &NameWord) -> Option<Agreement>) {
        for (a, left) in self.left.iter().enumerate() {
            if self.is_left_used[a] {
                continue;
            }
            let found = self.right.iter().enumerate().find_map(|(b, right)| {
                if self.is_right_used[b] { None } else { how(left, right).map(|how| (b, how)) }
            });
            if let Some((b, how)) = found {
                self.take(a, b, how);
            }
        }
    }

    /// Pairs misspelt general words of the left name with words of the right name: `univresity`
    /// with `university`. `meant` has an element for each word of the left name. If the word may be
    /// a misspelt general word, the element is the root of that general word. Each misspelt word is
    /// paired with the first unpaired word of the right name that has this root.
    fn pair_meant(&mut self, meant: &[Option<&str>]) {
        for (a, meant) in meant.iter().enumerate().take(self.left.len()) {
            let Some(meant) = meant.filter(|_| !self.is_left_used[a]) else { continue };
            let found = self.right.iter().zip(&self.is_right_used);
            let found = found.enumerate().find(|(_, (right, used))| !**used && right.root == meant);
            if let Some((b, _)) = found {
                self.take(a, b, Agreement::Misspelt);
            }
        }
    }

    /// Pairs two neighbouring words of one name with a word of the other name that consists of
    /// both: `Quill Pens` with `Quillpens`.
    fn join(&mut self) {
        for a in 1..self.left.len() {
            let found = (0..self.right.len()).find(|&b| {
                !self.is_left_used[a - 1]
                    && !self.is_left_used[a]
                    && !self.is_right_used[b]
                    && is_joined(&self.left[a - 1], &self.left[a], &self.right[b])
            });
            if let Some(b) = found {
                self.take(a - 1, b, Agreement::Joined);
                self.is_left_used[a] = true;
            }
        }
        for b in 1..self.right.len() {
            let found = (0..self.left.len()).find(|&a| {
                !self.is_right_used[b - 1]
                    && !self.is_right_used[b]
                    && !self.is_left_used[a]
                    && is_joined(&self.right[b - 1], &self.right[b], &self.left[a])
            });
            if let Some(a) = found {
                self.take(a, b - 1, Agreement::Joined);
                self.is_right_used[b] = true;
            }
        }
    }

    fn take(&mut self, a: usize, b: usize, how: Agreement) {
        self.is_left_used[a] = true;
        self.is_right_used[b] = true;
        self.agreed.push((a, b, how));
    }
}

fn is_joined(first: &NameWord, second: &NameWord, both: &NameWord) -> bool {
    let (first, second, both) = (first.latin(), second.latin(), both.latin());
    both.len() == first.len() + second.len() && both.starts_with(first) && both.ends_with(second)
}

fn misspelt(a: &NameWord, b: &NameWord) -> Option<Agreement> {
    // If both words are in the data files of general words and places, both are spelt correctly. So
    // one is not a misspelling of the other, even if they are similar.
    let differ = a.is_general && b.is_general;
    let is = !differ && is_misspelt(a.latin(), b.latin()) && contrast(a, b).is_none();
    is.then_some(Agreement::Misspelt)
}

/// Returns how two words agree if one is the beginning of the other. `a` is a word of the name that
/// was typed. People abbreviate words when they type a name, so `a` should be the shorter word: a
/// typed `Appleton` does not agree with `Apple`. There are two exceptions, in which `a` may be
/// longer: one of the words is a general word, or `b` is a single letter.
fn abbreviated(a: &NameWord, b: &NameWord) -> Option<Agreement> {
    let is_general = a.is_general || b.is_general;
    let (a, b) = (a.latin(), b.latin());
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if a.len() > b.len() && b.len() > 1 && !is_general {
        return None;
    }
    if has_digit(shorter) || !longer.starts_with(shorter) {
        return None;
    }
    match shorter.len() {
        1 => Some(Agreement::Initial),
        2 => None,
        _ => Some(Agreement::Abbreviated),
    }
}
