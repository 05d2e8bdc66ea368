//! The transforms that a mapping can apply to a single value.

use enrich_text::ExternalId;

use crate::location::country_at_end;
use crate::person_text::{capitals_first, cleaned, has_role};
use crate::role_mailbox::is_role_address;
use crate::route::{Route, route_url};

/// A change of a value, which a mapping file requests by its name, such as `title-case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    Trim,
    ReverseLabels,
    TitleCase,
    LogRank,
    LastPathSegment,
    StateSuffix,
    LanguagePrefix,
    ItemLabel,
    PersonAddress,
    RoleAddress,
    PersonPage,
    CompanyPage,
    CountryAtEnd,
    FamilyNameFirst,
    AsianFamilyNameFirst,
}

const TABLE: [(&str, Transform); 15] = [
    ("trim", Transform::Trim),
    ("reverse-labels", Transform::ReverseLabels),
    ("title-case", Transform::TitleCase),
    ("log-rank", Transform::LogRank),
    ("last-path-segment", Transform::LastPathSegment),
    ("state-suffix", Transform::StateSuffix),
    ("language-prefix", Transform::LanguagePrefix),
    ("item-label", Transform::ItemLabel),
    ("person-address", Transform::PersonAddress),
    ("role-address", Transform::RoleAddress),
    ("person-page", Transform::PersonPage),
    ("company-page", Transform::CompanyPage),
    ("country-at-end", Transform::CountryAtEnd),
    ("family-name-first", Transform::FamilyNameFirst),
    ("asian-family-name-first", Transform::AsianFamilyNameFirst),
];

impl Transform {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        TABLE.into_iter().find(|(known, _)| *known == name).map(|(_, transform)| transform)
    }

    pub(crate) fn names() -> Vec<&'static str> {
        TABLE.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the changed value; `None` if the transform does not accept the value.
    pub(crate) fn apply(self, text: &str) -> Option<String> {
        match self {
            Self::Trim => Some(text.trim().to_owned()),
            Self::ReverseLabels => Some(text.rsplit('.').collect::<Vec<_>>().join(".")),
            Self::TitleCase => Some(title_case(text)),
            Self::LogRank => log_rank(text),
            Self::LastPathSegment => {
                text.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
            }
            Self::StateSuffix => Some(without_state(text).to_owned()),
            Self::LanguagePrefix => Some(without_language(text).to_owned()),
            // If an item has no label, Wikidata's query service returns the item's id in place of
            // the label. An id is not a name, so it is not accepted.
            Self::ItemLabel => {
                ExternalId::parse("wikidata", text).is_err().then(|| text.to_owned())
            }
            Self::PersonAddress => (!is_role_address(text)).then(|| text.to_owned()),
            Self::RoleAddress => is_role_address(text).then(|| text.to_owned()),
            Self::PersonPage => (!is_company_page(text)).then(|| text.to_owned()),
            Self::CompanyPage => is_company_page(text).then(|| text.to_owned()),
            Self::CountryAtEnd => country_at_end(text),
            Self::FamilyNameFirst => Some(with_comma(text)),
            Self::AsianFamilyNameFirst => match text.trim().starts_with(is_latin) {
                true => Some(text.to_owned()),
                false => Some(with_comma(text)),
            },
        }
    }
}

/// Whether a text is the URL of a company's page on a social network. For LinkedIn, the path of the
/// URL alone is also accepted: `company/quillmark`.
fn is_company_page(text: &str) -> bool {
    let path = text.trim_start_matches('/');
    ["company/", "school/", "showcase/"].iter().any(|start| path.starts_with(start))
        || matches!(route_url(text), Route::Page(_))
}

/// Whether a character is a letter of the Latin alphabet, with or without a diacritic.
pub(crate) fn is_latin(letter: char) -> bool {
    letter.is_alphabetic() && (letter < '\u{250}' || ('\u{1e00}'..='\u{1eff}').contains(&letter))
}

/// Puts a comma after the family name of a person whose family name is first: `Nguyen, Van Ada` for
/// `Nguyen Van Ada`. Salutations are left out. In a Korean name without blanks, the first syllable
/// is the family name. Other names of one word are not changed.
fn with_comma(name: &str) -> String {
    let is_remark = |text: &str| {
        has_role(text) || text.contains('@') || text.contains(|sign: char| sign.is_ascii_digit())
    };
    let name = &cleaned(name);
    // After the name, the cell may have remarks, addresses or further people.
    let end = name.find([',', ';', '/', '\n', '(', '<']).unwrap_or(name.len());
    let (whole, after) = name.split_at(end);
    let in_capitals = capitals_first(whole.trim()).map(|(given, family)| (family, given));
    let at_blank = || {
        let (family, given) = whole.trim().split_once(char::is_whitespace)?;
        Some((family.to_owned(), given.to_owned()))
    };
    if let Some((family, given)) = in_capitals.or_else(at_blank)
        && !family.ends_with('.')
    {
        let after = match after.strip_prefix(',') {
            Some(remark) if is_remark(remark) => format!(" ({})", remark.trim()),
            // A name such as `Byte Nib, Ada` has a comma after the family name already.
            Some(_) => return name.to_owned(),
            None if after.is_empty() => String::new(),
            None => format!(" {after}"),
        };
        return format!("{family}, {}{after}", given.trim());
    }
    let mut syllables = name.chars();
    let is_korean = name.chars().all(|sign| ('가'..='힣').contains(&sign));
    match (syllables.next(), name.chars().count()) {
        (Some(family), 2..=3) if is_korean => format!("{family}, {}", syllables.as_str()),
        _ => name.to_owned(),
    }
}

