//! Makes records for the tests of entity resolution, which finds the records of one company.

use super::{RecordClaims, RecordKey, SharedKeys, is_shared};
use crate::Confidence;
use crate::merge::{Attribute, Fact};

pub(super) const DOMAIN: Attribute = Attribute::Domain;
pub(super) const ID: Attribute = Attribute::ExternalId;
pub(super) const SEAT: Attribute = Attribute::Country;
pub(super) const ALIAS: Attribute = Attribute::Alias;
pub(super) const PHONE: Attribute = Attribute::Phone;

/// Makes the [`RecordClaims`] of a record from its key, its name and its other values.
pub(super) fn claims(key: RecordKey, name: &str, values: &[(Attribute, &str)]) -> RecordClaims {
    let all = [&[(Attribute::Name, name)], values].concat();
    let facts = all.iter().map(|(attribute, value)| Fact {
        attribute: *attribute,
        value: (*value).to_owned(),
        country: None,
        confidence: Confidence::FULL,
    });
    RecordClaims::of(key, &facts.collect::<Vec<_>>())
}

/// Returns the hosts, pages and phone numbers that many organisations in `records` share.
pub(super) fn shared_keys(records: &[&RecordClaims]) -> SharedKeys {
    let values = |record: &RecordClaims| -> Vec<String> {
        record.hosts().chain(record.pages()).chain(record.phones()).map(str::to_owned).collect()
    };
    let mut shared = SharedKeys::default();
    for value in records.iter().flat_map(|record| values(record)) {
        let bearers = records.iter().copied().filter(|record| values(record).contains(&value));
        if is_shared(&bearers.collect::<Vec<_>>()) {
            shared.add(&value);
        }
    }
    shared
}
