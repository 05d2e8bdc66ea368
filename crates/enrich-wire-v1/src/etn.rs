//! `/v1/etn` returns the first and last name of a person by a business email.

use enrich_core::{
    Ask, Found, InvalidFields, Person, PersonRef, Projection, Question, ResponseTemplate,
};
use enrich_text::EmailAddress;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("email", Kind::EmailAddress, "business email address of a person")],
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
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(email) = input.required("email", EmailAddress::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("email").to_owned();
    input.ask(Question::Person(PersonRef::Email(email)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let person: Option<&Person> = found.and_then(Found::person);
    let answer = Answer {
        query: &ask.echo,
        first_name: person.map_or("", |person| &person.first_name),
        last_name: person.map_or("", |person| &person.last_name),
        credit_count: BalanceHere,
        confidence_level: confidence(person.and(found)),
    };
    written(u64::from(person.is_some()), &answer)
}
