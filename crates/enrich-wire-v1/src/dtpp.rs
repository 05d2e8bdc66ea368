//! `/v1/dtpp` returns the phone numbers of a company by its domain.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::Domain;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyDomain", Kind::Domain, "company domain"), Field::LIMIT],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's own phone numbers in E.164 format, with a leading `+`, in stored order.
    phones: &'a [String],
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let domain = input.required("companyDomain", Domain::parse);
    let (Some(domain), Some(limit)) = (domain, input.limit()) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyDomain").to_owned();
    input.ask(Question::Company(CompanyRef::Domain(domain)), Projection::Profile, echo, limit)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
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
