//! Mappings that are given on the command line as pairs of a field and a column.

use std::collections::HashSet;

use enrich_text::ExternalId;

use crate::column_rules::{ColumnRules, order_of_names};
use crate::company_and_person::rules_of_both;
use crate::error::MappingError;
use crate::known_columns::KnownColumns;
use crate::mapping::Mapping;
use crate::meaning::Meaning;
use crate::native::{Field, RecordType};
use crate::node::list;
use crate::rule::Rule;
use crate::transform::Transform;

impl Mapping {
    /// Creates a mapping from pairs of a field and a column, such as `("domains", "Website")`.
    ///
    /// - The field `ids.SCHEME` is an id that a register gives a company. The scheme names the
    ///   register. For a well-known register, the scheme alone is enough, such as `lei`.
    /// - If a field is paired with several columns, all of them are read. If the field can have
    ///   only one value, the first column with a value counts.
    /// - `family_name_first` is a column with full names that have the family name first, such as
    ///   `Byte Ada`.
    /// - `last_name_prefix` is a column with texts such as `van`, which are put before the last
    ///   names.
    /// - `area_code` is a column with area codes. They are put before the phone numbers in the next
    ///   column with phone numbers.
    ///
    /// If `kind` is `None`, the fields decide which kind of record each row gives:
    ///
    /// - With `first_name`, `last_name`, `full_name` or `family_name_first`: a person.
    /// - With one of these, and with a field that only companies have: a company, and a person who
    ///   works there. Then `company_emails`, `company_phones` and `company_linkedin` are fields of
    ///   the company.
    /// - Otherwise, with `name`: a company.
    /// - Otherwise, with `domain` or `domains`: facts of a domain.
    /// - Otherwise: a company.
    ///
    /// # Errors
    ///
    /// Returns an error if a pair names a field that this kind of record does not have. The error
    /// lists the fields that are allowed.
    pub fn from_columns(
        pairs: &[(String, String)],
        kind: Option<RecordType>,
    ) -> Result<Self, MappingError> {
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(field, column)| (field.trim(), column.as_str())).collect();
        let has = |name: &str| pairs.iter().any(|(field, _)| *field == name);
        let has_person =
            ["first_name", "last_name", "full_name", FAMILY_NAME_FIRST].into_iter().any(has);
        if kind.is_none() && has_person && pairs.iter().any(|(name, _)| is_only_of_company(name)) {
            return Self::of_both(&pairs);
        }
        let kind = kind.unwrap_or(match () {
            () if has_person => RecordType::Person,
            () if has("name") => RecordType::Company,
            () if has("domain") || has("domains") => RecordType::Domain,
            () => RecordType::Company,
        });
        let mut rules = ColumnRules::new(kind);
        let mut known = KnownColumns::default();
        let mut id = None;
        for (name, column) in pairs {
            let field = Field::of_mapping(name).filter(|field| field.belongs_to(kind));
            match (scheme(name).filter(|_| kind == RecordType::Company), field) {
                _ if name == "id" => id = Some(Rule::column(column)),
                _ if name == FAMILY_NAME_FIRST && kind == RecordType::Person => {
                    rules.add(Field::FullName, column, Some(Transform::FamilyNameFirst));
                }
                (Some(scheme), _) => rules.add_id(scheme, column),
                (None, Some(field)) => {
                    let order = order_of_names(column).filter(|_| field == Field::FullName);
                    rules.add(field, column, order);
                    let meaning = Meaning::of_field(field);
                    meaning.into_iter().for_each(|meaning| known.push(column, meaning));
                }
                (None, None) => {
                    known.push(column, prefix(name).ok_or_else(|| unknown(name, &[kind]))?);
                }
            }
        }
        rules.add_prefixes(&known);
        Ok(Self::of(vec![rules.into_rule().with_id(id)]))
    }

    /// Creates a mapping for rows that each give a company and a person.
    fn of_both(pairs: &[(&str, &str)]) -> Result<Self, MappingError> {
        let mut known = KnownColumns::default();
        let (mut ids, mut parents) = (Vec::new(), Vec::new());
        for &(name, column) in pairs {
            let meaning = match (scheme(name), Field::of_mapping(name)) {
                (Some(scheme), _) => {
                    ids.push((scheme, column));
                    continue;
                }
                (None, Some(Field::Parent)) => {
                    parents.push(column);
                    continue;
                }
                (None, Some(Field::Name)) => Some(Meaning::Company),
                (None, Some(Field::CompanyDomain)) => Some(Meaning::Domains),
                (None, Some(field)) => Meaning::of_field(field),
                (None, None) if name == FAMILY_NAME_FIRST => Some(Meaning::FamilyNameFirst),
                (None, None) => of_company(name).or_else(|| prefix(name)),
            };
            let unknown = || unknown(name, &[RecordType::Person, RecordType::Company]);
            known.push(column, meaning.ok_or_else(unknown)?);
        }
        let [person, mut company] = rules_of_both(&known);
        ids.into_iter().for_each(|(scheme, column)| company.add_id(scheme, column));
        parents.into_iter().for_each(|column| company.add(Field::Parent, column, None));
        Ok(Self::of(vec![person.into_rule(), company.into_rule()]))
    }
}

