//! Finds the company that a look-up request is about.

use enrich_core::{Company, CompanyRef, Confidence};
use enrich_text::{Domain, EmailAddress, is_public_mail_host};

use super::codes::IdentifierKind;
use super::holder::Holder;
use super::lookup::{Lookup, Stop};
use super::names::{self, CandidateMatch};
use super::view::View;

/// Maximum number of people with the same email address whose profiles are read to find one who has
/// an employer.
const MAX_SHARING: usize = 8;

/// Returns the identifier in a company reference. Returns `None` if the reference has no
/// identifier, or one that is tried in several forms, such as an email address with and without its
/// `+tag`.
pub(crate) fn one_identifier(company: &CompanyRef) -> Option<(IdentifierKind, &str)> {
    match company {
        CompanyRef::Domain(domain) if domain.is_registrable() => {
            Some((IdentifierKind::CompanyDomain, domain.as_str()))
        }
        CompanyRef::Page(page) => Some((IdentifierKind::CompanyPage, page.key())),
        CompanyRef::Id(id) => Some((IdentifierKind::CompanyId, id.as_str())),
        _ => None,
    }
}

/// Finds the company that `company` refers to. The list of its employees is not read.
pub(crate) fn find(
    lookup: Lookup<'_>,
    company: &CompanyRef,
) -> Result<Option<(Company, Confidence)>, Stop> {
    let view = lookup.view;
    match company {
        CompanyRef::Domain(domain) => Ok(by_domain(view, domain)?),
        CompanyRef::Page(page) => Ok(view.first_with(IdentifierKind::CompanyPage, page.key())?),
        CompanyRef::Id(id) => Ok(view.first_with(IdentifierKind::CompanyId, id.as_str())?),
        CompanyRef::Email(email) => Ok(by_email(view, email)?),
        CompanyRef::Name { name, country } => names::find(lookup, name, *country),
        CompanyRef::DomainOrName(domain, name) => match by_domain(view, domain)? {
            Some(found) => Ok(Some(found)),
            None => names::find(lookup, name, None),
        },
    }
}

/// Finds every company that `company` may mean. Only a name can mean several companies. A look-up
/// of an employee needs all of them, because it then looks up the employee at each company.
pub(crate) fn find_all(
    lookup: Lookup<'_>,
    company: &CompanyRef,
) -> Result<Vec<CandidateMatch>, Stop> {
    let by_domain = match company {
        CompanyRef::Name { name, country } => return names::find_all(lookup, name, *country),
        CompanyRef::DomainOrName(domain, name) => match by_domain(lookup.view, domain)? {
            Some(found) => Some(found),
            None => return names::find_all(lookup, name, None),
        },
        CompanyRef::Domain(_) | CompanyRef::Page(_) | CompanyRef::Email(_) | CompanyRef::Id(_) => {
            find(lookup, company)?
        }
    };
    // An identifier, such as a domain, is compared exactly, so the confidence of the match is 100
    // percent. The confidence of the sources may be lower, for example if several companies have
    // the identifier.
    let candidate_match = |(company, source_confidence): (Company, _)| CandidateMatch {
        company: company.id,
        match_confidence: Confidence::FULL,
        source_confidence,
    };
    Ok(by_domain.map(candidate_match).into_iter().collect())
}

/// Finds the companies that have the host `domain`, such as `shop.quill.example`. If there are
/// none, finds the companies that have its registrable domain, such as `quill.example`. Returns
/// only the first two companies. The first is the one to which the domain belongs most strongly.
pub(crate) fn holders_of_domain(view: View<'_>, domain: &Domain) -> rusqlite::Result<Vec<Holder>> {
    let kind = IdentifierKind::CompanyDomain;
    let holders = view.holders(kind, domain.as_str(), 2)?;
    if !holders.is_empty() {
        return Ok(holders);
    }
    match above(domain) {
        Some(registrable) => view.holders(kind, registrable.as_str(), 2),
        None => Ok(holders),
    }
}

fn by_domain(view: View<'_>, domain: &Domain) -> rusqlite::Result<Option<(Company, Confidence)>> {
    let kind = IdentifierKind::CompanyDomain;
    if let Some(found) = view.first_with(kind, domain.as_str())? {
        return Ok(Some(found));
    }
    match above(domain) {
        Some(registrable) => view.first_with(kind, registrable.as_str()),
        None => Ok(None),
    }
}

/// Returns the registrable domain of `domain`; `None` if `domain` is a registrable domain itself.
fn above(domain: &Domain) -> Option<Domain> {
    (!domain.is_registrable()).then(|| domain.registrable())
}

/// Finds the company to which an email address belongs. Searches for these companies, in order:
///
/// - the company that has this email address
/// - the employer of a person who has this email address
/// - the company with the domain of the address, unless it is the domain of a public mail host
///
/// If the address has a `+tag`, the first two are also searched for by the address without the tag.
fn by_email(
    view: View<'_>,
    email: &EmailAddress,
) -> rusqlite::Result<Option<(Company, Confidence)>> {
    let without_tag = email.without_tag();
    let spellings = || [Some(email), without_tag.as_ref()].into_iter().flatten();
    for email in spellings() {
        if let Some(found) = view.first_with(IdentifierKind::CompanyEmail, email.as_str())? {
            return Ok(Some(found));
        }
    }
    for email in spellings() {
        if let Some(found) = by_employee(view, email)? {
            return Ok(Some(found));
        }
    }
    let domain = email.domain();
    if is_public_mail_host(&domain) { Ok(None) } else { by_domain(view, &domain) }
}

/// Finds the employer of the first person who has this email address and an employer. If several
/// people have the address, the confidence is at most [`Confidence::AMBIGUOUS`].
fn by_employee(
    view: View<'_>,
    email: &EmailAddress,
) -> rusqlite::Result<Option<(Company, Confidence)>> {
    let holders = view.holders(IdentifierKind::PersonEmail, email.as_str(), MAX_SHARING)?;
    let most = if holders.len() > 1 { Confidence::AMBIGUOUS } else { Confidence::FULL };
    for holder in holders {
        let person = view.person(holder.subject)?;
        if let Some(employer) = person.and_then(|person| person.employer) {
            let company = view.company(employer.id)?;
            return Ok(company.map(|company| (company, holder.confidence.min(most))));
        }
    }
    Ok(None)
}
