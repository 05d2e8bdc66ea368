//! `/v1/lpuf` returns the LinkedIn profile of a person by the person's name and company.

use enrich_core::{
    Ask, CompanyRef, Found, InvalidFields, PersonRef, Projection, Question, ResponseTemplate,
};
use enrich_text::{CompanyName, PersonName};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[
        Field::required("personName", Kind::PersonName, "first and last name"),
        Field::required("companyName", Kind::CompanyName, "company name"),
    ],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The inputs of the request, as `<personName> in <companyName>`.
    query: &'a str,
    /// The person's LinkedIn profile, without scheme and `www.`.
    url: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let person = input.required("personName", PersonName::parse);
    let company = input.required("companyName", CompanyName::parse);
    let (Some(name), Some(company)) = (person, company) else {
        return Err(input.invalid());
    };
    let company = CompanyRef::Name { name: company, country: None };
    let echo = format!("{} in {}", input.echo("personName"), input.echo("companyName"));
    let question = Question::Person(PersonRef::AtCompany { name, company });
    input.ask(question, Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let url = found.and_then(Found::person).and_then(|person| person.page.as_deref());
    let answer = Answer {
        query: &ask.echo,
        url: url.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(url.and(found)),
    };
    written(u64::from(url.is_some()), &answer)
}
