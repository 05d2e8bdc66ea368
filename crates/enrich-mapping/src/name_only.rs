//! Finds records that have no identifier but a name.

use serde_json::{Map, Value};

/// The fields that identify a company or a person besides the name.
const KEYS: [&str; 12] = [
    "domains",
    "domain",
    "linkedin",
    "facebook",
    "instagram",
    "twitter",
    "youtube",
    "emails",
    "phones",
    "ids",
    "company",
    "company_domain",
];

/// Whether a native record of a company or a person has no identifier but its name: no domain,
/// page, email address, phone number or external id, and for a person no employer.
pub fn name_only(record: &Map<String, Value>) -> bool {
    let is_subject =
        matches!(record.get("type").and_then(Value::as_str), Some("company" | "person"));
    is_subject && !KEYS.iter().any(|key| record.contains_key(*key))
}
