//! Company names, and the keys by which they are compared.

use std::fmt;

use crate::country::Country;
use crate::fold::fold;
use crate::input::{self, refuses_unreadable};
use crate::legal_form;
use crate::name_words::name_words;

/// A company's name as written, and three keys by which it is compared:
///
/// 1. the folded name: in lower case, without accents and punctuation;
/// 2. the stripped name: the folded name without legal forms, and without a country in parentheses
///    after the name;
/// 3. the squashed name: the stripped name without spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompanyName {
    display: String,
    folded: String,
    stripped: String,
    squashed: String,
    country: Option<Country>,
}

/// Why a text is not a company name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCompanyName {
    /// The text is empty or only white space.
    #[error("a company name cannot be empty; send one like `Acme GmbH`")]
    Empty,
    /// The text has more than 512 characters.
    #[error("a company name has at most 512 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a company name holds no control characters; send plain text")]
    ControlCharacter,
    /// The text contains only invisible characters.
    #[error("a company name has at least one visible character; this has none")]
    NothingVisible,
}

refuses_unreadable!(InvalidCompanyName);

impl CompanyName {
    /// Parses a name in any script.
    pub fn parse(text: &str) -> Result<Self, InvalidCompanyName> {
        let text = input::plain(text)?;
        let folded = fold(text);
        if folded.is_empty() {
            return Err(InvalidCompanyName::NothingVisible);
        }
        let country = aside(text)
            .filter(|(name, aside)| !are_initials(name, aside))
            .and_then(|(_, aside)| country_of(aside));
        let named = match aside(text).filter(|_| country.is_some()) {
            Some((name, _)) => fold(name),
            None => folded.clone(),
        };
        let stripped = legal_form::strip(&named);
        let squashed = stripped.replace(' ', "");
        Ok(Self { display: collapse_spaces(text), folded, stripped, squashed, country })
    }

    /// Returns the name as written, with single spaces.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Returns the folded name, as [`fold`] makes it: `loreal sa` for `L'Oréal S.A.`.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Returns the folded name without its legal forms, and without a country in parentheses after
    /// the name: `loreal`. If the name is only a legal form, this form is not removed, so the
    /// result is never empty.
    pub fn stripped(&self) -> &str {
        &self.stripped
    }

    /// Returns the country in parentheses after the name: Germany for `Acme (Deutschland)`.
    /// Returns `None` if there is none. The stripped and the squashed name do not contain this
    /// country.
    pub fn country(&self) -> Option<Country> {
        self.country
    }

    /// Returns the stripped name without its spaces.
    pub fn squashed(&self) -> &str {
        &self.squashed
    }
}

/// Writes the name in its original spelling.
impl fmt::Display for CompanyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display)
    }
}

/// Splits a text such as `Acme (Deutschland)` into the name and the text in parentheses. Returns
/// `None` if the text does not end with parentheses, if the parentheses contain nothing visible,
/// or if no letter or digit is before them.
pub(crate) fn aside(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let inside = text.strip_suffix([')', '\u{ff09}'])?;
    let (name, aside) = inside.rsplit_once(['(', '\u{ff08}'])?;
    let is_name = name.chars().any(char::is_alphanumeric);
    (is_name && !fold(aside).is_empty()).then_some((name, aside))
}

/// Whether the text in parentheses after a name is the initials of the name. For example, `GE` in
/// `General Electric (GE)` is not the country code of Georgia.
fn are_initials(name: &str, aside: &str) -> bool {
    let folded = fold(name);
    let initials = |name: &str| name.split(' ').filter_map(|word| word.chars().next()).collect();
    let initials: [String; 2] = [initials(&folded), initials(&legal_form::strip(&folded))];
    initials.contains(&fold(aside))
}

fn country_of(aside: &str) -> Option<Country> {
    let words = name_words(&fold(aside));
    let roots: Vec<&str> =
        words.iter().filter(|word| !word.is_filler).map(|word| word.root.as_str()).collect();
    Country::parse(aside).or_else(|_| Country::parse(&roots.join(" "))).ok()
}

fn collapse_spaces(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}
