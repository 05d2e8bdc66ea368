//! `/v1/ftd` returns the website domain of a company by its Facebook page.

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
        "facebookURL",
        Kind::CompanyPage(Network::Facebook),
        "Facebook page of a company, URL or handle",
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
    #[serde(rename = "companyDomain")]
    company_domain: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(page) = input.required("facebookURL", |text| PageUrl::parse(Network::Facebook, text))
    else {
        return Err(input.invalid());
    };
    let echo = input.echo("facebookURL").to_owned();
    input.ask(Question::Company(CompanyRef::Page(page)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let company_domain = found.and_then(Found::company).and_then(Company::domain);
    let answer = Answer {
        query: &ask.echo,
        company_domain: company_domain.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(company_domain.and(found)),
    };
    written(u64::from(company_domain.is_some()), &answer)
}
