//! The keys by which a directory finds people. A key with the full given name (`ana|garcia`) finds
//! names that differ little. A key with only the first letter of the given name (`a.|grk`) also
//! finds initials, and names in other scripts.

use std::collections::HashSet;

use super::reading::is_initial;
use super::spelling::{consonants, first_letter, first_letters, spelling};
use super::{PersonName, given_names};

/// Look-up keys are made from at most this number of parts of a family name, counted from the last
/// part. Real names have fewer parts. Without this limit, a long text would need a look-up for each
/// of its words.
pub(super) const MAX_FAMILY_PARTS: usize = 6;
/// Maximum number of keys by which a given name is looked up: the keys of the name itself, of its
/// long forms and of its short forms.
pub(super) const MAX_GIVEN_KEYS: usize = 8;
/// A look-up by a name makes keys with the full given name, such as `ada|lovelace`. This is the
/// maximum number of these keys for each order of the name (`Ada Lovelace` and `Lovelace Ada` are
/// two orders). Only a name with many family names, whose given name has many short forms, could
/// have more keys.
const MAX_LOOKED_UP: usize = 32;

impl PersonName {
    /// Maximum number of keys under which a name is stored: one for each of at most six parts of
    /// the family name, and two for the whole family name, without and with particles.
    pub const MAX_KEYS: usize = MAX_FAMILY_PARTS + 2;

    /// Returns the keys under which the person is stored, at most [`Self::MAX_KEYS`].
    ///
    /// A name in Chinese, Japanese or Korean script has up to two keys. They are the whole name
    /// with the family name first, and the whole name with the family name last. Any other name has
    /// these keys:
    ///
    /// - the first given name with each part of the family name, as in `ana|garcia` and
    ///   `ana|marquez` for Ana García Márquez. Different spellings of a name have the same key. A
    ///   short form that stands for only one name is replaced by this name. There are no such keys
    ///   if the given name is an initial;
    /// - the first letter of the given name with the consonants of the whole family name, as in
    ///   `a.|grkmrkz` for Ana García Márquez. Letters that sound alike become one letter: `c`
    ///   becomes `k`.
    pub fn keys(&self) -> Vec<String> {
        if let Some(whole) = self.in_one_piece() {
            return whole.into_iter().map(|name| format!("|{name}")).collect();
        }
        let mut keys = Vec::new();
        if !is_initial(self.first_given()) {
            let given = given_names::key(self.first_given());
            keys.extend(self.family_parts().iter().map(|family| close_key(&given, family)));
        }
        let letter = first_letter(self.first_given());
        keys.extend(self.whole_family().iter().map(|family| wide_key(&letter, family)));
        without_repeats(keys)
    }

    /// Returns the first of the [`keys`](Self::keys) of this name. Equal names have the same first
    /// key.
    pub fn key(&self) -> String {
        self.keys().into_iter().next().unwrap_or_default()
    }

    /// Returns the keys by which the person is looked up, in steps. The keys of a step are needed
    /// only if the earlier steps have found nobody whose name agrees:
    ///
    /// 1. keys with the full given name and with its short forms;
    /// 2. keys with the first letter of the given name. They find initials, names in other scripts,
    ///    and names whose parts are written as one word (`Jeanluc`, `Vanderberg`);
    /// 3. the keys of steps 1 and 2 for the name with the family name first.
    pub fn keys_to_look_up(&self) -> impl Iterator<Item = Vec<String>> {
        [Self::close_keys, Self::wide_keys, Self::turned_keys].into_iter().map(|keys| keys(self))
    }

    /// Whether the first letters of the two given names agree, so that a look-up of this name by
    /// the first letter can find `other`. Letters agree if they are equal. A vowel in Latin letters
    /// also agrees with any vowel in another script.
    pub(super) fn first_letters_meet(&self, other: &Self) -> bool {
        first_letters(self.first_given()).contains(&first_letter(other.first_given()))
    }

    /// Returns the parts of the family name from which keys are made, the last part first. All
    /// spellings of a part give the same text.
    pub(super) fn family_parts(&self) -> Vec<String> {
        let (parts, _) = self.family_and_particles();
        let last = parts.into_iter().rev().take(MAX_FAMILY_PARTS);
        without_repeats(last.map(given_names::root).collect())
    }

    /// Returns the whole family name as one word, in two forms: without particles (`berg`), and
    /// with them (`vanderberg`). Returns one form if both are equal.
    pub(super) fn whole_family(&self) -> Vec<String> {
        let (parts, _) = self.family_and_particles();
        let all: Vec<&str> = self.family.iter().map(String::as_str).collect();
        without_repeats(vec![in_one_word(&parts), in_one_word(&all)])
    }

    /// Returns this name. If its last middle name may be a family name, also returns the name with
    /// two family names: `García` and `Márquez` for `Gabriel García Márquez`.
    fn readings(&self) -> impl Iterator<Item = Self> {
        std::iter::once(self.clone()).chain(self.with_two_family_names())
    }

    fn close_keys(&self) -> Vec<String> {
        if self.in_one_piece().is_some() {
            return self.keys();
        }
        if is_initial(self.first_given()) {
            return Vec::new();
        }
        let families = self.readings().flat_map(|name| [name.family_parts(), name.whole_family()]);
        let families = without_repeats(families.flatten().collect());
        let givens = given_names::keys_to_look_up(self.first_given());
        let givens = givens.iter().take(MAX_GIVEN_KEYS);
        let keys = givens.flat_map(|given| families.iter().map(|family| close_key(given, family)));
        keys.take(MAX_LOOKED_UP).collect()
    }

    fn wide_keys(&self) -> Vec<String> {
        if self.in_one_piece().is_some() {
            return Vec::new();
        }
        let letters = first_letters(self.first_given());
        let families: Vec<String> = self.readings().flat_map(|name| name.whole_family()).collect();
        let keys = letters
            .iter()
            .flat_map(|letter| families.iter().map(|family| wide_key(letter, family)));
        without_repeats(keys.collect())
    }

    fn turned_keys(&self) -> Vec<String> {
        let names = self.in_other_orders();
        let keys = names.iter().flat_map(|name| [name.close_keys(), name.wide_keys()]);
        without_repeats(keys.flatten().collect())
    }
}

fn close_key(given: &str, family: &str) -> String {
    format!("{given}|{family}")
}

/// Returns a key with only the first letter of the given name. The dot makes it different from all
/// other keys, because folded names contain no dot.
fn wide_key(letter: &str, family: &str) -> String {
    format!("{letter}.|{}", consonants(family))
}

fn in_one_word(words: &[&str]) -> String {
    match words {
        [word] => given_names::root(word),
        words => spelling(&words.concat()),
    }
}

fn without_repeats(mut list: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    list.retain(|one| seen.insert(one.clone()));
    list
}
