//! `/v1/pite` returns the business email of a person by the person's name and company.

use enrich_core::{
    Ask, CompanyRef, Found, InvalidFields, Person, PersonRef, Projection, Question,
    ResponseTemplate,
};
use enrich_text::{Domain, PersonName};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[
        Field::required("personName", Kind::PersonName, "first and last name"),
        Field::required("companyDomain", Kind::Domain, "company domain"),
        Field::optional(
            "companyName",
            Kind::CompanyNameOrDomain,
            "company domain or name, where companyDomain is missing",
        )
        .instead_of("companyDomain"),
    ],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The person's email address at the company of the request; if there is none, the person's
    /// first email address.
    email: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let person = input.required("personName", PersonName::parse);
    // The documentation of the original API lists the input `companyDomain`, but its example sends
    // the domain as `companyName`. So both are accepted. If a call has both, `companyDomain` is
    // used (docs/api-design.md, version 1).
    let company = if input.has("companyName") && !input.has("companyDomain") {
        input.required("companyName", CompanyRef::domain_or_name)
    } else {
        let company =
            input.required("companyDomain", |text| Domain::parse(text).map(CompanyRef::Domain));
        let other = input.optional("companyName", CompanyRef::domain_or_name);
        company.filter(|_| other.is_some())
    };
    let (Some(name), Some(company)) = (person, company) else {
        return Err(input.invalid());
    };
    let question = Question::Person(PersonRef::AtCompany { name, company });
    input.ask(question, Projection::Profile, String::new(), None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let asked = match &ask.question {
        Question::Person(PersonRef::AtCompany {
            company: CompanyRef::Domain(domain) | CompanyRef::DomainOrName(domain, _),
            ..
        }) => Some(domain),
        _ => None,
    };
    let email =
        found.and_then(Found::person).and_then(|person: &Person| person.business_email(asked));
    let answer = Answer {
        email: email.unwrap_or_default(),
        credit_count: BalanceHere,
        confidence_level: confidence(email.and(found)),
    };
    written(u64::from(email.is_some()), &answer)
}
