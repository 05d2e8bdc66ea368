//! The schemes whose ids are normalised and checked.

pub(super) struct Scheme {
    pub(super) name: &'static str,
    /// The form of an id in words, for an error message.
    pub(super) form: &'static str,
    /// Returns the normal form of an id; `None` if the text is not an id of the scheme.
    pub(super) normal: fn(&str) -> Option<String>,
}

/// The known schemes. Sources of the rules: ISO 17442 (LEI), <https://ror.readme.io> (ROR), and
/// python-stdnum for the checksums of national registers.
pub(super) const SCHEMES: [Scheme; 12] = [
    Scheme { name: "lei", form: "20 letters and digits, the last two a checksum", normal: lei },
    Scheme { name: "wikidata", form: "Q and a number, or the item's URL", normal: wikidata },
    Scheme { name: "ror", form: "0 and 8 letters and digits, or the URL with them", normal: ror },
    Scheme { name: "cik", form: "1 to 10 digits", normal: cik },
    Scheme { name: "gb", form: "8 digits, or letters and digits, like SC123456", normal: gb },
    Scheme {
        name: "siren",
        form: "9 digits, the last a checksum, or the 14 of a SIRET",
        normal: siren,
    },
    Scheme { name: "no", form: "9 digits, the last a checksum", normal: norway },
    Scheme { name: "be", form: "10 digits, the last two a checksum", normal: belgium },
    Scheme { name: "ee", form: "8 digits, the last a checksum", normal: estonia },
    Scheme {
        name: "de",
        form: "court, register and number, like Hamburg HRB 150148",
        normal: germany,
    },
    Scheme { name: "permid", form: "a number, or the URL with it", normal: permid },
    Scheme {
        name: "opencorporates",
        form: "jurisdiction/number, or the URL",
        normal: opencorporates,
    },
];

/// Reads a Legal Entity Identifier (ISO 17442). Its checksum is MOD 97-10 of ISO 7064.
fn lei(text: &str) -> Option<String> {
    let id = without(text, &[' ', '-']).to_ascii_uppercase();
    let is_checked = id.bytes().rev().take(2).all(|byte| byte.is_ascii_digit());
    let is_lei = id.len() == 20 && is_checked && mod_97(&id)? == 1;
    is_lei.then_some(id)
}

fn wikidata(text: &str) -> Option<String> {
    let item = last_segment(text, "wikidata.org/");
    let digits = item.strip_prefix(['Q', 'q'])?;
    let is_item = is_digits(digits, 1, 12) && !digits.starts_with('0');
    is_item.then(|| format!("Q{digits}"))
}

/// Reads an id of the Research Organization Registry (ROR): `0`, six characters of Crockford's base
/// 32, and two check digits (MOD 97-10).
fn ror(text: &str) -> Option<String> {
    let id = last_segment(text, "ror.org/").to_ascii_lowercase();
    if id.len() != 9 || !id.starts_with('0') || !id.is_ascii() {
        return None;
    }
    let (body, check) = id.split_at(7);
    let mut number = 0_u64;
    for letter in body.bytes() {
        let value = b"0123456789abcdefghjkmnpqrstvwxyz".iter().position(|it| *it == letter)?;
        number = number * 32 + value as u64;
    }
    let is_ror = is_digits(check, 2, 2) && check.parse() == Ok(98 - number * 100 % 97);
    is_ror.then_some(id)
}

fn cik(text: &str) -> Option<String> {
    let text = without(text, &[' ']).to_ascii_uppercase();
    let digits = text.strip_prefix("CIK").unwrap_or(&text);
    let number = digits.trim_start_matches('0');
    (is_digits(digits, 1, 10) && !number.is_empty()).then(|| number.to_owned())
}

/// Reads a company number of Companies House, the British register: 8 digits, or two letters and 6
/// digits. Leading zeros may be absent. Some societies have other numbers of 8 characters, such as
/// `IP12345R`.
fn gb(text: &str) -> Option<String> {
    let id = without(text, &[' ']).to_ascii_uppercase();
    let letters = id.bytes().take_while(u8::is_ascii_uppercase).count();
    let (prefix, digits) = id.split_at(letters);
    let is_number = |longest| is_digits(digits, 1, longest) && digits.bytes().any(|it| it != b'0');
    match letters {
        0 if is_number(8) => Some(format!("{digits:0>8}")),
        2 if is_number(6) => Some(format!("{prefix}{digits:0>6}")),
        1 | 2 => {
            let is_other = id.len() == 8
                && digits.starts_with(|it: char| it.is_ascii_digit())
                && id.bytes().all(|it| it.is_ascii_alphanumeric());
            is_other.then_some(id)
        }
        _ => None,
    }
}

/// Reads a SIREN, the 9 digits of a French company. A SIRET, the number of one of its
/// establishments, has 14 digits, and the first 9 are the SIREN.
fn siren(text: &str) -> Option<String> {
    let mut id = without(text, &[' ', '.']);
    if is_digits(&id, 14, 14) {
        id.truncate(9);
    }
    (is_digits(&id, 9, 9) && has_luhn_digit(&id) && id != "000000000").then_some(id)
}

