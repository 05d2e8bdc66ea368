//! `/v1/company_enrichment`: company name to everything known of it.

use enrich_core::{Ask, Company, CompanyRef, Draft, Found, InvalidFields, Question, Want};
use enrich_text::{CompanyName, Network};
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyName", "company name")],
    answer: &[
        "query",
        "domain",
        "emails",
        "phones",
        "facebook",
        "linkedin",
        "twitter",
        "youtube",
        "instagram",
        "credit_count",
        "confidence_level",
    ],
    read,
    write,
};

/// What stands for a page the company does not have.
const NO_PAGE: &str = "Not Found";

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    domain: &'a str,
    emails: &'a [String],
    phones: &'a [String],
    facebook: &'a str,
    linkedin: &'a str,
    twitter: &'a str,
    youtube: &'a str,
    instagram: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(name) = input.required("companyName", CompanyName::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyName").to_owned();
    let question = Question::Company(CompanyRef::Name { name, country: None });
    input.ask(question, Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let has_any = |company: &&Company| {
        let has_lists = !company.emails.is_empty() || !company.phones.is_empty();
        has_lists || company.domain().is_some() || !company.pages.is_empty()
    };
    let company = found.and_then(Found::company).filter(has_any);
    let page = |network| company.and_then(|company| company.page(network)).unwrap_or(NO_PAGE);
    let answer = Answer {
        query: &ask.echo,
        domain: company.and_then(Company::domain).unwrap_or_default(),
        emails: company.map_or(&[], |company| &company.emails),
        phones: company.map_or(&[], |company| &company.phones),
        facebook: page(Network::Facebook),
        linkedin: page(Network::LinkedIn),
        twitter: page(Network::Twitter),
        youtube: page(Network::Youtube),
        instagram: page(Network::Instagram),
        credit_count: BalanceHere,
        confidence_level: confidence(company.and(found)),
    };
    written(u64::from(company.is_some()), &answer)
}
