//! Derives the look-up data of each company in a batch from its record alone, on all processors.
//!
//! In a first load, most companies are new. For a new company, exactly this data is stored.
//! Deriving it is the largest part of the work on a new company, and the only part that needs no
//! stored data.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

use enrich_core::{CompanyRecord, Record, SubjectId, Timestamp};

use super::companies::assert_company;
use super::derive::Derived;
use super::subject_facts::{Kind, SourceClaim, SubjectFacts};

/// Minimum number of records for which a thread is started.
const FEWEST: usize = 256;

/// Derives the data of each company as if no other record described it. Returns one element for
/// each record: `None` for a person or a domain, and for a record whose data cannot be derived.
pub(crate) fn derive_alone(records: &[Record]) -> Vec<Option<Derived>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = records.len().div_ceil(threads).max(FEWEST);
    if records.len() <= part {
        return records.iter().map(of_record).collect();
    }
    thread::scope(|scope| {
        let mut parts = records.chunks(part);
        // The first part is derived on this thread.
        let own = parts.next().unwrap_or_default();
        let derive = |part: &'_ [Record]| part.iter().map(of_record).collect::<Vec<_>>();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || derive(part))).collect();
        let mut all = derive(own);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

fn of_record(record: &Record) -> Option<Derived> {
    match record {
        Record::Company(record) => of_company(record),
        Record::Person(_) | Record::Domain(_) => None,
    }
}

fn of_company(record: &CompanyRecord) -> Option<Derived> {
    // The data that is derived for a company does not depend on its id, its source or the time.
    let mut subject_facts = SubjectFacts::new(SubjectId(0), Kind::Company);
    let claim = SourceClaim::of_company(0, &record.origin, Timestamp::UNIX_EPOCH);
    assert_company(&mut subject_facts, &claim, record);
    Derived::from(subject_facts.subject, Kind::Company, &subject_facts.merged()).ok()
}

#[cfg(test)]
mod tests {
    use enrich_testkit::records::{company, hashed, person};

    use super::*;

    #[test]
    fn each_company_is_derived_at_its_place() {
        let record = |number: usize| match number % 5 {
            0 => hashed(person("Ada", "Byte")),
            _ => hashed(company(&format!("Quill {number}"))),
        };
        let records: Vec<Record> = (0..FEWEST * 3).map(record).collect();
        for (number, derived) in derive_alone(&records).into_iter().enumerate() {
            let profile = derived.and_then(|derived| derived.profile);
            let expected = (number % 5 != 0).then(|| format!("\"Quill {number}\""));
            assert_eq!(profile.is_some(), expected.is_some());
            assert!(expected.is_none_or(|name| profile.unwrap_or_default().contains(&name)));
        }
    }
}