fn norway(text: &str) -> Option<String> {
    let id = without(text, &[' ', '.']).to_ascii_uppercase();
    let id = id.strip_prefix("NO").unwrap_or(&id);
    let id = id.strip_suffix("MVA").unwrap_or(id);
    let is_number =
        is_digits(id, 9, 9) && weighted(id, &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11);
    (is_number && id != "000000000").then(|| id.to_owned())
}

/// Reads a Belgian enterprise number. Old numbers have 9 digits; today they begin with an
/// additional zero.
fn belgium(text: &str) -> Option<String> {
    let id = without(text, &[' ', '.', '-', '/']).to_ascii_uppercase();
    let id = id.strip_prefix("BE").unwrap_or(&id);
    if !is_digits(id, 9, 10) {
        return None;
    }
    let id = format!("{id:0>10}");
    let number: u64 = id.get(..8)?.parse().ok()?;
    let check: u64 = id.get(8..)?.parse().ok()?;
    let is_number = number > 0 && id.starts_with(['0', '1']) && check == 97 - number % 97;
    is_number.then_some(id)
}

fn estonia(text: &str) -> Option<String> {
    let id = without(text, &[' ']);
    if !is_digits(&id, 8, 8) || !id.starts_with(['1', '7', '8', '9']) {
        return None;
    }
    let body = id.get(..7)?;
    let first = weighted(body, &[1, 2, 3, 4, 5, 6, 7]) % 11;
    let check = match first {
        10 => weighted(body, &[3, 4, 5, 6, 7, 8, 9]) % 11 % 10,
        other => other,
    };
    id.ends_with(&check.to_string()).then_some(id)
}

/// Reads an entry of the German company register: court, kind of register (`HRB`) and number. The
/// court is a name (`Hamburg HRB 150148`) or a code (`K1101R_HRB150148`). The normal form is in
/// upper case, with `_` after the court: `HAMBURG_HRB150148`.
fn germany(text: &str) -> Option<String> {
    let upper = text.to_uppercase().replace([',', '_'], " ");
    let words: Vec<&str> = upper.split_whitespace().filter(|word| *word != "AMTSGERICHT").collect();
    let is_start = |word: &&str| {
        let is_kind = |kind: &&str| {
            word.strip_prefix(*kind).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(|it: char| it.is_ascii_digit())
            })
        };
        ["HRA", "HRB", "GNR", "GSR", "PR", "VR"].iter().any(is_kind)
    };
    let at = words.iter().rposition(is_start)?;
    let (court, number) = words.split_at(at);
    let (court, number) = (court.join("_"), number.concat());
    let has_number = number.bytes().any(|byte| byte.is_ascii_digit());
    (!court.is_empty() && has_number).then(|| format!("{court}_{number}"))
}

fn permid(text: &str) -> Option<String> {
    let text = last_segment(text, "permid.org/");
    let id = text.strip_prefix("1-").unwrap_or(text);
    (is_digits(id, 5, 14) && !id.starts_with('0')).then(|| id.to_owned())
}

fn opencorporates(text: &str) -> Option<String> {
    let path = match text.split_once("opencorporates.com/companies/") {
        Some((_, path)) => path,
        None => text,
    };
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let (jurisdiction, number) = path.split_once('/')?;
    let jurisdiction = jurisdiction.to_ascii_lowercase();
    let (country, part) = jurisdiction.split_once('_').unwrap_or((&jurisdiction, "x"));
    let is_place = country.len() == 2
        && country.bytes().all(|byte| byte.is_ascii_lowercase())
        && (1..=3).contains(&part.len())
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_number = (1..=64).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    (is_place && is_number).then(|| format!("{jurisdiction}/{}", number.to_ascii_uppercase()))
}

fn without(text: &str, left_out: &[char]) -> String {
    text.replace(left_out, "")
}

/// Returns the last segment of the path if the text is a URL of `site`. Otherwise returns the text.
fn last_segment<'a>(text: &'a str, site: &str) -> &'a str {
    let is_url = text.to_ascii_lowercase().contains(site);
    let text = if is_url { text.split(['?', '#']).next().unwrap_or(text) } else { text };
    match text.trim_end_matches('/').rsplit_once('/') {
        Some((_, last)) if is_url => last,
        _ => text,
    }
}

fn is_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the sum of all digits, each times its weight.
fn weighted(digits: &str, weights: &[u32]) -> u32 {
    let values = digits.chars().filter_map(|digit| digit.to_digit(10));
    values.zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// Reads the text as a number, in which the letters from `A` to `Z` stand for 10 to 35. Returns the
/// remainder of this number divided by 97; `None` if the text has another character.
fn mod_97(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |rest, letter| {
        let value = letter.to_digit(36)?;
        Some((rest * if value < 10 { 10 } else { 100 } + value) % 97)
    })
}

