//! Describes in words how the fields of a request were understood.

use enrich_core::{CompanyRef, PersonRef, Question};
use enrich_text::{CompanyName, Country, PersonName};

pub(super) fn in_words(question: &Question) -> String {
    match question {
        Question::Company(company) => of_company(company),
        Question::Candidates { name, .. } => format!("the companies that {} may mean", named(name)),
        Question::Person(person) => of_person(person),
        Question::Host(host) => format!("what is known of the host {host}"),
        Question::Domain(domain) => {
            format!("what is known of {domain}, or else of its registrable domain")
        }
    }
}

fn of_company(company: &CompanyRef) -> String {
    match company {
        CompanyRef::Domain(domain) => format!("the company with the domain {domain}"),
        CompanyRef::Page(page) => format!("the company with the page {page}"),
        CompanyRef::Id(id) => format!("the company with the id {id}"),
        CompanyRef::Email(email) => format!(
            "the company with the address {email}: its own, or else of somebody who works there, \
             or else at its domain"
        ),
        CompanyRef::Name { name, country: None } => format!("the company {}", named(name)),
        CompanyRef::Name { name, country: Some(country) } => {
            format!("the company {}, with a domain of {}", named(name), called(*country))
        }
        CompanyRef::DomainOrName(domain, name) => {
            format!("the company with the domain {domain}, or else {}", named(name))
        }
    }
}

fn of_person(person: &PersonRef) -> String {
    match person {
        PersonRef::Email(email) => format!("the person with the address {email}"),
        PersonRef::Page(page) => format!("the person with the page {page}"),
        PersonRef::Phone(phone) => format!("the person with the phone number {phone}"),
        PersonRef::InCountry { name, country } => {
            format!("the person with {}, in {}", parts(name), called(*country))
        }
        PersonRef::AtCompany { name, company } => {
            format!("the person with {}, at {}", parts(name), of_company(company))
        }
    }
}

/// Returns a company name in words, in two forms: as it was given, and as it is compared.
fn named(name: &CompanyName) -> String {
    format!("named \"{name}\" (compared as \"{}\")", name.stripped())
}

/// Returns the name and the code of a country.
pub(super) fn called(country: Country) -> String {
    format!("{} ({})", country.name(), country.alpha2())
}

/// Returns in words the parts into which a person's name was split.
fn parts(name: &PersonName) -> String {
    let family = format!("the family name \"{}\"", name.family().join(" "));
    let mut text = match name.given() {
        // A name in Chinese, Japanese or Korean script is sometimes not split into given name and
        // family name. Then `family` is the whole name.
        [] => format!("the name \"{}\"", name.family().join(" ")),
        given => format!("the given name \"{}\" and {family}", given.join(" ")),
    };
    if let Some(suffix) = name.name_suffix() {
        text.push_str(&format!(" ({suffix})"));
    }
    text
}
