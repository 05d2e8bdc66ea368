//! `/v1/lcuf_employee` returns the employees of a company by its name.

use enrich_core::{Ask, CompanyRef, Found, InvalidFields, Projection, Question, ResponseTemplate};
use enrich_text::CompanyName;
use enrich_wire::{Field, Fields, Input, Kind, Wire, written};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const WIRE: Wire = Wire {
    inputs: &[Field::required("companyName", Kind::CompanyName, "company name"), Field::LIMIT],
    answer: Answer::json_schema,
    read,
    write,
};

#[derive(Serialize, JsonSchema)]
struct Answer<'a> {
    /// The input of the request, without white space at its ends.
    query: &'a str,
    /// The company's employees.
    employees: Vec<Employee<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Employee<'a> {
    /// The employee's LinkedIn profile; `""` if it is not known.
    linkedin_url: &'a str,
    /// The employee's first and last name.
    name: &'a str,
    /// The employee's job title; `""` if it is not known.
    title: &'a str,
}

fn read(fields: &Fields) -> Result<Ask, InvalidFields> {
    let mut input = Input::of(fields);
    let name = input.required("companyName", CompanyName::parse);
    let (Some(name), Some(limit)) = (name, input.limit()) else {
        return Err(input.invalid());
    };
    let question = Question::Company(CompanyRef::Name { name, country: None });
    let echo = input.echo("companyName").to_owned();
    input.ask(question, Projection::Employees { limit }, echo, limit)
}

fn write(ask: &Ask, found: Option<&Found>) -> ResponseTemplate {
    let employees = found.and_then(Found::company).map(|company| company.employees.as_slice());
    let employees = ask.first_items(employees.unwrap_or_default());
    let answer = Answer {
        query: &ask.echo,
        employees: employees
            .iter()
            .map(|employee| Employee {
                linkedin_url: employee.page.as_deref().unwrap_or_default(),
                name: &employee.name,
                title: employee.title.as_deref().unwrap_or_default(),
            })
            .collect(),
    };
    written(employees.len() as u64, &answer)
}
