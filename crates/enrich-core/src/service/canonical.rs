//! Encodes look-up requests so that equal requests have equal bytes.

use enrich_text::PersonName;

use crate::question::{CompanyRef, PersonRef, Projection, Question};

use super::look_up_value::{write_number, write_text};

/// Returns a look-up request as bytes, for [`Ask::canonical`](super::call::Ask::canonical). Equal
/// requests have equal bytes.
pub(super) fn canonical(
    question: &Question,
    projection: Projection,
    limit: Option<u64>,
    attribute: Option<&str>,
) -> Vec<u8> {
    let mut lines = Vec::new();
    match question {
        Question::Company(company) => write_company(company, &mut lines),
        Question::Candidates { name, country } => {
            let country = country.map_or("", |country| country.alpha2());
            write_texts(&["candidates", name.display(), country], &mut lines);
        }
        Question::Person(person) => write_person(person, &mut lines),
        Question::Host(host) => write_texts(&["host", host.as_str()], &mut lines),
        Question::Domain(domain) => write_texts(&["domain", domain.as_str()], &mut lines),
    }
    if let Projection::Employees { .. } = projection {
        write_text("employees", &mut lines);
    }
    if let Some(limit) = limit {
        write_text("limit", &mut lines);
        write_number(limit, &mut lines);
    }
    if let Some(attribute) = attribute {
        write_texts(&["attribute", attribute], &mut lines);
    }
    lines
}

fn write_company(company: &CompanyRef, lines: &mut Vec<u8>) {
    match company {
        CompanyRef::Domain(domain) => write_texts(&["company_domain", domain.as_str()], lines),
        CompanyRef::Page(page) => {
            write_texts(&["company_page", page.network().as_str(), page.key()], lines);
        }
        CompanyRef::Id(id) => write_texts(&["company_id", id.as_str()], lines),
        CompanyRef::Email(email) => write_texts(&["company_email", email.as_str()], lines),
        CompanyRef::Name { name, country } => {
            let country = country.map_or("", |country| country.alpha2());
            write_texts(&["company_name", name.display(), country], lines);
        }
        CompanyRef::DomainOrName(domain, name) => {
            write_texts(&["company_domain_or_name", domain.as_str(), name.display()], lines);
        }
    }
}

fn write_person(person: &PersonRef, lines: &mut Vec<u8>) {
    match person {
        PersonRef::Email(email) => write_texts(&["person_email", email.as_str()], lines),
        PersonRef::Page(page) => write_texts(&["person_page", page.key()], lines),
        PersonRef::Phone(phone) => write_texts(&["person_phone", phone.as_str()], lines),
        PersonRef::InCountry { name, country } => {
            write_texts(&["person_in_country", country.alpha2()], lines);
            write_person_name(name, lines);
        }
        PersonRef::AtCompany { name, company } => {
            write_text("person_at_company", lines);
            write_person_name(name, lines);
            write_company(company, lines);
        }
    }
}

fn write_person_name(name: &PersonName, lines: &mut Vec<u8>) {
    let (given, family) = (name.given().join(" "), name.family().join(" "));
    write_texts(&[&given, &family, name.name_suffix().unwrap_or_default()], lines);
}

fn write_texts(texts: &[&str], lines: &mut Vec<u8>) {
    for text in texts {
        write_text(text, lines);
    }
}
