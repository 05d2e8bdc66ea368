//! What is asked of a new list: the endpoint, which column goes into which field, and what it may
//! cost.

use enrich_bulk::jobs::{JobError, JobId, Order};
use enrich_bulk::{Mapping, MappingError};
use enrich_core::Price;
use enrich_wire::{Endpoint, Field};

use crate::fault::Fault;
use crate::form::Form;
use crate::shown::Number;
use crate::visit::{Member, Visit};

use super::on_list;

/// What an order would be, and cost.
pub(crate) struct Asked {
    pub(crate) path: &'static str,
    pub(crate) price: String,
    pub(crate) fields: Vec<FieldRow>,
    pub(crate) foreseen: Result<Foreseen, String>,
    pub(crate) ceiling: String,
}

/// A field of the endpoint and where its text comes from.
pub(crate) struct FieldRow {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) is_required: bool,
    /// The column; empty for none.
    pub(crate) column: String,
    /// One text for every row; empty for none.
    pub(crate) fixed: String,
}

/// What the list would cost.
pub(crate) struct Foreseen {
    pub(crate) rows: Number,
    pub(crate) invalid: Number,
    pub(crate) highest: Option<Number>,
    pub(crate) is_covered: bool,
}

/// What a form of this page orders; `None` where it names no endpoint.
pub(crate) fn of_form(visit: &Visit<'_>, path: &str, fields: &Form) -> Option<Mapping> {
    let rows = rows(endpoint(visit, path)?, fields, &[]);
    Some(mapping(&rows))
}

/// What is asked of a list with these columns: as the form has it, or as the columns' names suggest.
pub(super) async fn asked_of(
    visit: &Visit<'_>,
    member: &Member,
    id: JobId,
    columns: &[String],
    path: &str,
    fields: &Form,
) -> Result<Option<Asked>, Fault> {
    let Some(endpoint) = endpoint(visit, path) else { return Ok(None) };
    let rows = rows(endpoint, fields, columns);
    let mapping = mapping(&rows);
    let previewed = on_list(visit, member, move |jobs, account| {
        jobs.preview(account, id, endpoint.path, &mapping)
    });
    let balance = visit.balance(member).await?.0;
    let foreseen = match previewed.await? {
        Ok(preview) => Ok(Foreseen {
            rows: Number(preview.rows),
            invalid: Number(preview.invalid),
            highest: preview.highest_credits.map(Number),
            is_covered: preview.highest_credits.is_some_and(|highest| highest <= balance),
        }),
        Err(JobError::Mapping(MappingError::Missing { field, .. })) => {
            Err(format!("Choose a column, or a value for every row, for {field}."))
        }
        Err(error) => Err(Fault::of_job(error)?),
    };
    let usual = match &foreseen {
        Ok(foreseen) => foreseen.highest.map_or(balance, |highest| highest.0).to_string(),
        Err(_) => String::new(),
    };
    let ceiling = if fields.has("ceiling") { fields.text("ceiling").to_owned() } else { usual };
    let price = endpoint.price.to_string();
    Ok(Some(Asked { path: endpoint.path, price, fields: rows, foreseen, ceiling }))
}

/// Why an order can't be carried out below its ceiling: a row that may have any number of answers has
/// no highest price, so none of such rows would be asked.
pub(super) async fn refused(
    visit: &Visit<'_>,
    member: &Member,
    id: JobId,
    order: &Order,
) -> Result<Option<String>, Fault> {
    let asked = endpoint(visit, &order.endpoint);
    let is_open = asked.is_some_and(|asked| matches!(asked.price, Price::PerItems(_)));
    if order.max_credits.is_none() || !is_open {
        return Ok(None);
    }
    let (path, mapping) = (order.endpoint.clone(), order.mapping.clone());
    let previewed =
        on_list(visit, member, move |jobs, account| jobs.preview(account, id, &path, &mapping));
    match previewed.await?.map_err(Fault::of_job) {
        Ok(preview) if preview.highest_credits.is_some() => Ok(None),
        Ok(_) => Ok(Some(
            "Rows without a `limit` have no highest price, so below a ceiling none of them can be \
             asked."
                .to_owned(),
        )),
        Err(said) => Ok(Some(said?)),
    }
}

