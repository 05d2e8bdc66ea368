//! The mapping: which column of a list gives each field of an endpoint its value. It is checked
//! before any row is sent.

use std::fmt;

use enrich_import::plain_name;
use enrich_wire::{Endpoint, Fields, Value};
use serde::{Deserialize, Serialize};

use crate::guess::by_name;

/// A sample value that most fields accept. To find out which fields an endpoint requires, its
/// parser is called with this value in only some fields. The parser then reports the missing
/// fields.
const PROBE: &str = "probe.example";

/// The source of each field of an endpoint: a column, or a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// Pairs of a field and the column that gives its value.
    pub columns: Vec<(String, String)>,
    /// Pairs of a field and the constant that is its value in every row.
    pub constants: Vec<(String, String)>,
}

/// Why a mapping is invalid. The message lists the possible fields or columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// A term does not have the form `FIELD=COLUMN` or `FIELD:=VALUE`.
    #[error(
        "`{0}` is not a mapping; write FIELD=COLUMN, or FIELD:=VALUE for one value in every row"
    )]
    Unreadable(String),
    /// The mapping has more than one source for this field.
    #[error("the field `{0}` is mapped twice")]
    FieldTwice(String),
    /// The endpoint has no such field.
    #[error("{path} has no field `{field}`; its fields are {there}")]
    NoField {
        /// The path of the endpoint.
        path: &'static str,
        /// The field that the endpoint does not have.
        field: String,
        /// The fields that the endpoint has, joined to one text for the message.
        there: String,
    },
    /// The input has no such column.
    #[error("the input has no column `{column}`; its columns are {there}")]
    NoColumn {
        /// The column that the input does not have.
        column: String,
        /// The columns that the input has, joined to one text for the message.
        there: String,
    },
    /// The input has the column more than once.
    #[error("the input has the column `{0}` more than once; give each a name of its own")]
    ColumnTwice(String),
    /// A required field has no source.
    #[error("{path} needs `{field}`; map a column to it: {field}=COLUMN, of {there}")]
    Missing {
        /// The path of the endpoint.
        path: &'static str,
        /// The required field.
        field: &'static str,
        /// The columns that the input has, joined to one text for the message.
        there: String,
    },
}

/// A mapping that was checked against an endpoint and the columns of a list.
#[derive(Clone, Debug)]
pub(crate) struct Bound(pub(crate) Vec<BoundField>);

#[derive(Clone, Debug)]
pub(crate) struct BoundField {
    pub(crate) name: &'static str,
    /// Whether a row without a value for this field is invalid.
    pub(crate) is_needed: bool,
    pub(crate) from: From,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// A column of the list. In a CSV row, `index` is the position of the value. In a row of JSON
    /// Lines, `name` is the name of the member.
    Column { index: usize, name: String },
    /// A constant, the same for every row.
    Constant(String),
}

