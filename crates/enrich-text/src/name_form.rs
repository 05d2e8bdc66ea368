//! A company name, prepared for comparison.

use crate::company_name::{self, CompanyName};
use crate::fold::{fold, fold_words};
use crate::legal_form::{forms_around, is_misspelt_form, without_glued_ends};
use crate::name_words::{NameWord, misspelt_root, name_words, unknown};

/// A company name, split into words and brought into several forms for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameForm {
    /// The words of the name, without legal forms and fillers (words such as `of`). If the name has
    /// only fillers, the fillers are the words.
    pub words: Vec<NameWord>,
    /// The fillers of the name: words without a meaning of their own, such as "of".
    pub fillers: Vec<String>,
    /// The words in parentheses after the name; empty if there are no parentheses.
    pub aside: Vec<NameWord>,
    /// The first letters of the words, without the first letters of fillers (words such as `of`).
    pub initials: String,
    /// The first letters of the words and fillers (words such as `of`), in the order of the name.
    pub all_initials: String,
    /// A name of one word, read as an acronym: the first letter of the Latin transliteration of
    /// each letter. `РЖД` becomes `rzd`, although the transliteration of the whole word is `rzhd`.
    /// Empty for a name of several words.
    pub acronym: String,
    /// The words in plain Latin letters, joined without spaces. Fillers (words such as `of`) are
    /// left out.
    pub squashed: String,
    /// The words and fillers (words such as `of`) in plain Latin letters, joined without spaces.
    pub all_squashed: String,
    /// The roots of the words ([`NameWord::root`]) in alphabetical order, joined without spaces.
    pub sorted: String,
    /// The numbers of the legal forms in the name, in ascending order. All spellings of a legal
    /// form have the same number.
    pub legal_forms: Vec<u16>,
    /// For each word of a typed name, the root of the general word that it may misspell:
    /// `university` for `univresity`; `None` if there is no such general word. Empty for a stored
    /// name ([`NameForm::of`]), because stored names are not searched for misspellings.
    pub meant: Vec<Option<&'static str>>,
    /// The possible names without the legal form, if a typed name is one word that may end with a
    /// legal form: `acme` for `AcmeGmbH`. Empty for any other typed name, and for each stored name
    /// ([`NameForm::of`]).
    pub unglued: Vec<String>,
}

impl NameForm {
    /// Prepares a stored name. Unlike [`of_typed`](Self::of_typed), does not look for misspellings.
    pub fn of(name: &CompanyName) -> Self {
        Self::lay_out(name, false)
    }

    /// Prepares a typed name: recognises misspellings of legal forms and of general words, such as
    /// `university`.
    pub fn of_typed(name: &CompanyName) -> Self {
        let mut form = Self::lay_out(name, true);
        let general =
            |word: &NameWord| if word.is_general { None } else { misspelt_root(&word.text) };
        form.meant = form.words.iter().map(general).collect();
        if let [word] = form.words.as_slice() {
            let unglued = without_glued_ends(&word.text, name.display());
            form.unglued = unglued.map(str::to_owned).collect();
        }
        form
    }

    fn lay_out(name: &CompanyName, is_typed: bool) -> Self {
        let apart = company_name::aside(name.display());
        let apart = apart.and_then(|(named, aside)| Some((CompanyName::parse(named).ok()?, aside)));
        let (all, aside) = match &apart {
            Some((named, aside)) => (name_words(named.stripped()), name_words(&fold(aside))),
            None => (name_words(name.stripped()), Vec::new()),
        };
        let all = tidied(all, is_typed);
        let some: Vec<NameWord> = all.iter().filter(|word| !word.is_filler).cloned().collect();
        let words = if some.is_empty() { all.clone() } else { some };
        let initials = |words: &[NameWord]| {
            words.iter().filter_map(|word| word.text.chars().next()).collect::<String>()
        };
        let squashed = |words: &[NameWord]| words.iter().map(NameWord::latin).collect::<String>();
        let mut roots: Vec<&str> = words.iter().map(|word| word.root.as_str()).collect();
        roots.sort_unstable();
        let fillers = all.iter().filter(|word| word.is_filler).map(|word| word.text.clone());
        let acronym = match words.as_slice() {
            [word] => acronym(word, name.display()),
            _ => String::new(),
        };
        Self {
            acronym,
            initials: initials(&words),
            all_initials: initials(&all),
            squashed: squashed(&words),
            all_squashed: squashed(&all),
            sorted: roots.concat(),
            fillers: fillers.collect(),
            legal_forms: forms_around(name.folded(), name.stripped()),
            aside,
            words,
            ..Self::default()
        }
    }
}