/// Returns the page rank of a domain from its position in a ranking of domains. The page rank is
/// 10 − log10(position), at least 0, with two decimals.
///
/// The first domain has the page rank 10.00, the thousandth 7.00, the millionth 4.00.
fn log_rank(text: &str) -> Option<String> {
    let rank: u64 = text.trim().parse().ok().filter(|&rank| rank > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "two decimals are kept")]
    let value = 10.0 - (rank as f64).log10();
    Some(format!("{:.2}", value.max(0.0)))
}

/// Removes the state that the SEC (the stock exchange regulator of the United States) adds to
/// names, as in `DANAHER CORP /DE/` or `QUALCOMM INC/DE`.
fn without_state(text: &str) -> &str {
    let ended = text.strip_suffix('/').unwrap_or(text);
    let is_state = |word: &str| {
        (2..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let name = match ended.rsplit_once('/') {
        Some((name, state)) if is_state(state.trim()) => name,
        _ => ended,
    };
    let name = name.trim_end_matches(['/', ' ', '\\']);
    if name.is_empty() { text } else { name }
}

/// Removes the language code before a name, as in `en: Quillmark`.
fn without_language(text: &str) -> &str {
    match text.split_once(": ") {
        Some(("no_lang_code", name)) => name,
        Some((code, name))
            if (2..=3).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase()) =>
        {
            name
        }
        _ => text,
    }
}

/// Legal forms and abbreviations in their usual spelling, for names that are put into title case.
const SPELLINGS: [&str; 34] = [
    "GmbH", "mbH", "AG", "KG", "SE", "UG", "eG", "LLC", "LLP", "LP", "PLC", "S.A.", "SA", "SAS",
    "SARL", "SRL", "S.r.l.", "SpA", "S.p.A.", "BV", "B.V.", "NV", "N.V.", "AB", "AS", "A/S", "ASA",
    "Oy", "Oyj", "USA", "UK", "IT", "AI", "HR",
];

/// Words that stay in lower case within a name.
const SMALL: [&str; 22] = [
    "a", "an", "and", "at", "by", "da", "de", "del", "della", "der", "di", "do", "du", "en", "et",
    "for", "of", "on", "the", "to", "und", "y",
];

/// Changes a name that is all in upper case or all in lower case: each word gets a capital at its
/// beginning. A name of up to three letters gets capitals only. A name in mixed case is not
/// changed.
fn title_case(text: &str) -> String {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    if has(char::is_lowercase) && has(char::is_uppercase) {
        return text.to_owned();
    }
    if text.chars().count() <= 3 {
        return text.to_uppercase();
    }
    let lower = text.to_lowercase();
    let words = lower.split(' ').enumerate().map(|(place, word)| {
        let bare = word.trim_matches([',', '(', ')']);
        if let Some(known) = SPELLINGS.iter().find(|known| known.to_lowercase() == bare) {
            return word.replacen(bare, known, 1);
        }
        if place > 0 && SMALL.contains(&word) { word.to_owned() } else { capitalised(word) }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a word with a capital at its beginning, and after a hyphen, a slash, an ampersand or a
/// quote.
fn capitalised(word: &str) -> String {
    let mut is_first = true;
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        if is_first && letter.is_alphanumeric() {
            out.extend(letter.to_uppercase());
            is_first = false;
        } else {
            out.push(letter);
            is_first |= matches!(letter, '-' | '/' | '&' | '"');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_becomes_a_value_between_0_and_10() {
        let value = |rank| Transform::LogRank.apply(rank).unwrap_or_default();
        assert_eq!(["1", "10", "1000", "1000000"].map(value), ["10.00", "9.00", "7.00", "4.00"]);
        assert_eq!(["99999999999", "0", "-1", "x"].map(value), ["0.00", "", "", ""]);
    }

    #[test]
    fn names_in_one_case_get_capitals() {
        let name = |text| Transform::TitleCase.apply(text).unwrap_or_default();
        assert_eq!(name("quillmark data services"), "Quillmark Data Services");
        assert_eq!(name("abc"), "ABC");
        assert_eq!(name("müller & söhne gmbh"), "Müller & Söhne GmbH");
        assert_eq!(name("bank of the north-east, llc"), "Bank of the North-East, LLC");
        assert_eq!(name("the \"quoted\" co"), "The \"Quoted\" Co");
        assert_eq!(name("eBay"), "eBay");
    }

    #[test]
    fn the_state_behind_a_name_is_cut_off() {
        let name = |text| Transform::StateSuffix.apply(text).unwrap_or_default();
        assert_eq!(name("QUILLMARK CORP /DE/"), "QUILLMARK CORP");
        assert_eq!(name("QUILLMARK INC/DE"), "QUILLMARK INC");
        assert_eq!(name("MILLPOND CORP/"), "MILLPOND CORP");
        assert_eq!(name("MILLPOND CORP /NEW"), "MILLPOND CORP");
        assert_eq!(name("A/B TESTING LLC"), "A/B TESTING LLC");
        assert_eq!(name("/"), "/");
    }
}
