//! `/v1/dtpr`: domain to page rank.

use enrich_core::{Ask, Draft, Found, InvalidFields, Question, Want};
use enrich_text::Domain;
use enrich_wire::{BalanceHere, Field, Fields, Input, Wire, written};
use serde::Serialize;

use crate::confidence;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("domain", "domain")],
    answer: &["query", "pagerank", "credit_count", "confidence_level"],
    read,
    write,
};

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    pagerank: &'a str,
    credit_count: BalanceHere,
    confidence_level: u8,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(domain) = input.required("domain", Domain::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("domain").to_owned();
    input.ask(Question::Domain(domain), Want::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> Draft {
    let pagerank = found.and_then(Found::domain).and_then(|facts| facts.page_rank.as_deref());
    let answer = Answer {
        query: &ask.echo,
        pagerank: pagerank.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(pagerank.and(found)),
    };
    written(u64::from(pagerank.is_some()), &answer)
}