fn has_luhn_digit(digits: &str) -> bool {
    let values = digits.chars().rev().filter_map(|digit| digit.to_digit(10));
    let sum: u32 = values
        .enumerate()
        .map(|(at, value)| if at % 2 == 0 { value } else { value * 2 / 10 + value * 2 % 10 })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::super::ExternalId;

    /// Valid ids. Each row has a scheme, an id as people write it, and its normal form.
    const GOOD: [(&str, &str, &str); 38] = [
        ("lei", "213800d1ei4b9wtwwd28", "213800D1EI4B9WTWWD28"),
        ("lei", "5493 001K JTII GC8Y 1R12", "5493001KJTIIGC8Y1R12"),
        ("wikidata", "q42", "Q42"),
        ("wikidata", "https://www.wikidata.org/wiki/Q42", "Q42"),
        ("wikidata", "http://www.wikidata.org/entity/Q42?x=1", "Q42"),
        ("ror", "https://ror.org/02mhbdp94", "02mhbdp94"),
        ("ror", "02MHBDP94", "02mhbdp94"),
        ("cik", "0000320193", "320193"),
        ("cik", "CIK0000320193", "320193"),
        ("gb", "1234567", "01234567"),
        ("gb", "sc 1234", "SC001234"),
        ("gb", "NI012345", "NI012345"),
        ("gb", "IP12345R", "IP12345R"),
        ("gb", "R0000123", "R0000123"),
        ("siren", "732 829 320", "732829320"),
        ("siren", "732 829 320 00074", "732829320"),
        ("no", "923 609 016", "923609016"),
        ("no", "NO 923609016 MVA", "923609016"),
        ("be", "0403.170.701", "0403170701"),
        ("be", "BE 403170701", "0403170701"),
        ("ee", "12417834", "12417834"),
        ("de", "Hamburg HRB 150148", "HAMBURG_HRB150148"),
        (
            "de",
            "Amtsgericht Berlin (Charlottenburg), HRB 12345 B",
            "BERLIN_(CHARLOTTENBURG)_HRB12345B",
        ),
        ("de", "k1101r_hrb150148", "K1101R_HRB150148"),
        ("permid", "https://permid.org/1-4295861160", "4295861160"),
        ("permid", "1-4295861160", "4295861160"),
        ("permid", "4295861160", "4295861160"),
        ("opencorporates", "https://opencorporates.com/companies/us_ca/C0806592", "us_ca/C0806592"),
        ("opencorporates", "GB/sc123456", "gb/SC123456"),
        ("LEI", "213800D1EI4B9WTWWD28", "213800D1EI4B9WTWWD28"),
        ("wikidata", "wikidata.org/wiki/Q42/", "Q42"),
        ("gb", "8", "00000008"),
        ("cik", "1", "1"),
        ("siren", "356000000", "356000000"),
        ("ee", "10000356", "10000356"),
        ("de", "München VR 12", "MÜNCHEN_VR12"),
        ("ror", "ror.org/05dxps055/", "05dxps055"),
        ("be", "0203201340", "0203201340"),
    ];

    const BAD: [(&str, &str); 32] = [
        ("lei", "213800D1EI4B9WTWWD29"),
        ("lei", "213800D1EI4B9WTWWD2"),
        ("lei", "213800D1EI4B9WTWWDÉ8"),
        ("wikidata", "42"),
        ("wikidata", "Q042"),
        ("wikidata", "Q"),
        ("wikidata", "https://www.wikidata.org/wiki/Special:Search"),
        ("ror", "02mhbdp95"),
        ("ror", "12mhbdp94"),
        ("ror", "02mhbdpéé"),
        ("ror", "https://ror.org/"),
        ("cik", "0"),
        ("cik", "12345678901"),
        ("cik", "AAPL"),
        ("gb", "0"),
        ("gb", "123456789"),
        ("gb", "SCOTLAND"),
        ("gb", "SC1234567"),
        ("siren", "732829321"),
        ("siren", "73282932100074"),
        ("siren", "7328293200007"),
        ("siren", "000000000"),
        ("no", "923609017"),
        ("be", "0403170702"),
        ("be", "2403170701"),
        ("ee", "12417835"),
        ("ee", "22417834"),
        ("de", "HRB 150148"),
        ("de", "Hamburg"),
        ("permid", "0123456"),
        ("opencorporates", "C0806592"),
        ("opencorporates", "usa/1"),
    ];

    #[test]
    fn an_id_is_brought_into_the_form_of_its_scheme() {
        for (scheme, text, normal) in GOOD {
            let id =
                ExternalId::parse(scheme, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(id.id(), normal, "{scheme} {text}");
            assert_eq!(ExternalId::parse(scheme, id.id()), Ok(id), "{scheme} {text}");
        }
    }

    #[test]
    fn an_id_that_is_not_of_its_scheme_is_refused() {
        for (scheme, text) in BAD {
            assert!(ExternalId::parse(scheme, text).is_err(), "{scheme} {text}");
        }
    }
}
