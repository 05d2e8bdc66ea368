//! `/v1/itd`: company Instagram page to website domain.

use enrich_core::{Ask, Company, CompanyRef, Draft, Found, InvalidFields, Question, Want};
use enrich_text::{Network, PageUrl};
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("instagramURL", "Instagram page of a company, URL or handle")],
    answer: &["query", "companyDomain", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    #[serde(rename = "companyDomain")]
    company_domain: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(page) =
        input.required("instagramURL", |text| PageUrl::parse(Network::Instagram, text))
    else {
        return Err(input.invalid());
    };
    let echo = input.echo("instagramURL").to_owned();
    input.ask(Question::Company(CompanyRef::Page(page)), Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let company_domain = found.and_then(Found::company).and_then(Company::domain);
    let answer = Answer {
        query: &ask.echo,
        company_domain: company_domain.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(company_domain.and(found)),
    };
    written(u64::from(company_domain.is_some()), &answer)
}
