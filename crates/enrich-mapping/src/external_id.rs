//! Brings the ids of companies in registers into one form for each scheme.

/// Returns an id in the form that its scheme uses; `None` if the scheme has no such ids.
///
/// - `lei`: 20 letters and digits. `wikidata`: `Q` and digits; an item's URL is also accepted.
/// - `ror`: 9 letters and digits; a URL is also accepted. `cik`: 10 digits, with zeros at the
///   front.
/// - `gb` (Companies House): 8 letters and digits; a shorter number gets zeros at the front.
/// - `siren`, `no`: 9 digits. `be`: 10 digits. `ee`: 8 digits.
/// - Other schemes, such as `de` (court and number): any text, with single blanks between its
///   words.
pub fn external_id(scheme: &str, text: &str) -> Option<String> {
    let text = text.trim();
    let last = text.rsplit('/').next().unwrap_or(text);
    match scheme {
        "lei" => Some(text.to_ascii_uppercase())
            .filter(|id| id.len() == 20 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "wikidata" => Some(last.to_ascii_uppercase())
            .filter(|id| id.strip_prefix('Q').is_some_and(|rest| digits(rest, 1, 12).is_some())),
        "ror" => Some(last.to_ascii_lowercase()).filter(|id| {
            id.len() == 9
                && id.starts_with('0')
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        }),
        "cik" => digits(text, 1, 10).filter(|id| id != "0").map(|id| format!("{id:0>10}")),
        "gb" => british(text),
        "siren" | "no" => digits(text, 9, 9),
        "be" => digits(text, 9, 10).map(|id| format!("{id:0>10}")),
        "ee" => digits(text, 8, 8),
        _ => {
            let id = text.split_whitespace().collect::<Vec<_>>().join(" ");
            (!id.is_empty()).then_some(id)
        }
    }
}

/// Returns the digits of a number that may contain blanks, dots or a country's prefix. Returns
/// `None` if there are other characters, or if the number of digits is not from `least` to `most`.
fn digits(text: &str, least: usize, most: usize) -> Option<String> {
    let text = ["BE", "NO"].iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text);
    let text = text.strip_suffix("MVA").unwrap_or(text);
    let mut found = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' => found.push(letter),
            ' ' | '.' | '\u{a0}' => {}
            _ => return None,
        }
    }
    (least..=most).contains(&found.len()).then_some(found)
}

/// Returns a company number of Companies House. Such a number has eight characters, with zeros at
/// the front. The registers of some parts of the UK use prefixes, such as `SC` for Scotland.
fn british(text: &str) -> Option<String> {
    let id = text.to_ascii_uppercase();
    let fits = (1..=8).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_digit = id.bytes().any(|byte| byte.is_ascii_digit());
    (fits && has_digit).then(|| format!("{id:0>8}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let cases = [
            ("lei", "529900t8bm49aursdo55", Some("529900T8BM49AURSDO55")),
            ("lei", "529900", None),
            ("wikidata", "http://www.wikidata.org/entity/Q183", Some("Q183")),
            ("wikidata", "Quill", None),
            ("ror", "https://ror.org/00nss6615", Some("00nss6615")),
            ("cik", "320193", Some("0000320193")),
            ("cik", "0000320193", Some("0000320193")),
            ("gb", "08209948", Some("08209948")),
            ("gb", "sc123456", Some("SC123456")),
            ("gb", "123456", Some("00123456")),
            ("siren", "005 420 021", Some("005420021")),
            ("be", "0200.065.765", Some("0200065765")),
            ("be", "200.065.765", Some("0200065765")),
            ("no", "NO 923609016 MVA", Some("923609016")),
            ("ee", "14662696", Some("14662696")),
            ("ee", "x", None),
            ("de", " Hamburg  HRB 150148", Some("Hamburg HRB 150148")),
        ];
        for (scheme, text, expected) in cases {
            assert_eq!(external_id(scheme, text).as_deref(), expected, "{scheme} {text}");
        }
    }
}
