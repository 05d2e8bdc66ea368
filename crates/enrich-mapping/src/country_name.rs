//! Finds the country that a name such as `Allemagne` means, in one of several languages.

use std::collections::HashMap;
use std::sync::LazyLock;

use enrich_text::Country;

use crate::table;

static COUNTRIES: LazyLock<HashMap<String, Country>> = LazyLock::new(|| {
    let names = table::countries(include_str!("../data/country_names.txt"));
    names.map(|(name, country)| (key(name), country)).collect()
});

/// Returns the country with this code or this name, in English or another language.
pub(crate) fn country_of(text: &str) -> Option<Country> {
    Country::parse(text).ok().or_else(|| country_of_name(text))
}

/// Returns the country with this name in German, French, Spanish, Italian, Dutch, Portuguese or
/// another language of the data file. The name may also be a letter of vehicle plates: `A`
/// (Austria), `D` (Germany) or `F` (France).
fn country_of_name(name: &str) -> Option<Country> {
    COUNTRIES.get(&key(name)).copied()
}

fn key(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_has_two_countries() {
        let names: Vec<&str> = table::rows(include_str!("../data/country_names.txt"))
            .flat_map(|[_, names]| table::values(names))
            .collect();
        assert_eq!(names.len(), COUNTRIES.len());
        for name in names {
            let country = country_of_name(name);
            let known = Country::parse(name).ok();
            assert!(known.is_none() || known == country, "{name}");
        }
        assert_eq!(country_of_name(" royaume-UNI ").map(Country::alpha2), Some("GB"));
        assert_eq!(country_of_name("Quillmark"), None);
    }
}
