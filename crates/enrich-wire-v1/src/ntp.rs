//! `/v1/ntp`: company name to its phones.

use enrich_core::{Ask, CompanyRef, Draft, Found, InvalidFields, Question, Want};
use enrich_text::CompanyName;
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyName", "company name"), Field::LIMIT],
    answer: &["query", "phones", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    phones: &'a [String],
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let name = input.required("companyName", CompanyName::parse);
    let (Some(name), Some(limit)) = (name, input.limit()) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyName").to_owned();
    input.ask(
        Question::Company(CompanyRef::Name { name, country: None }),
        Want::Profile,
        echo,
        limit,
    )
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let phones = found.and_then(Found::company).map(|company| company.phones.as_slice());
    let phones = ask.first_items(phones.unwrap_or_default());
    let found = found.filter(|_| !phones.is_empty());
    let answer = Answer {
        query: &ask.echo,
        phones,
        credit_count: BalanceHere,
        confidence_level: confidence(found),
    };
    written(phones.len() as u64, &answer)
}