/// The names of company fields for rows that also give a person. A name such as `emails` would be
/// ambiguous there: a person has emails too.
const FIELDS_OF_BOTH: [(&str, Meaning); 3] = [
    ("company_emails", Meaning::CompanyEmails),
    ("company_phones", Meaning::CompanyPhones),
    ("company_linkedin", Meaning::CompanyLinkedIn),
];

/// The name for a column with full names that have the family name first.
const FAMILY_NAME_FIRST: &str = "family_name_first";

/// The names for columns whose texts are put before the values of another column.
const PREFIXES: [(&str, Meaning); 2] =
    [("last_name_prefix", Meaning::Particle), ("area_code", Meaning::AreaCode)];

fn prefix(name: &str) -> Option<Meaning> {
    PREFIXES.into_iter().find(|(known, _)| *known == name).map(|(_, meaning)| meaning)
}

fn of_company(name: &str) -> Option<Meaning> {
    FIELDS_OF_BOTH.into_iter().find(|(known, _)| *known == name).map(|(_, meaning)| meaning)
}

/// Whether a field of `--column` belongs to companies, but not to people.
fn is_only_of_company(name: &str) -> bool {
    let field = Field::of_mapping(name);
    let is_of = |kind| field.is_some_and(|field| field.belongs_to(kind));
    of_company(name).is_some()
        || scheme(name).is_some()
        || (is_of(RecordType::Company) && !is_of(RecordType::Person))
}

/// Returns the scheme of an external id: `lei` for `ids.lei`, and for `lei` alone.
fn scheme(name: &str) -> Option<&str> {
    let is_known = ExternalId::known_schemes().any(|scheme| scheme == name);
    name.strip_prefix("ids.").or_else(|| is_known.then_some(name))
}

fn unknown(name: &str, kinds: &[RecordType]) -> MappingError {
    let mut names = vec!["id"];
    names.extend(kinds.iter().flat_map(|kind| Field::names(*kind)));
    if let [_, _] = kinds {
        // Here each row gives a company and a person. The error does not offer the fields `id` and
        // `urls`, because they may belong to either of the two.
        names.retain(|name| !matches!(*name, "id" | "urls"));
        names.extend(FIELDS_OF_BOTH.map(|(name, _)| name));
    }
    if kinds.contains(&RecordType::Company) {
        names.extend(ExternalId::known_schemes());
    }
    if kinds.contains(&RecordType::Person) {
        names.push(FAMILY_NAME_FIRST);
    }
    names.extend(PREFIXES.map(|(name, _)| name));
    let mut found = HashSet::new();
    names.retain(|name| found.insert(*name));
    let kind = kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(" or a ");
    let names = list(&names);
    MappingError::Columns(format!("`{name}` is no field of a {kind}; there are {names}"))
}
