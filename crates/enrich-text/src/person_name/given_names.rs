//! Given names that have several spellings or short forms.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::spelling::spelling;
use crate::fold::fold_words;
use crate::table;

/// The table of given names. A row of the data file has the spellings of one full name, such as
/// `Stephen` and `Steven`, and its short forms, such as `Steve`. The table contains each name in
/// the form that [`spelling`] returns: for example, `sergei` for both `Sergej` and `Sergey`.
#[derive(Default)]
struct GivenNames {
    /// For each spelling of a full name, the index of its row in the data file.
    full: HashMap<String, usize>,
    /// For each short form, the indexes of the rows of the data file that contain it.
    short: HashMap<String, Vec<usize>>,
    /// For each row of the data file, the first spelling of its full name.
    roots: Vec<String>,
    /// For each row of the data file, its short forms.
    shorts: Vec<Vec<String>>,
}

static NAMES: LazyLock<GivenNames> = LazyLock::new(|| {
    let mut names = GivenNames::default();
    for [full, short] in table::rows(include_str!("../../data/given_names.txt")) {
        let read = |column| table::values(column).map(|name| spelling(&fold_words(name)));
        let row = names.roots.len();
        names.roots.push(read(full).next().unwrap_or_default());
        read(full).for_each(|name| {
            names.full.insert(name, row);
        });
        let shorts: Vec<String> = read(short).collect();
        for name in &shorts {
            let rows = names.short.entry(name.clone()).or_default();
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        names.shorts.push(shorts);
    }
    names
});

impl GivenNames {
    /// Returns the key by which people with a given name are looked up. All spellings of the name
    /// have the same key. A short form that stands for only one name has the key of that name.
    fn key<'a>(&'a self, spelled: &'a str) -> &'a str {
        let row = match (self.full.get(spelled), self.short.get(spelled).map(Vec::as_slice)) {
            (Some(&row), _) | (None, Some(&[row])) => row,
            _ => return spelled,
        };
        self.roots.get(row).map_or(spelled, String::as_str)
    }

    fn is_short_for(&self, short: &str, full: &str) -> bool {
        let rows = self.short.get(short);
        self.full.get(full).is_some_and(|row| rows.is_some_and(|rows| rows.contains(row)))
    }
}

/// Returns the root of a folded given name: the first spelling in its row of the table. If the name
/// is not in the table as a full name, returns the form that [`spelling`] returns.
pub(super) fn root(word: &str) -> String {
    let spelled = spelling(word);
    let row = NAMES.full.get(&spelled);
    row.and_then(|&row| NAMES.roots.get(row)).cloned().unwrap_or(spelled)
}

/// Returns the key of a folded given name. All spellings of the name have this key.
pub(super) fn key(word: &str) -> String {
    let spelled = spelling(word);
    NAMES.key(&spelled).to_owned()
}

/// Returns all keys by which a folded given name is looked up: its own key, the keys of its long
/// forms (`robert` for `bob`), and the keys of its short forms (`bob` for `robert`).
pub(super) fn keys_to_look_up(word: &str) -> Vec<String> {
    let spelled = spelling(word);
    let names: &GivenNames = &NAMES;
    let mut keys = vec![names.key(&spelled)];
    let fulls =
        names.short.get(&spelled).into_iter().flatten().filter_map(|&row| names.roots.get(row));
    let row = names.full.get(&spelled);
    let shorts = row.and_then(|&row| names.shorts.get(row)).into_iter().flatten();
    for key in fulls.chain(shorts).map(|name| names.key(name)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter().map(str::to_owned).collect()
}

/// Whether one of two folded given names is a common short form of the other.
pub(super) fn is_short_form(one: &str, other: &str) -> bool {
    let (one, other) = (spelling(one), spelling(other));
    NAMES.is_short_for(&one, &other) || NAMES.is_short_for(&other, &one)
}

/// Whether a folded word is a given name of the table.
pub(super) fn is_listed(word: &str) -> bool {
    let spelled = spelling(word);
    NAMES.full.contains_key(&spelled) || NAMES.short.contains_key(&spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_stands_in_one_row_and_every_name_is_one_word() {
        let mut rows: HashMap<String, &str> = HashMap::new();
        for [full, short] in table::rows(include_str!("../../data/given_names.txt")) {
            for name in table::values(full) {
                let spelled = spelling(&fold_words(name));
                let earlier = rows.insert(spelled, full);
                assert!(earlier.is_none_or(|row| row == full), "{name} is in two rows");
            }
            for name in table::values(full).chain(table::values(short)) {
                assert!(!fold_words(name).contains(' '), "{name}");
            }
        }
    }

    #[test]
    fn a_given_name_is_looked_up_by_few_keys() {
        for name in NAMES.full.keys().chain(NAMES.short.keys()) {
            let keys = keys_to_look_up(name);
            assert!(keys.len() <= super::super::keys::MAX_GIVEN_KEYS, "{name}: {keys:?}");
        }
    }
}