fn endpoint(visit: &Visit<'_>, path: &str) -> Option<&'static Endpoint> {
    visit.dashboard.generations.iter().find_map(|generation| generation.endpoint(path))
}

/// The endpoint's fields as a form has them; a form that has none of them is guessed.
fn rows(endpoint: &'static Endpoint, fields: &Form, columns: &[String]) -> Vec<FieldRow> {
    let inputs = endpoint.wire.inputs;
    let name = |kind: &str, field: &Field| format!("{kind}.{}", field.name);
    let is_filled = inputs.iter().any(|field| fields.has(&name("map", field)));
    let row = |field: &Field| FieldRow {
        name: field.name,
        meaning: field.meaning,
        is_required: field.is_required,
        column: if is_filled {
            fields.raw(&name("map", field)).to_owned()
        } else {
            guess(field, columns).unwrap_or_default()
        },
        fixed: fields.text(&name("fixed", field)).to_owned(),
    };
    inputs.iter().map(row).collect()
}

/// A column counts before a value for every row.
fn mapping(rows: &[FieldRow]) -> Mapping {
    let pair = |row: &FieldRow, from: &str| (row.name.to_owned(), from.to_owned());
    let with_column = rows.iter().filter(|row| !row.column.is_empty());
    let fixed = rows.iter().filter(|row| row.column.is_empty() && !row.fixed.is_empty());
    Mapping {
        columns: with_column.map(|row| pair(row, &row.column)).collect(),
        constants: fixed.map(|row| pair(row, &row.fixed)).collect(),
    }
}

/// What columns are called that hold what a field wants, by a part of the field's name.
const CALLED: [(&str, &[&str]); 11] = [
    ("companydomain", &["domain", "website", "web", "url", "site", "homepage"]),
    ("companywebsite", &["website", "domain", "web", "url", "site", "homepage"]),
    ("companyemail", &["email", "mail"]),
    ("companyname", &["company", "name", "organisation", "organization", "firm", "account"]),
    ("query", &["company", "name", "domain", "website"]),
    ("personname", &["person", "fullname", "contact", "name"]),
    ("email", &["email", "mail"]),
    ("phone", &["phone", "mobile", "tel"]),
    ("country", &["countrycode", "country"]),
    ("domain", &["domain", "website", "url", "site"]),
    ("linkedin", &["linkedin", "profile"]),
];

/// The column that most likely holds a field: one of its own name, else one that is called what
/// such columns are usually called. What may be missing is not guessed but by its name.
fn guess(field: &Field, columns: &[String]) -> Option<String> {
    let plain = |text: &str| {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let wanted = plain(field.name);
    let find =
        |fits: &dyn Fn(&str) -> bool| columns.iter().find(|column| fits(&plain(column))).cloned();
    let same = find(&|column| column == wanted);
    if same.is_some() || !field.is_required {
        return same;
    }
    let called = CALLED.iter().filter(|(part, _)| wanted.contains(part));
    let mut names = called.flat_map(|(_, names)| names.iter());
    let exact = names.clone().find_map(|name| find(&|column| column == *name));
    exact.or_else(|| names.find_map(|name| find(&|column| column.contains(name))))
}

#[cfg(test)]
mod tests {
    use enrich_wire::Kind;

    use super::*;

    fn guessed(field: &'static str, columns: &[&str]) -> Option<String> {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        guess(&Field::required(field, Kind::CompanyName, ""), &columns)
    }

    #[test]
    fn a_column_is_guessed_by_its_name() {
        let columns = ["id", "Company name", "Web site", "E-Mail", "Mobile phone"];
        assert_eq!(guessed("companyName", &columns).as_deref(), Some("Company name"));
        assert_eq!(guessed("companyDomain", &columns).as_deref(), Some("Web site"));
        assert_eq!(guessed("email", &columns).as_deref(), Some("E-Mail"));
        assert_eq!(guessed("phoneNumber", &columns).as_deref(), Some("Mobile phone"));
        assert_eq!(guessed("company_name", &["Firm", "Company"]).as_deref(), Some("Company"));
        assert_eq!(guessed("companyName", &["id", "Ort"]), None);
    }

    #[test]
    fn what_may_be_missing_is_taken_by_its_own_name_alone() {
        let columns = ["Limit".to_owned(), "country".to_owned()];
        assert_eq!(guess(&Field::LIMIT, &columns).as_deref(), Some("Limit"));
        let code = Field::optional("country_code", Kind::CountryCode, "");
        assert_eq!(guess(&code, &columns), None);
    }
}
