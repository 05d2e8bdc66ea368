//! `/v1/dtpr` returns the page rank of a domain.

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
    /// The domain's page rank, as it was imported: a number in a string.
    pagerank: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(domain) = input.required("domain", Domain::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("domain").to_owned();
    input.ask(Question::Domain(domain), Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let pagerank = found.and_then(Found::domain).and_then(|facts| facts.page_rank.as_deref());
    let answer = Answer {
        query: &ask.echo,
        pagerank: pagerank.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(pagerank.and(found)),
    };
    written(u64::from(pagerank.is_some()), &answer)
}
