//! Guesses which column of a list contains the values for a field of an endpoint.

use enrich_import::plain_name;
use enrich_wire::Field;

/// The column names that are usual for a field. A field is recognised by a part of its name: if the
/// name contains `email`, usual column names are `email` and `mail`.
const COLUMN_SYNONYMS: [(&str, &[&str]); 11] = [
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

/// Suggests a column for a field; the user checks the suggestion. Returns the column that `by_name`
/// finds. If it finds none, returns a column whose name contains a usual column name of the field,
/// such as `old_email` for `email`.
pub fn guess(field: &Field, columns: &[String]) -> Option<String> {
    by_name(field, columns).or_else(|| {
        let contains = |name: &str| find(columns, |column| column.contains(name));
        usual_names(field).find_map(contains)
    })
}

/// Returns the column that has the name of the field or, for a required field, one of the field's
/// usual column names. Upper and lower case, spaces and punctuation are ignored.
pub(crate) fn by_name(field: &Field, columns: &[String]) -> Option<String> {
    let wanted = plain_name(field.name);
    let same = find(columns, |column| column == wanted);
    same.or_else(|| usual_names(field).find_map(|name| find(columns, |column| column == name)))
}

/// Returns the usual column names of a required field: `email` and `mail` for the field `email`.
/// Returns none for an optional field, because it is found only by its own name.
fn usual_names(field: &Field) -> impl Iterator<Item = &'static str> {
    let wanted = if field.is_required { plain_name(field.name) } else { String::new() };
    let called = COLUMN_SYNONYMS.iter().filter(move |(part, _)| wanted.contains(part));
    called.flat_map(|(_, names)| names.iter().copied())
}

fn find(columns: &[String], fits: impl Fn(&str) -> bool) -> Option<String> {
    columns.iter().find(|column| fits(&plain_name(column))).cloned()
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
