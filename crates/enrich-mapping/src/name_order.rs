//! Finds out from an email address whether a full name has the family name first.

use enrich_text::{EmailAddress, fold};

/// Splits a full name whose family name is first, such as `Byte Ada`, into the first and the last
/// name. One of the person's email addresses shows the order: `a.byte@quill.example`, for example.
/// Returns `None` if no address shows that the family name is first.
///
/// `byte.ada@quill.example` may be the address of `Ada Byte` too, because some companies put the
/// family name first in all addresses. So an address with both whole names counts only for a name
/// in capitals. Lists with such names often have the family name first.
pub(crate) fn split_family_name_first(
    name: &str,
    addresses: &[String],
) -> Option<(String, String)> {
    addresses.iter().find_map(|address| split_as_in(name, address))
}

/// Splits a name in the order that one email address shows.
fn split_as_in(name: &str, address: &str) -> Option<(String, String)> {
    /// Minimum number of letters of the family name. A shorter one may be in many addresses.
    const MIN_LETTERS: usize = 3;
    /// Maximum number of words of a name. The time grows with their square.
    const MAX_WORDS: usize = 8;
    let address = EmailAddress::parse(address).ok()?;
    let local = letters(address.local().split('+').next()?);
    let words: Vec<&str> = name.split_whitespace().collect();
    if words.len() > MAX_WORDS {
        return None;
    }
    let is_in_capitals = !name.contains(char::is_lowercase);
    let is_shown = |given: &[&str], family: &[&str]| {
        let (given, family) = (letters(&given.concat()), letters(&family.concat()));
        let initial: String = given.chars().take(1).collect();
        let is_initial = local == format!("{initial}{family}");
        family.len() >= MIN_LETTERS
            && (is_initial || (is_in_capitals && local == format!("{given}{family}")))
    };
    let mut splits = (1..words.len()).filter_map(|at| words.split_at_checked(at));
    // A name such as `Ada Byte` fits `a.byte@`, and the order of the words is the usual one.
    if splits.clone().any(|(given, family)| is_shown(given, family)) {
        return None;
    }
    let (family, given) = splits.find(|(family, given)| is_shown(given, family))?;
    Some((given.join(" "), family.join(" ")))
}

/// Returns the letters of a text in lower case, without accents.
fn letters(text: &str) -> String {
    fold(text).chars().filter(|sign| sign.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_which_name_is_the_family_name() {
        for (name, local, expected) in [
            ("Byte Ada", "a.byte", Some(("Ada", "Byte"))),
            ("BYTE ADA", "abyte", Some(("ADA", "BYTE"))),
            ("BYTE ADA", "Ada.Byte", Some(("ADA", "BYTE"))),
            ("VAN BYTE ADA MIA", "a.vanbyte", Some(("ADA MIA", "VAN BYTE"))),
            ("Hébrard Céline", "c.hebrard+news", Some(("Céline", "Hébrard"))),
            ("Ada Byte", "a.byte", None),
            ("Ada Byte", "byte.ada", None),
            ("Ada Byte", "ada", None),
            ("Ada Byte", "info", None),
            ("Byte", "byte", None),
            ("Li An", "a.li", None),
            ("", "a.byte", None),
        ] {
            let expected = expected.map(|(first, last)| (first.to_owned(), last.to_owned()));
            let address = format!("{local}@quill.example");
            assert_eq!(split_as_in(name, &address), expected, "{name} {local}");
        }
    }
}
