//! `/v1/mti`: phone number to person name and country.

use enrich_core::{Ask, Draft, Found, InvalidFields, Person, PersonRef, Question, Want};
use enrich_text::{Country, Phone};
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("phoneNumber", "phone number of a person, international")],
    answer: &["query", "firstName", "lastName", "country", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    #[serde(rename = "firstName")]
    first_name: &'a str,
    #[serde(rename = "lastName")]
    last_name: &'a str,
    country: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(phone) = input.required("phoneNumber", Phone::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("phoneNumber").to_owned();
    input.ask(Question::Person(PersonRef::Phone(phone)), Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let person: Option<&Person> = found.and_then(Found::person);
    let country = person.and_then(|person| person.country);
    let answer = Answer {
        query: &ask.echo,
        first_name: person.map_or("", |person| &person.first_name),
        last_name: person.map_or("", |person| &person.last_name),
        country: country.map_or("", Country::name),
        credit_count: BalanceHere,
        confidence_level: confidence(person.and(found)),
    };
    written(u64::from(person.is_some()), &answer)
}
