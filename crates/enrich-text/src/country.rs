//! Countries: ISO 3166-1 and Kosovo, by code and by name.

use std::fmt;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::fold::fold;
use crate::input::{self, refuses_unreadable};
use crate::table;

/// A country or territory of ISO 3166-1, or Kosovo (`XK`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country {
    alpha2: &'static str,
    name: &'static str,
}

/// Why a text is not a country.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCountry {
    /// The text is empty or only white space.
    #[error("a country cannot be empty; send a code like `DE` or a name like `Germany`")]
    Empty,
    /// The text is longer than any country name.
    #[error(
        "a country's name is shorter than this; send a code like `DE` or a name like `Germany`"
    )]
    TooLong,
    /// The text contains control characters.
    #[error("a country holds no control characters; send plain text")]
    ControlCharacter,
    /// No country has this code.
    #[error("no country has this code; send an ISO 3166-1 alpha-2 code like `DE`")]
    UnknownCode,
    /// No country has this name or code.
    #[error(
        "no country has this name or code; send an English name like `Germany` or a code like `DE`"
    )]
    UnknownName,
}

refuses_unreadable!(InvalidCountry);

struct Countries {
    all: Vec<Country>,
    by_code: FxHashMap<&'static str, Country>,
    by_name: FxHashMap<String, Country>,
    by_top_level_domain: FxHashMap<&'static str, Country>,
}

/// Codes that are accepted although ISO 3166-1 does not contain them: the codes of the European
/// Union for the United Kingdom and Greece.
const OTHER_CODES: [(&str, &str); 2] = [("UK", "GB"), ("EL", "GR")];

static COUNTRIES: LazyLock<Countries> = LazyLock::new(|| {
    let mut all = Vec::new();
    let mut by_code = FxHashMap::default();
    let mut by_name = FxHashMap::default();
    for [alpha2, alpha3, name, other_names] in table::rows(include_str!("../data/countries.csv")) {
        let country = Country { alpha2, name };
        all.push(country);
        by_code.insert(alpha2, country);
        for text in [alpha3, name].into_iter().chain(table::values(other_names)) {
            by_name.insert(name_key(text), country);
        }
    }
    for (other, alpha2) in OTHER_CODES {
        if let Some(&country) = by_code.get(alpha2) {
            by_code.insert(other, country);
        }
    }
    let by_top_level_domain =
        table::rows(include_str!("../data/internationalised_country_domains.csv"))
            .filter_map(|[label, alpha2, _]| Some((label, *by_code.get(alpha2)?)))
            .collect();
    all.sort_unstable();
    Countries { all, by_code, by_name, by_top_level_domain }
});

impl Country {
    /// Parses a country in upper or lower case: by its English name, by another common name, or by
    /// its alpha-2 or alpha-3 code.
    pub fn parse(text: &str) -> Result<Self, InvalidCountry> {
        let text = input::plain(text)?;
        Self::of_code(text)
            .or_else(|| COUNTRIES.by_name.get(&name_key(text)).copied())
            .ok_or(InvalidCountry::UnknownName)
    }

    /// Parses an alpha-2 code in upper or lower case. `UK`, `EL` (Greece) and `XK` (Kosovo) are
    /// accepted too.
    pub fn from_code(text: &str) -> Result<Self, InvalidCountry> {
        Self::of_code(input::plain(text)?).ok_or(InvalidCountry::UnknownCode)
    }

    /// Returns the ISO 3166-1 alpha-2 code; `XK` for Kosovo.
    pub fn alpha2(self) -> &'static str {
        self.alpha2
    }

    /// Returns the usual short name in English: `United Kingdom`, `South Korea`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns all countries, in the order of their alpha-2 codes.
    pub fn all() -> &'static [Country] {
        &COUNTRIES.all
    }

    /// Returns the country to which a top-level domain belongs; `None` if it belongs to no
    /// country. `label` is the top-level domain in ASCII form, such as `de` or `xn--p1ai`.
    pub(crate) fn of_top_level_domain(label: &str) -> Option<Self> {
        match label {
            // [`Country::parse`] accepts these two codes, but they are not top-level domains.
            "el" | "xk" => None,
            _ if label.len() == 2 => Self::of_code(label),
            _ => COUNTRIES.by_top_level_domain.get(label).copied(),
        }
    }

    fn of_code(text: &str) -> Option<Self> {
        let &[first, second] = text.as_bytes() else { return None };
        let code = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
        COUNTRIES.by_code.get(std::str::from_utf8(&code).ok()?).copied()
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Country({})", self.alpha2)
    }
}

/// Writes the alpha-2 code.
impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.alpha2)
    }
}

/// Returns the key by which names of countries are compared: the folded name without the article
/// `the`.
fn name_key(text: &str) -> String {
    let key = fold(text);
    match key.strip_prefix("the ").or_else(|| key.strip_suffix(" the")) {
        Some(rest) => rest.to_owned(),
        None => key,
    }
}
