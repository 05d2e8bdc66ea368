//! Which company a question means.

use enrich_core::{Company, CompanyRef, Confidence, SubjectId};
use enrich_text::{Domain, EmailAddress, is_public_mail_host};

use super::codes::IdentifierKind;
use super::names;
use super::view::{Holder, View};

/// The most people with one address whose employer is asked for.
const MOST_SHARING: usize = 8;

/// What a company is asked for by, where one identifier alone decides.
pub(crate) fn one_identifier(company: &CompanyRef) -> Option<(IdentifierKind, &str)> {
    match company {
        CompanyRef::Domain(domain) if domain.is_registrable() => {
            Some((IdentifierKind::CompanyDomain, domain.as_str()))
        }
        CompanyRef::Page(page) => Some((IdentifierKind::CompanyPage, page.key())),
        _ => None,
    }
}

/// The company that `company` names, without its employees.
pub(crate) fn find(
    view: View<'_>,
    company: &CompanyRef,
) -> rusqlite::Result<Option<(Company, Confidence)>> {
    match company {
        CompanyRef::Domain(domain) => by_domain(view, domain),
        CompanyRef::Page(page) => view.company_with(IdentifierKind::CompanyPage, page.key()),
        CompanyRef::Email(email) => by_email(view, email),
        CompanyRef::Name { name, country } => Ok(names::best(names::ranked(view, name, *country)?)),
        CompanyRef::DomainOrName(domain, name) => match by_domain(view, domain)? {
            Some(found) => Ok(Some(found)),
            None => Ok(names::best(names::ranked(view, name, None)?)),
        },
    }
}

/// Every company that `company` may mean, for questions that tell them apart by who works there.
/// Only a name means more than one, and those it means are sure to [`Confidence::AMBIGUOUS`].
pub(crate) fn find_all(
    view: View<'_>,
    company: &CompanyRef,
) -> rusqlite::Result<Vec<(SubjectId, Confidence)>> {
    let name = match company {
        CompanyRef::Name { name, country } => Some((name, *country)),
        CompanyRef::DomainOrName(_, name) => Some((name, None)),
        CompanyRef::Domain(_) | CompanyRef::Page(_) | CompanyRef::Email(_) => None,
    };
    let by_domain = match company {
        CompanyRef::Name { .. } => None,
        CompanyRef::DomainOrName(domain, _) => by_domain(view, domain)?,
        CompanyRef::Domain(_) | CompanyRef::Page(_) | CompanyRef::Email(_) => find(view, company)?,
    };
    match (by_domain, name) {
        (Some((company, confidence)), _) => Ok(vec![(company.id, confidence)]),
        (None, Some((name, country))) => {
            let all = names::all_best(names::ranked(view, name, country)?);
            let most = if all.len() > 1 { Confidence::AMBIGUOUS } else { Confidence::FULL };
            Ok(all.iter().map(|one| (one.id(), one.confidence().min(most))).collect())
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// The ids that a domain leads to: those of the host, else those of its registrable domain.
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
    if let Some(found) = view.company_with(kind, domain.as_str())? {
        return Ok(Some(found));
    }
    match above(domain) {
        Some(registrable) => view.company_with(kind, registrable.as_str()),
        None => Ok(None),
    }
}

/// The registrable domain, where that is another.
fn above(domain: &Domain) -> Option<Domain> {
    (!domain.is_registrable()).then(|| domain.registrable())
}

/// The company with the address, else the employer of the person with it, else the company at its
/// domain, unless anyone can have an address there.
fn by_email(
    view: View<'_>,
    email: &EmailAddress,
) -> rusqlite::Result<Option<(Company, Confidence)>> {
    let without_tag = email.without_tag();
    let spellings = || [Some(email), without_tag.as_ref()].into_iter().flatten();
    for email in spellings() {
        if let Some(found) = view.company_with(IdentifierKind::CompanyEmail, email.as_str())? {
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

/// The employer of the first person with this address who has one.
fn by_employee(
    view: View<'_>,
    email: &EmailAddress,
) -> rusqlite::Result<Option<(Company, Confidence)>> {
    let holders = view.holders(IdentifierKind::PersonEmail, email.as_str(), MOST_SHARING)?;
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
