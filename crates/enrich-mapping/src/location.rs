//! Finds the country at the end of an address or a place.

use enrich_text::Country;

use crate::country_name::country_of_name;

/// The states of the United States whose abbreviations addresses contain, and the capital's
/// district.
const STATES: [&str; 51] = [
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "DC", "FL", "GA", "HI", "ID", "IL", "IN", "IA",
    "KS", "KY", "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM",
    "NY", "NC", "ND", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA",
    "WV", "WI", "WY",
];

/// Returns the country at the end of an address such as `1 Mill Lane, Leeds, United Kingdom`. An
/// address that ends with a state and a postcode of the United States, such as `Columbus, OH 43215`,
/// has no country after them, so `US` is returned.
///
/// A code of two letters may be that of a state, so only `US` and `UK` are countries. `Georgia` may
/// be the state or the country, so it is neither.
pub(crate) fn country_at_end(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    if ends_with_state_and_postcode(text) {
        return Some("US".to_owned());
    }
    let end = text.rsplit([',', '\n', ';', '(']).next()?.trim_end_matches(')').trim();
    let is_code = end.chars().count() <= 2 && !matches!(end, "US" | "UK");
    let is_country = Country::parse(end).is_ok() || country_of_name(end).is_some();
    (is_country && !is_code && !end.eq_ignore_ascii_case("georgia")).then(|| end.to_owned())
}

fn ends_with_state_and_postcode(text: &str) -> bool {
    let mut words = text.rsplit([' ', ',']).filter(|word| !word.is_empty());
    let (Some(postcode), Some(state), Some(_)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let (first, extension) = postcode.split_once('-').unwrap_or((postcode, "0000"));
    let are_digits =
        |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    STATES.contains(&state) && are_digits(first, 5) && are_digits(extension, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_end_with_its_country() {
        for (text, country) in [
            ("Columbus, OH 43215, USA", Some("USA")),
            ("Columbus, OH 43215", Some("US")),
            ("4450 E Ocotillo Bend, Phoenix, AZ 85099-0001", Some("US")),
            ("London, UK", Some("UK")),
            ("1 Mill Lane\nLeeds\nUnited Kingdom", Some("United Kingdom")),
            ("Berlin (Deutschland)", Some("Deutschland")),
            ("Norway", Some("Norway")),
            ("Milano, MI", None),
            ("20121 Milano MI", None),
            ("Toronto, CA", None),
            ("Atlanta, Georgia", None),
            ("OH 43215", None),
            ("", None),
        ] {
            assert_eq!(country_at_end(text).as_deref(), country, "{text}");
        }
    }
}
