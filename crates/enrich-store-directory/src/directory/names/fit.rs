//! How well a name fits a company whose name or alias has the same look-up key.

use enrich_core::{Company, Confidence};
use enrich_text::CompanyName;

/// How many aliases of a company are compared with a name: at most this number of its first
/// aliases, and at most this number of the other aliases that contain all words of the name
/// ([`Company::aliases_near`]). See [`fit`] for companies with more aliases.
const MAX_ALIASES: usize = 128;

/// How well a name fits a company. The variants are ordered from the best fit to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The name equals the company's name except for case, accents and punctuation.
    Name,
    /// The name equals an alias except for case, accents and punctuation.
    Alias,
    /// The name equals the company's name if legal forms are removed from both.
    StrippedName,
    /// The name equals an alias if legal forms are removed from both.
    StrippedAlias,
    /// The name equals the company's name or an alias only if legal forms and spaces are removed
    /// from both. This fit is too weak for an answer; similar names are searched for instead.
    WithoutSpaces,
}

impl Fit {
    /// Returns the confidence that the name means this company, if no other company fits equally
    /// well. The numbers were measured with real names: each is the share of such answers that were
    /// right (`docs/matching.md`).
    pub(super) const fn confidence(self) -> Confidence {
        Confidence::clamped(match self {
            Self::Name => 99,
            Self::Alias | Self::StrippedName => 98,
            Self::StrippedAlias => 96,
            Self::WithoutSpaces => 85,
        })
    }

    pub(super) const fn is_own(self) -> bool {
        matches!(self, Self::Name | Self::StrippedName)
    }

    /// Returns the first step at which the names are equal; see the function [`step`]. If a name
    /// fits two companies at the same step, it cannot distinguish them, even if it is one company's
    /// own name and only an alias of the other.
    pub(super) const fn step(self) -> u8 {
        match self {
            Self::Name | Self::Alias => 0,
            Self::StrippedName | Self::StrippedAlias => 1,
            Self::WithoutSpaces => 2,
        }
    }
}

/// Returns how well `name` fits a company; `None` if it does not fit. The name, or an alias, of the
/// company must have the look-up key of `name`.
///
/// Each comparison takes time. So if the company has more than [`MAX_ALIASES`] aliases, perhaps not
/// all of them are compared, and the alias with the look-up key may be left out. Therefore, the
/// result for such a company is [`Fit::WithoutSpaces`] or better, never `None`.
pub(crate) fn fit(name: &CompanyName, company: &Company) -> Option<Fit> {
    let own = step(name, &company.name).map(|step| match step {
        0 => Fit::Name,
        1 => Fit::StrippedName,
        _ => Fit::WithoutSpaces,
    });
    let aliases = company.aliases_near(name, MAX_ALIASES).filter_map(|alias| step(name, alias));
    let alias = aliases.min().map(|step| match step {
        0 => Fit::Alias,
        1 => Fit::StrippedAlias,
        _ => Fit::WithoutSpaces,
    });
    let beyond = (company.aliases.len() > MAX_ALIASES).then_some(Fit::WithoutSpaces);
    own.into_iter().chain(alias).chain(beyond).min()
}

/// Returns the first step at which two names are equal; `None` if they differ at every step:
///
/// - Step 0 ignores case, accents and punctuation.
/// - Step 1 also ignores legal forms, and a country in parentheses after the name.
/// - Step 2 also ignores spaces.
fn step(name: &CompanyName, other: &str) -> Option<u8> {
    let other = CompanyName::parse(other).ok()?;
    if name.folded() == other.folded() {
        return Some(0);
    }
    if name.stripped() == other.stripped() {
        return Some(1);
    }
    (name.squashed() == other.squashed()).then_some(2)
}
