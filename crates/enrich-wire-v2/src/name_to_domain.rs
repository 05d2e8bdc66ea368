//! `/v2/services/name_to_domain` returns a company's domain by its name, optionally in a country.

use enrich_core::{
    Ask, Company, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate,
};
use enrich_text::{CompanyName, Country};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire};
use schemars::JsonSchema;
use serde::Serialize;

use crate::envelope::enveloped;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[
        Field::required("company_name", Kind::CompanyName, "company name"),
        Field::optional(
            "country_code",
            Kind::CountryCode,
            "alpha-2 code; only a domain of that country answers",
        ),
    ],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// Whether something was found.
    exists: bool,
    /// The company's main domain, or its domain in the country of `country_code` or of the name.
    domain: &'a str,
    remaining_credits: BalanceHere,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let name = input.required("company_name", CompanyName::parse);
    let country = input.optional("country_code", Country::from_code);
    let (Some(name), Some(country)) = (name, country) else {
        return Err(input.invalid());
    };
    let question = Question::Company(CompanyRef::Name { name, country });
    input.ask(question, Projection::Profile, String::new(), None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let company = found.and_then(Found::company);
    let domain = match &ask.question {
        Question::Company(CompanyRef::Name { name, country }) => {
            company.and_then(|company| company.domain_near(name, *country))
        }
        _ => company.and_then(Company::domain),
    };
    let exists = domain.is_some();
    let domain = domain.unwrap_or_default();
    enveloped(exists, Answer { exists, domain, remaining_credits: BalanceHere })
}
