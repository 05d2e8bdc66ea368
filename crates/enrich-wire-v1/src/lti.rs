//! `/v1/lti` returns data of a person by the LinkedIn profile.

use enrich_core::{
    Ask, Found, InvalidFields, Person, PersonRef, Projection, Question, ResponseTemplate,
};
use enrich_text::PersonPage;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required(
        "linkedin",
        Kind::PersonPage,
        "LinkedIn profile of a person, URL or handle",
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
    first_name: &'a str,
    /// The person's last name.
    last_name: &'a str,
    /// The name of the person's employer; `""` if it is not known.
    job_company_name: &'a str,
    /// The person's job title; `""` if it is not known.
    job_title: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(page) = input.required("linkedin", PersonPage::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("linkedin").to_owned();
    input.ask(Question::Person(PersonRef::Page(page)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let person: Option<&Person> = found.and_then(Found::person);
    let employer = person.and_then(|person| person.employer.as_ref());
    let answer = Answer {
        query: &ask.echo,
        first_name: person.map_or("", |person| &person.first_name),
        last_name: person.map_or("", |person| &person.last_name),
        job_company_name: employer.map_or("", |employer| &employer.name),
        job_title: person.and_then(|person| person.title.as_deref()).unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(person.and(found)),
    };
    written(u64::from(person.is_some()), &answer)
}
