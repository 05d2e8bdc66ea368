//! Finds the country in a postal address, or in a text such as `Leeds, UK`.

use enrich_text::{Country, ExternalId};

use crate::country_item::country_of_item;
use crate::country_name::country_of;

/// The codes of the states of the United States and of the District of Columbia. The index in this
/// array is the first digit of their postcodes. A postcode must begin with the digit of its state,
/// because other countries have the same codes and also postcodes of five digits: `MA` is
/// Massachusetts, and also the code of Morocco.
const STATES: [&[&str]; 10] = [
    &["CT", "MA", "ME", "NH", "NJ", "RI", "VT"],
    &["DE", "NY", "PA"],
    &["DC", "MD", "NC", "SC", "VA", "WV"],
    &["AL", "FL", "GA", "MS", "TN"],
    &["IN", "KY", "MI", "OH"],
    &["IA", "MN", "MT", "ND", "SD", "WI"],
    &["IL", "KS", "MO", "NE"],
    &["AR", "LA", "OK", "TX"],
    &["AZ", "CO", "ID", "NM", "NV", "UT", "WY"],
    &["AK", "CA", "HI", "OR", "WA"],
];

/// Returns the country at the end of an address such as `1 Mill Lane, Leeds, United Kingdom`.
/// Returns `US` if the address ends with a state and a postcode of the United States, such as
/// `Columbus, OH 43215`.
///
/// Of the codes of two letters, only `US` and `UK` are recognised, because other codes may be those
/// of states. For `Georgia`, the result is `None`, because it may be the state or the country.
pub(crate) fn country_at_end(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    if ends_with_state_and_postcode(text) {
        return Some("US".to_owned());
    }
    let end = text.rsplit([',', '\n', ';', '(']).next()?.trim_end_matches(')').trim();
    let is_code = end.chars().count() <= 2 && !matches!(end, "US" | "UK");
    (country_of(end).is_some() && !is_code && !end.eq_ignore_ascii_case("georgia"))
        .then(|| end.to_owned())
}

/// Returns the country that a text in a column of countries means: a code, a name, a Wikidata item,
/// or a place such as `Leeds, UK`, `Bristol UK` or `Canada (Quebec)`.
pub(crate) fn country_in(text: &str) -> Option<Country> {
    let of_item = || country_of_item(ExternalId::parse("wikidata", text).ok()?.id());
    country_of(text).or_else(of_item).or_else(|| country_of_place(text))
}

fn country_of_place(place: &str) -> Option<Country> {
    let (outside, _) = place.split_once('(').unwrap_or((place, ""));
    let outside = outside.trim();
    let last =
        outside.rsplit(' ').next().filter(|word| word.len() > 3 || matches!(*word, "UK" | "USA"));
    let at_end = country_at_end(place);
    let texts = [Some(outside), at_end.as_deref(), last];
    texts.into_iter().flatten().find_map(country_of)
}

/// Whether an address ends with a state of the United States and one of its postcodes. The address
/// must have at least one other word before them.
fn ends_with_state_and_postcode(text: &str) -> bool {
    let is_between = |sign: char| sign.is_whitespace() || sign == ',';
    let mut words = text.rsplit(is_between).filter(|word| !word.is_empty());
    let (Some(postcode), Some(state), Some(_)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let (first, extension) = postcode.split_once('-').unwrap_or((postcode, "0000"));
    let are_digits =
        |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let digit = first.chars().next().and_then(|digit| digit.to_digit(10));
    let states = digit.and_then(|digit| STATES.get(digit as usize)).copied().unwrap_or_default();
    // `DE` is Delaware, but also the code of Germany. A postcode that begins with 197, 198 or 199
    // is from Delaware.
    let is_germany = state == "DE" && !["197", "198", "199"].iter().any(|it| first.starts_with(it));
    states.contains(&state) && !is_germany && are_digits(first, 5) && are_digits(extension, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_may_contain_its_country() {
        for (text, code) in [
            ("Leeds, UK", Some("GB")),
            ("Bristol UK", Some("GB")),
            ("Canada (Qc)", Some("CA")),
            ("Newcastle, England", Some("GB")),
            ("Sydney, Aus.", Some("AU")),
            ("Paris", None),
            ("75", None),
            ("MO.", None),
            ("Portland ME", None),
        ] {
            assert_eq!(country_in(text).map(|country| country.alpha2()), code, "{text}");
        }
    }

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
            ("1 Mill Lane\nColumbus, OH\u{a0}43215", Some("US")),
            ("Dover, DE 19901", Some("US")),
            ("Berlin, DE 10115", None),
            ("Rabat, MA 10000", None),
            ("Boston, MA 02108", Some("US")),
            ("Columbus, OH 4321", None),
            ("", None),
        ] {
            assert_eq!(country_at_end(text).as_deref(), country, "{text}");
        }
    }
}