impl Mapping {
    /// Parses terms such as `companyName=Company` (a column) and `country_code:=CH` (a constant).
    ///
    /// # Errors
    ///
    /// When a term has another form, or maps a field that is already mapped.
    pub fn parse<'a>(terms: impl IntoIterator<Item = &'a str>) -> Result<Self, MappingError> {
        let mut mapping = Self::default();
        for term in terms {
            let unreadable = || MappingError::Unreadable(term.to_owned());
            let (field, from) = term.split_once('=').ok_or_else(unreadable)?;
            let (field, is_constant) = match field.strip_suffix(':') {
                Some(field) => (field.trim(), true),
                None => (field.trim(), false),
            };
            if field.is_empty() || from.trim().is_empty() {
                return Err(unreadable());
            }
            if mapping.fields().any(|known| known == field) {
                return Err(MappingError::FieldTwice(field.to_owned()));
            }
            let list = if is_constant { &mut mapping.constants } else { &mut mapping.columns };
            list.push((field.to_owned(), from.trim().to_owned()));
        }
        Ok(mapping)
    }

    fn fields(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().chain(&self.constants).map(|(field, _)| field.as_str())
    }

    /// Completes the mapping for a list. A column name is replaced by the name in the list if both
    /// differ only in upper and lower case, spaces and punctuation. A field that has no column or
    /// constant yet gets the column that has the name of the field. If there is no such column, a
    /// required field gets a column with one of its usual names, such as `mail` for `email`. A
    /// column whose name only contains a usual name, such as `old_email`, is not used, because
    /// nobody checks this choice before rows are charged.
    pub fn guessed(&self, endpoint: &Endpoint, columns: &[String]) -> Self {
        let mut mapping = self.clone();
        for (_, column) in &mut mapping.columns {
            if columns.contains(column) {
                continue;
            }
            let plain = plain_name(column);
            let mut alike = columns.iter().filter(|known| plain_name(known) == plain);
            if let (Some(known), None) = (alike.next(), alike.next()) {
                column.clone_from(known);
            }
        }
        let needed = at_fault(endpoint, [].iter());
        for field in endpoint.wire.inputs {
            let is_mapped = mapping.fields().any(|known| known == field.name);
            let is_wanted = !field.is_required || needed.contains(&field.name);
            if let Some(column) = by_name(field, columns).filter(|_| !is_mapped && is_wanted) {
                mapping.columns.push((field.name.to_owned(), column));
            }
        }
        mapping
    }

    /// Whether the two mappings give every field the same source. The order of the fields does not
    /// matter.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let sorted = |pairs: &[(String, String)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort();
            pairs
        };
        sorted(&self.columns) == sorted(&other.columns)
            && sorted(&self.constants) == sorted(&other.constants)
    }

    /// Checks the mapping against an endpoint and the columns of a list.
    ///
    /// # Errors
    ///
    /// When a field or a column does not exist, or a required field has no column or constant.
    pub(crate) fn bind(
        &self,
        endpoint: &'static Endpoint,
        columns: &[String],
    ) -> Result<Bound, MappingError> {
        let mut bound = Vec::new();
        for (field, column) in &self.columns {
            let from = column_named(column, columns)?;
            bound.push(BoundField { name: known(endpoint, field)?, is_needed: false, from });
        }
        for (field, value) in &self.constants {
            let from = From::Constant(value.clone());
            bound.push(BoundField { name: known(endpoint, field)?, is_needed: false, from });
        }
        if let Some(name) = missing(endpoint, &bound).first() {
            let (path, there) = (endpoint.path, listed(columns));
            return Err(MappingError::Missing { path, field: name, there });
        }
        let at_fault_with_all = at_fault(endpoint, bound.iter());
        for at in 0..bound.len() {
            let name = bound[at].name;
            let others = bound.iter().filter(|field| field.name != name);
            let at_fault = at_fault(endpoint, others);
            let is_new = |fault: &&str| *fault == name || !at_fault_with_all.contains(fault);
            bound[at].is_needed = at_fault.iter().any(is_new);
        }
        Ok(Bound(bound))
    }
}

/// Displays the mapping. For a constant, displays only the name of its field, because the value may
/// be personal data.
impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns.iter().map(|(field, column)| format!("{field}={column}"));
        let constants = self.constants.iter().map(|(field, _)| format!("{field}:=…"));
        f.write_str(&listed(columns.chain(constants)))
    }
}

fn known(endpoint: &'static Endpoint, field: &str) -> Result<&'static str, MappingError> {
    let inputs = endpoint.wire.inputs;
    let found = inputs.iter().find(|input| input.name == field);
    found.map(|input| input.name).ok_or_else(|| MappingError::NoField {
        path: endpoint.path,
        field: field.to_owned(),
        there: listed(inputs.iter().map(|input| input.name)),
    })
}

fn column_named(column: &str, columns: &[String]) -> Result<From, MappingError> {
    let mut places = columns.iter().enumerate().filter(|(_, name)| *name == column);
    match (places.next(), places.next()) {
        (Some((index, name)), None) => Ok(From::Column { index, name: name.clone() }),
        (Some(_), Some(_)) => Err(MappingError::ColumnTwice(column.to_owned())),
        (None, _) => {
            Err(MappingError::NoColumn { column: column.to_owned(), there: listed(columns) })
        }
    }
}

/// Returns the required fields that have neither a column nor a constant. To find them, this calls
/// the parser of the endpoint. A list of required fields would not be enough: some endpoints need
/// only one of two fields.
fn missing(endpoint: &Endpoint, bound: &[BoundField]) -> Vec<&'static str> {
    let mut names = at_fault(endpoint, bound.iter());
    names.retain(|name| bound.iter().all(|field| field.name != *name));
    names
}

/// Calls the parser of the endpoint with only the fields in `given`, each with the value `PROBE`.
/// Returns the fields that the parser reports as invalid or missing.
fn at_fault<'a>(
    endpoint: &Endpoint,
    given: impl Iterator<Item = &'a BoundField>,
) -> Vec<&'static str> {
    let mut fields = Fields::default();
    for field in given {
        fields.insert(field.name.into(), Value::Text(PROBE.into()));
    }
    match (endpoint.wire.read)(&fields) {
        Ok(_) => Vec::new(),
        Err(invalid) => invalid.0.into_iter().map(|(name, _)| name).collect(),
    }
}

fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(path: &str) -> &'static Endpoint {
        let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
        tables.iter().find_map(|table| table.endpoint(path)).unwrap()
    }

    fn bind(path: &str, terms: &[&str], columns: &[&str]) -> Result<Vec<String>, String> {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let mapping = Mapping::parse(terms.iter().copied()).map_err(|error| error.to_string())?;
        let mapping = mapping.guessed(endpoint(path), &columns);
        let bound = mapping.bind(endpoint(path), &columns).map_err(|error| error.to_string())?;
        let shown = |field: &BoundField| {
            let from = match &field.from {
                From::Column { index, .. } => format!("#{index}"),
                From::Constant(value) => value.clone(),
            };
            format!("{}={from}{}", field.name, if field.is_needed { "!" } else { "" })
        };
        Ok(bound.0.iter().map(shown).collect())
    }

    #[test]
    fn fields_are_taken_from_columns_and_constants() {
        let terms = ["company_name=Firma", "country_code:=CH"];
        let bound = bind("/v2/services/name_to_domain", &terms, &["id", "Firma"]);
        assert_eq!(bound.unwrap(), ["company_name=#1!", "country_code=CH"]);
    }

    #[test]
    fn a_column_called_like_a_needed_field_is_taken() {
        assert_eq!(bind("/v1/cuf", &[], &["companyName"]).unwrap(), ["companyName=#0!"]);
        assert_eq!(
            bind("/v1/dte", &[], &["limit", "companyDomain"]).unwrap(),
            ["companyDomain=#1!", "limit=#0"]
        );
    }

    #[test]
    fn a_column_is_found_whatever_its_case_blanks_and_punctuation() {
        assert_eq!(
            bind("/v1/cuf", &["companyName=firm name"], &["id", "Firm_Name"]).unwrap(),
            ["companyName=#1!"]
        );
        assert_eq!(bind("/v1/cuf", &[], &["id", "Company Name"]).unwrap(), ["companyName=#1!"]);
        assert_eq!(bind("/v1/dte", &[], &["id", "Web-Site"]).unwrap(), ["companyDomain=#1!"]);
        let error = bind("/v1/cuf", &["companyName=firm"], &["FIRM", "Firm"]).unwrap_err();
        assert!(error.contains("no column `firm`"), "{error}");
    }

    #[test]
    fn a_column_whose_name_only_contains_a_usual_one_is_not_taken() {
        for (path, columns) in [
            ("/v1/cuf", &["First name", "Last name", "E-mail"]),
            ("/v1/dte", &["id", "E-mail domain", "Website notes"]),
        ] {
            let refused = bind(path, &[], columns).unwrap_err();
            assert!(refused.contains("map a column to it"), "{refused}");
        }
    }

    #[test]
    fn one_of_two_fields_may_do() {
        let terms = ["personName=who", "companyName=firm"];
        let bound = bind("/v1/pite", &terms, &["who", "firm"]);
        assert_eq!(bound.unwrap(), ["personName=#0!", "companyName=#1!"]);
        let terms = ["personName=who", "companyName=firm", "companyDomain=site"];
        let bound = bind("/v1/pite", &terms, &["who", "firm", "site"]);
        assert_eq!(bound.unwrap(), ["personName=#0!", "companyName=#1", "companyDomain=#2"]);
    }

    #[test]
    fn what_is_wrong_names_what_is_there() {
        let there = ["Betrieb", "Ort", "Ort"];
        let cases: [(&[&str], &str); 7] = [
            (
                &[],
                "/v1/cuf needs `companyName`; map a column to it: companyName=COLUMN, of `Betrieb`, `Ort`, `Ort`",
            ),
            (
                &["companyName=Company"],
                "the input has no column `Company`; its columns are `Betrieb`, `Ort`, `Ort`",
            ),
            (&["company=Betrieb"], "/v1/cuf has no field `company`; its fields are `companyName`"),
            (
                &["companyName=Ort"],
                "the input has the column `Ort` more than once; give each a name of its own",
            ),
            (
                &["companyName"],
                "`companyName` is not a mapping; write FIELD=COLUMN, or FIELD:=VALUE for one value in every row",
            ),
            (
                &["=Betrieb"],
                "`=Betrieb` is not a mapping; write FIELD=COLUMN, or FIELD:=VALUE for one value in every row",
            ),
            (
                &["companyName=Betrieb", "companyName:=Quill"],
                "the field `companyName` is mapped twice",
            ),
        ];
        for (terms, said) in cases {
            assert_eq!(bind("/v1/cuf", terms, &there).unwrap_err(), said);
        }
    }

    #[test]
    fn every_endpoint_can_be_bound_by_its_needed_fields_alone() {
        for table in [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION] {
            for endpoint in table.endpoints {
                let needed = endpoint.wire.inputs.iter().filter(|input| input.is_required);
                let columns: Vec<String> = needed.map(|input| input.name.to_owned()).collect();
                let mapping = Mapping::default().guessed(endpoint, &columns);
                let bound = mapping.bind(endpoint, &columns).unwrap();
                assert_eq!(bound.0.len(), columns.len(), "{}", endpoint.path);
                assert!(bound.0.iter().all(|field| field.is_needed), "{}", endpoint.path);
            }
        }
    }
}
