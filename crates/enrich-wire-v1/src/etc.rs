//! `/v1/etc` returns the name of a company by an email address.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::EmailAddress;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyEmail", Kind::EmailAddress, "company email address")],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's name.
    company_name: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(email) = input.required("companyEmail", EmailAddress::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyEmail").to_owned();
    input.ask(Question::Company(CompanyRef::Email(email)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let company_name = found.and_then(Found::company).map(|company| company.name.as_str());
    let answer = Answer {
        query: &ask.echo,
        company_name: company_name.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(company_name.and(found)),
    };
    written(u64::from(company_name.is_some()), &answer)
}
