//! The kinds of inputs. An input's kind says how it is parsed.

use enrich_text::Network;

/// The kind of an input. Its parser is in `enrich-text`. The OpenAPI document tells callers which
/// texts are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A company's name.
    CompanyName,
    /// A domain such as `quill.example`, or a URL that contains a domain.
    Domain,
    /// A domain or a company's name. A text that can be a domain is looked up as a domain first.
    CompanyNameOrDomain,
    /// An email address.
    EmailAddress,
    /// A phone number in international form. If the account has a country, a national number of
    /// this country is also accepted.
    PhoneNumber,
    /// A company's page on this social network: the page's URL, or its handle (the last part of the
    /// URL).
    CompanyPage(Network),
    /// A person's profile on LinkedIn: the profile's URL, or its handle (the last part of the URL).
    PersonPage,
    /// A person's first and last name.
    PersonName,
    /// A person's first name or last name.
    NamePart,
    /// A country: its English name, or its alpha-2 or alpha-3 code, such as `DE` or `DEU`.
    Country,
    /// A country by its alpha-2 code, such as `DE`.
    CountryCode,
    /// Maximum number of items in the answer's list. It is a whole number, as a JSON number or as a
    /// text.
    Limit,
}
