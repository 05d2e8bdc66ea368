//! Finds records that have no identifier but a name.

use serde_json::{Map, Value};

use crate::native::{Field, RecordType};

/// The fields that identify a company or a person besides the name. The employer identifies a
/// person: few people of one company have the same name.
const IDENTIFIERS: [Field; 12] = [
    Field::Domains,
    Field::Domain,
    Field::LinkedIn,
    Field::Facebook,
    Field::Instagram,
    Field::Twitter,
    Field::Youtube,
    Field::Emails,
    Field::Phones,
    Field::Ids,
    Field::Company,
    Field::CompanyDomain,
];

/// Whether a record of this kind has no identifier but its name: no domain, page, email address,
/// phone number or external id, and for a person no employer. `has` says whether the record has a
/// field. A record about a domain always has an identifier: the domain.
pub fn is_name_only(kind: RecordType, has: impl Fn(Field) -> bool) -> bool {
    kind != RecordType::Domain
        && !IDENTIFIERS.into_iter().any(|field| field.belongs_to(kind) && has(field))
}

/// Whether a record in Enrich's own import format has no identifier but its name
/// ([`is_name_only`]). The values are not parsed yet, so an invalid value, such as `none at all` as
/// an email address, counts as an identifier too. The import later drops such a value.
pub fn name_only(record: &Map<String, Value>) -> bool {
    let kind = record.get("type").and_then(Value::as_str).and_then(RecordType::from_name);
    kind.is_some_and(|kind| is_name_only(kind, |field| record.contains_key(field.name())))
}
