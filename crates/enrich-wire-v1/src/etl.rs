//! `/v1/etl` returns the LinkedIn profile of a person by a business email.

use enrich_core::{Ask, Found, InvalidFields, PersonRef, Projection, Question, ResponseTemplate};
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
    /// The person's LinkedIn profile, without scheme and `www.`.
    linkedin: &'a str,
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
    let linkedin = found.and_then(Found::person).and_then(|person| person.page.as_deref());
    let answer = Answer {
        query: &ask.echo,
        linkedin: linkedin.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(linkedin.and(found)),
    };
    written(u64::from(linkedin.is_some()), &answer)
}
