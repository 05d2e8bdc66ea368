//! Finds the country that a Wikidata item, such as `Q183`, stands for.

use std::collections::HashMap;
use std::sync::LazyLock;

use enrich_text::Country;

use crate::table;

static COUNTRIES: LazyLock<HashMap<&'static str, Country>> =
    LazyLock::new(|| table::countries(include_str!("../data/wikidata_countries.txt")).collect());

/// Returns the country of a Wikidata item, such as `Q183` for Germany.
pub(crate) fn country_of_item(id: &str) -> Option<Country> {
    COUNTRIES.get(id).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_has_an_item_and_no_item_two_countries() {
        let items: Vec<&str> = table::rows(include_str!("../data/wikidata_countries.txt"))
            .flat_map(|[_, items]| table::values(items))
            .collect();
        assert_eq!(items.len(), COUNTRIES.len());
        for country in Country::all() {
            assert!(COUNTRIES.values().any(|known| known == country), "{country:?}");
        }
        assert_eq!(country_of_item("Q183").map(Country::alpha2), Some("DE"));
        assert_eq!(country_of_item("Q55").map(Country::alpha2), Some("NL"));
        assert_eq!(country_of_item("Q5"), None);
    }
}