/// Returns a word in Latin letters, as if it were an acronym: the first letter of the
/// transliteration of each letter (`rzd` for `РЖД`). `display` is the whole name as written.
fn acronym(word: &NameWord, display: &str) -> String {
    if display.is_ascii() {
        return word.text.clone();
    }
    let first = |letter: char| fold_words(letter.encode_utf8(&mut [0; 4])).chars().next();
    let written = display
        .split(|sign: char| !sign.is_alphanumeric())
        .find(|written| fold_words(written) == word.text);
    written.map_or_else(|| word.text.clone(), |written| written.chars().filter_map(first).collect())
}

/// Joins a single `s` to the word before it: `Lowe s` becomes `Lowes`. If somebody has typed the
/// name, also removes a misspelt legal form from its end.
fn tidied(words: Vec<NameWord>, is_typed: bool) -> Vec<NameWord> {
    let mut tidied: Vec<NameWord> = Vec::with_capacity(words.len());
    for word in words {
        match tidied.last_mut() {
            Some(last) if word.text == "s" && last.text.len() > 1 && !last.is_filler => {
                *last = unknown(&format!("{}s", last.text));
            }
            _ => tidied.push(word),
        }
    }
    let has_more = tidied.iter().rev().skip(1).any(|word| !word.is_filler);
    let is_form = |word: &NameWord| !word.is_general && is_misspelt_form(&word.text);
    if is_typed && has_more && tidied.last().is_some_and(is_form) {
        tidied.pop();
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str) -> NameForm {
        NameForm::of_typed(&CompanyName::parse(name).unwrap())
    }

    #[test]
    fn all_spellings_of_a_legal_form_are_one() {
        assert_eq!(form("Quill Ltd").legal_forms, form("Quill Limited").legal_forms);
        assert_ne!(form("Quill SAS").legal_forms, form("Quill NV").legal_forms);
        assert_eq!(form("Quill GmbH & Co. KG").legal_forms.len(), 3);
        assert!(form("Quill").legal_forms.is_empty());
    }

    #[test]
    fn what_stands_in_parentheses_is_no_part_of_the_name() {
        let jackson = form("Quill County (Wisconsin)");
        assert_eq!(jackson.sorted, "countyquill");
        assert_eq!(jackson.aside[0].root, "wisconsin");
    }

    #[test]
    fn an_acronym_is_read_letter_by_letter() {
        assert_eq!(form("РЖД").acronym, form("Российские железные дороги").initials);
        assert_eq!(form("ОАО «РЖД»").acronym, "rzd");
        assert_eq!(form("ΔΕΗ").acronym, form("Δημόσια Επιχείρηση Ηλεκτρισμού").initials);
        assert_eq!(form("QP").acronym, "qp");
        assert_eq!(form("Quill Pens").acronym, "");
    }

    #[test]
    fn slips_in_general_words_and_legal_forms_are_seen() {
        let typed = form("Quill Univresity");
        assert_eq!(typed.meant, [None, Some("university")]);
        assert_eq!(form("Quill Corporattion").squashed, "quill");
        assert_eq!(form("Quill s").squashed, "quills");
    }

    #[test]
    fn a_legal_form_without_a_space_is_cut_off_unless_the_word_just_ends_like_one() {
        let unglued = |name| form(name).unglued;
        for name in ["QuillGmbH", "quillgmbh", "quillltd", "QuillAG", "QuillInc"] {
            assert!(unglued(name).contains(&"quill".to_owned()), "{name}");
        }
        for name in ["Quillas", "QUILLAG", "Quillinc", "Quillee"] {
            assert_eq!(unglued(name), [] as [&str; 0], "{name}");
        }
    }
}
