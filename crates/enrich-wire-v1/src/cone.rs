//! `/v1/cone`: LinkedIn profile to contact data.

use enrich_core::{Ask, Draft, Found, InvalidFields, Person, PersonRef, Question, Want};
use enrich_text::PersonPage;
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("linkedin", "LinkedIn profile of a person, URL or handle")],
    answer: &["query", "job_title", "emails", "phones", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    job_title: &'a str,
    emails: &'a [String],
    phones: &'a [String],
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(page) = input.required("linkedin", PersonPage::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("linkedin").to_owned();
    input.ask(Question::Person(PersonRef::Page(page)), Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let has_contact = |person: &&Person| {
        person.title.is_some() || !person.emails.is_empty() || !person.phones.is_empty()
    };
    let person = found.and_then(Found::person).filter(has_contact);
    let answer = Answer {
        query: &ask.echo,
        job_title: person.and_then(|person| person.title.as_deref()).unwrap_or_default(),
        emails: person.map_or(&[], |person| &person.emails),
        phones: person.map_or(&[], |person| &person.phones),
        credit_count: BalanceHere,
        confidence_level: confidence(person.and(found)),
    };
    written(u64::from(person.is_some()), &answer)
}
