//! `/v1/cuf`: company name to website domain.

use enrich_core::{Ask, Company, CompanyRef, Draft, Found, InvalidFields, Question, Want};
use enrich_text::CompanyName;
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyName", "company name")],
    answer: &["query", "url", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    url: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(name) = input.required("companyName", CompanyName::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyName").to_owned();
    input.ask(
        Question::Company(CompanyRef::Name { name, country: None }),
        Want::Profile,
        echo,
        None,
    )
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let url = found.and_then(Found::company).and_then(Company::domain);
    let answer = Answer {
        query: &ask.echo,
        url: url.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(url.and(found)),
    };
    written(u64::from(url.is_some()), &answer)
}
