//! Which column of a list most likely holds a field of an endpoint.

use enrich_import::plain_name;
use enrich_wire::Field;

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
/// such columns are usually called. Case, blanks and punctuation don't matter. What may be missing
/// is not guessed but by its name.
pub fn guess(field: &Field, columns: &[String]) -> Option<String> {
    let wanted = plain_name(field.name);
    let find = |fits: &dyn Fn(&str) -> bool| {
        columns.iter().find(|column| fits(&plain_name(column))).cloned()
    };
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
