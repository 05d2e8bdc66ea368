//! The countries in which the letters of a name are used.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::country::Country;
use crate::table;

/// Letters, and the countries in which they are used.
struct Row {
    letters: Vec<RangeInclusive<char>>,
    countries: Vec<Country>,
}

impl Row {
    /// Returns how many letters of a name must be in `letters`, so that the name is taken as a name
    /// from one of `countries`. This is two if `letters` has a range of another script than Latin,
    /// such as the Greek letters: a single Greek letter may be a decoration (`μQuill`). Otherwise
    /// it is one.
    fn fewest(&self) -> usize {
        const LATIN: [RangeInclusive<char>; 2] = ['\u{80}'..='\u{24f}', '\u{1e00}'..='\u{1eff}'];
        let is_script = |range: &RangeInclusive<char>| {
            range.start() != range.end() && !LATIN.iter().any(|latin| latin.contains(range.start()))
        };
        if self.letters.iter().any(is_script) { 2 } else { 1 }
    }
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = table::rows(include_str!("../data/letter_countries.txt"));
    rows.map(|[letters, countries]| Row {
        letters: table::values(letters).filter_map(range).collect(),
        countries: table::values(countries)
            .filter_map(|code| Country::from_code(code).ok())
            .collect(),
    })
    .collect()
});

/// Returns the countries in which all letters of a name are used: Ukraine for `Їжак`. Returns no
/// country if all letters are used in many countries (`Quill`), or if no country uses all of them.
pub fn countries_of_letters(name: &str) -> Vec<Country> {
    let mut countries: Option<Vec<Country>> = None;
    if name.is_ascii() {
        return Vec::new();
    }
    let name = name.to_lowercase();
    for row in ROWS.iter() {
        let has = |letter: &char| row.letters.iter().any(|range| range.contains(letter));
        if name.chars().filter(has).count() < row.fewest() {
            continue;
        }
        match &mut countries {
            None => countries = Some(row.countries.clone()),
            Some(countries) => countries.retain(|country| row.countries.contains(country)),
        }
    }
    countries.unwrap_or_default()
}

/// Parses a letter, or a range of letters such as `a-z`.
fn range(text: &str) -> Option<RangeInclusive<char>> {
    let mut letters = text.chars();
    let first = letters.next()?;
    match (letters.next(), letters.next(), letters.next()) {
        (None, ..) => Some(first..=first),
        (Some('-'), Some(last), None) => Some(first..=last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(name: &str) -> String {
        let countries = countries_of_letters(name);
        countries.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn letters_of_few_countries_say_where_a_name_is_from() {
        for (name, countries) in [
            ("Quill", ""),
            ("Québec", ""),
            ("クイル", "JP"),
            ("クイル社", "JP"),
            ("ჭილყვი", "GE"),
            ("Їжак", "UA"),
            ("Перо і Папір", "UA BY KZ"),
            ("Қауырсын сия", "RU KZ KG TJ UZ"),
            ("Bút Mực Võ", "VN"),
            ("Fjøður", "IS FO"),
            ("μQuill", ""),
            ("Перье", "RU UA BY BG RS MK ME BA KZ KG TJ UZ MN MD"),
            ("Pióro Łódź", "PL"),
            ("Øl Straße", ""),
        ] {
            assert_eq!(codes(name), countries, "{name}");
        }
    }

    #[test]
    fn every_row_is_read() {
        assert!(ROWS.len() > 40);
        let text = include_str!("../data/letter_countries.txt");
        for [letters, countries] in table::rows(text) {
            assert!(table::values(letters).all(|letters| range(letters).is_some()), "{letters}");
            let is_known = |code: &str| Country::from_code(code).is_ok();
            assert!(table::values(countries).all(is_known), "{countries}");
        }
    }
}
