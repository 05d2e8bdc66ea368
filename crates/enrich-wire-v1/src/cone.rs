//! `/v1/cone` returns the contact data of a person by the person's LinkedIn profile.

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
    /// The person's job title; `""` if it is not known.
    job_title: &'a str,
    /// The person's email addresses.
    emails: &'a [String],
    /// The person's phone numbers in E.164 format, with a leading `+`.
    phones: &'a [String],
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
    let has_contact = |person: &&Person| {
        person.title.is_some() || !person.emails.is_empty() || !person.phones.is_empty()
    };
    let person = found.and_then(Found::person).filter(has_contact);
    let answer = Answer {
        query: &ask.echo,
        job_title: person.and_then(|person| person.title.as_deref()).unwrap_or_default(),
        emails: person.map_or(&[], |person| ask.first_items(&person.emails)),
        phones: person.map_or(&[], |person| ask.first_items(&person.phones)),
        credit_count: BalanceHere,
        confidence_level: confidence(person.and(found)),
    };
    written(u64::from(person.is_some()), &answer)
}
