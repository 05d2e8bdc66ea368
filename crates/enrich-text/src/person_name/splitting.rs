//! Splits a full name into first and last name, both spelt as in the full name.

use std::mem;

use super::PersonName;
use super::reading::{Word, take_family, without_asides, without_ends, words};

impl PersonName {
    /// Splits a full name, `First Last` or `Last, First`, into first and last name, both spelt as
    /// in the full name. Titles (`Dr.`) and degrees (`PhD`) are left out. Particles (`van der`)
    /// and suffixes of generations (`Jr.`) belong to the last name. Returns `None` if the first or
    /// the last name is missing.
    ///
    /// ```
    /// # use enrich_text::PersonName;
    /// let split = PersonName::split("Dr. Ada van der Byte Jr.");
    /// assert_eq!(split, Some(("Ada".to_owned(), "van der Byte Jr.".to_owned())));
    /// ```
    pub fn split(full: &str) -> Option<(String, String)> {
        let plain = without_asides(full);
        let mut parts: Vec<Vec<Written<'_>>> =
            plain.split([',', '\u{ff0c}']).map(written).filter(|part| !part.is_empty()).collect();
        let mut suffix = None;
        while parts.len() > 1
            && let Some(part) = parts.pop_if(|part| part.iter().all(|one| one.word.is_suffix()))
        {
            suffix = suffix.or_else(|| generation_in(part));
        }
        let mut parts = parts.into_iter();
        let (mut first, own_suffix) = without_ends(parts.next()?);
        let rest: Vec<Written<'_>> = parts.flatten().collect();
        let last = if !rest.is_empty() {
            mem::replace(&mut first, without_ends(rest).0)
        } else if first.len() > 1 && first.iter().all(|one| one.word.is_east_asian()) {
            vec![first.remove(0)]
        } else {
            take_family(&mut first)
        };
        let last = joined(last.into_iter().chain(suffix.or(own_suffix)));
        let first = joined(first.into_iter());
        if first.is_empty() || last.is_empty() {
            // A word that was left out as a title or a suffix may be the last name: `Eng` in `Kim
            // Eng`. So the text is split again, and no word is left out.
            return in_halves(full.trim());
        }
        Some((first, last))
    }
}

/// Splits a name at its comma, or before its last word.
fn in_halves(full: &str) -> Option<(String, String)> {
    let (first, last) = match full.split_once(',') {
        Some((last, first)) => (first, last),
        None => full.rsplit_once(char::is_whitespace)?,
    };
    let (first, last) = (first.trim(), last.trim());
    (!first.is_empty() && !last.is_empty()).then(|| (first.to_owned(), last.to_owned()))
}

/// A word of a name: as the text spells it, and in folded form.
struct Written<'t> {
    text: &'t str,
    word: Word,
}

fn written(text: &str) -> Vec<Written<'_>> {
    let word = |text| Some(Written { text, word: words(text).pop()? });
    text.split_whitespace().filter_map(word).collect()
}

impl AsRef<Word> for Written<'_> {
    fn as_ref(&self) -> &Word {
        &self.word
    }
}

fn generation_in(words: Vec<Written<'_>>) -> Option<Written<'_>> {
    words.into_iter().find(|one| one.word.name_suffix().is_some())
}

fn joined<'t>(words: impl Iterator<Item = Written<'t>>) -> String {
    words.map(|one| one.text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_degrees_are_left_out_and_particles_belong_to_the_last_name() {
        for (full, first, last) in [
            ("Ada Byte", "Ada", "Byte"),
            ("Byte, Ada", "Ada", "Byte"),
            ("Ms Ada Lou Byte", "Ada Lou", "Byte"),
            ("Herr Dr. J\u{f6}rg Beispielmann", "J\u{f6}rg", "Beispielmann"),
            ("Mme S\u{e9}gol\u{e8}ne du Faux", "S\u{e9}gol\u{e8}ne", "du Faux"),
            ("Dr. Obadiah van der Mossel", "Obadiah", "van der Mossel"),
            ("Quentin Thistledown Jr.", "Quentin", "Thistledown Jr."),
            ("Quentin Thistledown, PhD", "Quentin", "Thistledown"),
            ("Ada (Addie) Byte PhD", "Ada", "Byte"),
            ("Harry S. Byte", "Harry S.", "Byte"),
            ("Prof. Dr. rer. nat. Ada Byte", "Ada", "Byte"),
            ("Ada Byte n\u{e9}e Lovelace", "Ada", "Byte"),
            ("Kim Eng", "Kim", "Eng"),
            ("\u{5c71}\u{7530} \u{592a}\u{90ce}", "\u{592a}\u{90ce}", "\u{5c71}\u{7530}"),
        ] {
            assert_eq!(
                PersonName::split(full),
                Some((first.to_owned(), last.to_owned())),
                "{full}"
            );
        }
        for full in ["", "Ada", "Dr.", ",", "Ada,"] {
            assert_eq!(PersonName::split(full), None, "{full}");
        }
    }
}
