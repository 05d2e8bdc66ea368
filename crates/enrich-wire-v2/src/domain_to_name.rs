//! `/v2/services/domain_to_name` returns the name of a company by its domain.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::Domain;
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire};
use schemars::JsonSchema;
use serde::Serialize;

use crate::envelope::enveloped;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("domain", Kind::Domain, "company domain")],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// Whether something was found.
    exists: bool,
    /// The company's name.
    company_name: &'a str,
    remaining_credits: BalanceHere,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(domain) = input.required("domain", Domain::parse) else {
        return Err(input.invalid());
    };
    let question = Question::Company(CompanyRef::Domain(domain));
    input.ask(question, Projection::Profile, String::new(), None)
}

fn write(_: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let name = found.and_then(Found::company).map(|company| company.name.as_str());
    let exists = name.is_some();
    let company_name = name.unwrap_or_default();
    enveloped(exists, Answer { exists, company_name, remaining_credits: BalanceHere })
}
