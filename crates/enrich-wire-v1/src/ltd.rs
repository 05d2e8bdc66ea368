//! `/v1/ltd` returns the website domain of a company by its LinkedIn page.

use enrich_core::{
    Ask, Company, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate,
};
use enrich_text::{Network, PageUrl};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required(
        "companyLinkedin",
        Kind::CompanyPage(Network::LinkedIn),
        "LinkedIn page of a company, URL or handle",
    )],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's main domain.
    domain: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(page) =
        input.required("companyLinkedin", |text| PageUrl::parse(Network::LinkedIn, text))
    else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyLinkedin").to_owned();
    input.ask(Question::Company(CompanyRef::Page(page)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let domain = found.and_then(Found::company).and_then(Company::domain);
    let answer = Answer {
        query: &ask.echo,
        domain: domain.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(domain.and(found)),
    };
    written(u64::from(domain.is_some()), &answer)
}
