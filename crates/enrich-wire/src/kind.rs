//! The kinds of inputs, which decide how they are parsed.

use enrich_text::Network;

/// The kind of an input. The parsers are in `enrich-text`. The OpenAPI document tells callers which
/// forms are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A company's name.
    CompanyName,
    /// A domain, bare or in a URL.
    Domain,
    /// A domain or a company's name; it is tried as a domain first.
    CompanyNameOrDomain,
    /// An email address.
    EmailAddress,
    /// A phone number in international form.
    PhoneNumber,
    /// A company's page on a network: its URL or its handle.
    CompanyPage(Network),
    /// A person's profile on LinkedIn: its URL or its handle.
    PersonPage,
    /// A person's first and last name.
    PersonName,
    /// A person's first name or last name.
    NamePart,
    /// A country by name or code.
    Country,
    /// A country by its alpha-2 code.
    CountryCode,
    /// The most items of a list: a whole number, as a number or as a text.
    Limit,
}
