//! `/v1/dtc` returns the name of a company by its domain.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::Domain;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyWebsite", Kind::Domain, "company domain")],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's name.
    // The documented API returns the name in a field that is called `url` (docs/api-design.md).
    url: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(domain) = input.required("companyWebsite", Domain::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyWebsite").to_owned();
    input.ask(Question::Company(CompanyRef::Domain(domain)), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let url = found.and_then(Found::company).map(|company| company.name.as_str());
    let answer = Answer {
        query: &ask.echo,
        url: url.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(url.and(found)),
    };
    written(u64::from(url.is_some()), &answer)
}
