//! `/v1/mti` returns the name and the country of a person by a phone number.

use enrich_core::{
    Ask, Found, InvalidFields, Person, PersonRef, Projection, Question, ResponseTemplate,
};
use enrich_text::{Country, Phone};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required(
        "phoneNumber",
        Kind::PhoneNumber,
        "phone number of a person, international; national where the account has a country",
    )],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The person's first name.
    #[serde(rename = "firstName")]
    first_name: &'a str,
    /// The person's last name.
    #[serde(rename = "lastName")]
    last_name: &'a str,
    /// The English name of the person's country; `""` if it is not known.
    country: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let country = input.country();
    let Some(phone) = input.required("phoneNumber", |text| Phone::parse_in(text, country)) else {
        return Err(input.invalid());
    };
    let echo = input.echo("phoneNumber").to_owned();
    input.ask(Question::Person(PersonRef::Phone(phone)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
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
