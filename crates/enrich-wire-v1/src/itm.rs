//! `/v1/itm` returns the mobile phone of a person by the person's name and country.

use enrich_core::{
    Ask, Found, InvalidFields, Person, PersonRef, Projection, Question, ResponseTemplate,
};
use enrich_text::{Country, PersonName};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[
        Field::required("firstName", Kind::NamePart, "first name"),
        Field::required("lastName", Kind::NamePart, "last name"),
        Field::required("country", Kind::Country, "country: English name, alpha-2 or alpha-3 code"),
    ],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The inputs of the request, as `<firstName> <lastName> in <country>`.
    query: &'a str,
    /// The person's first mobile number; if there is none, the person's first phone number. The
    /// number is in international form: digits only, without `+`.
    phone: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let as_name = |text: &str| PersonName::from_parts(text, text).map(|_| text.to_owned());
    let first = input.required("firstName", as_name);
    let last = input.required("lastName", as_name);
    let country = input.required("country", Country::parse);
    let (Some(first), Some(last), Some(country)) = (first, last, country) else {
        return Err(input.invalid());
    };
    let name = match PersonName::from_parts(&first, &last) {
        Ok(name) => name,
        Err(error) => {
            input.note("lastName", error.to_string());
            return Err(input.invalid());
        }
    };
    let echo = format!("{first} {last} in {}", input.echo("country"));
    let question = Question::Person(PersonRef::InCountry { name, country });
    input.ask(question, Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let number = found.and_then(Found::person).and_then(Person::mobile);
    let answer = Answer {
        query: &ask.echo,
        phone: number.map_or("", |number| number.trim_start_matches('+')),
        credit_count: BalanceHere,
        confidence_level: confidence(number.and(found)),
    };
    written(u64::from(number.is_some()), &answer)
}
