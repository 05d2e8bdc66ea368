//! Splits a full name into first and last name, in its own spelling.

use super::PersonName;
use super::reading::{Word, without_asides, words};

impl PersonName {
    /// Splits a full name, `First Last` or `Last, First`, into first and last name, in the spelling
    /// of the text. Titles (`Dr.`) and degrees (`PhD`) are left out. Particles (`van der`) and
    /// suffixes of generations (`Jr.`) belong to the last name. Returns `None` if a part is missing.
    ///
    /// ```
    /// # use enrich_text::PersonName;
    /// let split = PersonName::split("Dr. Ada van der Byte Jr.");
    /// assert_eq!(split, Some(("Ada".to_owned(), "van der Byte Jr.".to_owned())));
    /// ```
    pub fn split(full: &str) -> Option<(String, String)> {
        let full = without_asides(full);
        let mut parts: Vec<Vec<Written<'_>>> =
            full.split([',', '\u{ff0c}']).map(written).filter(|part| !part.is_empty()).collect();
        let mut suffix = None;
        while parts.len() > 1
            && let Some(part) = parts.pop_if(|part| part.iter().all(|one| one.word.is_suffix()))
        {
            suffix = suffix.or_else(|| generation_in(&part));
        }
        let mut parts = parts.into_iter();
        let first_part = parts.next()?;
        let rest: Vec<Written<'_>> = parts.flatten().collect();
        let (first, last, own_suffix) = if rest.is_empty() {
            let (mut name, suffix) = without_ends(first_part);
            let family = take_family(&mut name);
            (name, family, suffix)
        } else {
            let (family, suffix) = without_ends(first_part);
            (without_ends(rest).0, family, suffix)
        };
        let last = last.iter().map(|one| one.text).chain(suffix.or(own_suffix));
        let (first, last) = (joined(first.iter().map(|one| one.text)), joined(last));
        (!first.is_empty() && !last.is_empty()).then_some((first, last))
    }
}

/// A word, and how the text writes it.
struct Written<'t> {
    text: &'t str,
    word: Word,
}

fn written(text: &str) -> Vec<Written<'_>> {
    let word = |text| Some(Written { text, word: words(text).pop()? });
    text.split_whitespace().filter_map(word).collect()
}

fn generation_in<'t>(words: &[Written<'t>]) -> Option<&'t str> {
    words.iter().find(|one| one.word.name_suffix().is_some()).map(|one| one.text)
}

/// Removes titles from the beginning, and titles and suffixes from the end. Also returns the suffix
/// of a generation (`Jr.`), if one was removed.
fn without_ends(words: Vec<Written<'_>>) -> (Vec<Written<'_>>, Option<&str>) {
    let mut words: Vec<_> = words.into_iter().skip_while(|one| one.word.is_title()).collect();
    let mut suffix = None;
    while words.len() > 1
        && let Some(one) = words.pop_if(|one| one.word.is_end() || one.word.is_title())
    {
        suffix = suffix.or_else(|| one.word.name_suffix().map(|_| one.text));
    }
    (words, suffix)
}

/// Takes the family name from a name: the last word and the particles before it; the first word of
/// an East Asian name.
fn take_family<'t>(name: &mut Vec<Written<'t>>) -> Vec<Written<'t>> {
    if name.len() > 1 && name.iter().all(|one| one.word.is_east_asian()) {
        return vec![name.remove(0)];
    }
    let mut family: Vec<_> = name.pop().into_iter().collect();
    while name.len() > 1
        && let Some(particle) = name.pop_if(|one| one.word.is_particle())
    {
        family.insert(0, particle);
    }
    family
}

fn joined<'t>(words: impl Iterator<Item = &'t str>) -> String {
    words.collect::<Vec<_>>().join(" ")
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
            ("\u{5c71}\u{7530} \u{592a}\u{90ce}", "\u{592a}\u{90ce}", "\u{5c71}\u{7530}"),
        ] {
            assert_eq!(
                PersonName::split(full),
                Some((first.to_owned(), last.to_owned())),
                "{full}"
            );
        }
        for full in ["", "Ada", "Dr.", ","] {
            assert_eq!(PersonName::split(full), None, "{full}");
        }
    }
}
