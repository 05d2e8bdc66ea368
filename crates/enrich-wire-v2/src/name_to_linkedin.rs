//! `/v2/services/name_to_linkedin` returns the LinkedIn page of a company by its name or domain.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::Network;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire};
use schemars::JsonSchema;
use serde::Serialize;

use crate::envelope::enveloped;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("query", Kind::CompanyNameOrDomain, "company name or domain")],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// Whether something was found.
    exists: bool,
    /// The company's LinkedIn page, without scheme and `www.`.
    linkedin_url: &'a str,
    remaining_credits: BalanceHere,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    // The specification of this endpoint calls the input a name, but its example sends a domain. So
    // names and domains are accepted. A text that looks like a domain can also be a name
    // (docs/api-design.md, version 2).
    let Some(company) = input.required("query", CompanyRef::domain_or_name) else {
        return Err(input.invalid());
    };
    input.ask(Question::Company(company), Projection::Profile, String::new(), None)
}

fn write(_: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let page =
        found.and_then(Found::company).and_then(|company| company.page_on(Network::LinkedIn));
    let exists = page.is_some();
    let linkedin_url = page.unwrap_or_default();
    enveloped(exists, Answer { exists, linkedin_url, remaining_credits: BalanceHere })
}
