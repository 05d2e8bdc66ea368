//! Removes the legal forms of many countries from folded names.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::{fold, join_single_letters};
use crate::misspelling::is_misspelt;
use crate::table;

/// Words that are not a name by themselves. A legal form is not removed if only such words would
/// remain, as in `The Ltd`.
const NO_NAME: [&str; 4] = ["the", "and", "of", "de"];

/// Minimum number of letters of a legal form that is recognised at the end of a word, without a
/// space before it: `corp` in `quillcorp`. A legal form may be shorter if it has no vowel
/// (`acmeltd`), or if it begins with a capital (`QuillAG`).
const MIN_GLUED: usize = 4;
const VOWELS: [char; 6] = ['a', 'e', 'i', 'o', 'u', 'y'];

#[derive(Default)]
struct LegalForms {
    /// Legal forms that may be separate words after a name, such as `gmbh`. Those in `glued` are
    /// among them.
    ends: FxHashSet<String>,
    /// Legal forms that may be separate words before a name.
    starts: FxHashSet<String>,
    /// Legal forms that are attached to a name without a space, as in Chinese, Japanese, Korean
    /// and Thai. The longest come first, so that the longest one is removed.
    glued: Vec<String>,
    /// For each spelling of a legal form, the number of its row in the data file.
    lines: FxHashMap<String, u16>,
    /// The legal forms that are one ASCII word of at least 6 letters. Misspellings are recognised
    /// only for these forms.
    long_ends: Vec<String>,
    /// The number of words of the longest form in `ends` or `starts`.
    max_words: usize,
}

static LEGAL_FORMS: LazyLock<LegalForms> = LazyLock::new(|| {
    let mut forms = LegalForms::default();
    let rows = table::rows(include_str!("../data/legal_forms.txt"));
    for (line, [spellings, place, _]) in (0_u16..).zip(rows) {
        for form in table::values(spellings).map(fold) {
            forms.lines.entry(form.clone()).or_insert(line);
            forms.max_words = forms.max_words.max(form.split(' ').count());
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

/// Removes legal forms from the beginning and the end of a folded name, until none is left. Never
/// removes the whole name.
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
        // When a legal form that was attached without a space is removed, single letters can become
        // neighbours. [`fold`] joins such letters, so they are joined here too.
        name = join_single_letters(rest);
    }
}

/// Returns a folded name without the legal forms at its end; `None` if it has no legal form there.
pub(crate) fn strip_end(folded: &str) -> Option<&str> {
    let stripped = strip(folded);
    let rest = folded.strip_prefix(stripped.as_str())?;
    (rest.starts_with(' ')).then(|| &folded[..stripped.len()])
}

/// Returns the numbers of the legal forms that `strip` has removed from the name `folded`, in
/// ascending order. The number of a legal form is the number of its row in the data file. All its
/// spellings, such as `Ltd` and `Limited`, are in one row. `stripped` is the result of `strip`.
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

/// Whether a word is a misspelling of a long legal form (`Corporattion`, `Limted`).
pub(crate) fn is_misspelt_form(word: &str) -> bool {
    word.len() >= 6
        && LEGAL_FORMS.long_ends.iter().any(|form| form != word && is_misspelt(form, word))
}

/// Removes a legal form that is attached to the end of a word without a space: `acmegmbh` becomes
/// `acme`. Returns all possible results. `name` is the folded word; `typed` is the whole name as it
/// was typed.
///
/// Many words end with the letters of a short legal form: `Vestas` and `Kansas` end with `as`. So a
/// form must have one of these properties:
///
/// - It has at least [`MIN_GLUED`] letters (`corp`).
/// - It has no vowel (`ltd`).
/// - Its first letter is typed as a capital after a small letter (`QuillAG`).
pub(crate) fn without_glued_ends<'n>(
    name: &'n str,
    typed: &str,
) -> impl Iterator<Item = &'n str> + use<'n> {
    let at_capital = last_word_at_capital(typed).map(fold);
    let is_form = move |end: &str| {
        let is_unlike_a_word = end.len() >= MIN_GLUED || !end.contains(VOWELS);
        LEGAL_FORMS.ends.contains(end) && (is_unlike_a_word || at_capital.as_deref() == Some(end))
    };
    (3..name.len())
        .filter(move |&at| name.is_char_boundary(at) && is_form(&name[at..]))
        .map(|at| &name[..at])
}

/// Returns the end of a text, from the last capital letter that directly follows a small letter:
/// `AG` for `QuillAG`, and `Inc` for `QuillInc`. Returns `None` if there is no such letter.
fn last_word_at_capital(typed: &str) -> Option<&str> {
    let letters: Vec<(usize, char)> = typed.char_indices().collect();
    let is_start = |pair: &&[(usize, char)]| pair[0].1.is_lowercase() && pair[1].1.is_uppercase();
    letters.windows(2).rfind(is_start).map(|pair| &typed[pair[1].0..])
}

fn without_form(name: &str) -> Option<&str> {
    without_end(name).or_else(|| without_start(name)).or_else(|| without_glued(name))
}

/// Returns a name without the longest legal form at its end; `None` if it has no legal form there,
/// or if no name would remain.
fn without_end(name: &str) -> Option<&str> {
    let cuts = name.rmatch_indices(' ').map(|(at, _)| at).take(LEGAL_FORMS.max_words);
    cuts.filter(|&at| LEGAL_FORMS.ends.contains(&name[at + 1..]) && names_something(&name[..at]))
        .last()
        .map(|at| &name[..at])
}

/// Returns a name without the longest legal form at its beginning; `None` if it has no legal form
/// there, or if no name would remain.
fn without_start(name: &str) -> Option<&str> {
    let cuts = name.match_indices(' ').map(|(at, _)| at).take(LEGAL_FORMS.max_words);
    cuts.filter(|&at| LEGAL_FORMS.starts.contains(&name[..at]) && names_something(&name[at + 1..]))
        .last()
        .map(|at| &name[at + 1..])
}

/// Returns a name without a legal form that is attached to its beginning or end without a space;
/// `None` if it has no such legal form, or if no name would remain.
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
