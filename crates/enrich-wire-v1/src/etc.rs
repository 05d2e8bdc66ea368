//! `/v1/etc`: company email to company name.

use enrich_core::{Ask, CompanyRef, Draft, Found, InvalidFields, Question, Want};
use enrich_text::EmailAddress;
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyEmail", "company email address")],
    answer: &["query", "company_name", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    company_name: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(email) = input.required("companyEmail", EmailAddress::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyEmail").to_owned();
    input.ask(Question::Company(CompanyRef::Email(email)), Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let company_name = found.and_then(Found::company).map(|company| company.name.as_str());
    let answer = Answer {
        query: &ask.echo,
        company_name: company_name.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(company_name.and(found)),
    };
    written(u64::from(company_name.is_some()), &answer)
}
