//! Builds the rules of a record from columns whose meanings are known.

use crate::columns::separators;
use crate::meaning::{has_family_names_first, is_of_phones, target};
use crate::native::{Field, RecordType};
use crate::record_rule::RecordRule;
use crate::rule::Rule;
use crate::transform::{Transform, is_latin};

/// The columns that are read for one kind of record. Each has its rule, in the order in which they
/// were added.
pub(crate) struct ColumnRules {
    pub(crate) kind: RecordType,
    fields: Vec<(Field, Vec<Rule>)>,
    /// The fields that are read only from rows without a person.
    without_person: Vec<(Field, Vec<Rule>)>,
    ids: Vec<(String, Rule)>,
    /// The columns that are read, each with its field, or with the scheme of its external id.
    pub(crate) used: Vec<(String, String)>,
}

impl ColumnRules {
    pub(crate) fn new(kind: RecordType) -> Self {
        Self {
            kind,
            fields: Vec::new(),
            without_person: Vec::new(),
            ids: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Reads a field from a column. `transform` changes each value; values that it does not accept
    /// are not read. Does nothing and returns `false` if records of this kind do not have the field.
    pub(crate) fn add(&mut self, name: &str, column: &str, transform: Option<Transform>) -> bool {
        let field = Field::of_mapping(name).filter(|field| field.belongs_to(self.kind));
        let Some(field) = field else { return false };
        push(&mut self.fields, field, Rule::column_of_values(column, separators(field), transform));
        self.note_used(column, field.name());
        true
    }

    /// Reads a field from a column, but only from rows without a person. Does nothing if records of
    /// this kind do not have the field.
    fn add_without_person(&mut self, name: &str, column: &str) {
        let field = Field::of_mapping(name).filter(|field| field.belongs_to(self.kind));
        let Some(field) = field else { return };
        let rule = Rule::column_of_values(column, separators(field), None);
        push(&mut self.without_person, field, rule);
        self.note_used(column, field.name());
    }

    /// Reads an external id from a column. `scheme` names the register that gives the id.
    pub(crate) fn add_id(&mut self, scheme: &str, column: &str) {
        self.ids.push((scheme.to_owned(), Rule::column(column)));
        self.note_used(column, scheme);
    }

    fn note_used(&mut self, column: &str, field: &str) {
        let pair = (column.to_owned(), field.to_owned());
        if !self.used.contains(&pair) {
            self.used.push(pair);
        }
    }

    /// Whether no column fills a field. External ids do not count.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reads the columns that change the values of another column: area codes, which are put before
    /// phone numbers, and particles such as `van`, which are put before last names.
    pub(crate) fn add_prefixes(&mut self, known: &[(&str, &str)]) {
        if let Some((area_codes, phones)) = area_codes(known) {
            let fields = self.fields.iter_mut().chain(&mut self.without_person);
            let rules = fields.filter(|(field, _)| *field == Field::Phones);
            let rules: Vec<&mut Rule> = rules.flat_map(|(_, rules)| rules).collect();
            if !rules.is_empty() {
                rules.into_iter().for_each(|rule| rule.set_area_codes(phones, area_codes));
                self.note_used(area_codes, "area code");
            }
        }
        let particles = known.iter().find(|(_, meaning)| *meaning == "particle");
        let last_names = self.fields.iter_mut().find(|(field, _)| *field == Field::LastName);
        if let (Some((particles, _)), Some((_, rules))) = (particles, last_names) {
            rules.iter_mut().for_each(|rule| rule.set_particles(particles));
            self.note_used(particles, "particle");
        }
    }

    /// Returns the rules for the records.
    pub(crate) fn into_rule(self) -> RecordRule {
        let all = |fields: Vec<(Field, Vec<Rule>)>| {
            fields.into_iter().map(|(field, rules)| (field, Rule::All(rules))).collect()
        };
        RecordRule::of(self.kind, all(self.fields), self.ids)
            .with_fields_without_person(all(self.without_person))
    }
}

fn push(fields: &mut Vec<(Field, Vec<Rule>)>, field: Field, rule: Rule) {
    match fields.iter_mut().find(|(known, _)| *known == field) {
        Some((_, rules)) => rules.push(rule),
        None => fields.push((field, vec![rule])),
    }
}

/// Returns the rules for records of one kind. `known` has the columns whose meanings are known,
/// each with its meaning.
pub(crate) fn rules_of_kind(kind: RecordType, known: &[(&str, &'static str)]) -> ColumnRules {
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    let is_named = has("full_name") || has("first_name");
    let mut rules = ColumnRules::new(kind);
    for &(column, meaning) in known {
        let name = match kind {
            RecordType::Person if is_last_name(meaning, known) => Some("last_name"),
            _ => target(kind, meaning, is_named),
        };
        match name.map(|name| (name, name.strip_prefix("ids."))) {
            Some((_, Some(scheme))) => rules.add_id(scheme, column),
            Some((name, None)) => {
                let only = match name {
                    "full_name" => order_of_names(column),
                    _ => (meaning == "location").then_some(Transform::CountryAtEnd),
                };
                rules.add(name, column, only);
            }
            None => {}
        }
    }
    rules.add_prefixes(known);
    rules
}

/// Returns the rules for rows that each have a company and a person who works there: those of the
/// person, and those of the company. Columns such as `Email` may be about both:
///
/// - Email addresses belong to the person. Addresses of roles, such as `info@`, belong to the
///   company. So do all addresses of a column between those of the company and those of the person,
///   if a column of addresses follows them. If the person is only the company's contact, and there
///   is one column of addresses, its addresses belong to the company too.
/// - LinkedIn pages of companies belong to the company, other ones to the person.
/// - Phone numbers belong to the person. If the column is between those of the company and those of
///   the person, they belong to the company. They also do if the person is only the company's
///   contact, and the name of the column does not say that it has the number of a person.
///
/// If a row has no person, all its values belong to the company.
pub(crate) fn rules_of_both(known: &[(&str, &str)]) -> [ColumnRules; 2] {
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    let position = |wanted: &[&str]| known.iter().position(|(_, known)| wanted.contains(known));
    let company_at = position(&["company"]).unwrap_or(usize::MAX);
    let person_at = position(&["first_name", "last_name", "full_name", "contact"]).unwrap_or(0);
    let is_between = |at| company_at < at && at < person_at;
    let has_more_emails = known.iter().skip(person_at).any(|(_, meaning)| *meaning == "emails");
    let is_named = has("full_name") || has("first_name") || has("last_name");
    let mut person = ColumnRules::new(RecordType::Person);
    let mut company = ColumnRules::new(RecordType::Company);
    for (at, &(column, meaning)) in known.iter().enumerate() {
        match meaning {
            "company" => {
                person.add("company", column, None);
                company.add("name", column, None);
            }
            "domains" => {
                person.add("company_domain", column, None);
                company.add("domains", column, None);
            }
            "country" => {
                person.add("country", column, None);
                company.add("country", column, None);
            }
            "location" => {
                person.add("country", column, Some(Transform::CountryAtEnd));
                company.add("country", column, Some(Transform::CountryAtEnd));
            }
            "name" if is_last_name(meaning, known) => {
                person.add("last_name", column, None);
            }
            "name" if has("contact") => {
                company.add("name", column, None);
            }
            "name" | "contact" if is_named => {}
            "name" | "contact" | "full_name" => {
                person.add("full_name", column, order_of_names(column));
            }
            "emails" if is_between(at) && has_more_emails => {
                company.add("emails", column, None);
            }
            "emails" => {
                let is_only_of_person = is_named || has_more_emails;
                person.add("emails", column, Some(Transform::PersonAddress));
                company.add("emails", column, is_only_of_person.then_some(Transform::RoleAddress));
                company.add_without_person("emails", column);
            }
            "linkedin" => {
                person.add("linkedin", column, Some(Transform::PersonPage));
                company.add("linkedin", column, Some(Transform::CompanyPage));
                company.add_without_person("linkedin", column);
            }
            "phones" if !is_named || is_between(at) => {
                company.add("phones", column, None);
            }
            "phones" | "person_phones" => {
                person.add("phones", column, None);
                company.add_without_person("phones", column);
            }
            "party" | "particle" | "area_code" => {}
            "legal" => {
                company.add("aliases", column, None);
            }
            _ => match meaning.strip_prefix("ids.") {
                Some(scheme) => company.add_id(scheme, column),
                None => {
                    let of_company = meaning.strip_prefix("company_").unwrap_or(meaning);
                    let _ =
                        person.add(meaning, column, None) || company.add(of_company, column, None);
                }
            },
        }
    }
    person.add_prefixes(known);
    company.add_prefixes(known);
    [person, company]
}

/// Returns the transform for a column of whole names, if the column's name is in a language that
/// puts the family name first. Columns in Chinese, Japanese and Korean may also have names in Latin
/// letters, such as `John Smith`, which have the given name first.
fn order_of_names(column: &str) -> Option<Transform> {
    let is_asian = !column.trim().starts_with(is_latin);
    has_family_names_first(column).then_some(match is_asian {
        true => Transform::AsianFamilyNameFirst,
        false => Transform::FamilyNameFirst,
    })
}

/// Whether a column `Nom` or `Name` has last names, because another column has first names
/// (`Prénom`, `Vorname`).
fn is_last_name(meaning: &str, known: &[(&str, &str)]) -> bool {
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    meaning == "name" && has("first_name") && !has("last_name") && !has("full_name")
}

/// Returns two columns: the column with area codes, such as `Vorwahl`, and the column with the
/// phone numbers to which the area codes belong. This is the next column with phone numbers after
/// the area codes. If no such column follows, it is the file's first column with phone numbers.
fn area_codes<'c>(known: &[(&'c str, &str)]) -> Option<(&'c str, &'c str)> {
    let at = known.iter().position(|(_, meaning)| *meaning == "area_code")?;
    let mut next = known[at..].iter().chain(known);
    let (phones, _) = next.find(|(_, meaning)| is_of_phones(meaning))?;
    Some((known[at].0, phones))
}
