//! Removes legal forms of many countries from the ends of folded names.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::{fold, join_single_letters};
use crate::misspelling::is_misspelt;
use crate::table;

/// Words that are not a name by themselves. Stripping never leaves only such words.
const NO_NAME: [&str; 4] = ["the", "and", "of", "de"];

#[derive(Default)]
struct LegalForms {
    /// Legal forms that are written as separate words after a name.
    ends: FxHashSet<String>,
    /// Legal forms that are written as separate words before a name.
    starts: FxHashSet<String>,
    /// Legal forms that are attached to a name without a space, as in Chinese, Japanese, Korean and
    /// Thai; longest first.
    glued: Vec<String>,
    /// For each spelling of a legal form, the index of its row in the data file.
    lines: FxHashMap<String, u16>,
    /// The forms that are one long ASCII word, whose misspellings are recognised.
    long_ends: Vec<String>,
    /// The number of words in the longest form of `ends` or `starts`.
    most_words: usize,
}

static LEGAL_FORMS: LazyLock<LegalForms> = LazyLock::new(|| {
    let mut forms = LegalForms::default();
    let rows = table::rows(include_str!("../data/legal_forms.txt"));
    for (line, [spellings, place, _]) in (0_u16..).zip(rows) {
        for form in table::values(spellings).map(fold) {
            forms.lines.entry(form.clone()).or_insert(line);
            forms.most_words = forms.most_words.max(form.split(' ').count());
            if matches!(place, "start" | "both" | "glued") {
                forms.starts.insert(form.clone());
            }
            if matches!(place, "end" | "both" | "glued") {
                forms.ends.insert(form.clone());
            }
            if form.len() >= 6 && form.is_ascii() && !form.contains(' ') {
                forms.long_ends.push(form.clone());
            }
            if place == "glued" {
                forms.glued.push(form);
            }
        }
    }
    forms.glued.sort_unstable_by_key(|form| std::cmp::Reverse(form.len()));
    forms
});

/// Removes legal forms from both ends of a folded name repeatedly, but never the whole name.
pub(crate) fn strip(folded: &str) -> String {
    let mut name = folded.to_owned();
    loop {
        let mut rest = name.as_str();
        while let Some(shorter) = without_form(rest) {
            rest = shorter;
        }
        if rest.len() == name.len() {
            return name;
        }
        // Removing a glued form can bring single letters together; folding joins such letters.
        name = join_single_letters(rest);
    }
}

/// Returns the legal forms that `strip` removed from a folded name, as indexes of their rows in the
/// data file, in ascending order. `Ltd` and `Limited` have the same index.
pub(crate) fn forms_around(folded: &str, stripped: &str) -> Vec<u16> {
    let Some((before, behind)) = folded.split_once(stripped) else { return Vec::new() };
    let mut found = Vec::new();
    for around in [before, behind] {
        let words: Vec<&str> = around.split(' ').filter(|word| !word.is_empty()).collect();
        let mut at = 0;
        while at < words.len() {
            let longest = (at + 1..=words.len()).rev().find_map(|end| {
                LEGAL_FORMS.lines.get(&words[at..end].join(" ")).map(|line| (end, *line))
            });
            at = match longest {
                Some((end, line)) => {
                    found.push(line);
                    end
                }
                None => at + 1,
            };
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a word is a misspelt long legal form (`Corporattion`, `Limted`).
pub(crate) fn is_misspelt_form(word: &str) -> bool {
    word.len() >= 6
        && LEGAL_FORMS.long_ends.iter().any(|form| form != word && is_misspelt(form, word))
}

/// Returns the possible names without a legal form that is attached without a space (`AcmeGmbH`).
pub(crate) fn without_glued_ends(name: &str) -> impl Iterator<Item = &str> {
    (3..name.len())
        .filter(|&at| name.is_char_boundary(at) && LEGAL_FORMS.ends.contains(&name[at..]))
        .map(|at| &name[..at])
}

fn without_form(name: &str) -> Option<&str> {
    without_end(name).or_else(|| without_start(name)).or_else(|| without_glued(name))
}

/// Removes the longest legal form at the end of a name; `None` if there is none.
fn without_end(name: &str) -> Option<&str> {
    let cuts = name.rmatch_indices(' ').map(|(at, _)| at).take(LEGAL_FORMS.most_words);
    cuts.filter(|&at| LEGAL_FORMS.ends.contains(&name[at + 1..]) && names_something(&name[..at]))
        .last()
        .map(|at| &name[..at])
}

/// Removes the longest legal form at the start of a name; `None` if there is none.
fn without_start(name: &str) -> Option<&str> {
    let cuts = name.match_indices(' ').map(|(at, _)| at).take(LEGAL_FORMS.most_words);
    cuts.filter(|&at| LEGAL_FORMS.starts.contains(&name[..at]) && names_something(&name[at + 1..]))
        .last()
        .map(|at| &name[at + 1..])
}

/// Removes a legal form that is attached to the start or end of a name; `None` if there is none.
fn without_glued(name: &str) -> Option<&str> {
    if name.is_ascii() {
        return None;
    }
    LEGAL_FORMS.glued.iter().find_map(|form| {
        let rest = name.strip_suffix(form.as_str()).or_else(|| name.strip_prefix(form.as_str()))?;
        names_something(rest).then(|| rest.trim())
    })
}

fn names_something(rest: &str) -> bool {
    rest.split(' ').any(|word| !word.is_empty() && !NO_NAME.contains(&word))
}
