//! `/v1/dtp` returns the IP address of a domain.

use enrich_core::{Ask, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::Domain;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("domain", Kind::Domain, "domain")],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// An IP address of the host.
    ip: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(domain) = input.required("domain", Domain::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("domain").to_owned();
    input.ask(Question::Host(domain), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let ip = found.and_then(Found::domain).and_then(|facts| facts.ip.as_deref());
    let answer = Answer {
        query: &ask.echo,
        ip: ip.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(ip.and(found)),
    };
    written(u64::from(ip.is_some()), &answer)
}
