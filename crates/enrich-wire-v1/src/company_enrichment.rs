//! `/v1/company_enrichment` returns all known data of a company by its name.

use enrich_core::{
    Ask, Company, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate,
};
use enrich_text::{CompanyName, Network};
use enrich_wire::{BalanceHere, Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ConfidenceLevel, confidence};

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyName", Kind::CompanyName, "company name")],
    answer: Answer::json_schema,
    read,
    write,
};

/// The value of a page's field if the company has no such page.
const NO_PAGE: &str = "Not Found";

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's main domain; `""` if there is none.
    domain: &'a str,
    /// The company's own email addresses, in stored order.
    emails: &'a [String],
    /// The company's own phone numbers in E.164 format, with a leading `+`, in stored order.
    phones: &'a [String],
    /// The company's Facebook page; `Not Found` if there is none.
    facebook: &'a str,
    /// The company's LinkedIn page; `Not Found` if there is none.
    linkedin: &'a str,
    /// The company's Twitter page; `Not Found` if there is none.
    twitter: &'a str,
    /// The company's YouTube page; `Not Found` if there is none.
    youtube: &'a str,
    /// The company's Instagram page; `Not Found` if there is none.
    instagram: &'a str,
    credit_count: BalanceHere,
    confidence_level: ConfidenceLevel,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let Some(name) = input.required("companyName", CompanyName::parse) else {
        return Err(input.invalid());
    };
    let echo = input.echo("companyName").to_owned();
    let question = Question::Company(CompanyRef::Name { name, country: None });
    input.ask(question, Projection::Profile, echo, None)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let has_any = |company: &&Company| {
        let has_lists = !company.emails.is_empty() || !company.phones.is_empty();
        has_lists || company.domain().is_some() || !company.pages.is_empty()
    };
    let company = found.and_then(Found::company).filter(has_any);
    let page = |network| company.and_then(|company| company.page_on(network)).unwrap_or(NO_PAGE);
    let answer = Answer {
        query: &ask.echo,
        domain: company.and_then(Company::domain).unwrap_or_default(),
        emails: company.map_or(&[], |company| ask.first_items(&company.emails)),
        phones: company.map_or(&[], |company| ask.first_items(&company.phones)),
        facebook: page(Network::Facebook),
        linkedin: page(Network::LinkedIn),
        twitter: page(Network::Twitter),
        youtube: page(Network::Youtube),
        instagram: page(Network::Instagram),
        credit_count: BalanceHere,
        confidence_level: confidence(company.and(found)),
    };
    written(u64::from(company.is_some()), &answer)
}
